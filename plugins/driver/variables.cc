// The rules of the variables, and a look at the folder that they name.
#include "driver/variables.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cudnn_ci {
namespace {

// By name alone; the values that are harmless begin with one of `harmless`.
struct Debugging {
  const char* name;
  const char* harmless;
};
constexpr Debugging kDebugging[] = {
    {"CUDA_LAUNCH_BLOCKING", "0"},
    {"CUDA_FORCE_PTX_JIT", "0"},
    {"CUDA_DISABLE_PTX_JIT", "0"},
    {"CUDA_DEVICE_WAITS_ON_EXCEPTION", "0"},
    {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "0"},
    {"CUDNN_LOGLEVEL_DBG", "01"},  // 1 tells of errors alone
    {"CUDNN_LOGINFO_DBG", "0"},
    {"CUDNN_LOGWARN_DBG", "0"},
};

// The folder itself, or the nearest one above it that is there.
std::string NearestThatExists(std::string path) {
  while (access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    const size_t slash = path.find_last_not_of('/') == std::string::npos
                             ? std::string::npos
                             : path.rfind('/', path.find_last_not_of('/'));
    if (slash == std::string::npos) return ".";
    path.resize(slash == 0 ? 1 : slash);
  }
  return path;
}

}  // namespace

std::string DebuggingVariables(const Lookup& value) {
  std::string all;
  for (const Debugging& variable : kDebugging) {
    const std::string set = value(variable.name);
    if (set.empty() || strchr(variable.harmless, set.front()) != nullptr) continue;
    all += (all.empty() ? "" : ", ") + std::string(variable.name);
  }
  return all;
}

std::string ComputeCacheProblem(const Lookup& value) {
  if (value("CUDA_CACHE_DISABLE") == "1") return "CUDA_CACHE_DISABLE=1";
  const std::string home = value("HOME");
  std::string folder = value("CUDA_CACHE_PATH");
  if (folder.empty() && !home.empty()) folder = home + "/.nv/ComputeCache";
  if (folder.empty()) return {};
  const std::string nearest = NearestThatExists(folder);
  if (access(nearest.c_str(), W_OK | X_OK) == 0) return {};
  const std::string why = strerror(errno);
  return folder + " cannot be written" + (nearest == folder ? "" : ", because of " + nearest) + ": " + why;
}

}  // namespace cudnn_ci
