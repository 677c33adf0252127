// `cudnn-ci report`: reports made again from the record of a run, or from several records as one.
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/diagnostics.h"
#include "cli/images_page.h"
#include "cli/option_checks.h"
#include "cli/output_folder.h"
#include "cli/shared_options.h"
#include "model/matrix/matrix.h"
#include "model/merge/merge.h"
#include "model/verdict/verdict.h"
#include "report/formats/attestation.h"
#include "report/formats/console.h"
#include "report/record/journal.h"
#include "report/record/own_reports.h"
#include "review/rebuild.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> journals;
  ReportOptions reports;
  LauncherOptions launcher;
  Color color = Color::kAuto;
  bool strict_junit = false;
  std::string matrix;                // that the run must have been tested against; empty: none is given
  std::vector<std::string> require;  // types of GPU; empty: it is no merge of them
  bool one_part = false;             // a shard's own reports
  bool page = false;                 // one page of many images
  std::vector<std::string> expect;   // images that the page must have; empty: any
};

// "t4,l4,h100" as a list, in small letters.
std::vector<std::string> GpuTypes(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return Split(text, ',');
}

CLI::Validator AreGpuTypes() {
  return CLI::Validator(
      [](std::string& text) {
        const std::vector<std::string> types = GpuTypes(text);
        const auto is_type = [](const std::string& type) {
          return !type.empty() && type[0] != '-' &&
                 type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
        };
        if (!std::all_of(types.begin(), types.end(), is_type))
          return CleanLine(text, 200) + " is not a list of words from GPU models, as in t4,l4,a100-40gb";
        const bool once = std::set<std::string>(types.begin(), types.end()).size() == types.size();
        return once ? std::string() : CleanLine(text, 200) + " names a type twice";
      },
      "", "types");
}

void DeclareOptions(CLI::App* app, Options* o) {
  DeclareColor(app, &o->color);
  DeclareLauncher(app, &o->launcher);
  app->add_option("JOURNAL", o->journals,
                  "journal.jsonl of a run; several for the shards of a run, or for "
                  "runs on several GPU types")
      ->expected(0, -1);
  app->add_option("--output-dir", o->reports.output_dir,
                  "folder for junit.xml and report.json (default: the journal's folder; for several "
                  "journals, cudnn-ci-report)")
      ->type_name("DIR")
      ->check(CheckFolder());
  CLI::Option* const profile =
      app->add_option_function<std::string>(
             "--junit-profile", [o](const std::string& v) { o->strict_junit = v == "strict"; },
             "rich or strict")
          ->check(CLI::IsMember({"rich", "strict"}));
  CLI::Option* const summary =
      app->add_option("--summary", o->reports.paths["summary"], "also write a Markdown summary to this file")
          ->type_name("FILE")
          ->check(CheckPath());
  CLI::Option* const attestation =
      app->add_option("--attestation", o->reports.paths[kAttestationFormat],
                      "write an in-toto statement with the verdict on the image's digest, ready to be signed")
          ->type_name("FILE")
          ->check(CheckPath());
  CLI::Option* const matrix =
      app->add_option("--matrix", o->matrix,
                      "the matrix that the run must have used: a file or a name, as reports should show it")
          ->type_name("FILE")
          ->check(CheckPath());
  CLI::Option* const require = app->add_option_function<std::string>(
                                      "--require", [o](const std::string& v) { o->require = GpuTypes(v); },
                                      "merge whole runs on these GPU types, and require one of each: "
                                      "t4,l4,h100")
                                   ->type_name("TYPE,...")
                                   ->check(AreGpuTypes());
  CLI::Option* const partial =
      app->add_flag("--partial", o->one_part,
                    "write the reports of this shard alone; they are no verdict on the image")
          ->excludes(require);
  CLI::Option* const page =
      app->add_flag("--page", o->page,
                    "write one page for many images: the arguments are folders of reports, and images.html "
                    "goes to --output-dir (default: here)");
  CLI::Option* const expect =
      app->add_option("--expect", o->expect,
                      "as --page, with a verdict: each of these images, or this many different ones, must "
                      "have been tested and have passed; NAME[:TAG][@sha256:...][@GPU] with commas, "
                      "repeatable")
          ->type_name("IMAGE,...|N")
          ->allow_extra_args(false);
  // They make no other report.
  for (CLI::Option* const of_images : {page, expect})
    for (CLI::Option* const of_a_run : {require, partial, matrix, profile, summary, attestation})
      of_images->excludes(of_a_run);
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A journal without a whole line is what a run leaves that died before it had a plan.
bool HoldsNothing(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) return false;
  const std::string head = ReadSmallFile(path, kMaxJournalLine);
  return head.size() < kMaxJournalLine && head.find('\n') == std::string::npos;
}

