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
#include "cli/plan_listing.h"
#include "cli/plugin_folders.h"
#include "cli/process_setup.h"
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

Gate::Gate(const RunOptions& options, const Invocation& invocation)
    : options_(options),
      invocation_(invocation),
      installation_(invocation.installation),
      session_({installation_, options.discovery, options.time_limit_s, options.grace_s}),
      start_ns_(MonotonicNs()) {}

Gate::~Gate() {
  if (exit_code_ == 2) locks_.Undo();
}

bool Gate::Invalid(const std::string& message) {
  PrintDiagnostic(message);
  RemoveReports(paths_);
  exit_code_ = 2;
  return false;
}

bool Gate::PrepareOutput() {
  OutputPaths paths = ChoosePaths(options_.reports);
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
  std::vector<std::string> inputs = {options_.selection.matrix.name, options_.image_config,
                                     options_.compatibility};
  for (const KnowledgePlace& place : KnowledgePlaces(options_.discovery)) inputs.push_back(place.path);
  Result<ReportLocks> locks = PrepareReports(paths, inputs);
  if (!locks.ok()) return Invalid(locks.error());  // paths_ stays empty: nothing there is ours to remove
  PrintLeftOutReports(paths);
  locks_ = std::move(*locks);
  paths_ = std::move(paths);
  return true;
}

void Gate::Emit(EventBody body) {
  if (auto* reported = std::get_if<FindingReported>(&body)) {
    ApplyRemedy(known_.knowledge, &reported->finding);
    if (const auto found = planned_.find(reported->ref); found != planned_.end())
      collected_->NameSubjectThatCures(*found->second, &reported->finding);
  }
  fanout_->Emit(NowMs(), std::move(body));
}

int64_t Gate::NowMs() const { return (MonotonicNs() - start_ns_) / 1'000'000; }

