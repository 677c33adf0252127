// What a run says of itself. See run_text.h.
#include "report/text/run_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/record/fact_keys.h"
#include "report/text/parts_text.h"

namespace cudnn_ci {
namespace {

// Findings of the tool itself that neither another image, nor another plugin or matrix, would cure.
constexpr std::string_view kOfThePipeline[] = {
    "report-not-written", "time-limit",    "cancelled",          "not-run",     "part-missing",
    "image-not-judged",   "image-unknown", "platform-unfit",     "not-started", "not-finished",
    "tool-not-started",   "tool-crashed",  "slower-not-repeated"};

std::string Counted(int64_t count, const char* what) { return std::to_string(count) + " " + what; }

// What a green verdict stands on.
std::string PassedText(const Summary& summary) {
  const RequiredTotals required = CountRequired(summary);
  if (required.planned == 0)
    return "no case is required; " + Counted(Count(summary).passed, "optional passed");
  if (required.passed == required.planned) return "every required case passed";
  std::string text = Counted(required.passed, "of ") + Counted(required.planned, "required cases passed");
  if (required.left_out > 0) text += ", " + Counted(required.left_out, "left out as the matrix allows");
  if (required.waived > 0) text += ", " + Counted(required.waived, "failed and waived");
  return text;
}

// What is said in place of a fact that there is not. What nobody came to is not missing; `plugin` is the one
// that reports it.
std::string WhyUnknown(const Summary& summary, const char* plugin, const char* none = "not found") {
  if (summary.cancelled && !summary.plan_end) return "unknown, as the run ended too early";
  const auto& facts = summary.run->facts;
  const bool is_known =
      std::any_of(facts.begin(), facts.end(), [](const auto& of) { return !of.second.empty(); });
  if (summary.plan_end && summary.plan_end->count == 0 && !is_known) return "not looked at";
  const bool has_failed = std::any_of(summary.cases.begin(), summary.cases.end(), [&](const CaseRecord& c) {
    return c.plan.check == "plugin.facts" && !std::holds_alternative<Passed>(c.outcome) &&
           c.plan.ref.id.starts_with(std::string("plugin.facts[plugin=") + plugin + ",");
  });
  return has_failed ? std::string("unknown, as plugin.facts failed") : none;
}

std::string SubjectText(const Summary& summary, const SubjectInfo& subject) {
  std::string text = subject.name == subject.spec ? subject.name : subject.name + " (" + subject.spec + ")";
  const std::string version = FindFact(summary, subject.name, kCudnnVersionFact);
  const std::string path = FindFact(summary, subject.name, kCudnnPathFact);
  text += ": cuDNN ";
  text += version.empty() && path.empty() ? WhyUnknown(summary, "cudnn") : version.empty() ? "?" : version;
  return path.empty() ? text : text + " at " + path;
}

// Plugins that are not the tool's own, a line for each way they came.
std::vector<std::pair<std::string, std::string>> ForeignPlugins(const RunStarted& run) {
  std::map<std::string, std::vector<std::string>> files;
  for (const PluginIdentity& plugin : run.plugins)
    if (!plugin.from.empty()) files[plugin.from].push_back(plugin.path);
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [from, paths] : files)
    lines.emplace_back("plugins", "from " + from + ": " + Join(paths, ", "));
  return lines;
}

// Knowledge that is not the tool's own.
std::vector<std::pair<std::string, std::string>> ForeignKnowledge(const RunStarted& run) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const KnowledgeFile& file : run.knowledge)
    if (!file.from.empty())
      lines.emplace_back("knowledge", file.schema + " of " + file.as_of + " from " + file.from + ": " +
                                          file.path + ", sha256 " + Beginning(file.sha256, 16));
  return lines;
}

}  // namespace

