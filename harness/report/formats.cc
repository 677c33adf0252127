#include "report/formats.h"

#include <limits>

#include "report/attestation.h"
#include "report/html.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/own_reports.h"
#include "report/summary_report.h"

namespace cudnn_ci {
namespace {

bool StartsWith(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

// `text` without what stands up to and including `head` and the white space behind it; empty if it does not
// begin so.
std::string_view After(std::string_view text, std::string_view head) {
  if (!StartsWith(text, head)) return {};
  text.remove_prefix(head.size());
  const size_t next = text.find_first_not_of(" \r\n\t");
  return next == std::string_view::npos ? std::string_view() : text.substr(next);
}

bool BeginsJunit(std::string_view head) {
  return StartsWith(After(head, R"(<?xml version="1.0" encoding="UTF-8"?>)"),
                    std::string("<!--") + kJunitMark);
}

bool BeginsJson(std::string_view head) {
  return StartsWith(After(head, "{"), "\"schema\": \"cudnn-ci/report/");
}

std::unique_ptr<Reporter> MakeJunit(const std::string& path, const ReportSettings& settings) {
  JunitOptions options;
  options.strict = settings.strict_junit;
  options.screen = settings.screen;
  if (settings.in_one_part) options.cases_per_file = std::numeric_limits<size_t>::max();
  return std::make_unique<JunitReporter>(path, options);
}

std::unique_ptr<Reporter> MakeJson(const std::string& path, const ReportSettings&) {
  return std::make_unique<JsonReporter>(path);
}

std::unique_ptr<Reporter> MakeHtml(const std::string& path, const ReportSettings& settings) {
  return std::make_unique<HtmlReporter>(path, settings.screen);
}

std::unique_ptr<Reporter> MakeSummary(const std::string& path, const ReportSettings& settings) {
  return std::make_unique<SummaryReporter>(path, settings.screen);
}

std::unique_ptr<Reporter> MakeAttestation(const std::string& path, const ReportSettings&) {
  return std::make_unique<AttestationReporter>(path);
}

}  // namespace

const std::vector<ReportFormat>& ReportFormats() {
  static const std::vector<ReportFormat> kFormats = {
      {"junit", "JUnit XML to this file", "junit.xml", true, false, BeginsJunit, MakeJunit},
      {"json", "report.json to this file", "report.json", false, false, BeginsJson, MakeJson},
      {"html", "report.html to this file", "report.html", false, true, BeginsHtml, MakeHtml},
      {"summary", "a summary in Markdown to this file", nullptr, false, false, BeginsSummary, MakeSummary},
      {kAttestationFormat, "an in-toto statement with the verdict on the image's digest, to be signed",
       nullptr, false, false, BeginsStatement, MakeAttestation},
  };
  return kFormats;
}

std::vector<std::unique_ptr<Reporter>> MakeReporters(const ReportPaths& paths,
                                                     const ReportSettings& settings) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  for (const ReportFormat& format : ReportFormats())
    if (const auto path = paths.find(format.name); path != paths.end() && !path->second.empty())
      reporters.push_back(format.make(path->second, settings));
  return reporters;
}

}  // namespace cudnn_ci
