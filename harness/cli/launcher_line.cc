#include "cli/launcher_line.h"

#include "base/text.h"

namespace cudnn_ci {
namespace {

launch::Home HomeOf(const Installation& installation) {
  return {installation.IsEmbedded() ? "" : installation.TreeRoot(), installation.executable,
          installation.matrices_dir(), installation.knowledge_dir() + "/findings"};
}

}  // namespace

std::optional<launch::LauncherLine> LauncherLineOf(const Installation& installation,
                                                   const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "run") return std::nullopt;
  return launch::LauncherLine{
      ShellQuote(words[0]) + " run", {words.begin() + 2, words.end()}, HomeOf(installation)};
}

}  // namespace cudnn_ci
