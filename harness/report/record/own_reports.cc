// How a report is known as ours. See own_reports.h.
#include "report/record/own_reports.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/bounded_lines.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json_bytes.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kAttachments = "attachments/";
// An attachment's line has a name, a type and some numbers.
constexpr size_t kMostEarlierNesting = 16;

// `text` without what stands up to and including `head` and the white space behind it; empty if it does not
// begin so.
std::string_view After(std::string_view text, std::string_view head) {
  if (!text.starts_with(head)) return {};
  text.remove_prefix(head.size());
  const size_t next = text.find_first_not_of(" \r\n\t");
  return next == std::string_view::npos ? std::string_view() : text.substr(next);
}

bool BeginsJunit(std::string_view head) {
  return After(head, R"(<?xml version="1.0" encoding="UTF-8"?>)")
      .starts_with(std::string("<!--") + kJunitMark);
}

bool BeginsJson(std::string_view head) {
  return After(head, "{").starts_with("\"schema\": \"cudnn-ci/report/");
}

bool BeginsHtml(std::string_view head) {
  return head.starts_with(std::string("<!DOCTYPE html>\n<!--") + kHtmlMark);
}

bool BeginsSummary(std::string_view head) { return head.starts_with(kSummaryMark); }

bool BeginsStatement(std::string_view head) {
  // White space is whoever's wrote it; nothing of ours contains any before the extension but the predicate.
  std::string packed;
  for (const char c : head)
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') packed += c;
  return packed.starts_with(std::string("{\"_type\":\"") + kStatementType + "\",\"predicateType\":\"" +
                            kPredicateType + "\",\"predicate\":{\"" + kGateExtensions);
}

bool BeginsJournal(std::string_view head) { return head.starts_with("{\"v\":\"journal/"); }

struct Head {
  std::string_view format;
  bool (*begins)(std::string_view head);
};
constexpr Head kHeads[] = {{"junit", BeginsJunit},
                           {"json", BeginsJson},
                           {"html", BeginsHtml},
                           {"summary", BeginsSummary},
                           {"attestation", BeginsStatement},
                           {"journal", BeginsJournal}};

// A name in the folder itself, nothing above or below it.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

}  // namespace

std::string_view FormatOfHead(std::string_view head) {
  for (const Head& known : kHeads)
    if (known.begins(head)) return known.format;
  return {};
}

bool IsOwnReport(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  if (st.st_size == 0) return true;
  return !FormatOfHead(ReadSmallFile(path, 200)).empty();
}

std::vector<std::string> AttachmentsNamedBy(const std::string& journal_path) {
  if (!IsOwnReport(journal_path)) return {};
  std::vector<std::string> names;
  std::set<std::string> known;
  ReadBoundedLines(journal_path, kMostEarlierBytes, kMostEarlierLine, [&](std::string_view line) {
    if (line.find("\"Attachment\"") == std::string_view::npos || JsonNesting(line) > kMostEarlierNesting)
      return true;
    const nlohmann::json event = nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
    if (!event.is_object() || event.value("ev", nlohmann::json()) != "Attachment") return true;
    const nlohmann::json path = event.value("path", nlohmann::json());
    if (!path.is_string()) return true;
    const std::string& text = path.get_ref<const std::string&>();
    if (text.starts_with(kAttachments) && IsPlainName(std::string_view(text).substr(kAttachments.size())))
      if (known.insert(text).second) names.push_back(text);
    return names.size() < kMostEarlierAttachments;
  });
  return names;
}

}  // namespace cudnn_ci