std::string FindFact(const Summary& summary, const std::string& subject, const std::string& key) {
  if (!summary.run) return "";
  for (const auto& [name, map] : summary.run->facts) {
    const auto fact = map.find(key);
    if ((subject.empty() || subject == name) && fact != map.end() && !fact->second.empty())
      return fact->second;
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> Judged(const Summary& summary) {
  std::vector<std::pair<std::string, std::string>> judged;
  if (!summary.run) return judged;
  const RunStarted& run = *summary.run;
  const auto fact_or = [&](const char* key, const char* plugin) {
    const std::string fact = FindFact(summary, "", key);
    return fact.empty() ? WhyUnknown(summary, plugin) : fact;
  };
  judged.emplace_back("image", run.image.empty() ? "unidentified" : run.image);
  for (const SubjectInfo& subject : run.subjects)
    judged.emplace_back("subject", SubjectText(summary, subject));
  judged.emplace_back("toolkit", fact_or(kToolkitVersionFact, "toolkit"));
  for (const DeviceInfo& device : run.devices) {
    judged.emplace_back(
        "gpu", device.name + ": " + device.model + ", compute capability " + device.compute_capability);
  }
  if (run.devices.empty()) judged.emplace_back("gpu", WhyUnknown(summary, "driver", "none found"));
  const std::string drivers = DriversOfParts(run);
  judged.emplace_back("driver", drivers.empty() ? fact_or(kDriverVersionFact, "driver") : drivers);
  judged.emplace_back("matrix", run.matrix_name + " (" + run.matrix_path + ", sha256 " +
                                    Beginning(run.matrix_sha256, 16) + ")");
  if (const VersionTable& table = run.compatibility; !table.as_of.empty())
    judged.emplace_back("versions", "facts as of " + table.as_of + ", sha256 " + Beginning(table.sha256, 16));
  if (summary.workers_per_gpu > 1)
    judged.emplace_back("times", "measured while up to " + std::to_string(summary.workers_per_gpu) +
                                     " processes shared a GPU");
  for (auto& line : ForeignKnowledge(run)) judged.push_back(std::move(line));
  for (auto& line : ForeignPlugins(run)) judged.push_back(std::move(line));
  for (auto& line : PartsTested(run)) judged.push_back(std::move(line));
  return judged;
}

std::string Headline(const Summary& summary, const Verdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::kPassed:
      return "PASSED: " + PassedText(summary);
    case VerdictKind::kNotGated:
      return "NOT GATED: the matrix is at fault";
    case VerdictKind::kInconclusive:
      return verdict.complete ? "INCONCLUSIVE: the fault could not be attributed"
                              : "INCONCLUSIVE: the run did not test every case";
    case VerdictKind::kInterrupted:
      return "INTERRUPTED: the run was ended from outside";
    case VerdictKind::kFailed:
      break;
  }
  if (verdict.blame == Blame::kRunner) return "FAILED: the runner is at fault, the image was not tested";
  if (verdict.root_cause && verdict.root_cause->finding.slug == "report-not-written")
    return "FAILED: a report could not be written";
  return verdict.blame == Blame::kHarness ? "FAILED: cudnn-ci or a plugin is at fault"
                                          : "FAILED: the image is at fault";
}

std::string VerdictLine(const Summary& summary, const Verdict& verdict) {
  std::string line = std::string("verdict: ") + Name(verdict.kind);
  const bool report_only = summary.run && summary.run->report_only;
  line += " (exit " + std::to_string(report_only ? 0 : verdict.exit_code) + ")";
  if (report_only) {
    line += ", NOT GATING: --report-only";
    if (verdict.exit_code != 0) line += " hides exit " + std::to_string(verdict.exit_code);
  }
  if (summary.run && !summary.run->partial.empty()) {
    line += ", partial: " + SingleLine(PartialText(summary.run->partial), 120) +
            "; not a verdict on the whole image";
  }
  return line;
}

const char* OwnerOf(const Verdict& verdict) {
  const std::string slug = verdict.root_cause ? verdict.root_cause->finding.slug : "";
  if (std::find(std::begin(kOfThePipeline), std::end(kOfThePipeline), slug) != std::end(kOfThePipeline))
    return "the owner of the pipeline";
  switch (verdict.blame) {
    case Blame::kImage:
      return "the owner of the image";
    case Blame::kRunner:
      return "the owner of the runner";
    case Blame::kHarness:
      return "the owner of cudnn-ci or of the plugin named";
    case Blame::kMatrix:
      return "the owner of the matrix";
    case Blame::kUndetermined:
      break;
  }
  return "the owner of the pipeline: this run could not attribute the fault";
}

}  // namespace cudnn_ci
