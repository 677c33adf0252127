#include "framework/interpreter.h"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "common/judge.h"
#include "common/program.h"
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

std::string HowEnded(const ChildResult& end) {
  if (end.signal != 0)
    return "was ended by signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")";
  return "ended with exit status " + std::to_string(end.exit_status);
}

Asked Ask(Context& ctx, const Interpreter& p, const std::string& what, const std::string& problem,
          const std::vector<std::string>& environment) {
  Asked asked;
  asked.python = InterpreterOf(p.python, ctx.SubjectSpec());
  if (const std::string missing = WhyNotFound(asked.python); !missing.empty()) {
    if (p.python == kAutoPython && asked.python == kDefaultPython)
      ctx.Skip(CCI_SKIP_ABSENT, kDefaultPython, missing);
    ctx.Finding(kFrameworkPythonUnusable, missing);
    ctx.Stop();
  }
  const std::string folder = ctx.ScratchDir(), script = folder + "/probe.py",
                    inputs = folder + "/problem.json", answer = folder + "/answer.jsonl";
  Write(script, kScript);
  Write(inputs, problem);
  // Nothing is left in the image (-B), and a crash shows where Python was.
  asked.end = ctx.RunChild({asked.python, "-B", "-X", "faulthandler", script, what, inputs, answer},
                           environment, p.timeout_s);
  LogEnd(ctx, asked.end.output);
  asked.answer = ReadAnswer(answer);
  const std::string unusable = WhyNoAnswer(p, asked);
  if (!Judge(ctx, unusable.empty(), "the interpreter runs a script", kFrameworkPythonUnusable,
             asked.python + " " + unusable))
    ctx.Stop();
  if (!IsPythonAtLeast(asked.answer.python, 3, 8))
    ctx.Skip(CCI_SKIP_VERSION, "Python 3.8 or later", asked.answer.python + " at " + asked.python);
  return asked;
}

}  // namespace cudnn_ci
