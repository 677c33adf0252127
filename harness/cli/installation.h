// The installed tree that this cudnn-ci belongs to, and what the process was started with.
#ifndef CUDNN_CI_CLI_INSTALLATION_H_
#define CUDNN_CI_CLI_INSTALLATION_H_

#include <string>
#include <vector>

namespace cudnn_ci {

struct Installation {
  std::string executable_dir;  // of cudnn-ci

  // The folder of bin, libexec, plugins, matrices and knowledge.
  std::string TreeRoot() const { return executable_dir.substr(0, executable_dir.rfind('/')); }
  std::string worker_path() const { return TreeRoot() + "/libexec/cudnn-ci-worker"; }
  std::string injector_path() const { return TreeRoot() + "/libexec/cudnn-ci-plant.so"; }
  std::string matrices_dir() const { return TreeRoot() + "/matrices"; }
  std::string knowledge_dir() const { return TreeRoot() + "/knowledge"; }
};

// How this process was started.
struct Invocation {
  Installation installation;
  std::string command_line;  // as typed, quoted for a shell; "$NAME" in place of a secret
  // The words that ask for the same run again: without the places of reports, image_config, baseline,
  // rerun_failed, plugin_dirs, knowledge and what the launcher says of itself. Empty for other commands.
  std::vector<std::string> arguments;
};

// The version of cudnn-ci.
const char* ToolVersion();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_INSTALLATION_H_
