// The JUnit document. One flat list of suites; counters are counts of the elements below; times have a point
// in every locale; every file is valid by itself and holds at least one case.
#include "report/formats/junit_document.h"

#include <tinyxml2.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "model/verdict/verdict.h"
#include "report/formats/junit_case.h"
#include "report/record/own_reports.h"
#include "report/text/case_text.h"
#include "report/text/finding_lists.h"
#include "report/text/run_text.h"

namespace cudnn_ci {
namespace {

struct Counters {
  int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  void Add(JunitState state, double s) {
    ++tests;
    if (state == JunitState::kFailure) ++failures;
    if (state == JunitState::kError) ++errors;
    if (state == JunitState::kSkipped) ++skipped;
    if (s > 0) seconds += s;
  }
  void Add(const Counters& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    seconds += other.seconds;
  }
};

// A suite, or the part of it that one file holds.
struct Suite {
  std::string name;
  std::vector<const CaseRecord*> cases;
};
using File = std::vector<Suite>;

// At most `limit` bytes, with a hash of the whole when something was lost, so that different ids stay
// different.
std::string StableName(const std::string& raw, size_t limit) {
  std::string clean(Trim(SingleLine(raw, limit)));
  if (clean == raw) return clean;
  static constexpr char kHex[] = "0123456789abcdef";
  uint64_t hash = Fnv1a(raw);
  std::string suffix = "~";
  for (int i = 0; i < 16; ++i, hash >>= 4) suffix += kHex[hash & 15];
  return std::string(Trim(SingleLine(raw, limit - suffix.size()))) + suffix;
}

std::string SuiteName(const CaseRecord& record) {
  const std::string& plugin = record.plan.plugin.empty() ? record.plan.check : record.plan.plugin;
  const std::string& device = record.plan.ref.device;
  return StableName(device.empty() || device == "gpu0" ? plugin : plugin + "@" + device, 200);
}

class Document {
 public:
  Document(const Summary& summary, const JunitOptions& options, bool final)
      : summary_(summary), options_(options), final_(final), name_(StableName(options.name, 80)) {
    if (final) verdict_ = Judge(summary);
    timestamp_ = summary.run ? summary.run->timestamp : "";
    if (timestamp_.size() != 20 || timestamp_[10] != 'T' || timestamp_[19] != 'Z')
      timestamp_ = UtcTimestamp();
    timestamp_ = SingleLine(timestamp_, 40);
    hostname_ = SingleLine(summary.run ? summary.run->hostname : "", 200);
    char own[256] = "";
    if (hostname_.empty() && gethostname(own, sizeof own - 1) == 0) hostname_ = CleanLine(own, 200);
    if (hostname_.empty()) hostname_ = "unknown";
  }

