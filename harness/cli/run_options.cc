#include "cli/run_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/option_checks.h"
#include "report/formats/attestation.h"

namespace cudnn_ci {
namespace {

void DeclareReports(CLI::App* app, RunOptions* o) {
  app->add_option("--output-dir", o->reports.output_dir, "folder for all reports (default: cudnn-ci-report)")
      ->type_name("DIR")
      ->check(CheckFolder());
  for (const ReportFormat& format : ReportFormats())
    app->add_option(std::string("--") + format.name, o->reports.paths[format.name], format.help)
        ->type_name("FILE")
        ->check(CheckReport());
  app->add_option_function<std::string>(
         "--junit-profile", [o](const std::string& v) { o->strict_junit = v == "strict"; },
         "rich; or strict, which is valid against the Jenkins xunit schema")
      ->check(CLI::IsMember({"rich", "strict"}));
}

// How many processes there are, and which cases share one.
void DeclareProcesses(CLI::App* app, RunOptions* o) {
  app->add_option(
         "--jobs", o->jobs,
         "number of processes at a time (default: one more than the CPUs that the container may use)")
      ->type_name("N")
      ->check(CheckWhole(1, 4096));
  app->add_option_function<std::string>(
         "--workers-per-gpu",
         [o](const std::string& v) { o->workers_per_gpu = v == "auto" ? 0 : std::stoi(v); },
         "number of processes that may share a GPU; auto: as many as fit; 1: no case shares the GPU "
         "while it is timed")
      ->type_name("N|auto")
      ->check(CheckWorkersPerGpu());
  app->add_option_function<std::string>(
         "--isolation",
         [o](const std::string& v) {
           o->isolation = v == "process" ? Isolation::kProcess
                          : v == "none"  ? Isolation::kNone
                                         : Isolation::kShared;
         },
         "shared: warm workers, each failure repeated alone; process: one process per case; none: one "
         "process without time limits, for a debugger")
      ->check(CLI::IsMember({"shared", "process", "none"}));
}

// When the run repeats a case, and when it ends.
void DeclareCourse(CLI::App* app, RunOptions* o) {
  app->add_option("--retries", o->retries,
                  "repeat a failing case up to N times; if it passes then, it is 'flaky', which is red")
      ->type_name("N")
      ->check(CheckWhole(0, 100));
  app->add_flag("--fail-fast", o->fail_fast, "start no further case after the first red one");
  app->add_option("--time-limit", o->time_limit_s, "end the whole run after S seconds")
      ->type_name("S")
      ->check(CheckSeconds());
  app->add_option("--grace", o->grace_s, "seconds between SIGTERM and SIGKILL for a case that hangs")
      ->type_name("S")
      ->check(CheckSeconds());
}

void DeclareInputs(CLI::App* app, RunOptions* o) {
  app->add_option("--subject-image", o->subject_image,
                  "name and digest of the image under test, for reports and reproduction")
      ->type_name("NAME@DIGEST")
      ->check(CheckImage());
  app->add_option("--subject-id", o->subject_id,
                  "name and id of an image under test that has no digest because it was never pushed")
      ->type_name("NAME@ID")
      ->check(CheckImage());
  app->add_option("--image-config", o->image_config,
                  "output of `docker image inspect` for the image: separates its variables from the runner's")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option("--sbom", o->sbom,
                  "test the versions in this SPDX or CycloneDX JSON file instead of an image")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option("--compatibility", o->compatibility,
                  "version table to use instead of the one that comes with cudnn-ci")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option(
         "--run-token", o->run_token,
         "file with a secret by which the launcher recognises this run's reports; it is read and removed")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option("--baseline", o->baseline,
                  "journal or report.json of an earlier run: the summary shows what changed since then")
      ->type_name("FILE")
      ->check(CheckPath());
}

void DeclareVerbosity(CLI::App* app, Verbosity* verbosity) {
  CLI::Option* const quiet = app->add_flag_callback(
      "--quiet", [verbosity] { *verbosity = Verbosity::kQuiet; }, "print only the summary");
  app->add_flag_callback(
         "--verbose", [verbosity] { *verbosity = Verbosity::kVerbose; },
         "print every case, and all evidence of failures")
      ->excludes(quiet);
}

// A statement (--attestation) can come of what is asked for, whatever the run finds, or none is asked for.
Status CheckStatement(const RunOptions& o) {
  const auto path = o.reports.paths.find(kAttestationFormat);
  if (path == o.reports.paths.end() || path->second.empty()) return {};
  if (path->second == kStandardOutput)
    return Error{
        "--attestation -: a run may have no statement, so it cannot go to standard output; name a file"};
  const std::pair<bool, const char*> partial[] = {{!o.selection.filter.empty(), "--filter"},
                                                  {!o.selection.case_ids.empty(), "--case"},
                                                  {o.rerun_failed, "--rerun-failed"},
                                                  {o.selection.static_stage, "--stage static"},
                                                  {o.isolation == Isolation::kNone, "--isolation none"}};
  for (const auto& [given, option] : partial)
    if (given)
      return Error{std::string("--attestation states the verdict of a whole run; leave it out, or ") +
                   option};
  if (o.report_only) return Error{"--attestation states a verdict; leave it out, or --report-only"};
  if (o.selection.shard_count > 1)
    return Error{
        "--attestation states the verdict of all shards: give it to the cudnn-ci report that merges them"};
  if (o.subject_image.empty())
    return Error{"--attestation is about the image's digest: give --subject-image NAME@DIGEST"};
  return {};
}

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// The report that the option names a place for; null: it is none of these options.
const ReportFormat* FormatOf(const std::string& option) {
  for (const ReportFormat& format : ReportFormats())
    if (option == std::string("--") + format.name) return &format;
  return nullptr;
}

// An option of one start, which a run in another place does not repeat.
bool IsOfThisPlace(const std::string& option) {
  constexpr const char* kOfThisPlace[] = {"--output-dir", "--image-config", "--plugin-dir", "--knowledge",
                                          "--run-token",  "--baseline",     "--dry-run",    "--rerun-failed",
                                          "--gating",     "--color",        "--quiet",      "--verbose"};
  return IsLaunchersOption(option) || FormatOf(option) != nullptr ||
         std::find(std::begin(kOfThisPlace), std::end(kOfThisPlace), option) != std::end(kOfThisPlace);
}

}  // namespace

void DeclareRun(CLI::App* app, RunOptions* o) {
  DeclareSelection(app, &o->selection);
  DeclareReports(app, o);
  DeclareProcesses(app, o);
  DeclareCourse(app, o);
  DeclareInputs(app, o);
  app->add_flag("--report-only", o->report_only, "write all reports and exit 0: NOT GATING");
  app->add_flag("--dry-run", o->dry_run, "list the plan and run nothing");
  app->add_flag("--gating", o->gating,
                "refuse options that exit 0 without a verdict: --dry-run, --report-only");
  app->add_flag("--rerun-failed", o->rerun_failed,
                "repeat the cases that did not pass in the output folder's earlier run; a partial run");
  DeclareDiscovery(app, &o->discovery);
  DeclareColor(app, &o->color);
  DeclareVerbosity(app, &o->verbosity);
  DeclareLauncher(app, &o->launcher);
}

Status CheckRun(RunOptions* o) {
  if (Status s = CheckShard(&o->selection); !s.ok()) return s;
  if (!o->sbom.empty() && (o->selection.auto_matrix || o->selection.no_gpu))
    return Error{std::string("--sbom and ") + (o->selection.auto_matrix ? "--auto" : "--no-gpu") +
                 " exclude each other"};
  if (Status s = SettleMatrixChoice(&o->selection); !s.ok()) return s;
  const auto is_streamed = [](const auto& report) { return report.second == kStandardOutput; };
  if (std::count_if(o->reports.paths.begin(), o->reports.paths.end(), is_streamed) > 1)
    return Error{"two reports cannot both go to standard output; name a file for one"};
  if (o->rerun_failed && (!o->selection.case_ids.empty() || !o->selection.filter.empty()))
    return Error{"--rerun-failed selects the cases; leave out --case and --filter"};
  if (o->gating && (o->dry_run || o->report_only))
    return Error{std::string("--gating excludes ") + (o->dry_run ? "--dry-run" : "--report-only") +
                 ": its exit 0 would look like a pass"};
  if (!o->subject_image.empty() && !o->subject_id.empty())
    return Error{"--subject-image and --subject-id exclude each other: an image with a digest needs no id"};
  if (Status s = CheckStatement(*o); !s.ok()) return s;
  return CheckDiscovery(o->discovery);
}

std::vector<std::string> ArgumentsToRepeat(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || IsOfThisPlace(option->get_name())) continue;
    if (IsFlag(*option)) {
      words.push_back(option->get_name());
      continue;
    }
    for (const std::string& value : option->results()) {
      words.push_back(option->get_name());
      words.push_back(value);
    }
  }
  return words;
}

std::vector<ReportOptions> PlacesForReports(const CLI::App& app, int argc, char** argv) {
  std::vector<ReportOptions> places;
  bool command_seen = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.empty() || word[0] != '-') {
      // An unknown word is a mistake in a run, and so is the launcher's; another command is none.
      const auto is_it = [&](const CLI::App* command) {
        return command->get_name() == word && word != "run";
      };
      if (!command_seen && !app.get_subcommands(is_it).empty()) return {};
      command_seen = true;
      continue;
    }
    const size_t equals = word.find('=');
    const CLI::Option* option = app.get_option_no_throw(word.substr(0, equals));
    if (!option) continue;
    if (option->get_name() == "--dry-run") return {};
    if (IsFlag(*option)) continue;
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos && i + 1 < argc) value = argv[++i];
    ReportOptions place;
    if (option->get_name() == "--output-dir") place.output_dir = value;
    if (const ReportFormat* format = FormatOf(option->get_name())) place.paths[format->name] = value;
    if (!place.output_dir.empty() || !place.paths.empty()) places.push_back(std::move(place));
  }
  if (places.empty()) places.emplace_back();  // the default folder
  return places;
}

}  // namespace cudnn_ci
