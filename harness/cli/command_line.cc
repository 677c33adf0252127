#include "cli/command_line.h"

#include <signal.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/embedded.h"
#include "base/file.h"
#include "base/path.h"
#include "base/secrets.h"
#include "base/text.h"
#include "cli/commands/table.h"
#include "cli/diagnostics.h"
#include "cli/help_format.h"
#include "cli/launcher_line.h"
#include "cli/output_folder.h"
#include "cli/parse_problem.h"
#include "embed/own_archive.h"

namespace cudnn_ci {
namespace {

constexpr char kDescription[] =
    "cudnn-ci checks that the driver, the CUDA toolkit and cuDNN of this image fit together and compute the "
    "right numbers.\nExit: 0 passed, 1 image at fault, 2 invalid use, 3 runner at fault, 4 matrix at fault, "
    "5 harness at fault,\n      6 undetermined, 130/142/143 interrupted.";

bool IsFlag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// An option that the gate and the command both have, given before and behind the command's word: the first
// would be forgotten.
Status CheckGivenOnce(const CLI::App& app, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const CLI::Option* other = app.get_option_no_throw(option->get_name());
    if (!other || IsFlag(*option)) continue;  // a flag says the same twice
    if (option->count() > 0 && other->count() > 0)
      return Error{option->get_name() + " was given twice, before and after '" + command.get_name() +
                   "'; give it once"};
  }
  return {};
}

// An option of the gate before the word of a command that does not have it, or has another of that name
// (--json FILE and --json): it would not be used.
Status CheckNoUnusedOption(const CLI::App& app, const CLI::App& command) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const CLI::Option* same = command.get_option_no_throw(option->get_name());
    if (!same) return Error{option->get_name() + " is not an option of '" + command.get_name() + "'"};
    if (IsFlag(*same) != IsFlag(*option))
      return Error{option->get_name() + " before '" + command.get_name() +
                   "' is an option of the gate; write it after the command"};
  }
  return {};
}

// An option of the gate before the word of a command that excludes it with one behind that (--summary FILE,
// report --page).
Status CheckExclusions(const CLI::App& app, const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    for (const CLI::Option* excluded : option->get_excludes()) {
      const CLI::Option* before = app.get_option_no_throw(excluded->get_name());
      if (before && before->count() > 0) return Error{option->get_name() + " excludes " + before->get_name()};
    }
  }
  return {};
}

Status CheckBothSides(const CLI::App& app, const CLI::App& command) {
  if (Status s = CheckGivenOnce(app, command); !s.ok()) return s;
  if (Status s = CheckNoUnusedOption(app, command); !s.ok()) return s;
  return CheckExclusions(app, command);
}

// Sets the command's options to what was given of them before its word.
void TakeFromGate(const CLI::App& app, CLI::App* command) {
  for (const CLI::Option* given : app.get_options()) {
    CLI::Option* const own = given->count() == 0 ? nullptr : command->get_option_no_throw(given->get_name());
    if (own == nullptr || own->count() > 0) continue;
    for (const std::string& value : given->results()) own->add_result(value);
    own->run_callback();
  }
}

std::string WordsOf(int argc, char** argv) {
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

struct DeclaredCommand {
  CLI::App* app;
  std::unique_ptr<Command> command;
};

std::vector<DeclaredCommand> DeclareCommands(CLI::App* app) {
  std::vector<DeclaredCommand> declared;
  const auto declare = [&](std::unique_ptr<Command> command, const char* word, const char* what) {
    CLI::App* const sub = app->add_subcommand(word, what);
    command->Declare(sub);
    declared.push_back({sub, std::move(command)});
  };
#define CUDNN_CI_DECLARE(Make, word, what) declare(Make(), word, what);
  CUDNN_CI_COMMANDS(CUDNN_CI_DECLARE)
#undef CUDNN_CI_DECLARE
  return declared;
}

// An existing folder that the run is to write into.
std::string FolderToWriteInto(const RunOptions& options) {
  const std::string folder = ChoosePaths(options.reports).folder;
  return folder.empty() || IsFolder(folder) ? folder : DirectoryOf(folder);
}

}  // namespace

