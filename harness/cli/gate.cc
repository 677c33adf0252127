#include "cli/gate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "base/time.h"
#include "cli/container_command.h"
#include "cli/diagnostics.h"
#include "cli/process_setup.h"
#include "cli/rerun.h"
#include "cli/run_token.h"
#include "cli/worker_obstacle.h"
#include "exec/schedule/runner.h"
#include "exec/system/proc.h"
#include "model/plan/catalog_rules.h"
#include "model/record/notice_list.h"
#include "model/verdict/verdict.h"
#include "report/formats/console.h"
#include "report/formats/stream_report.h"
#include "report/record/journal.h"
#include "review/compare.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kTickMs = 200;

std::string Hostname() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name[0] ? name : "unknown";
}

// Unique enough to tell runs apart, and readable: when, and a random number.
std::string RunId(const std::string& timestamp, uint64_t number) {
  std::string id;
  for (const char c : timestamp)
    if (c != '-' && c != ':') id += c;
  char hex[9];
  snprintf(hex, sizeof hex, "%08x", static_cast<unsigned>(number >> 32));
  return id + "-" + hex;
}

}  // namespace

Gate::Gate(const Options& options) : options_(options), session_(options), start_ns_(MonotonicNs()) {}
Gate::~Gate() = default;

bool Gate::Invalid(const std::string& message) {
  PrintDiagnostic(message);
  RemoveReports(paths_);
  exit_code_ = 2;
  return false;
}

bool Gate::ReadEarlierRuns(const OutputPaths& paths) {
  if (options_.rerun_failed) {
    Result<std::vector<CaseRef>> cases = CasesToRerun(paths);
    // Nothing is withdrawn: the record is an input, and what lies beside it says the same.
    if (!cases.ok()) return Invalid("--rerun-failed: " + cases.error());
    rerun_ = std::move(*cases);
    // Nor where the matrix is mistyped: the list of what failed would be lost.
    if (!options_.matrix.empty()) {
      const auto loaded = LoadMatrix(options_.matrix, options_.matrices_dir(), options_.matrix_root);
      if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
        exit_code_ = PrintProblems(*problems);
        return false;
      }
    }
  }
  if (options_.baseline.empty() || options_.dry_run) return true;
  Result<RunView> earlier = ReadRun(options_.baseline);
  if (!earlier.ok()) {
    WithdrawReports(WithoutInputs(paths, {options_.baseline}));
    return Invalid("--baseline: " + earlier.error());
  }
  baseline_ = std::make_shared<const RunView>(std::move(*earlier));
  return true;
}

bool Gate::PrepareOutput() {
  OutputPaths paths = ChoosePaths(options_);
  if (!options_.run_token.empty() && !options_.dry_run) {
    Result<std::string> token = TakeRunToken(options_.run_token);
    if (!token.ok()) {
      WithdrawReports(paths);
      return Invalid("--run-token: " + token.error());
    }
    run_token_ = std::move(*token);
  }
  // Before the reports of an earlier run are removed: it may be one of them.
  if (!ReadEarlierRuns(paths)) return false;
  if (options_.dry_run) return true;
  if (const std::string none = NoFilesForReports(); !none.empty()) {
    WithdrawReports(paths);
    return Invalid(none);
  }
  std::vector<std::string> inputs = {options_.matrix, options_.image_config, options_.compatibility};
  for (const KnowledgePlace& place : KnowledgePlaces(options_)) inputs.push_back(place.path);
  Result<ReportLocks> locks = PrepareReports(paths, inputs);
  if (!locks.ok()) return Invalid(locks.error());  // paths_ stays empty: nothing there is ours to remove
  TellLeftOut(paths);
  locks_ = std::move(*locks);
  paths_ = std::move(paths);
  return true;
}

void Gate::Emit(EventBody body) {
  if (auto* reported = std::get_if<FindingReported>(&body)) ApplyRemedy(known_.knowledge, &reported->finding);
  fanout_->Emit(NowMs(), std::move(body));
}

int64_t Gate::NowMs() const { return (MonotonicNs() - start_ns_) / 1'000'000; }

