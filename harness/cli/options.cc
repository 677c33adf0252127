#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/file.h"
#include "base/secrets.h"
#include "base/text.h"
#include "cli/diagnostics.h"
#include "cli/discovery_options.h"
#include "cli/manual.h"
#include "cli/option_checks.h"
#include "cli/parse_problem.h"
#include "cli/report_options.h"
#include "cli/self_test_faults.h"
#include "cli/shard.h"
#include "report/formats/formats.h"

namespace cudnn_ci {
namespace {

constexpr char kDescription[] =
    "cudnn-ci proves that driver, CUDA toolkit and cuDNN of this image fit together and compute right "
    "numbers.\n"
    "Exit: 0 passed, 1 image at fault, 2 invalid use, 3 runner at fault, 4 matrix at fault, 5 harness at "
    "fault,\n"
    "      6 undetermined, 130/142/143 interrupted.";

void AddMatrixOption(CLI::App* app, Options* o, const std::string& what) {
  app->add_option("--matrix", o->matrix,
                  what + ": a file, or the name of one that comes with cudnn-ci (cu12, builtin:cu12)")
      ->type_name("FILE")
      ->check(CheckPath());
  DeclareMatrixRoot(app, o);
}

void AddPlanOptions(CLI::App* app, Options* o, std::string* shard) {
  AddMatrixOption(app, o, "the contract to gate against");
  app->add_flag("--auto", o->auto_matrix,
                "take the matrix for the CUDA major that is found: the loader's, or that of Python "
                "environments if the loader finds no cuDNN");
  app->add_option("--filter", o->filter,
                  "run matching cases and what they need: GoogleTest's syntax, 'conv.*-*nhwc*'")
      ->type_name("PATTERN")
      ->check(CheckNotEmpty("a pattern is expected, this one is empty"));
  app->add_option("--case", o->case_ids, "run this case and what it needs; repeatable")
      ->type_name("ID")
      ->check(CheckNotEmpty("the id of a case is expected, this one is empty"))
      ->allow_extra_args(false);
  app->add_option_function<std::string>(
         "--stage", [o](const std::string& v) { o->static_stage = v == "static"; },
         "all, or static: only what needs no GPU")
      ->check(CLI::IsMember({"all", "static"}));
  app->add_option("--shard", *shard,
                  "run part I of N (counts from 1); auto, auto/N: from the variables of the CI or scheduler")
      ->type_name("I/N|auto|auto/N")
      ->check(CheckNotEmpty("write I/N, auto or auto/N"));
  app->add_option("--device", o->device, "which GPUs: all, an index in PCI order, or a UUID")
      ->type_name("all|INDEX|UUID")
      ->check(CheckDevice());
  app->add_flag("--disturb", o->disturb, "run checks that disturb others on the device");
}

// How many processes there are, and which cases share one.
void AddProcessOptions(CLI::App* app, Options* o) {
  app->add_option("--jobs", o->jobs, "processes at a time (default: the CPUs the container may use)")
      ->type_name("N")
      ->check(CheckWhole(1, 4096));
  app->add_option_function<std::string>(
         "--workers-per-gpu",
         [o](const std::string& v) { o->workers_per_gpu = v == "auto" ? 0 : std::stoi(v); },
         "warm workers that may share a GPU; auto: as many as have room there; with 1, no case shares the "
         "GPU while it is timed")
      ->type_name("N|auto")
      ->check(CheckWorkersPerGpu());
  app->add_option_function<std::string>(
         "--isolation",
         [o](const std::string& v) {
           o->isolation = v == "process" ? Isolation::kProcess
                          : v == "none"  ? Isolation::kNone
                                         : Isolation::kShared;
         },
         "shared: warm workers, failures are confirmed alone; process: one process per case; none: one "
         "process "
         "without time limits, for a debugger")
      ->check(CLI::IsMember({"shared", "process", "none"}));
}

void AddRunOptions(CLI::App* app, Options* o) {
  app->add_option("--output-dir", o->output_dir, "folder of all reports (default: cudnn-ci-report)")
      ->type_name("DIR")
      ->check(CheckFolder());
  for (const ReportFormat& format : ReportFormats())
    app->add_option(std::string("--") + format.name, o->report_paths[format.name], format.help)
        ->type_name("FILE")
        ->check(CheckReport());
  app->add_option_function<std::string>(
         "--junit-profile", [o](const std::string& v) { o->strict_junit = v == "strict"; },
         "rich, or strict: valid against the Jenkins xunit schema")
      ->check(CLI::IsMember({"rich", "strict"}));
  AddProcessOptions(app, o);
  app->add_option("--retries", o->retries, "run a failing case again; a pass then is 'flaky', which is red")
      ->type_name("N")
      ->check(CheckWhole(0, 100));
  app->add_flag("--fail-fast", o->fail_fast, "start nothing more after the first red case");
  app->add_option("--time-limit", o->time_limit_s, "end the whole run after S seconds")
      ->type_name("S")
      ->check(CheckSeconds());
  app->add_option("--grace", o->grace_s, "seconds between SIGTERM and SIGKILL for a case that hangs")
      ->type_name("S")
      ->check(CheckSeconds());
  app->add_option("--subject-image", o->subject_image, "the image under test, for reports and reproduction")
      ->type_name("NAME@DIGEST")
      ->check(CheckImage());
  app->add_option("--image-config", o->image_config,
                  "what `docker image inspect` prints of it: tells its variables from the runner's")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option("--sbom", o->sbom, "judge the versions in this SPDX or CycloneDX JSON file, and no image")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option("--compatibility", o->compatibility,
                  "version facts to judge by, in place of those that come with cudnn-ci")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option(
         "--run-token", o->run_token,
         "a secret word by which the launcher knows this run's reports; the file is read and removed")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option("--baseline", o->baseline,
                  "journal or report.json of an earlier run: the summary says what changed since")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_flag("--report-only", o->report_only, "write everything and exit 0: NOT GATING");
  app->add_flag("--dry-run", o->dry_run, "plan and list, run nothing");
  app->add_flag("--rerun-failed", o->rerun_failed,
                "rerun what did not pass in the run whose reports are in the output folder; a partial run");
}

void AddInitOptions(CLI::App* init, Options* o) {
  init->add_option("FILE", o->init_file, "where to; - is stdout (default cudnn-ci.json)");
  init->add_option("--name", o->init_name, "name of the matrix, in reports (default image)")
      ->type_name("NAME")
      ->check(CheckNotEmpty("a name is needed"));
  init->add_option(
          "--subject", o->init_subject,
          "whose libraries it is about: a Python environment by name, or what a matrix would say, as "
          "in python:/opt/venv/bin/python")
      ->type_name("SUBJECT")
      ->check(CheckNotEmpty("a subject is needed"));
}

void AddSelfTestOptions(CLI::App* app, Options* o) {
  app->add_option("FAULT", o->faults, "inject these alone: " + Join(FaultNames(), ", "))
      ->check(CLI::IsMember(FaultNames()));
  app->add_option("--keep", o->keep_dir, "keep the reports of all runs in this folder, which is new or empty")
      ->type_name("DIR")
      ->check(CheckPath());
}

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// An option that the gate and a command both have, given before and behind the command's word: the first
// would be forgotten. Empty when there is none.
std::string GivenTwice(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options()) {
      const CLI::Option* other = app.get_option_no_throw(option->get_name());
      if (!other || IsFlag(*option)) continue;  // a flag says the same twice
      if (option->count() > 0 && other->count() > 0)
        return option->get_name() + " was given twice, before and behind '" + command->get_name() +
               "'; give it once";
    }
  return {};
}

// An option of the gate before the word of a command that does not have it, or has another of that name
// (--json FILE and --json): it would not be used. Empty when there is none.
std::string GivenInVain(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0) continue;
      const CLI::Option* same = command->get_option_no_throw(option->get_name());
      if (!same) return option->get_name() + " is no option of '" + command->get_name() + "'";
      if (IsFlag(*same) != IsFlag(*option))
        return option->get_name() + " before '" + command->get_name() + "' is the gate's; write it behind";
    }
  return {};
}

