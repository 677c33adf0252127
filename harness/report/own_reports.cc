// How a report is known as ours. See own_reports.h.
#include "report/own_reports.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/fd.h"
#include "base/file.h"
#include "report/formats.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kAttachments = "attachments/";

bool StartsWith(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

bool HasMark(std::string_view head) {
  const auto& formats = ReportFormats();
  return StartsWith(head, "{\"v\":\"journal/") ||
         std::any_of(formats.begin(), formats.end(), [&](const ReportFormat& f) { return f.is_ours(head); });
}

// A name in the folder itself, nothing above or below it.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

}  // namespace

bool IsOwnReport(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  if (st.st_size == 0) return true;
  return HasMark(ReadSmallFile(path, 200));
}

std::vector<std::string> AttachmentsNamedBy(const std::string& journal_path) {
  if (!IsOwnReport(journal_path)) return {};
  std::ifstream journal(journal_path, std::ios::binary);
  std::set<std::string> names;
  for (std::string line; std::getline(journal, line);) {
    if (line.find("\"Attachment\"") == std::string::npos) continue;
    const nlohmann::json event = nlohmann::json::parse(line, nullptr, false);
    if (!event.is_object() || event.value("ev", nlohmann::json()) != "Attachment") continue;
    const nlohmann::json path = event.value("path", nlohmann::json());
    if (!path.is_string()) continue;
    const std::string& text = path.get_ref<const std::string&>();
    if (StartsWith(text, kAttachments) && IsPlainName(std::string_view(text).substr(kAttachments.size())))
      names.insert(text);
  }
  return {names.begin(), names.end()};
}

}  // namespace cudnn_ci