// From the folder of the reports to that of a journal, to be put before the paths of its attachments.
std::string FromReportsTo(const std::string& journal, const std::string& folder) {
  std::error_code failed;
  // A folder that is not there yet has no canonical path but from an absolute one.
  const fs::path base = fs::absolute(folder, failed);
  const fs::path path = failed ? fs::path() : fs::proximate(FolderOf(journal), base, failed);
  return failed || path.empty() || path == "." ? std::string() : path.string() + "/";
}

// Where the reports go, and which of them: those of one journal lie beside it, those of several in a folder
// of their own, with a journal of the merged run.
OutputPaths PathsFor(const Options& options) {
  ReportOptions out = options.reports;
  const bool several = options.journals.size() > 1;
  // With a single report's option too: the others have their place all the same.
  if (out.output_dir.empty()) out.output_dir = several ? kReportFolder : FolderOf(options.journals[0]);
  OutputPaths paths = ChoosePaths(out);
  if (!several) {
    paths.folder.clear();
    paths.journal.clear();  // it is the source
  }
  return paths;
}

// Taken for the journal that lies beside it.
bool IsReportJson(const std::string& path) {
  return ReadSmallFile(path, 100).find(kReportSchema) != std::string::npos;
}

// What the journals hold; of several, those that hold nothing are left out and named. An error when one
// cannot be read, or all are empty.
Result<std::vector<RecordedRun>> ReadAll(const Options& options, const std::string& folder) {
  std::vector<RecordedRun> runs;
  const bool several = options.journals.size() > 1;
  for (const std::string& journal : options.journals) {
    if (several && HoldsNothing(journal)) {
      PrintDiagnostic(journal + " is left out: its run ended before it had a plan");
      continue;
    }
    std::vector<std::string> unknown;
    Result<std::vector<Event>> events = ReadJournal(journal, &unknown);
    if (!events.ok() && IsReportJson(journal))
      return Error{journal + ": is a report.json; name the journal.jsonl beside it"};
    if (!events.ok()) return Error{events.error()};
    runs.push_back(
        {journal, several ? FromReportsTo(journal, folder) : "", std::move(*events), std::move(unknown)});
  }
  if (runs.empty()) return Error{"no journal has a plan"};
  return runs;
}

// Whether the journal is of a part of a run, which alone is no verdict.
bool IsShard(const RecordedRun& recorded) {
  for (const Event& event : recorded.events)
    if (const auto* run = std::get_if<RunStarted>(&event.body)) return run->shard_count > 1;
  return false;
}

// The events that the reports are made from.
Result<std::vector<Event>> Merge(const Options& options, std::vector<RecordedRun> runs) {
  if (!options.require.empty()) return MergeGpus(runs, options.require);
  // A shard whose brothers are lost must not look like the whole.
  if (options.journals.size() > 1 || (IsShard(runs[0]) && !options.one_part)) return MergeShards(runs);
  return std::move(runs[0].events);
}

// Whether the file is the record of a run itself, which nothing can make again; that of a merged run can be.
// One of ours that cannot be read may be one.
bool IsRecordOfRun(const std::string& journal) {
  struct stat st {};
  if (lstat(journal.c_str(), &st) != 0 || st.st_size == 0 || !IsOwnReport(journal)) return false;
  const Result<std::vector<Event>> events = ReadJournal(journal);
  if (!events.ok()) return true;
  for (const Event& event : *events)
    if (const auto* run = std::get_if<RunStarted>(&event.body)) return run->merged_by.empty();
  return false;
}

// Whether the run was tested against the matrix that --matrix names, if it names one; then its reports call
// the matrix so.
Status CheckMatrix(const Options& options, const std::string& matrices_dir, RunStarted* run) {
  if (options.matrix.empty()) return {};
  const auto loaded = LoadMatrix(options.matrix, matrices_dir);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded))
    return Error{ToString(problems->front())};
  const std::string& sha256 = std::get<Matrix>(loaded).sha256;
  if (run->matrix_sha256 != sha256)
    return Error{"the run used another matrix than " + options.matrix + ": sha256 " +
                 Beginning(run->matrix_sha256, 16) + ", and not " + Beginning(sha256, 16)};
  run->matrix_path = options.matrix;
  return {};
}