// An option of the gate before the word of a command that excludes it with one behind that (--summary FILE,
// report --page). Empty when there is none.
std::string GivenAgainst(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands())
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      for (const CLI::Option* excluded : option->get_excludes()) {
        const CLI::Option* before = app.get_option_no_throw(excluded->get_name());
        if (before && before->count() > 0) return option->get_name() + " excludes " + before->get_name();
      }
    }
  return {};
}

// What asks for the same run again, in another place and without its own reports.
std::vector<std::string> Arguments(const CLI::App& app, const CLI::App& run) {
  const auto is_of_this_place = [](const std::string& name) {
    const std::vector<ReportFormat>& formats = ReportFormats();
    return name == "--output-dir" || name == "--image-config" || name == "--plugin-dir" ||
           name == "--knowledge" || name == "--run-token" || name == "--baseline" ||
           IsLaunchersOption(name) || name == "--dry-run" || name == "--rerun-failed" || name == "--color" ||
           name == "--quiet" || name == "--verbose" ||
           std::any_of(formats.begin(), formats.end(),
                       [&](const ReportFormat& format) { return name == std::string("--") + format.name; });
  };
  std::vector<std::string> words;
  for (const CLI::App* a : {&app, &run}) {
    for (const CLI::Option* option : a->get_options()) {
      if (option->count() == 0 || is_of_this_place(option->get_name())) continue;
      if (IsFlag(*option)) {
        words.push_back(option->get_name());
        continue;
      }
      for (const std::string& value : option->results()) {
        words.push_back(option->get_name());
        words.push_back(value);
      }
    }
  }
  return words;
}