  // Cases by suite in plan order, dealt to files. The first file has room for the verdict.
  std::vector<File> Files() const {
    std::vector<Suite> suites;
    std::unordered_map<std::string, size_t> places;
    for (const CaseRecord& record : summary_.cases) {
      const auto [place, added] = places.emplace(SuiteName(record), suites.size());
      if (added) suites.push_back({place->first, {}});
      suites[place->second].cases.push_back(&record);
    }
    const size_t limit = std::max<size_t>(options_.cases_per_file, 1);
    std::vector<File> files(1);
    size_t used = 1;
    for (const Suite& suite : suites) {
      for (size_t at = 0; at < suite.cases.size();) {
        if (used == limit) {
          files.emplace_back();
          used = 0;
        }
        const size_t count = std::min(suite.cases.size() - at, limit - used);
        const auto begin = suite.cases.begin() + static_cast<std::ptrdiff_t>(at);
        files.back().push_back({suite.name, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
        at += count;
        used += count;
      }
    }
    return files;
  }

  std::string Render(const File& file, size_t number) {
    const bool with_verdict = number == 1;
    std::vector<Counters> counters;
    Counters total;
    if (with_verdict) total.Add(VerdictState(), 0);
    for (const Suite& suite : file) {
      counters.emplace_back();
      for (const CaseRecord* record : suite.cases)
        counters.back().Add(JunitStateOf(*record), record->seconds);
      total.Add(counters.back());
    }
    if (summary_.finished) total.seconds = summary_.finished->seconds;

    tinyxml2::XMLPrinter out;
    out.PushDeclaration("xml version=\"1.0\" encoding=\"UTF-8\"");
    out.PushComment(kJunitMark);
    out.OpenElement("testsuites");
    PrintCounters(&out, name_, total, /*with_skipped=*/!options_.strict);
    if (!options_.strict) out.PushAttribute("timestamp", timestamp_.c_str());
    if (with_verdict) PrintGate(&out);
    for (size_t i = 0; i < file.size(); ++i) PrintSuite(&out, file[i], counters[i], !with_verdict && i == 0);
    out.CloseElement();
    std::string text(out.CStr(), static_cast<size_t>(out.CStrSize()) - 1);
    return text += '\n';
  }

 private:
  JunitState VerdictState() const {
    if (!final_) return JunitState::kError;
    if (verdict_.exit_code == 0) return JunitState::kPassed;
    return verdict_.kind == VerdictKind::kFailed && verdict_.blame == Blame::kImage ? JunitState::kFailure
                                                                                    : JunitState::kError;
  }

  static void PrintCounters(tinyxml2::XMLPrinter* out, const std::string& name, const Counters& c,
                            bool with_skipped) {
    out->PushAttribute("name", name.c_str());
    out->PushAttribute("tests", c.tests);
    out->PushAttribute("failures", c.failures);
    out->PushAttribute("errors", c.errors);
    if (with_skipped) out->PushAttribute("skipped", c.skipped);
    out->PushAttribute("time", FixedSeconds(c.seconds).c_str());
  }

  void OpenSuite(tinyxml2::XMLPrinter* out, const std::string& name, const Counters& c) {
    out->OpenElement("testsuite");
    PrintCounters(out, name, c, true);
    out->PushAttribute("timestamp", timestamp_.c_str());
    out->PushAttribute("hostname", hostname_.c_str());
    out->PushAttribute("id", std::to_string(next_id_++).c_str());
  }

  // The case that carries the verdict: red until the run has come to its end.
  void PrintGate(tinyxml2::XMLPrinter* out) {
    const std::string suite = name_ + ".gate";
    const JunitState state = VerdictState();
    Counters c;
    c.Add(state, 0);
    OpenSuite(out, suite, c);
    PrintGateProperties(out);
    out->OpenElement("testcase");
    out->PushAttribute("classname", suite.c_str());
    out->PushAttribute("name", "verdict");
    out->PushAttribute("time", "0.000");
    const char* element = state == JunitState::kFailure ? "failure" : "error";
    if (!final_) {
      PrintResult(
          out, element, "the run did not finish", "undetermined.not-run",
          "This report was written while the run was under way and was not replaced: the run was killed or "
          "lost its machine. `cudnn-ci report JOURNAL` makes reports from what it had found.");
    } else {
      const std::string screen = WithoutMarkers(RunSummary(summary_, verdict_, options_.screen));
      if (state != JunitState::kPassed) {
        const Finding finding = verdict_.root_cause ? verdict_.root_cause->finding : Finding{};
        const std::string message = SingleLine(finding.detail.empty() ? Headline(summary_, verdict_)
                                                                      : finding.slug + ": " + finding.detail);
        PrintResult(out, element, message, FindingName(finding), screen);
      }
      out->OpenElement("system-out");
      out->PushText(screen.c_str());
      out->CloseElement();
    }
    out->CloseElement();
    out->CloseElement();
  }

  void PrintGateProperties(tinyxml2::XMLPrinter* out) {
    PropertyList properties(out);
    if (final_) {
      properties.Add("verdict", Name(verdict_.kind));
      properties.Add("exit_code", std::to_string(verdict_.exit_code));
      properties.Add("complete", verdict_.complete ? "true" : "false");
      if (summary_.finished && !summary_.finished->token.empty())
        properties.Add("run_token", summary_.finished->token);
    }
    if (summary_.run) {
      const RunStarted& run = *summary_.run;
      properties.Add("run_id", run.run_id);
      properties.Add("version", run.version);
      properties.Add("matrix.sha256", run.matrix_sha256);
      if (!run.compatibility.sha256.empty()) properties.Add("compatibility.sha256", run.compatibility.sha256);
      for (const KnowledgeFile& file : run.knowledge)
        properties.Add("knowledge", file.schema + " of " + file.as_of + ", sha256 " + file.sha256);
      if (summary_.plan_end) properties.Add("plan.sha256", summary_.plan_end->plan_sha256);
      for (const auto& [label, value] : Judged(summary_)) properties.Add("judged." + label, value);
      for (const DeviceInfo& device : run.devices) properties.Add(device.name + ".uuid", device.uuid);
      for (const auto& [key, value] : run.contract) properties.Add("contract." + key, value);
      for (const auto& [subject, facts] : run.facts) {
        for (const auto& [key, value] : facts) properties.Add("fact." + subject + "." + key, value);
      }
      for (const auto& [name, by] : run.environment) properties.Add("environment." + name, by);
      for (const std::string& item : SentencesOf(run.not_gated)) properties.Add("not_gated", item);
      for (const WarningLine& line : WarningLines(summary_)) properties.Add("warning", line.text);
      if (!run.partial.empty()) properties.Add("partial", PartialText(run.partial));
      if (run.shard_count > 0) {
        properties.Add("shard", std::to_string(run.shard_index) + "/" + std::to_string(run.shard_count));
      }
      properties.Add("report_only", run.report_only ? "true" : "false");
    }
  }

  // `tell_run`: with the run's id; once a file, where it is not in the gate's properties.
  void PrintSuite(tinyxml2::XMLPrinter* out, const Suite& suite, const Counters& counters, bool tell_run) {
    OpenSuite(out, suite.name, counters);
    if (tell_run && summary_.run) PropertyList(out).Add("run_id", summary_.run->run_id);
    std::string group = suite.name;
    std::replace_if(
        group.begin(), group.end(), [](char c) { return c == ':' || c == '/'; }, '.');
    const std::string classname = name_ + "." + group;
    for (const CaseRecord* record : suite.cases) {
      // Dashboards tell cases apart by class and name alone, whatever the suite or file.
      std::string name = StableName(record->plan.ref.id, 200);
      for (int n = 2; !names_.insert(Fnv1a(classname + "\n" + name)).second; ++n) {
        name = StableName(record->plan.ref.id, 180) + "~" + std::to_string(n);
      }
      PrintCase(out, summary_, *record, classname, name, options_.strict);
    }
    out->CloseElement();
  }

  const Summary& summary_;
  const JunitOptions& options_;
  const bool final_;
  Verdict verdict_;
  std::string name_, timestamp_, hostname_;
  int64_t next_id_ = 0;
  // By hash, as the names themselves are a sixth of what a large run keeps. Two that collide only get a "~2"
  // too much.
  std::unordered_set<uint64_t> names_;
};

}  // namespace

Status RenderJunit(const Summary& summary, const JunitOptions& options, bool final,
                   const std::function<Status(size_t number, const std::string& document)>& sink) {
  Document document(summary, options, final);
  size_t number = 0;
  for (const File& file : document.Files()) {
    ++number;
    if (Status status = sink(number, document.Render(file, number)); !status) return status;
  }
  return {};
}

}  // namespace cudnn_ci
