// What the names of a driver's user library (libcuda.so) and of its folders say, for harness and plugins
// alike. Needs nothing.
#ifndef CUDNN_CI_BASE_DRIVER_NAMES_H_
#define CUDNN_CI_BASE_DRIVER_NAMES_H_

#include <sstream>
#include <string>

namespace cudnn_ci::driver_names {

// Where a host's driver is put as a whole folder, and nothing else: by GKE's device plugin, WSL and NixOS.
// "FOLDER/lib64" and "FOLDER/lib" hold its libraries.
inline constexpr const char* kFolders[] = {"/usr/local/nvidia", "/usr/lib/wsl", "/run/opengl-driver"};

// A directory of the path is one of a cuda-compat package.
inline bool IsCompatPath(const std::string& real_path) {
  std::istringstream parts(real_path.substr(0, real_path.rfind('/')));
  for (std::string part; std::getline(parts, part, '/');)
    if (part == "compat" || part == "cuda-compat" || part.compare(0, 7, "compat-") == 0 ||
        part.compare(0, 12, "cuda-compat-") == 0)
      return true;
  return false;
}

}  // namespace cudnn_ci::driver_names

#endif  // CUDNN_CI_BASE_DRIVER_NAMES_H_
