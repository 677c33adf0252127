#include "cli/launcher_line.h"

#include "base/text.h"
#include "cli/output_folder.h"
#include "launch/options.h"

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
  const std::vector<std::string> behind(words.begin() + 2, words.end());
  const auto withdraw = [behind] {
    for (const std::string& folder : launch::FoldersForReports(behind))
      WithdrawReports(ChoosePaths({folder, {}}));
  };
  return launch::LauncherLine{ShellQuote(words[0]) + " run", behind, HomeOf(installation), withdraw};
}

}  // namespace cudnn_ci
