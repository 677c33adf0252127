#include "cli/commands.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "base/secrets.h"
#include "base/text.h"
#include "cli/compare_command.h"
#include "cli/copy_to.h"
#include "cli/diagnostics.h"
#include "cli/facts.h"
#include "cli/gate.h"
#include "cli/init.h"
#include "cli/knowledge_command.h"
#include "cli/known.h"
#include "cli/output_folder.h"
#include "cli/report_command.h"
#include "cli/self_test.h"
#include "cli/session.h"
#include "cli/waive.h"
#include "cli/worker_obstacle.h"
#include "model/plan/catalog_rules.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {
namespace {

using nlohmann::ordered_json;

// As it is: what was masked by its parts, or is to be typed or read again.
int PrintAsIs(const std::string& text) { return PrintAnswer(text) ? 0 : 5; }

// What plugins and files are called has to stay as it is until here: files are opened by their names.
int Print(const std::string& text, const CommandSpelling& spelling = kInText) {
  return PrintAsIs(WithoutPipelineCommands(Secrets::OfThisProcess().Mask(CleanText(text)), spelling));
}

// Text by text: in the finished document a value may be escaped, and a number or a key must stay.
void MaskTexts(ordered_json* j) {
  if (j->is_string()) *j = Secrets::OfThisProcess().Mask(j->get_ref<const std::string&>());
  if (j->is_structured())
    for (auto& [key, value] : j->items())
      if (key != "id" && key != "schema" && key != "slug") MaskTexts(&value);
}

std::string Dump(const ordered_json& j) {
  // In ASCII: a terminal shows it, and characters that command one may stand in it.
  return WithoutPipelineCommands(j.dump(2, ' ', true, ordered_json::error_handler_t::replace) + "\n",
                                 kInJson);
}

int PrintJson(ordered_json j) {
  MaskTexts(&j);
  return PrintAsIs(Dump(j));
}

int Fail(const std::string& message) {
  PrintDiagnostic(message);
  return 2;
}

int List(const Options& options) {
  if (const auto obstacle = ObstacleBeforeDiscovery(options.worker_path())) return Fail(obstacle->detail);
  auto known = LoadKnown(options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
  Session session(options);
  std::string path = options.matrix;
  if (path.empty()) {
    session.DiscoverForChoice(std::get<Known>(known).names);
    if (const int code = session.EndOfLook(); code != 0) return code;
    if (!options.auto_matrix)
      return Fail("list needs --matrix FILE or --auto. Found: " + session.FoundInWords());
    const Result<std::string> choice = session.AutoMatrix();
    if (!choice.ok()) return Fail(choice.error());
    path = *choice;
  }
  auto loaded = LoadMatrix(path, options.matrices_dir(), options.matrix_root);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return PrintProblems(*problems);
  Matrix& matrix = std::get<Matrix>(loaded);
  if (options.auto_matrix) session.JudgeChosen(&matrix);
  session.ResolveSubjects(&matrix);
  if (const int code = session.EndOfLook(); code != 0) return code;
  if (options.auto_matrix) {
    if (matrix.subjects != std::vector<SubjectInfo>{{"system", "loader"}} || !matrix.contract.empty())
      session.CollectFactsFor(matrix.subjects, matrix.contract);
  } else {
    session.DiscoverPlugins(matrix.subjects, matrix.contract);
  }
  session.DropSystemWithoutCudnn(&matrix);
  if (const auto problems = CatalogProblems(session.discovery().catalog); !problems.empty()) {
    PrintProblems(problems);
    return 5;
  }
  const Result<std::vector<DeviceInfo>> devices = session.SelectDevices();
  if (!devices.ok()) return Fail(devices.error());
  auto planned = MakePlan(matrix, session.discovery().catalog, session.MakePlanOptions(*devices));
  if (session.interrupted() != 0) return 128 + session.interrupted();
  if (const auto* problems = std::get_if<std::vector<Problem>>(&planned)) return PrintProblems(*problems);
  const Plan& plan = std::get<Plan>(planned);
  if (!options.json) return PrintAsIs(PlanAsText(plan));
  ordered_json cases = ordered_json::array();
  for (const Case& c : plan.cases)
    cases.push_back(
        {{"id", c.planned.ref.id},
         {"device", c.planned.ref.device},
         {"check", c.planned.check},
         {"plugin", c.planned.plugin},
         {"subject", c.planned.subject},
         {"required", c.planned.required},
         {"prerequisite", c.planned.prerequisite},
         {"timeout_s", c.planned.timeout_s},
         {"settled", c.predetermined ? ordered_json(Name(*c.predetermined)) : ordered_json(nullptr)}});
  return PrintAsIs(Dump({{"schema", "cudnn-ci/list/1"},
                         {"plan_sha256", plan.sha256},
                         {"partial", PartialText(plan.partial)},
                         {"not_gated", SentencesOf(plan.not_gated)},
                         {"cases", cases}}));
}

ordered_json ToJson(const ParamInfo& p) {
  ordered_json j{{"name", p.name}, {"type", Name(p.type)}};
  if (!p.summary.empty()) j["summary"] = p.summary;
  if (p.default_json) {
    const ordered_json value = ordered_json::parse(*p.default_json, nullptr, false);
    j["default"] = value.is_discarded() ? ordered_json(*p.default_json) : value;
  }
  if (!p.allowed.empty()) j["allowed"] = p.allowed;
  if (!p.fields.empty()) {
    j["fields"] = ordered_json::array();
    for (const ParamInfo& f : p.fields) j["fields"].push_back(ToJson(f));
  }
  return j;
}

ordered_json ToJson(const PluginInfo& p) {
  ordered_json checks = ordered_json::array(), findings = ordered_json::array();
  for (const CheckInfo& c : p.checks) {
    ordered_json params = ordered_json::array();
    for (const ParamInfo& q : c.params) params.push_back(ToJson(q));
    checks.push_back({{"name", c.name},
                      {"summary", c.summary},
                      {"layer", Name(c.layer)},
                      {"devices", Name(c.devices)},
                      {"shareable", c.shareable},
                      {"concurrent", c.concurrent},
                      {"slow_cases", c.slow_cases},
                      {"per_subject", c.per_subject},
                      {"requires", c.prerequisites},
                      {"judges", c.judges},
                      {"params", params}});
  }
  for (const FindingInfo& f : p.findings)
    findings.push_back({{"slug", f.slug},
                        {"severity", Name(f.severity)},
                        {"blame", Name(f.blame)},
                        {"summary", f.summary},
                        {"remedy", f.remedy},
                        {"link", f.link},
                        {"command", f.command},
                        {"where", Name(f.where)}});
  return {{"name", p.name},
          {"version", p.version},
          {"summary", p.summary},
          {"path", p.path},
          {"abi", "1." + std::to_string(p.abi_minor)},
          {"warnings", SentencesOf(p.warnings)},
          {"checks", checks},
          {"findings", findings}};
}

int Plugins(const Options& options) {
  Session session(options);
  session.DiscoverPlugins({});
  const Catalog& catalog = session.discovery().catalog;
  const std::vector<Problem> problems = CatalogProblems(catalog);
  // What makes a run red does so here.
  const int code = catalog.broken.empty() && problems.empty() ? 0 : 5;
  int printed = 0;
  if (options.json) {
    ordered_json plugins = ordered_json::array(), broken = ordered_json::array();
    for (const PluginInfo& p : catalog.plugins) plugins.push_back(ToJson(p));
    for (const BrokenPlugin& b : catalog.broken)
      broken.push_back({{"stem", b.stem}, {"path", b.path}, {"reason", b.reason}});
    ordered_json wrong = ordered_json::array();
    for (const Problem& p : problems) wrong.push_back({{"path", p.position.file}, {"problem", p.message}});
    printed = PrintJson(
        {{"schema", "cudnn-ci/plugins/1"}, {"plugins", plugins}, {"broken", broken}, {"problems", wrong}});
  } else {
    std::string out, warnings;
    for (const PluginInfo& p : catalog.plugins) {
      if (options.check_plugins) break;
      out += p.name + " " + p.version + "  " + p.summary + "\n  " + p.path + "\n";
      for (const std::string& w : SentencesOf(p.warnings)) out += "  warning: " + w + "\n";
      for (const CheckInfo& c : p.checks)
        out +=
            "  " + c.name + std::string(c.name.size() < 22 ? 22 - c.name.size() : 1, ' ') + c.summary + "\n";
    }
    for (const BrokenPlugin& b : catalog.broken)
      out += b.stem + "  CANNOT BE LOADED\n  " + b.path + "\n  " + b.reason + "\n";
    for (const Problem& p : problems) out += SingleLine(ToString(p), 1000) + "\n";
    if (options.check_plugins)
      for (const PluginInfo& p : catalog.plugins)
        for (const std::string& w : SentencesOf(p.warnings)) warnings += p.name + ": warning: " + w + "\n";
    if (options.check_plugins && out.empty() && !catalog.plugins.empty())
      out = std::to_string(catalog.plugins.size()) + " plugins, " +
            std::to_string(catalog.CheckNames().size()) + " checks: a run takes them as they are\n" +
            warnings;
    if (out.empty()) out = "no plugins in " + Join(options.AllPluginDirs(), ", ") + "\n";
    printed = Print(out);
  }
  return printed != 0 ? printed : code;
}

int ShowFacts(const Options& options) {
  int exit_code = 0;
  const std::optional<std::string> text = FactsText(options, &exit_code);
  if (!text) return exit_code;
  ordered_json document = options.json ? ordered_json::parse(*text, nullptr, false) : ordered_json();
  return document.is_object() ? PrintJson(std::move(document)) : Print(*text);
}

ordered_json ToJson(const FindingInfo& f) {
  return {{"slug", f.slug},       {"severity", Name(f.severity)}, {"blame", Name(f.blame)},
          {"summary", f.summary}, {"remedy", f.remedy},           {"link", f.link},
          {"command", f.command}, {"where", Name(f.where)},       {"declared_by", f.declared_by}};
}

std::string ToText(const FindingInfo& f) {
  std::string out = f.slug + "\n  what:     " + f.summary + "\n  severity: " + Name(f.severity) +
                    "\n  blame:    " + Name(f.blame) + "\n  remedy:   " + f.remedy + "\n";
  if (!f.command.empty()) out += "  command:  " + f.command + "   (" + PlaceOf(f.where) + ")\n";
  if (!f.link.empty()) out += "  link:     " + f.link + "\n";
  return out + "  declared: by " + f.declared_by + "\n";
}

// Every finding there can be, by finding id. A plugin that cannot be loaded may declare more: exit 5.
int ExplainAll(const Options& options, const Knowledge& knowledge) {
  Session session(options);
  session.DiscoverPlugins({});
  const Catalog& catalog = session.discovery().catalog;
  std::vector<FindingInfo> all = HarnessFindings();
  for (const PluginInfo& p : catalog.plugins) all.insert(all.end(), p.findings.begin(), p.findings.end());
  std::sort(all.begin(), all.end(), [](const FindingInfo& a, const FindingInfo& b) {
    return std::tie(a.slug, a.declared_by) < std::tie(b.slug, b.declared_by);
  });
  std::string text;
  ordered_json list = ordered_json::array();
  for (FindingInfo& f : all) {
    ApplyRemedy(knowledge, &f);
    text += (text.empty() ? "" : "\n") + ToText(f);
    list.push_back(ToJson(f));
  }
  for (const BrokenPlugin& b : catalog.broken) PrintDiagnostic("not loaded: " + b.stem + ": " + b.reason);
  const int printed =
      options.json ? PrintJson({{"schema", "cudnn-ci/findings/1"}, {"findings", list}}) : Print(text);
  return printed != 0 || catalog.broken.empty() ? printed : 5;
}

int Explain(const Options& options) {
  auto known = LoadKnown(options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
  const Knowledge& knowledge = std::get<Known>(known).knowledge;
  if (options.all_findings) return ExplainAll(options, knowledge);
  Session session(options);
  // Reports write it as BLAME.ID.
  const std::string slug = options.slug.substr(options.slug.rfind('.') + 1);
  const FindingInfo* found = FindHarnessFinding(slug);
  if (!found) {
    session.DiscoverPlugins({});
    found = session.discovery().catalog.FindFinding(slug);
  }
  if (!found) {
    std::vector<std::string> slugs;
    for (const FindingInfo& f : HarnessFindings()) slugs.push_back(f.slug);
    for (const PluginInfo& p : session.discovery().catalog.plugins)
      for (const FindingInfo& f : p.findings) slugs.push_back(f.slug);
    const std::string near = DidYouMean(slug, slugs);
    return Fail("no finding '" + slug + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  FindingInfo finding = *found;
  ApplyRemedy(knowledge, &finding);
  return options.json ? PrintJson(ToJson(finding)) : Print(ToText(finding));
}

int ShowKnowledge(const Options& options) {
  auto loaded = LoadKnown(options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return PrintProblems(*problems);
  const Known& known = std::get<Known>(loaded);
  const std::string text = KnowledgeText(known, options.narrowed);
  if (text.empty()) return Fail("nothing is known of '" + options.narrowed + "'");
  if (options.json) return PrintJson(ordered_json::parse(KnowledgeJson(known, options.narrowed)));
  for (const std::string& notice : SentencesOf(known.notices)) PrintDiagnostic(notice);
  return Print(text);
}

int CopyTo(const Options& options) {
  const Result<int> files = CopyTree(options.TreeRoot(), options.copy_target);
  if (!files.ok()) return Fail(files.error());
  return Print("copied " + std::to_string(*files) + " files to " + options.copy_target + "\n");
}

int Init(const Options& options) {
  auto known = LoadKnown(options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
  Session session(options);
  const Result<std::string> said = WriteFirstMatrix(options, std::get<Known>(known).names, &session);
  if (said.ok()) return Print(*said, options.init_file == "-" ? kInJson : kInText);
  const int code = session.EndOfLook();
  return code != 0 ? code : Fail(said.error());
}

int Waive(const Options& options) {
  const Result<std::string> said = WriteWaivers(options);
  if (!said.ok()) return Fail(said.error());
  return PrintAsIs(WithoutPipelineCommands(*said, kInJson));  // a matrix is read again: no secret is masked
}

int TestSelf(const Options& options) {
  int printed = 0;
  const Result<int> code = SelfTest(options, [&](const std::string& line) {
    if (const int failed = Print(line + "\n"); failed != 0) printed = failed;
  });
  if (!code.ok()) return Fail(code.error());
  return *code != 0 ? *code : printed;
}

}  // namespace

int RejectCommandLine(const ParsedOptions& parsed) {
  for (const Options& place : parsed.report_places) WithdrawReports(ChoosePaths(place));
  return parsed.exit_code;
}

int RunCommand(const Options& options) {
  // Nothing here has a report to finish: a signal ends it at once, whatever it waits for. What it has started
  // dies with it, the guardian sees to that.
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGALRM}) {
    signal(s, SIG_DFL);
    sigaddset(&set, s);
  }
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  switch (options.command) {
    case Command::kList:
      return List(options);
    case Command::kPlugins:
      return Plugins(options);
    case Command::kFacts:
      return ShowFacts(options);
    case Command::kExplain:
      return Explain(options);
    case Command::kReport:
      return Report(options);
    case Command::kCompare:
      return CompareRuns(options);
    case Command::kWaive:
      return Waive(options);
    case Command::kCopyTo:
      return CopyTo(options);
    case Command::kManual:
      return Print(options.manual);
    case Command::kKnowledge:
      return ShowKnowledge(options);
    case Command::kSelfTest:
      return TestSelf(options);
    case Command::kInit:
      return Init(options);
    case Command::kRun:
      break;
  }
  return 2;
}

}  // namespace cudnn_ci
