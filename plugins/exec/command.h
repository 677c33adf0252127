// What a command is held to, as pure functions over text.
#ifndef CUDNN_CI_PLUGINS_EXEC_COMMAND_H_
#define CUDNN_CI_PLUGINS_EXEC_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// Whether one line of `output` matches the pattern of fnmatch(3) as a whole. A carriage return before the
// line's end does not count.
bool HasLine(std::string_view output, const std::string& pattern);

// Why a pattern can match nothing; empty: it can.
std::string ProblemOfPattern(const std::string& pattern);

// What /proc/PID/maps said of the command's processes.
struct MappedFiles {
  std::string refused;             // why nothing could be seen; empty: the list is whole
  std::vector<std::string> files;  // each path once
};

// Reads what `cudnn-ci-worker --exec-mapped` wrote.
MappedFiles ReadMapped(const std::string& file);

// Whether one of the files matches: by its name, or by its whole path where the pattern has a slash.
bool IsMapped(const MappedFiles& mapped, const std::string& pattern);

// Those whose name begins like the pattern's, up to ".so": what was taken in place of it.
std::vector<std::string> Relatives(const MappedFiles& mapped, const std::string& pattern);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_EXEC_COMMAND_H_