bool Gate::OpenReports() {
  if (options_.dry_run) return true;
  fanout_ = std::make_unique<Fanout>();
  RunSummaryOptions screen = ScreenOf(paths_, options_.reports_at);
  screen.since = ChangesSince(baseline_);
  for (auto& reporter : MakeReporters(paths_.reports, {options_.strict_junit, screen, false})) {
    if (const Status s = reporter->Open(); !s.ok()) return Invalid(s.error());
    fanout_->Add(std::move(reporter));
  }
  if (!paths_.journal.empty()) {
    Result<std::unique_ptr<JournalWriter>> journal = JournalWriter::Open(paths_.journal);
    if (!journal.ok()) return Invalid(journal.error());
    fanout_->Add(std::move(*journal));
  }
  // Behind them: it tells of the others' failures.
  const int console_fd = paths_.to_stdout.empty() ? STDOUT_FILENO : STDERR_FILENO;
  ConsoleOptions console = DetectConsole(console_fd, options_.color);
  console.verbosity = options_.verbosity;
  console.screen = screen;
  fanout_->Add(std::make_unique<ConsoleReporter>(console_fd, console));
  if (paths_.to_stdout.empty()) return true;
  const std::string file = session_.scratch_dir() + "/report-for-stdout";
  const int stdout_fd = StandardOutputWasClosed() ? -1 : STDOUT_FILENO;
  const CommandSpelling spelling = ReportFormatOf(paths_.to_stdout).spelling;
  for (auto& reporter : MakeReporters({{paths_.to_stdout, file}}, {options_.strict_junit, screen, true}))
    fanout_->Add(std::make_unique<StreamReporter>(std::move(reporter), file, spelling, stdout_fd));
  return true;
}

bool Gate::Discover() {
  session_.ResolveSubjects(&matrix_);
  if (session_.interrupted() != 0) return Interrupted();
  obstacle_ = Unreadable();
  if (!obstacle_) obstacle_ = ObstacleBeforeDiscovery(options_.worker_path());
  if (!obstacle_) obstacle_ = ObstacleOfTheLoader();
  if (session_.interrupted() != 0) return Interrupted();
  if (obstacle_) return options_.dry_run ? Invalid(obstacle_->detail) : true;  // the reports say it
  const std::vector<SubjectInfo> system = {{"system", "loader"}};
  if (!discovered_) {
    session_.DiscoverPlugins(SubjectsWithFacts(), matrix_.contract);
  } else if (matrix_.subjects != system || !matrix_.contract.empty()) {
    session_.CollectFactsFor(matrix_.subjects, matrix_.contract);
  }
  if (session_.MustEnd()) return Interrupted();
  obstacle_ = ObstacleOf(session_.discovery(), options_.worker_path());
  if (obstacle_) return options_.dry_run ? Invalid(obstacle_->detail) : true;
  session_.DropSystemWithoutCudnn(&matrix_);
  if (session_.discovery().catalog.plugins.empty() && session_.discovery().catalog.broken.empty())
    return Invalid("no plugin found in " + Join(options_.AllPluginDirs(), ", ") +
                   "; name their folder with --plugin-dir");
  const Result<std::vector<DeviceInfo>> devices = session_.SelectDevices();
  if (!devices.ok()) return Invalid(devices.error());
  devices_ = *devices;
  return true;
}

std::optional<Finding> Gate::Unreadable() const {
  if (session_.unreadable().empty()) return std::nullopt;
  return HarnessFinding("subject-unreadable", session_.unreadable());
}

bool Gate::Interrupted() {
  const int signal = session_.interrupted();
  exit_code_ = signal != 0 ? 128 + signal : kExitUndetermined;
  if (!fanout_) {
    const char* why = signal != 0 ? "interrupted" : "the --time-limit was reached";
    fprintf(stderr, "cudnn-ci: %s before there was a plan\n", why);
    return false;
  }
  Emit(Introduction());
  Emit(RunCancelled{signal != 0 ? CancelReason::kSignal : CancelReason::kTimeLimit, signal});
  Finish();
  return false;
}