// The places for reports on a command line that could not be parsed; none when it is no run that writes some.
std::vector<Options> ReportPlaces(const CLI::App& app, const CLI::App& run, int argc, char** argv) {
  std::vector<Options> places;
  bool command_seen = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.empty() || word[0] != '-') {
      // An unknown word is a mistake in a run; another command is none.
      const auto is_other = [&](const CLI::App* command) {
        return command != &run && command->get_name() == word;
      };
      if (!command_seen && !app.get_subcommands(is_other).empty()) return {};
      command_seen = true;
      continue;
    }
    const size_t equals = word.find('=');
    const CLI::Option* option = run.get_option_no_throw(word.substr(0, equals));
    if (!option) continue;
    if (option->get_name() == "--dry-run") return {};
    if (IsFlag(*option)) continue;
    std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals == std::string::npos && i + 1 < argc) value = argv[++i];
    Options place;
    if (option->get_name() == "--output-dir") place.output_dir = value;
    for (const ReportFormat& format : ReportFormats())
      if (option->get_name() == std::string("--") + format.name) place.report_paths[format.name] = value;
    if (!place.output_dir.empty() || !place.report_paths.empty()) places.push_back(std::move(place));
  }
  if (places.empty()) places.emplace_back();  // the default folder
  return places;
}

