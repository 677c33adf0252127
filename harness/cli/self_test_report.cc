#include "cli/self_test_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "model/record/fact_keys.h"
#include "report/record/own_reports.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;

constexpr size_t kMaxReport = 16 << 20;

// What stands under a key, or null: whatever the file holds, it is only looked at.
const json& At(const json& j, const char* key) {
  static const json kNothing;
  const auto found = j.is_object() ? j.find(key) : j.end();
  return j.is_object() && found != j.end() ? *found : kNothing;
}

std::string TextAt(const json& j, const char* key) {
  const json& value = At(j, key);
  return value.is_string() ? value.get<std::string>() : "";
}

SeenFinding ReadFinding(const json& j) {
  return {TextAt(j, "blame"), TextAt(j, "slug"), TextAt(j, "detail")};
}

SeenCase ReadCase(const json& j) {
  SeenCase c;
  c.id = TextAt(j, "id");
  c.check = TextAt(j, "check");
  c.outcome = TextAt(j, "outcome");
  c.reason = TextAt(j, "reason");
  if (const json& seconds = At(j, "seconds"); seconds.is_number()) c.seconds = seconds.get<double>();
  for (const json& finding : At(j, "findings"))
    if (TextAt(finding, "severity") == "error") c.errors.push_back(ReadFinding(finding));
  return c;
}

std::string Named(const SeenFinding& finding) {
  return finding.slug.empty() ? "no finding" : finding.blame + "." + finding.slug;
}

}  // namespace

const SeenCase* SeenReport::Find(const std::string& check) const {
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const SeenCase& c) { return c.check == check; });
  return found == cases.end() ? nullptr : &*found;
}

Result<SeenReport> ReadSeenReport(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxReport);
  if (!text.ok()) return Error{text.error()};
  const json j = json::parse(*text, nullptr, false);
  if (TextAt(j, "schema") != kReportSchema) return Error{path + " is not a report of cudnn-ci"};
  SeenReport r;
  r.run_id = TextAt(At(j, "run"), "id");
  r.command_line = TextAt(At(j, "run"), "command_line");
  r.verdict = TextAt(j, "verdict");
  if (const json& complete = At(j, "complete"); complete.is_boolean()) r.complete = complete.get<bool>();
  if (const json& code = At(j, "exit_code"); code.is_number_integer()) r.exit_code = code.get<int>();
  r.root_cause = ReadFinding(At(j, "root_cause"));
  r.cudnn_path = TextAt(At(At(j, "facts"), "system"), kCudnnPathFact);
  for (const json& c : At(j, "cases")) r.cases.push_back(ReadCase(c));
  return r;
}

std::string ForeignReport(const SeenReport& report, int status, const std::string& word) {
  if (report.command_line.find(word) == std::string::npos) return "its report is of another run";
  if (!report.complete) return "its report is not finished";
  if (report.exit_code != status)
    return "its report says exit " + std::to_string(report.exit_code) + ", but it ended with " +
           std::to_string(status);
  return {};
}

std::string Unnoticed(const Fault& fault, const Injection& injection, const SeenReport& report,
                      const std::string& id) {
  if (!injection.mark.empty() && ReadSmallFile(injection.mark, 1).empty())
    return "the injected fault never took effect, so the run proves nothing: exit " +
           std::to_string(report.exit_code) + ", " + Named(report.root_cause);
  const std::string wanted = std::string(fault.blame) + "." + fault.slug;
  const SeenCase* seen = report.Find(fault.check);
  const std::string said = "exit " + std::to_string(report.exit_code) + ", " + Named(report.root_cause) +
                           ", the case " +
                           (!seen            ? "is missing"
                            : seen->id == id ? seen->outcome
                                             : seen->id + " " + seen->outcome);
  const std::string should = "; expected was exit " + std::to_string(fault.exit_code) + ", " + wanted +
                             ", the case " + fault.outcome;
  if (!seen || seen->id != id || report.exit_code != fault.exit_code || seen->outcome != fault.outcome ||
      Named(report.root_cause) != wanted)
    return "the gate said " + said + should;
  const auto blames = [&](const SeenFinding& f) {
    return Named(f) == wanted && f.detail.find(injection.evidence) != std::string::npos;
  };
  if (std::none_of(seen->errors.begin(), seen->errors.end(), blames))
    return "the gate said " + said + ", but no finding names what was injected" +
           (injection.evidence.empty() ? "" : " (" + injection.evidence + ")");
  return {};
}

}  // namespace cudnn_ci