const char* ToolVersion() { return CUDNN_CI_VERSION; }

ParsedLine ParseCommandLine(int argc, char** argv) {
  ParsedLine line;
  const Status own = UseOwnArchive();
  line.invocation = {OwnInstallation(), WordsOf(argc, argv), {}};
  // By which --auto finds an environment; one that is active stays the one that is looked at first.
  if (const std::string prefix = OwnPythonEnvironment(line.invocation.installation); !prefix.empty())
    setenv("VIRTUAL_ENV", prefix.c_str(), 0);
  auto options = std::make_unique<RunOptions>();
  CLI::App app{kDescription, "cudnn-ci"};
  app.formatter(MakeHelpFormat());  // its commands inherit it
  app.set_version_flag("--version", std::string("cudnn-ci ") + ToolVersion());
  app.require_subcommand(0, 1);
  // The launcher's own words, for help and manual: as the first word it is not parsed here.
  CLI::App* const run = app.add_subcommand("run", "start a container of IMAGE and test the image");
  run->add_option("IMAGE", "the image");
  run->allow_extras();
  DeclareRun(&app, options.get());
  std::vector<DeclaredCommand> commands = DeclareCommands(&app);
  const auto reject = [&](const std::string& what) {
    PrintDiagnostic(what, 700);
    line.exit_code = 2;
    line.report_places = PlacesForReports(app, argc, argv);
    return std::move(line);
  };
  line.launcher = LauncherLineOf(line.invocation.installation, {argv, argv + argc});
  if (!own.ok()) {
    if (line.launcher) line.launcher->withdraw();
    line.launcher.reset();
    return reject(own.error());
  }
  if (line.launcher) return line;
  DeclaredCommand* chosen = nullptr;
  try {
    app.parse(argc, argv);
    if (run->parsed()) return reject("'run' must be the first word: cudnn-ci run [OPTIONS] IMAGE");
    for (DeclaredCommand& command : commands)
      if (command.app->parsed()) chosen = &command;
    for (const CLI::App* command : app.get_subcommands())
      if (const Status s = CheckBothSides(app, *command); !s.ok()) return reject(s.error());
    if (chosen != nullptr) TakeFromGate(app, chosen->app);
  } catch (const CLI::ParseError& e) {
    // CLI11 prints the answer to --help and --version itself.
    if (e.get_exit_code() != 0) return reject(ParseProblem(app, e));
    if (std::find(argv, argv + argc, std::string_view("--gating")) != argv + argc)
      return reject("--gating excludes commands that only print: their exit 0 would look like a pass");
    line.exit_code = app.exit(e) == 0 && PrintAnswer("") ? 0 : 5;
    return line;
  }
  const Status checked = chosen != nullptr ? chosen->command->Check() : CheckRun(options.get());
  if (!checked.ok()) return reject(checked.error());
  if (chosen != nullptr) {
    line.command = std::move(chosen->command);
  } else {
    line.invocation.arguments = ArgumentsToRepeat(app);
    if (Embedded() != nullptr) Embedded()->MayUnpackInto(FolderToWriteInto(*options));
    line.run = std::move(options);
  }
  return line;
}

int RejectCommandLine(const ParsedLine& line) {
  for (const ReportOptions& place : line.report_places) WithdrawReports(ChoosePaths(place));
  return line.exit_code;
}

int RunCommand(const ParsedLine& line) {
  // Nothing here has a report to finish: a signal ends it at once, whatever it waits for. What it has started
  // dies with it, the guardian sees to that.
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGALRM}) {
    signal(s, SIG_DFL);
    sigaddset(&set, s);
  }
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  return line.command->Run(line.invocation);
}

}  // namespace cudnn_ci
