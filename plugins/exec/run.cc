// exec.run and exec.run_on_gpu: runs a command and holds it to an exit status, to lines of its output and to
// the libraries that its processes had mapped.
//
// Libraries are looked at when a process of the command ends and still has its memory: the worker stops it
// there by ptrace (cudnn-ci-worker --exec-mapped). To look now and then while it runs would miss what comes
// late; the loader's own log would change the output; a preloaded library would change the program.
#include <cudnn_ci/check.hpp>

#include <cstring>

#include "command.h"
#include "common/joined.h"
#include "common/judge.h"
#include "common/program.h"
#include "common/shortage.h"
#include "exec/findings.h"

namespace cudnn_ci {
namespace {

struct Command {
  std::vector<std::string> argv, output, libraries;
  std::int64_t exit_status = 0;
  double timeout_s = 0;
};

std::string Quoted(const std::string& text) { return "'" + text + "'"; }

void AddPatternProblems(const char* parameter, const std::vector<std::string>& patterns, Problems* problems) {
  for (const std::string& pattern : patterns)
    if (const std::string why = ProblemOfPattern(pattern); !why.empty()) problems->Add(parameter, why);
}

// False: it did not end by itself, and what it printed and mapped until then is not held against it.
bool JudgeEnd(Context& ctx, const Command& p, const ChildResult& result, const Shortage& shortage) {
  if (!Judge(ctx, !result.timed_out, "the command ends in time", kCommandTimedOut, [&] {
        return p.argv[0] + " did not end within " + SecondsText(p.timeout_s) + "; " + LastLine(result.output);
      }))
    return false;
  const bool as_expected = result.signal == 0 && result.exit_status == p.exit_status;
  if (!as_expected && ReportShortage(ctx, p.argv[0], result, shortage)) return false;
  if (!Judge(ctx, result.signal == 0, "no signal ends the command", kCommandKilled, [&] {
        return p.argv[0] + " was killed by signal " + std::to_string(result.signal) + " (" +
               strsignal(result.signal) + "); " + LastLine(result.output) + WordsOfShortage(result.output);
      }))
    return false;
  const std::string not_started = StartError(p.argv[0], result);
  if (!Judge(ctx, not_started.empty(), "the command starts", kCommandMissing, p.argv[0] + ": " + not_started))
    return false;
  Judge(ctx, result.exit_status == p.exit_status, "the exit status is the expected one", kCommandExitStatus,
        [&] {
          return p.argv[0] + " ended with exit status " + std::to_string(result.exit_status) + ", expected " +
                 std::to_string(p.exit_status) + "; " + LastLine(result.output) +
                 WordsOfShortage(result.output);
        });
  return true;
}

void JudgeLibraries(Context& ctx, const Command& p, const std::string& record) {
  if (p.libraries.empty()) return;
  const MappedFiles mapped = ReadMapped(record);
  if (!mapped.refused.empty())
    ctx.Skip(CCI_SKIP_UNSUPPORTED, "ptrace, to see which libraries the command maps", mapped.refused);
  for (const std::string& pattern : p.libraries)
    Judge(ctx, IsMapped(mapped, pattern), "the command has mapped a library of this name", kCommandLibrary,
          [&] {
            const std::vector<std::string> others = Relatives(mapped, pattern);
            return "no process of " + p.argv[0] + " had mapped " + Quoted(pattern) + " when it ended" +
                   (others.empty() ? ", nor any file of a similar name" : "; mapped: " + Joined(others));
          });
}

void RunCommand(Context& ctx, const Command& p) {
  const std::string missing = LookupError(p.argv[0]);
  if (!Judge(ctx, missing.empty(), "the command is there", kCommandMissing, missing)) return;
  std::vector<std::string> argv;
  const std::string record = ctx.ScratchDir() + "/mapped";
  // /proc/self/exe is the worker's own file, in which run_child's child still is when it starts the command.
  if (!p.libraries.empty()) argv = {"/proc/self/exe", "--exec-mapped", record};
  argv.insert(argv.end(), p.argv.begin(), p.argv.end());
  Shortage shortage;
  const ChildResult result = RunProgram(ctx, argv, {}, p.timeout_s, &shortage);
  LogEnd(ctx, result.output);
  if (!JudgeEnd(ctx, p, result, shortage)) return;
  for (const std::string& pattern : p.output)
    Judge(ctx, HasLine(result.output, pattern), "a line of the output matches", kCommandOutput, [&] {
      return "no line of the output of " + p.argv[0] + " matches " + Quoted(pattern) + "; " +
             LastLine(result.output);
    });
  JudgeLibraries(ctx, p, record);
}

void DescribeCommand(Schema<Command>& s) {
  // Last in the order of root causes: a command rests on all that is judged before it.
  s.Layer(CCI_LAYER_OTHER).TimeoutSeconds(60);
  s.Param("argv", &Command::argv)
      .Summary("program (a path, or a name in PATH) and its arguments; no shell is used");
  s.Param("exit_status", &Command::exit_status).Summary("expected exit status").Default(0).Range(0, 255);
  s.Param("output", &Command::output)
      .Summary("shell patterns (* ? [...]); each must match a whole line of the output")
      .Default({});
  s.Param("libraries", &Command::libraries)
      .Summary(
          "shell patterns; each must match a file that a process of the command has mapped when it ends: by "
          "name, or by path if the pattern has a slash")
      .Default({});
  s.Param("timeout_s", &Command::timeout_s)
      .Summary("time limit of the command in seconds; must be less than the entry's")
      .Default(50);
}

void ValidateCommand(const Command& p, Problems& problems) {
  if (p.argv.empty()) problems.Add("argv", "must name a program");
  if (!p.argv.empty() && p.argv[0].empty()) problems.Add("argv", "the program's name is empty");
  if (const std::string why = ProblemOfSeconds(p.timeout_s); !why.empty()) problems.Add("timeout_s", why);
  AddPatternProblems("output", p.output, &problems);
  AddPatternProblems("libraries", p.libraries, &problems);
}

struct OnHost {
  using Params = Command;
  static void Describe(Schema<Params>& s) {
    DescribeCommand(s);
    // The user's own environment, as a command of the image would find it.
    s.Summary("a command of the image ends and prints as expected").Devices(CCI_DEVICES_ENVIRONMENT);
  }
  static void Validate(const Params& p, Problems& problems) { ValidateCommand(p, problems); }
  static void Run(Context& ctx, const Params& p) { RunCommand(ctx, p); }
};

struct OnGpu {
  using Params = Command;
  static void Describe(Schema<Params>& s) {
    DescribeCommand(s);
    s.Summary("a command of the image ends and prints as expected, alone on one GPU")
        .Devices(CCI_DEVICES_ONE)
        .Requires("driver.canary");
  }
  static void Validate(const Params& p, Problems& problems) { ValidateCommand(p, problems); }
  static void Run(Context& ctx, const Params& p) { RunCommand(ctx, p); }
};

CCI_REGISTER(OnHost, "run")
CCI_REGISTER(OnGpu, "run_on_gpu")

}  // namespace
}  // namespace cudnn_ci