bool Gate::MakePlan() {
  if (obstacle_) return true;
  plugin_problems_ = CatalogProblems(session_.discovery().catalog);
  if (!plugin_problems_.empty()) {
    if (options_.dry_run) PrintProblems(plugin_problems_);
    exit_code_ = 5;
    return !options_.dry_run;  // the reports of a run say it
  }
  PlanOptions selection = session_.MakePlanOptions(devices_);
  selection.cases_of_record = options_.rerun_failed;
  if (options_.rerun_failed) selection.cases = rerun_;
  auto planned = cudnn_ci::MakePlan(matrix_, session_.discovery().catalog, selection);
  if (session_.MustEnd()) return Interrupted();  // while plugins judged parameters
  if (const auto* problems = std::get_if<std::vector<Problem>>(&planned)) {
    RemoveReports(paths_);
    exit_code_ = PrintProblems(*problems);
    return false;
  }
  plan_ = std::move(std::get<Plan>(planned));
  // As large as the plan, with a position for each value; from here on only contract and waivers are of
  // interest.
  matrix_.entries = {};
  matrix_.shapes = {};
  if (options_.rerun_failed) plan_.partial.push_back({NoticeCode::kRerun});
  if (options_.isolation == Isolation::kNone) {
    if (matrix_.subjects.size() > 1)
      return Invalid(
          "--isolation none runs everything in one process, which can load one subject's libraries only; "
          "the matrix has " +
          std::to_string(matrix_.subjects.size()));
    plan_.partial.push_back({NoticeCode::kIsolationNone});
  }
  for (const auto& notices : {session_.UnusedDevices(devices_), session_.UnusedCopies()})
    plan_.not_gated.insert(plan_.not_gated.end(), notices.begin(), notices.end());
  TellOfSbom();
  if (options_.dry_run) return DryRun();
  HoldToBaseline();
  return true;
}

bool Gate::DryRun() {
  exit_code_ = PrintAnswer(PlanAsText(plan_)) ? 0 : 5;
  return false;
}

void Gate::Identify(RunStarted* run) const {
  constexpr std::string_view kPrefix = "env.";
  Variables seen, runners;
  std::set<std::string> told;  // with their values: no other value may be printed, it may be a secret
  // Which variables are recorded is the plugins' business; a check's process may have been given other
  // values.
  for (const auto& [subject, facts] : run->facts)
    for (const auto& [key, value] : facts)
      if (key.compare(0, kPrefix.size(), kPrefix) == 0)
        if (const char* own = getenv(key.c_str() + kPrefix.size())) {
          seen[key.substr(kPrefix.size())] = own;
          if (value == own) told.insert(key.substr(kPrefix.size()));
        }
  if (!options_.image_config.empty()) run->environment = AttributeVariables(seen, image_.variables);
  for (const auto& [name, by] : run->environment)
    if (by != "image" && told.count(name) > 0) runners[name] = seen[name];
  if (!options_.subject_image.empty()) {
    run->image = options_.subject_image;
    run->digest_from = DigestFrom(run->image, image_);
  }
  run->container_command = options_.launch_command.empty() ? ContainerCommand(options_, matrix_, runners)
                                                           : options_.launch_command;
}

RunStarted Gate::Introduction() const {
  RunStarted r;
  r.timestamp = UtcTimestamp();
  r.run_id = RunId(r.timestamp, number_);
  if (!run_token_.empty()) r.token_sha256 = Sha256Hex(run_token_);
  r.version = ToolVersion();
  r.hostname = Hostname();
  r.matrix_name = matrix_.name;
  r.matrix_path = matrix_.path;
  r.matrix_sha256 = matrix_.sha256;
  r.image = "unidentified";
  r.command_line = options_.command_line;
  r.compatibility = known_.table.identity;
  r.knowledge = known_.knowledge.files;
  r.subjects = matrix_.subjects;
  r.devices = devices_;
  r.contract = matrix_.contract;
  for (const auto& [subject, facts] : session_.discovery().facts.by_subject) r.facts[subject] = facts;
  Identify(&r);
  r.not_gated = plan_.not_gated;
  r.warnings = own_warnings_;
  for (const auto& more : {plan_.warnings, session_.subject_warnings()})
    r.warnings.insert(r.warnings.end(), more.begin(), more.end());
  const Discovery& d = session_.discovery();
  r.warnings.insert(r.warnings.end(), d.warnings.begin(), d.warnings.end());
  for (const std::string& name : RemovedVariables())
    r.warnings.push_back({NoticeCode::kVariableRemoved, {{"variable", name}}});
  for (const PluginInfo& p : d.catalog.plugins)
    r.plugins.push_back({p.name, p.version, p.path, p.file.sha256, options_.PluginOrigin(p.path)});
  r.partial = plan_.partial;
  r.report_only = options_.report_only;
  r.shard_index = options_.shard_index;
  r.shard_count = options_.shard_count;
  return r;
}

void Gate::CancelIfInterrupted() {
  if (session_.interrupted() != 0 && !fanout_->summary().cancelled)
    Emit(RunCancelled{CancelReason::kSignal, session_.interrupted()});
}

