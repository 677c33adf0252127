#include "launch/tool.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/path.h"
#include "launch/options.h"

namespace cudnn_ci::launch {
namespace {

bool IsProgram(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

Result<Tool> FindTool(const std::string& given, const Home& home) {
  const std::string place = !given.empty() ? given : home.tree.empty() ? home.program : home.tree;
  if (IsProgram(place)) {
    const std::string file = RealPath(place);
    if (file.find(':') != std::string::npos) return Error{file + ": a path with a colon cannot be mounted"};
    return Tool{file, "cudnn-ci", "cudnn-ci", given.empty() ? home.matrices_dir : ""};
  }
  if (!IsProgram(place + "/bin/cudnn-ci"))
    return Error{place + "/bin/cudnn-ci: not found; name the installed tree with --tool"};
  const Result<std::string> tree = FolderToMount(place);
  if (!tree.ok()) return Error{tree.error()};
  return Tool{*tree, "tool", "tool/bin/cudnn-ci", *tree + "/matrices"};
}

std::vector<std::string> MatricesOf(const Tool& tool) {
  constexpr std::string_view kEnd = ".json";
  const auto can_be_a_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  std::vector<std::string> names;
  for (std::string name : NamesIn(tool.matrices_dir)) {
    if (!name.ends_with(kEnd)) continue;
    name.resize(name.size() - kEnd.size());
    // A schema is no matrix.
    if (!name.empty() && std::all_of(name.begin(), name.end(), can_be_a_name)) names.push_back(name);
  }
  return names;
}

}  // namespace cudnn_ci::launch
