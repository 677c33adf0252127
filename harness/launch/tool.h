// What of cudnn-ci goes into the container: an installed tree, or cudnn-ci as one file.
#ifndef CUDNN_CI_LAUNCH_TOOL_H_
#define CUDNN_CI_LAUNCH_TOOL_H_

#include <string>

#include "base/result.h"

namespace cudnn_ci::launch {

// Where this program belongs to.
struct Home {
  std::string tree;          // the installed tree; empty: the program is one file
  std::string program;       // its own file
  std::string matrices_dir;  // where its own matrices lie
  std::string findings_dir;  // knowledge/findings
};

// What is mounted, read-only.
struct Tool {
  std::string source;        // the tree, or the file: absolute, links followed
  std::string inside;        // where it lies below the launcher's folder in the container: "tool"
  std::string program;       // the program there, below that folder: "tool/bin/cudnn-ci"
  std::string matrices_dir;  // its matrices on this machine; empty: they are not known
};

// What `given` names (--tool): the folder of a tree, or a file; empty: what `home` says. Errors name the
// path, and what to give instead.
Result<Tool> FindTool(const std::string& given, const Home& home);

// The processor that its program is for, as engines call it: "amd64", "arm64"; empty: it is no executable of
// these.
std::string ProcessorOf(const Tool& tool);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_TOOL_H_