// Puts what the command line says of the run into its events. Errors are CheckMatrix's.
Status AddWhatIsSaid(const Options& options, const std::string& matrices_dir, std::vector<Event>* events) {
  for (Event& event : *events) {
    const auto* const recorded = std::get_if<RunStarted>(&event.body);
    if (recorded == nullptr) continue;
    RunStarted run = *recorded;
    if (Status s = CheckMatrix(options, matrices_dir, &run); !s.ok()) return s;
    if (!options.launcher.command.empty()) run.container_command = options.launcher.command;
    event = Event(event.seq, event.t_ms, std::move(run));
  }
  return {};
}

int Rebuild(const std::vector<Event>& events, const Options& options, const OutputPaths& paths) {
  RebuildOptions rebuild;
  rebuild.paths = paths.reports;
  rebuild.journal = paths.journal;
  rebuild.settings.strict_junit = options.strict_junit;
  rebuild.settings.screen = ScreenOf(paths, options.launcher.reports_at);
  rebuild.console_fd = STDOUT_FILENO;
  rebuild.console = DetectConsole(STDOUT_FILENO, options.color);
  rebuild.console.screen = rebuild.settings.screen;
  if (const Status s = RebuildReports(events, rebuild); !s.ok()) {
    PrintDiagnostic(s.error());
    return 5;
  }
  const Summary summary = FoldEvents(events);
  const Verdict verdict = Judge(summary);
  const bool hidden = summary.run && summary.run->report_only && verdict.kind != VerdictKind::kInterrupted;
  return hidden ? 0 : verdict.exit_code;
}

// Prints the summary and says on stderr what is wrong. Returns the verdict's exit code, 2 when the journals
// cannot be read or are not of one run, 5 when a report could not be written.
int MakeReports(const Options& options, const std::string& matrices_dir) {
  const OutputPaths paths = PathsFor(options);
  // Before anything is withdrawn: a mistyped --output-dir must not cost a run its record and reports.
  if (!paths.journal.empty() && IsRecordOfRun(paths.journal))
    return Fail(paths.journal + " is the record of a run; name another --output-dir");
  const auto refuse = [&](const std::string& why) {
    // Reports that lie where these were to go say something else than the records. Where the only one is not
    // there, or is no journal, its name was mistyped; of several it may be a job that left none, and
    // yesterday's merged reports must not stand for today's.
    const std::string& first = options.journals[0];
    if (options.journals.size() == 1 && (access(first.c_str(), F_OK) != 0 || IsReportJson(first)))
      return Fail(why);
    WithdrawReports(WithoutInputs(paths, options.journals));
    return Fail(why);
  };
  Result<std::vector<RecordedRun>> runs = ReadAll(options, paths.folder);
  if (!runs.ok()) return refuse(runs.error());
  Result<std::vector<Event>> events = Merge(options, std::move(*runs));
  if (!events.ok()) return refuse(events.error());
  if (const Status s = AddWhatIsSaid(options, matrices_dir, &*events); !s.ok()) return refuse(s.error());
  const Result<ReportLocks> locks = PrepareReports(paths, options.journals);
  if (!locks.ok()) return Fail(locks.error());
  PrintLeftOutReports(paths);
  return Rebuild(*events, options, paths);
}

class Report : public Command {
 public:
  void Declare(CLI::App* app) override { DeclareOptions(app, &options_); }
  Status Check() override {
    if (options_.one_part && options_.journals.size() > 1)
      return Error{"--partial is for the journal of one part"};
    if (options_.expect.empty())
      return options_.journals.empty() ? Error{"JOURNAL is required (see cudnn-ci report --help)"} : Status();
    Result<ExpectedImages> expected = ParseExpected(options_.expect);
    if (!expected.ok()) return Error{expected.error()};
    expected_ = std::move(*expected);
    return {};
  }
  int Run(const Invocation& invocation) override {
    if (options_.page || expected_)
      return MakeImagesPage(options_.journals, options_.reports.output_dir, expected_);
    return MakeReports(options_, invocation.installation.matrices_dir());
  }

 private:
  Options options_;
  std::optional<ExpectedImages> expected_;
};

}  // namespace

std::unique_ptr<Command> MakeReport() { return std::make_unique<Report>(); }

}  // namespace cudnn_ci
