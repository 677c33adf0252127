#include "cli/launcher_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "launch/options.h"

namespace cudnn_ci {
namespace {

bool IsOwnOption(const std::string& name) {
  const auto& own = launch::OwnOptions();
  return std::find(own.begin(), own.end(), name) != own.end();
}

// Whether what stands behind `run` has an image, or an option that only the launcher has.
bool HasImage(const CLI::App& app, const CLI::App& run, const std::vector<std::string>& words) {
  const auto is_command = [&](const std::string& word) {
    return !app.get_subcommands([&](const CLI::App* command) { return command->get_name() == word; }).empty();
  };
  for (size_t i = 2; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") return true;
    if (word.empty() || word[0] != '-') return !word.empty() && !is_command(word);
    const std::string name = word.substr(0, word.find('='));
    if (IsOwnOption(name)) return true;
    if (name == "--run-token") return false;  // what a launcher has started
    const CLI::Option* const option = run.get_option_no_throw(name);
    const bool has_value = option != nullptr && option->get_items_expected_max() != 0;
    if (has_value && name == word) ++i;
  }
  return false;
}

launch::Home HomeOf(const Installation& installation) {
  return {installation.IsEmbedded() ? "" : installation.TreeRoot(), installation.executable,
          installation.matrices_dir(), installation.knowledge_dir() + "/findings"};
}

}  // namespace

std::optional<launch::LauncherLine> LauncherLineOf(const CLI::App& app, const CLI::App& run,
                                                   const Installation& installation,
                                                   const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "run" || !HasImage(app, run, words)) return std::nullopt;
  return launch::LauncherLine{
      ShellQuote(words[0]) + " run", {words.begin() + 2, words.end()}, HomeOf(installation)};
}

}  // namespace cudnn_ci
