#include "cli/container_command.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/secrets.h"
#include "base/text.h"
#include "cli/known.h"
#include "cli/plugin_folders.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTree = "/opt/cudnn-ci";
// A command that was cut would be another one: what is longer is left out.
constexpr size_t kMaxCommandBytes = 4000, kMaxWordBytes = 2 * kMaxCommandBytes;

bool IsBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.compare(0, folder.size() + 1, folder + "/") == 0;
}

// What is mounted where, each place once.
class Mounts {
 public:
  // `source` is a word of the shell already.
  void Add(const std::string& source, const std::string& target) {
    const auto same = [&](const auto& mount) { return mount.second == target; };
    if (target != "/" && std::none_of(mounts_.begin(), mounts_.end(), same))
      mounts_.emplace_back(source, target);
  }
  std::string Words() const {
    std::string words;
    for (const auto& [source, target] : mounts_) words += " -v " + source + ShellQuote(":" + target + ":ro");
    return words;
  }

 private:
  std::vector<std::pair<std::string, std::string>> mounts_;
};

// What of the command line lies outside the tree; `outside`: folders of plugins, and knowledge. True: some of
// it is named from the folder we are in.
bool AddInputs(const RunOptions& options, const Invocation& invocation, const Matrix& matrix,
               const std::vector<std::string>& outside, Mounts* mounts) {
  bool relative = false;
  // A matrix that was named has another file than its name.
  const bool is_file = !options.selection.matrix.name.empty() && !matrix.files.empty() &&
                       matrix.files.back() == options.selection.matrix.name;
  if (is_file && options.selection.matrix.name[0] != '/') {
    relative = true;
  } else if (is_file && !IsBelow(options.selection.matrix.name, kTree)) {
    const std::string folder = fs::path(options.selection.matrix.name).parent_path().string();
    mounts->Add(IsBelow(folder, invocation.installation.TreeRoot()) ? ShellQuote(folder) : "\"$PWD\"",
                folder);
  }
  if (const std::string& table = options.compatibility; !table.empty() && table[0] != '/')
    relative = true;
  else if (!table.empty() && !IsBelow(table, kTree))
    mounts->Add(ShellQuote(table), table);
  for (const std::string& folder : outside) {
    if (folder[0] != '/') relative = true;
    if (folder[0] == '/' && !IsBelow(folder, kTree)) mounts->Add(ShellQuote(folder), folder);
  }
  return relative;
}

// The line would be another command, or find less than was found here: a word that cannot be printed as it
// is, a folder that the engine cannot be told, an input that no mount holds.
bool CannotBeSaid(const RunOptions& options, const Invocation& invocation, const Matrix& matrix,
                  const std::vector<std::string>& outside, const std::string& folder,
                  const Variables& runners) {
  const auto is_unprintable = [](const std::string& word) { return CleanLine(word, kMaxWordBytes) != word; };
  if (is_unprintable(folder) || folder.find(':') != std::string::npos) return true;
  if (std::any_of(invocation.arguments.begin(), invocation.arguments.end(), is_unprintable)) return true;
  for (const auto& [name, value] : runners)
    if (is_unprintable(value)) return true;
  const std::string beside = fs::path(options.selection.matrix.name).parent_path().string();
  std::error_code error;
  const auto is_out_of_reach = [&](const std::string& path) {
    const std::string absolute = fs::weakly_canonical(fs::absolute(path, error), error).string();
    if (error || absolute.find(':') != std::string::npos) return true;
    const bool is_below_matrix = !beside.empty() && beside[0] == '/' &&
                                 IsBelow(absolute, fs::path(beside).lexically_normal().string());
    return !IsBelow(absolute, invocation.installation.TreeRoot()) && !IsBelow(absolute, folder) &&
           !is_below_matrix;
  };
  for (const std::string& file : matrix.files)
    if (is_out_of_reach(file)) return true;
  // One that is named from the root is mounted by itself.
  if (const std::string& table = options.compatibility;
      !table.empty() && (table.find(':') != std::string::npos || (table[0] != '/' && is_out_of_reach(table))))
    return true;
  return std::any_of(outside.begin(), outside.end(),
                     [&](const std::string& path) { return path[0] != '/' && is_out_of_reach(path); });
}

}  // namespace

std::string ContainerCommand(const RunOptions& options, const Invocation& invocation, const Matrix& matrix,
                             const Variables& runners) {
  // A document needs no container, and none would hold it.
  if (options.subject_image.empty() || !options.sbom.empty()) return {};
  Mounts mounts;
  mounts.Add(ShellQuote(invocation.installation.TreeRoot()), kTree);
  std::string where;
  std::error_code error;
  const std::string folder = fs::current_path(error).string();
  // Behind the tree's own; those of the environment are named like the others.
  std::vector<std::string> plugins = AllPluginDirs(invocation.installation, options.discovery);
  plugins.erase(plugins.begin());
  std::vector<std::string> outside = plugins;
  for (const KnowledgePlace& place : KnowledgePlaces(options.discovery)) outside.push_back(place.path);
  if (error || CannotBeSaid(options, invocation, matrix, outside, folder, runners)) return {};
  if (AddInputs(options, invocation, matrix, outside, &mounts) && folder != "/") {
    mounts.Add("\"$PWD\"", folder);
    where = " -w " + ShellQuote(folder);
  }
  const Secrets& secrets = Secrets::OfThisProcess();
  std::string command = "docker run --rm";
  if (!options.selection.static_stage && !options.selection.no_gpu) command += " --gpus all";
  command += mounts.Words() + where;
  for (const auto& [name, value] : runners)
    // That of --gpus: it names GPUs of the runner we are on.
    if (name != "NVIDIA_VISIBLE_DEVICES") command += " -e " + secrets.ShellWord(name + "=" + value);
  command += std::string(" --entrypoint ") + kTree + invocation.installation.ProgramInTree() + " " +
             ShellQuote(options.subject_image);
  for (const std::string& word : invocation.arguments) command += " " + secrets.ShellWord(word);
  for (const std::string& plugin_dir : plugins) command += " --plugin-dir " + secrets.ShellWord(plugin_dir);
  for (size_t i = plugins.size(); i < outside.size(); ++i)
    command += " --knowledge " + secrets.ShellWord(outside[i]);
  // The reports end with the container; what they say stands on the screen as well.
  command += " --output-dir /tmp/cudnn-ci-report";
  return command.size() <= kMaxCommandBytes ? command : "";
}

}  // namespace cudnn_ci
