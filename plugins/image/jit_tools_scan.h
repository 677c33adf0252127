// Versions that stand as text in a program or library, read without running it.
#ifndef CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_SCAN_H_
#define CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_SCAN_H_

#include <string>
#include <string_view>

namespace cudnn_ci {

// The digits and dots behind the first place of a file at which they follow the marker ("12.8" behind "Cuda
// compilation tools, release "), without a dot at the end; at most 32 characters. Empty: there are none, or
// it is no regular file that can be read. The first GiB is looked at, a part at a time.
std::string NumbersBehind(const std::string& path, std::string_view marker);

// "12.9" of a ptxas or nvcc, as it prints it with --version.
std::string ToolRelease(const std::string& program);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_SCAN_H_
