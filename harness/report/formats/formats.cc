#include "report/formats/formats.h"

#include <algorithm>
#include <limits>

#include "report/formats/attestation.h"
#include "report/formats/html.h"
#include "report/formats/json.h"
#include "report/formats/junit.h"
#include "report/formats/summary_report.h"

namespace cudnn_ci {
namespace {

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
      {"junit", "write the JUnit XML to this file", "junit.xml", true, false, kInMarkup, MakeJunit},
      {"json", "write report.json to this file", "report.json", false, false, kInJson, MakeJson},
      {"html", "write report.html to this file", "report.html", false, true, kInMarkup, MakeHtml},
      {"summary", "write a Markdown summary to this file", nullptr, false, false, kInText, MakeSummary},
      {kAttestationFormat,
       "write an in-toto statement with the verdict on the image's digest, ready to be signed", nullptr,
       false, false, kInJson, MakeAttestation},
  };
  return kFormats;
}

const ReportFormat& ReportFormatOf(std::string_view name) {
  const std::vector<ReportFormat>& all = ReportFormats();
  return *std::find_if(all.begin(), all.end(), [name](const ReportFormat& f) { return name == f.name; });
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