bool Gate::OpenReports() {
  if (options_.dry_run) return true;
  fanout_ = std::make_unique<Fanout>();
  RunSummaryOptions screen = ScreenOf(paths_, options_.launcher.reports_at);
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

std::optional<Finding> Gate::ObstacleBeforePlugins() {
  std::optional<Finding> obstacle = Unreadable();
  if (!obstacle) obstacle = ObstacleBeforeDiscovery(installation_.worker_path());
  return obstacle ? obstacle : ObstacleOfTheLoader();
}

bool Gate::Discover() {
  Resolved resolved(std::move(*chosen_), known_.names, &session_);
  chosen_.reset();
  if (session_.interrupted() == 0) obstacle_ = ObstacleBeforePlugins();
  if (session_.interrupted() != 0 || obstacle_) {
    collected_ = Collected::Nothing(std::move(resolved));
    if (session_.interrupted() != 0) return Interrupted();
    return options_.dry_run ? Invalid(obstacle_->detail) : true;  // the reports say it
  }
  // What plugins find is this machine's, and a bill of materials speaks of another one.
  collected_ = options_.sbom.empty() ? Collected::ForMatrix(std::move(resolved), &session_)
                                     : Collected::ForSubjects({}, std::move(resolved), &session_);
  if (session_.MustEnd()) return Interrupted();
  const Discovery& discovery = collected_->discovery();
  obstacle_ = Unreadable();
  if (!obstacle_) obstacle_ = ObstacleBehindPlugins();
  if (obstacle_) return options_.dry_run ? Invalid(obstacle_->detail) : true;
  collected_->ChooseSubjects(known_.names.adapted, &session_);
  if (session_.MustEnd()) return Interrupted();
  if (discovery.catalog.plugins.empty() && discovery.catalog.broken.empty())
    return Invalid("no plugin found in " + Join(AllPluginDirs(installation_, options_.discovery), ", ") +
                   "; name their folder with --plugin-dir");
  const Result<std::vector<DeviceInfo>> devices = collected_->SelectDevices(options_.selection.device);
  if (!devices.ok()) return Invalid(devices.error());
  devices_ = *devices;
  return true;
}

bool Gate::Interrupted() {
  const int signal = session_.interrupted();
  exit_code_ = signal != 0 ? 128 + signal : kExitUndetermined;
  if (!fanout_) {
    const char* why = signal != 0 ? "interrupted" : "the --time-limit was reached";
    fprintf(stderr, "cudnn-ci: %s before there was a plan\n", why);
    return false;
  }
  Emit(MakeRunStarted());
  Emit(RunCancelled{signal != 0 ? CancelReason::kSignal : CancelReason::kTimeLimit, signal});
  Finish();
  return false;
}

bool Gate::MakePlan() {
  if (obstacle_) return true;
  plugin_problems_ = CatalogProblems(collected_->discovery().catalog);
  if (!plugin_problems_.empty()) {
    if (options_.dry_run) PrintProblems(plugin_problems_);
    exit_code_ = 5;
    return !options_.dry_run;  // the reports of a run say it
  }
  if (const auto problems = RemedyProblems(known_, collected_->discovery().catalog); !problems.empty())
    return Refuse(problems);
  PlanOptions selection = collected_->MakePlanOptions(options_.selection, devices_, &session_);
  selection.cases_of_record = options_.rerun_failed;
  if (options_.rerun_failed) selection.cases = rerun_;
  auto planned = cudnn_ci::MakePlan(collected_->matrix(), collected_->discovery().catalog, selection);
  if (session_.MustEnd()) return Interrupted();  // while plugins validated parameters
  if (const auto* problems = std::get_if<std::vector<Problem>>(&planned)) return Refuse(*problems);
  plan_ = std::move(std::get<Plan>(planned));
  collected_->ForgetEntries();
  if (options_.rerun_failed) plan_.partial.push_back({NoticeCode::kRerun});
  if (options_.isolation == Isolation::kNone) {
    if (const size_t subjects = collected_->matrix().subjects.size(); subjects > 1)
      return Invalid(
          "--isolation none runs everything in one process, which can load one subject's libraries only; "
          "the matrix has " +
          std::to_string(subjects));
    plan_.partial.push_back({NoticeCode::kIsolationNone});
  }
  if (const std::optional<Notice>& taken = collected_->automatic()) plan_.not_gated.push_back(*taken);
  for (const auto& notices :
       {collected_->UnusedDevices(devices_), collected_->NotTested(known_.names.adapted)})
    plan_.not_gated.insert(plan_.not_gated.end(), notices.begin(), notices.end());
  ReportSbom();
  if (options_.dry_run) return DryRun();
  SelectTimedCases();
  return true;
}

bool Gate::DryRun() {
  exit_code_ = PrintPlan(plan_, false);
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
  if (const std::string& id = options_.subject_id; !id.empty())
    run->image = ImageById(id), run->digest_from = kIdTold;
  run->container_command = options_.launcher.command.empty()
                               ? ContainerCommand(options_, invocation_, collected_->matrix(), runners)
                               : options_.launcher.command;
}

RunStarted Gate::MakeRunStarted() const {
  const Matrix& matrix = collected_->matrix();
  RunStarted r;
  r.timestamp = UtcTimestamp();
  r.run_id = RunId(r.timestamp, number_);
  if (!run_token_.empty()) r.token_sha256 = Sha256Hex(run_token_);
  r.version = ToolVersion();
  r.hostname = Hostname();
  r.matrix_name = matrix.name;
  r.matrix_path = matrix.path;
  r.matrix_sha256 = matrix.sha256;
  r.image = "unidentified";
  r.command_line = invocation_.command_line;
  r.compatibility = known_.table.identity;
  r.knowledge = known_.knowledge.files;
  r.subjects = matrix.subjects;
  r.devices = devices_;
  r.contract = matrix.contract;
  for (const auto& [subject, facts] : collected_->discovery().facts.by_subject) r.facts[subject] = facts;
  Identify(&r);
  r.not_gated = plan_.not_gated;
  r.warnings = own_warnings_;
  for (const auto& more : {plan_.warnings, collected_->subject_warnings()})
    r.warnings.insert(r.warnings.end(), more.begin(), more.end());
  const Discovery& d = collected_->discovery();
  r.warnings.insert(r.warnings.end(), d.warnings.begin(), d.warnings.end());
  for (const std::string& name : RemovedVariables())
    r.warnings.push_back({NoticeCode::kVariableRemoved, {{"variable", name}}});
  for (const PluginInfo& p : d.catalog.plugins)
    r.plugins.push_back({p.name, p.version, p.path, p.file.sha256, PluginOrigin(installation_, p.path)});
  r.partial = plan_.partial;
  r.report_only = options_.report_only;
  r.shard_index = options_.selection.shard_index;
  r.shard_count = options_.selection.shard_count;
  return r;
}

void Gate::CancelIfInterrupted() {
  if (session_.interrupted() != 0 && !fanout_->summary().cancelled)
    Emit(RunCancelled{CancelReason::kSignal, session_.interrupted()});
}

void Gate::EmitPlan() {
  Emit(MakeRunStarted());
  for (const PositionedWaiver& w : collected_->matrix().waivers) Emit(WaiverDeclared{w.waiver});
  if (obstacle_) Emit(FindingReported{{}, *obstacle_});
  for (const Finding& problem : collected_->subject_problems()) Emit(FindingReported{{}, problem});
  if (!obstacle_)
    for (const Finding& problem : collected_->MatrixProblems()) Emit(FindingReported{{}, problem});
  if (const std::string problem = collected_->PreloadProblem(); !problem.empty() && !obstacle_)
    Emit(FindingReported{{}, HarnessFinding("preload-breaks-processes", problem)});
  else
    ReportPreloads();
  for (const Problem& p : plugin_problems_)
    Emit(FindingReported{{}, HarnessFinding("plugin-invalid", ToString(p))});
  if (const std::string& abandoned = collected_->discovery().abandoned; !abandoned.empty())
    Emit(FindingReported{{}, HarnessFinding("abandoned", abandoned)});
  ReportIsolation();
  for (const Case& c : plan_.cases) {
    planned_[c.planned.ref] = &c.planned;
    Emit(c.planned);
  }
  Emit(PlanEnd{static_cast<int64_t>(plan_.cases.size()), plan_.sha256, plan_.whole});
}

bool Gate::Run() {
  EmitPlan();
  CancelIfInterrupted();
  if (!plugin_problems_.empty() || obstacle_ || session_.interrupted() != 0) return true;
  RunnerOptions r;
  r.worker_path = installation_.worker_path();
  r.scratch_dir = session_.scratch_dir();
  r.output_dir = paths_.folder;
  r.isolation = options_.isolation;
  // A GPU's worker mostly waits: every device may have one, and the checks of files have a slot of their own.
  r.processors = AvailableCpus();
  r.processor_quota = HasCpuQuota();
  r.jobs = options_.jobs > 0 ? options_.jobs : std::max(r.processors + 1, static_cast<int>(devices_.size()));
  r.workers_per_gpu = WorkersPerGpu();
  if (options_.isolation == Isolation::kNone) r.jobs = 1;
  r.retries = options_.retries;
  r.fail_fast = options_.fail_fast;
  // None is 0 for the runner; none left is a limit.
  if (options_.time_limit_s > 0) r.time_limit_s = std::max(session_.TimeLeft(), 1e-3);
  r.limits.grace_s = options_.grace_s;
  r.contract = collected_->matrix().contract;
  r.unpromised = collected_->matrix().unpromised;
  r.compatibility = EntriesOf(known_);
  r.facts = collected_->discovery().facts;
  r.subjects = collected_->matrix().subjects;
  r.devices = devices_;
  r.baseline = speed_;
  // Who names a GPU keeps the run off the others.
  if (options_.selection.device == SelectionOptions::kFirstDevice)
    r.other_devices = collected_->OtherDevices(devices_);
  RunnerCallbacks callbacks;
  callbacks.emit = [this](const EventBody& body) { Emit(body); };
  callbacks.tick = [this] {
    const int64_t now = NowMs();
    if (now - last_tick_ms_ < kTickMs) return;
    last_tick_ms_ = now;
    fanout_->OnTick(now);
  };
  // What hangs in the kernel would hang again, case by case: the runner is broken, and nothing is tested on
  // it.
  if (!collected_->discovery().abandoned.empty()) return true;
  Runner(plan_, collected_->discovery().catalog, r, fanout_->summary(), callbacks, session_.control(),
         session_.signal_fd())
      .Run();
  return true;
}

int Gate::Finish() {
  if (looked_at_loader_) ReportPreloads();
  ReportStrays();
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

}  // namespace cudnn_ci
