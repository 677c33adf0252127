// The launcher: the gate in a container of an image, from outside, with docker, podman or nerdctl. The
// engine's status is evidence and never the verdict: 0 is returned only when a finished report of this very
// run says so.
#ifndef CUDNN_CI_LAUNCH_LAUNCH_H_
#define CUDNN_CI_LAUNCH_LAUNCH_H_

#include <functional>
#include <string>
#include <vector>

#include "launch/tool.h"

namespace cudnn_ci::launch {

struct LauncherLine {
  std::string called;              // what was typed to call it, for a shell: "bin/cudnn-ci run"
  std::vector<std::string> words;  // behind that
  Home home;
  // Removes the reports of an earlier run that lie where this one's would have been: for exit 2.
  std::function<void()> withdraw;
};

// Returns the exit code, as Usage() lists them.
int RunLauncher(const LauncherLine& line);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_LAUNCH_H_
