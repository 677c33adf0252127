#include "framework/interpreter.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "common/judge.h"
#include "common/program.h"
#include "common/shortage.h"
#include "framework/findings.h"
#include "framework/rules.h"
#include "framework/script.h"

namespace cudnn_ci {
namespace {

void Write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

// Returns the path of the file that is to be run.
std::string WriteScript(const std::string& folder) {
  for (const ScriptFile& file : ScriptFiles()) {
    const std::string path = folder + "/" + file.name, parent = path.substr(0, path.rfind('/'));
    if (parent != folder && mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST)
      throw std::runtime_error("cannot create " + parent);
    Write(path, file.text);
  }
  return folder + "/" + ScriptFiles().front().name;
}

// Why an interpreter did not get as far as the script's first line; empty: it did.
std::string WhyNoAnswer(const Interpreter& p, const Asked& asked) {
  if (!asked.answer.problem.empty()) return "left an answer that cannot be read: " + asked.answer.problem;
  if (!asked.answer.python.empty()) return "";
  if (const std::string why = WhyNotStarted(asked.python, asked.end); !why.empty())
    return "cannot be started: " + why;
  const std::string last = "; " + LastLine(asked.end.output);
  if (asked.end.timed_out) return "did not run a script within " + SecondsText(p.timeout_s) + last;
  return HowEnded(asked.end) + " before it ran a script" + last;
}

}  // namespace

void DescribeInterpreter(Schema<Interpreter>& s, double timeout_s) {
  // A margin, in which the case says what the interpreter did until its time was over.
  s.Layer(CCI_LAYER_FRAMEWORK).PerSubject().TimeoutSeconds(timeout_s * 1.25);
  s.Param("python", &Interpreter::python)
      .Summary("the interpreter, by path or by PATH; auto: the subject's, else the first python3 of PATH")
      .Default(kAutoPython);
  s.Param("timeout_s", &Interpreter::timeout_s)
      .Summary("seconds that the interpreter may take; less than the entry's own")
      .Default(timeout_s);
}

void ValidateInterpreter(const Interpreter& p, Problems& problems) {
  if (p.python.empty()) problems.Add("python", "the interpreter's name is empty; leave it out instead");
  if (const std::string why = ProblemOfSeconds(p.timeout_s); !why.empty()) problems.Add("timeout_s", why);
}

Asked Ask(Context& ctx, const Interpreter& p, const std::string& what, const std::string& problem,
          const std::vector<std::string>& environment) {
  TakeUsersLibraryPath(ctx);
  Asked asked;
  asked.python = InterpreterOf(p.python, ctx.SubjectSpec());
  if (const std::string missing = WhyNotFound(asked.python); !missing.empty()) {
    if (p.python == kAutoPython && asked.python == kDefaultPython)
      ctx.Skip(CCI_SKIP_ABSENT, kDefaultPython, missing);
    ctx.Finding(kFrameworkPythonUnusable, missing);
    ctx.Stop();
  }
  const std::string folder = ctx.ScratchDir(), inputs = folder + "/problem.json",
                    answer = folder + "/answer.jsonl", script = WriteScript(folder);
  const std::string frameworks = folder + "/frameworks.json";
  Write(inputs, problem);
  Write(frameworks, FrameworkRows([&ctx](const std::string& key) { return ctx.Compatibility(key); }));
  std::remove(answer.c_str());  // of the case before in this process, to which the script would append
  // Nothing is left in the image (-B), and a crash shows where Python was.
  Shortage shortage;
  asked.end =
      RunProgram(ctx, {asked.python, "-B", "-X", "faulthandler", script, what, inputs, frameworks, answer},
                 environment, p.timeout_s, &shortage);
  LogEnd(ctx, asked.end.output);
  if (!asked.end.timed_out && asked.end.exit_status != 0 &&
      ReportShortage(ctx, asked.python, asked.end, shortage))
    ctx.Stop();
  asked.answer = ReadAnswer(answer);
  const std::string unusable = WhyNoAnswer(p, asked);
  if (!Judge(ctx, unusable.empty(), "the interpreter runs a script", kFrameworkPythonUnusable,
             asked.python + " " + unusable))
    ctx.Stop();
  if (!IsPythonAtLeast(asked.answer.python, 3, 8))
    ctx.Skip(CCI_SKIP_VERSION, "Python 3.8 or later", asked.answer.python + " at " + asked.python);
  return asked;
}

Framework FrameworkOf(const Context& ctx, const Probe& probe) {
  return FrameworkOf(probe, [&ctx](const std::string& key) { return ctx.Compatibility(key); });
}

void SkipIfAbsent(Context& ctx, const Framework& framework, const Asked& asked) {
  if (!asked.answer.absent.empty())
    ctx.Skip(CCI_SKIP_ABSENT, framework.title + " in " + asked.python,
             "no module " + asked.answer.absent + " for Python " + asked.answer.python);
}

void SkipIfOutOfMemory(Context& ctx, const Framework& framework, const std::string& error) {
  if (IsOutOfMemory(error))
    ctx.SkipMemory(CCI_MEMORY_DEVICE, "device memory for a small computation by " + framework.title, error);
}

}  // namespace cudnn_ci
