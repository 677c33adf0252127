#include "framework/interpreter.h"

#include "framework/findings.h"
#include "framework/rules.h"
#include "framework/script.h"

namespace cudnn_ci {

Asked Ask(Context& ctx, const Interpreter& p, const std::string& what, const std::string& problem,
          const std::vector<std::string>& environment) {
  const std::string python = InterpreterOfCase(ctx, p.python, kFrameworkPythonUnusable);
  const std::string folder = ctx.ScratchDir(), inputs = folder + "/problem.json",
                    frameworks = folder + "/frameworks.json", answer = folder + "/answer.jsonl",
                    script = WriteScript(folder, ScriptFiles());
  WriteForScript(inputs, problem);
  WriteForScript(frameworks,
                 FrameworkRows([&ctx](const std::string& key) { return ctx.Compatibility(key); }));
  Asked asked = {RunScript(ctx, python, {script, what, inputs, frameworks, answer}, environment, p.timeout_s),
                 ReadAnswer(answer)};
  RequireAnswer(ctx, asked, asked.answer.problem, asked.answer.python, p.timeout_s, kFrameworkPythonUnusable);
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