void Gate::EmitPlan() {
  Emit(Introduction());
  for (const PositionedWaiver& w : matrix_.waivers) Emit(WaiverDeclared{w.waiver});
  if (obstacle_) Emit(FindingReported{{}, *obstacle_});
  for (const Finding& problem : session_.subject_problems()) Emit(FindingReported{{}, problem});
  if (const std::string problem = session_.PreloadProblem(); !problem.empty())
    Emit(FindingReported{{}, HarnessFinding("preload-breaks-processes", problem)});
  else
    TellOfLoader();
  for (const Problem& p : plugin_problems_)
    Emit(FindingReported{{}, HarnessFinding("plugin-invalid", ToString(p))});
  if (const std::string& abandoned = session_.discovery().abandoned; !abandoned.empty())
    Emit(FindingReported{{}, HarnessFinding("abandoned", abandoned)});
  for (const Case& c : plan_.cases) Emit(c.planned);
  Emit(PlanEnd{static_cast<int64_t>(plan_.cases.size()), plan_.sha256, plan_.whole});
}

bool Gate::Run() {
  EmitPlan();
  CancelIfInterrupted();
  if (!plugin_problems_.empty() || obstacle_ || session_.interrupted() != 0) return true;
  RunnerOptions r;
  r.worker_path = options_.worker_path();
  r.scratch_dir = session_.scratch_dir();
  r.output_dir = paths_.folder;
  r.isolation = options_.isolation;
  // A GPU's worker mostly waits: every device may have one.
  r.processors = AvailableCpus();
  r.processor_quota = HasCpuQuota();
  r.jobs = options_.jobs > 0 ? options_.jobs : std::max(r.processors, static_cast<int>(devices_.size()));
  r.workers_per_gpu = WorkersPerGpu();
  if (options_.isolation == Isolation::kNone) r.jobs = 1;
  r.retries = options_.retries;
  r.fail_fast = options_.fail_fast;
  // None is 0 for the runner; none left is a limit.
  if (options_.time_limit_s > 0) r.time_limit_s = std::max(session_.TimeLeft(), 1e-3);
  r.limits.grace_s = options_.grace_s;
  r.contract = matrix_.contract;
  r.compatibility = EntriesOf(known_);
  r.facts = session_.discovery().facts;
  r.subjects = matrix_.subjects;
  r.devices = devices_;
  r.baseline = speed_;
  // Who names a GPU keeps the run off the others.
  if (options_.device == Options{}.device) r.other_devices = session_.OtherDevices(devices_);
  RunnerCallbacks callbacks;
  callbacks.emit = [this](const EventBody& body) { Emit(body); };
  callbacks.tick = [this] {
    const int64_t now = NowMs();
    if (now - last_tick_ms_ < kTickMs) return;
    last_tick_ms_ = now;
    fanout_->OnTick(now);
  };
  // What hangs in the kernel would hang again, case by case: the runner is broken, and nothing is judged on
  // it.
  if (!session_.discovery().abandoned.empty()) return true;
  Runner(plan_, session_.discovery().catalog, r, fanout_->summary(), callbacks, session_.control(),
         session_.signal_fd())
      .Run();
  return true;
}

int Gate::Finish() {
  if (looked_at_loader_) TellOfLoader();
  CancelIfInterrupted();
  // Of a plan that nothing came to only the obstacle is to be told.
  if (!obstacle_)
    for (const Finding& f : RunLevelFindings(fanout_->summary())) Emit(FindingReported{{}, f});
  // No process of a check is left that could read the token.
  Emit(RunFinished{static_cast<double>(MonotonicNs() - start_ns_) / 1e9, run_token_});
  fanout_->Finish();
  for (const std::string& failure : fanout_->failures())
    PrintDiagnostic("a report could not be written: " + failure);
  const Verdict verdict = Judge(fanout_->summary());
  exit_code_ = options_.report_only && verdict.kind != VerdictKind::kInterrupted ? 0 : verdict.exit_code;
  return exit_code_;
}

std::string PlanAsText(const Plan& plan) {
  std::string out;
  for (const Case& c : plan.cases) {
    out += DisplayId(c.planned.ref);
    if (!c.planned.required) out += "  (optional)";
    if (c.planned.prerequisite) out += "  (needed by others)";
    if (c.predetermined) out += std::string("  (") + Name(*c.predetermined) + " already)";
    out += '\n';
  }
  return out;
}

}  // namespace cudnn_ci
