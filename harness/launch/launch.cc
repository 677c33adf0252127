#include "launch/launch.h"

#include <stdio.h>

#include <variant>

#include "base/secrets.h"
#include "base/text.h"
#include "launch/matrix.h"
#include "launch/options.h"
#include "launch/session.h"
#include "launch/speech.h"

namespace cudnn_ci::launch {
namespace {

int Reject(const LauncherLine& line, const std::string& message) {
  Say(message);
  line.withdraw();
  return 2;
}

// The line that asks for the same container again, and to which the cases can be added.
std::string LineToRepeat(const LauncherLine& line, const Options& options, const MatrixChoice& matrix) {
  const Secrets& secrets = Secrets::OfThisProcess();
  std::vector<std::string> words = options.again;
  const bool is_of_this_machine = !matrix.file.empty() || !matrix.builtin.empty();
  if (!options.matrix_behind.empty() && is_of_this_machine)
    words.insert(words.end(), {"--matrix", options.matrix_behind});
  words.insert(words.end(), {"--output-dir", "cudnn-ci-reproduction", options.image, "--"});
  if (!matrix.inside.empty()) words.insert(words.end(), {"--matrix", matrix.inside});
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  std::string text = line.called;
  for (const std::string& word : words) text += " " + secrets.ShellWord(word);
  return text;
}

}  // namespace

int RunLauncher(const LauncherLine& line) {
  const auto parsed = ParseOptions(line.words);
  if (const auto* refusal = std::get_if<Refusal>(&parsed)) {
    if (!refusal->help) return Reject(line, refusal->message);
    return fputs(Usage(), stdout) < 0 || fflush(stdout) != 0 ? 5 : 0;
  }
  Plan plan{std::get<Options>(parsed), {}, {}, line.home, line.withdraw, line.called, ""};
  Result<Tool> tool = FindTool(plan.options.tool, line.home);
  if (!tool.ok()) return Reject(line, tool.error());
  plan.tool = std::move(*tool);
  Result<MatrixChoice> matrix = ChooseMatrix(plan.options, plan.tool);
  if (!matrix.ok()) return Reject(line, matrix.error());
  plan.matrix = std::move(*matrix);
  plan.again = LineToRepeat(line, plan.options, plan.matrix);
  if (plan.options.dry_run) {
    printf("%s\n", DryRun(plan).c_str());
    return fflush(stdout) == 0 ? 0 : 5;
  }
  return Session(plan).Run();
}

}  // namespace cudnn_ci::launch