// What only the whole command line shows; empty when it is right. Sets the shard.
std::string UsageProblem(const CLI::App& app, const std::string& shard, Options* o) {
  if (std::string twice = GivenTwice(app); !twice.empty()) return twice;
  if (std::string vain = GivenInVain(app); !vain.empty()) return vain;
  if (std::string against = GivenAgainst(app); !against.empty()) return against;
  if (!shard.empty())
    if (std::string problem = ReadShard(shard, &o->shard_index, &o->shard_count); !problem.empty())
      return problem;
  const auto is_streamed = [](const auto& report) { return report.second == kStandardOutput; };
  if (std::count_if(o->report_paths.begin(), o->report_paths.end(), is_streamed) > 1)
    return "two reports are to go to standard output; name a file for one";
  if (o->rerun_failed && (!o->case_ids.empty() || !o->filter.empty()))
    return "--rerun-failed chooses the cases itself; give no --case and no --filter beside it";
  if (std::string problem = StatementProblem(*o); !problem.empty()) return problem;
  if (o->one_part && o->journals.size() > 1) return "--partial is for the journal of one part";
  for (const std::string& dir : o->plugin_dirs)
    if (struct stat st{}; stat(dir.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
      return "--plugin-dir " + CleanLine(dir, 500) + ": not a folder";
  if (!o->sbom.empty() && o->auto_matrix) return "--sbom and --auto exclude each other";
  return !o->matrix.empty() && o->auto_matrix ? "--matrix and --auto exclude each other" : "";
}

// All commands and options, which set `o` and `shard` when the line is parsed. Returns the command `run`.
CLI::App* Declare(CLI::App* app, Options* o, std::string* shard) {
  app->set_version_flag("--version", std::string("cudnn-ci ") + ToolVersion());
  app->require_subcommand(0, 1);
  const auto command = [&](const char* name, const char* what, Command c) {
    CLI::App* sub = app->add_subcommand(name, what);
    sub->callback([o, c] { o->command = c; });
    return sub;
  };
  CLI::App* run = command("run", "gate the image (the default)", Command::kRun);
  for (CLI::App* a : {app, run}) {
    AddPlanOptions(a, o, shard);
    AddRunOptions(a, o);
    AddDiscoveryOptions(a, o);
    DeclareColor(a, o);
    DeclareVerbosity(a, o);
    DeclareLaunched(a, o);
  }
  CLI::App* list = command("list", "the cases of the plan, without running them", Command::kList);
  AddPlanOptions(list, o, shard);
  CLI::App* plugins = command("plugins", "what was discovered", Command::kPlugins);
  plugins->add_flag("--check", o->check_plugins,
                    "only judge them, as a run would: exit 5 if one is at fault");
  CLI::App* facts = command("facts", "what this host and image are", Command::kFacts);
  AddMatrixOption(facts, o, "set its promises beside what its subjects have");
  facts->add_flag("--all", o->all_facts, "whole lists, and every fact by its key");
  CLI::App* init = command("init", "write a first matrix from what is found here", Command::kInit);
  AddInitOptions(init, o);
  AddDiscoveryOptions(init, o);
  CLI::App* explain = command("explain", "cause, remedy and link of a finding", Command::kExplain);
  CLI::Option* const slug = explain->add_option("FINDING", o->slug, "as a report names it");
  CLI::Option* const all = explain->add_flag("--all", o->all_findings, "every finding there can be");
  explain->callback([o, slug, all] {
    o->command = Command::kExplain;
    if (slug->empty() && all->empty()) throw CLI::RequiredError("FINDING or --all");
    if (!slug->empty() && !all->empty())
      throw CLI::ValidationError("--all is of every finding; name none beside it");
  });
  CLI::App* knowledge = command("knowledge", "what is known of packages and faults", Command::kKnowledge);
  knowledge->add_option("WHAT", o->narrowed, "the rows of a list (packages), or those that have this word");
  for (CLI::App* a : {list, plugins, facts, explain, knowledge}) {
    a->add_flag("--json", o->json, "for machines");
    AddDiscoveryOptions(a, o);
  }
  CLI::App* copy_to = command("copy-to", "copy the installed tree, without shell or cp", Command::kCopyTo);
  copy_to->add_option("DIR", o->copy_target, "folder to copy it to")->required();
  CLI::App* self_test =
      command("self-test", "inject faults into runs of the gate: does it notice?", Command::kSelfTest);
  AddSelfTestOptions(self_test, o);
  DeclareReport(
      command("report", "rebuild reports from a journal, or merge several runs into one", Command::kReport),
      o);
  DeclareCompare(command("compare", "what changed from one run to another", Command::kCompare), o);
  DeclareWaive(command("waive", "write waivers for what failed in a run", Command::kWaive), o);
  CLI::App* manual = command("manual", "the manual page, or the completion for bash", Command::kManual);
  manual->add_option("FORMAT", o->manual, "man or bash")->required()->check(CLI::IsMember({"man", "bash"}));
  return run;
}

std::string CommandLine(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    if (IsLaunchersOption(name)) {
      i += name == word ? 1 : 0;  // its value is the next word
      continue;
    }
    words.push_back(Secrets::OfThisProcess().ShellWord(CleanLine(word, 2000)));
  }
  return Join(words, " ");
}

}  // namespace

const char* ToolVersion() { return CUDNN_CI_VERSION; }

ParsedOptions ParseOptions(int argc, char** argv) {
  Options o;
  o.command_line = CommandLine(argc, argv);
  o.executable_dir = ExecutableDirectory();
  std::string shard;
  CLI::App app{kDescription, "cudnn-ci"};
  const CLI::App* run = Declare(&app, &o, &shard);
  const auto wrong = [&](const std::string& what) {
    PrintDiagnostic(what, 700);
    return ParsedOptions{std::nullopt, 2, ReportPlaces(app, *run, argc, argv)};
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    // CLI11 prints the answer to --help and --version itself.
    if (e.get_exit_code() == 0) return {std::nullopt, app.exit(e) == 0 && PrintAnswer("") ? 0 : 5, {}};
    return wrong(ParseProblem(app, e));
  }
  if (const std::string problem = UsageProblem(app, shard, &o); !problem.empty()) return wrong(problem);
  o.arguments = Arguments(app, *run);
  if (o.command == Command::kManual)
    o.manual = o.manual == "man" ? ManPage(app, ToolVersion()) : BashCompletion(app);
  return {std::move(o), 0, {}};
}

}  // namespace cudnn_ci
