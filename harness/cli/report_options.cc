#include "cli/report_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/option_checks.h"
#include "report/formats/attestation.h"

namespace cudnn_ci {
namespace {

constexpr const char* kReproduceWith = "--reproduce-with";
constexpr const char* kReportsAt = "--reports-at";
constexpr const char* kMatrixRoot = "--matrix-root";

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
          return CleanLine(text, 200) + " is no list of words from GPU models, as in t4,l4,a100-40gb";
        const bool once = std::set<std::string>(types.begin(), types.end()).size() == types.size();
        return once ? std::string() : CleanLine(text, 200) + " names a type twice";
      },
      "", "types");
}

}  // namespace

void DeclareColor(CLI::App* app, Options* o) {
  app->add_option_function<std::string>(
         "--color",
         [o](const std::string& v) {
           o->color = v == "always" ? Color::kAlways : v == "never" ? Color::kNever : Color::kAuto;
         },
         "auto (as NO_COLOR, FORCE_COLOR and the terminal say), always, never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void DeclareVerbosity(CLI::App* app, Options* o) {
  CLI::Option* const quiet = app->add_flag_callback(
      "--quiet", [o] { o->verbosity = Verbosity::kQuiet; }, "print only the summary");
  app->add_flag_callback(
         "--verbose", [o] { o->verbosity = Verbosity::kVerbose; },
         "print every case, and all evidence of what failed")
      ->excludes(quiet);
}

void DeclareLaunched(CLI::App* app, Options* o) {
  const CLI::Validator not_empty = CheckNotEmpty("a text is expected, this one is empty");
  app->add_option(kReproduceWith, o->launch_command,
                  "the line that repeats this run from outside, which cudnn-ci-run gives; reports show it")
      ->type_name("LINE")
      ->check(not_empty);
  app->add_option(
         kReportsAt, o->reports_at,
         "where the reports will lie outside, which cudnn-ci-run gives; the summary names them there")
      ->type_name("DIR")
      ->check(not_empty);
}

void DeclareMatrixRoot(CLI::App* app, Options* o) {
  app->add_option(
         kMatrixRoot, o->matrix_root,
         "where the files of the machine outside lie, which cudnn-ci-run gives: the matrix and its parents "
         "are read below it, and named without it")
      ->type_name("DIR")
      ->check(CheckPath());
}

bool IsLaunchersOption(const std::string& name) {
  return name == kReproduceWith || name == kReportsAt || name == kMatrixRoot;
}

void DeclareReport(CLI::App* report, Options* o) {
  DeclareColor(report, o);
  DeclareLaunched(report, o);
  report->add_option("JOURNAL", o->journals, "journal.jsonl of a run; of several shards, or types of GPU")
      ->required()
      ->expected(-1);
  report
      ->add_option("--output-dir", o->output_dir,
                   "where to write junit.xml and report.json (default: beside the journal; of several: "
                   "cudnn-ci-report)")
      ->check(CheckFolder());
  CLI::Option* const profile =
      report
          ->add_option_function<std::string>(
              "--junit-profile", [o](const std::string& v) { o->strict_junit = v == "strict"; },
              "rich or strict")
          ->check(CLI::IsMember({"rich", "strict"}));
  CLI::Option* const summary =
      report->add_option("--summary", o->report_paths["summary"], "a summary in Markdown to this file, too")
          ->type_name("FILE")
          ->check(CheckPath());
  CLI::Option* const attestation =
      report
          ->add_option("--attestation", o->report_paths[kAttestationFormat],
                       "an in-toto statement with the verdict on the image's digest, to be signed")
          ->type_name("FILE")
          ->check(CheckPath());
  CLI::Option* const matrix =
      report
          ->add_option(
              "--matrix", o->matrix,
              "the matrix that the run must have been judged by: a file, or a name; reports name it so")
          ->type_name("FILE")
          ->check(CheckPath());
  CLI::Option* const require = report
                                   ->add_option_function<std::string>(
                                       "--require", [o](const std::string& v) { o->require = GpuTypes(v); },
                                       "the journals are of whole runs on these types of GPU, and one of "
                                       "each there must be: t4,l4,h100")
                                   ->type_name("TYPE,...")
                                   ->check(AreGpuTypes());
  CLI::Option* const partial =
      report
          ->add_flag("--partial", o->one_part,
                     "the reports of this one shard, without the others; it is no verdict on the image")
          ->excludes(require);
  report
      ->add_flag("--page", o->page,
                 "one page of many images: the arguments are folders of reports, and images.html goes to "
                 "--output-dir (default: here)")
      ->excludes(require)
      ->excludes(partial)
      ->excludes(matrix)
      // It makes no other report.
      ->excludes(profile)
      ->excludes(summary)
      ->excludes(attestation);
}

std::string StatementProblem(const Options& o) {
  const auto path = o.report_paths.find(kAttestationFormat);
  if (path == o.report_paths.end() || path->second.empty() || o.command != Command::kRun) return "";
  if (path->second == kStandardOutput)
    return "--attestation -: a statement is a file, of which there may be none; name a file";
  const std::pair<bool, const char*> partial[] = {{!o.filter.empty(), "--filter"},
                                                  {!o.case_ids.empty(), "--case"},
                                                  {o.rerun_failed, "--rerun-failed"},
                                                  {o.static_stage, "--stage static"},
                                                  {o.isolation == Isolation::kNone, "--isolation none"}};
  for (const auto& [given, option] : partial)
    if (given)
      return std::string("--attestation states the verdict of a whole run; leave it out, or ") + option;
  if (o.report_only) return "--attestation states a verdict; leave it out, or --report-only";
  if (o.shard_count > 1)
    return "--attestation states the verdict of all shards: give it to the cudnn-ci report that merges them";
  if (o.subject_image.empty())
    return "--attestation is about the image's digest: give --subject-image NAME@DIGEST";
  return "";
}

void DeclareCompare(CLI::App* compare, Options* o) {
  compare->add_option("RUN", o->compared, "the old and the new: journal.jsonl or report.json")
      ->type_name("OLD NEW")
      ->required()
      ->expected(2);
  compare
      ->add_option("--again", o->again,
                   "a further run of the old image: by how much they differ is noise; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  CLI::Option* const json = compare->add_flag("--json", o->json, "for machines");
  compare->add_flag("--markdown", o->markdown, "for a merge request or a step summary")->excludes(json);
}

void DeclareWaive(CLI::App* waive, Options* o) {
  const CLI::Validator not_empty = CheckNotEmpty("a text is expected, this one is empty");
  waive->add_option("REPORT", o->waived_report, "journal.jsonl or report.json of the run")->required();
  waive->add_option("FILE", o->waiver_file, "where to; - is stdout, and the default");
  waive->add_option("--owner", o->waiver_owner, "who answers for it")
      ->type_name("NAME")
      ->required()
      ->check(not_empty);
  waive->add_option("--days", o->waiver_days, "for how many days from today; after that the gate fails again")
      ->type_name("N")
      ->required()
      ->check(CheckWhole(1, 366));
  waive->add_option("--reason", o->waiver_reason, "why it is accepted (default: what the report says)")
      ->type_name("TEXT")
      ->check(not_empty);
  waive->add_option("--case", o->case_ids, "waive this case alone; repeatable")
      ->type_name("ID")
      ->allow_extra_args(false);
}

}  // namespace cudnn_ci
