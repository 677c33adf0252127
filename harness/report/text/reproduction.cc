// Commands that run a case again. See reproduction.h.
#include "report/text/reproduction.h"

#include <string_view>

#include "base/text.h"
#include "model/merge/merge.h"

namespace cudnn_ci {
namespace {

// A recorded command line, whose words are quoted as ShellQuote does, without the words that are `word`.
std::string WithoutWord(const std::string& command, std::string_view word) {
  std::string out;
  size_t begin = 0;
  bool quoted = false;
  for (size_t i = 0; i <= command.size(); ++i) {
    const bool escaped = !quoted && i > 0 && command[i - 1] == '\\';
    if (i < command.size() && command[i] == '\'' && !escaped) quoted = !quoted;
    if (i < command.size() && (quoted || command[i] != ' ')) continue;
    const std::string_view one = std::string_view(command).substr(begin, i - begin);
    if (one != word) out.append(out.empty() ? "" : " ").append(one);
    begin = i + 1;
  }
  return out;
}

// A recorded command line, for one case alone.
std::string WithCase(const std::string& command_line, const CaseRef& ref) {
  std::string command = SingleLine(command_line, 4000);
  if (command.empty() || ref.empty()) return command;
  // It would choose other cases, by reports that are not there any more.
  command = WithoutWord(command, "--rerun-failed");
  const std::string option = " --case " + ShellQuote(SingleLine(DisplayId(ref), 1000));
  if (command.empty() || command.find(option) != std::string::npos) return command;
  return command + option;
}

// Whether the line from outside is that of the launcher that has started this run. Then it is the only one:
// the command line was typed in a container that is gone.
bool IsOfLauncher(const RunStarted& run) {
  return !run.container_command.empty() && run.container_command.rfind("docker run ", 0) != 0;
}

}  // namespace

std::string Reproduction(const Summary& summary, const CaseRef& ref) {
  if (!summary.run) return "";
  const RunStarted& run = *summary.run;
  CaseRef there;
  if (const RunPart* part = PartOfCase(run, ref, &there)) return WithCase(part->command_line, there);
  return WithCase(IsOfLauncher(run) ? run.container_command : run.command_line, ref);
}

std::string ContainerReproduction(const Summary& summary, const CaseRef& ref) {
  if (!summary.run || IsOfLauncher(*summary.run)) return "";
  CaseRef there;
  const bool of_part = PartOfCase(*summary.run, ref, &there) != nullptr;
  return WithCase(summary.run->container_command, of_part ? there : ref);
}

}  // namespace cudnn_ci
