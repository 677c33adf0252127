// Running a command line and reading what it says, for tests that drive CMake and installed programs.
#ifndef CUDNN_CI_TESTS_INSTALL_COMMAND_H_
#define CUDNN_CI_TESTS_INSTALL_COMMAND_H_

#include <stdio.h>

#include <filesystem>
#include <string>

namespace cudnn_ci {

struct CommandResult {
  int status = -1;     // as wait() gives it: 0 for success
  std::string output;  // stdout and stderr
};

// Runs a shell command to its end.
inline CommandResult RunCommand(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  result.status = pclose(pipe);
  return result;
}

// A path as one word of a shell command. Temporary and build folders hold no single quotes.
inline std::string Quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INSTALL_COMMAND_H_
