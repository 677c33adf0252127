// The tree of files that this cudnn-ci belongs to, and what the process was started with.
#ifndef CUDNN_CI_CLI_INSTALLATION_H_
#define CUDNN_CI_CLI_INSTALLATION_H_

#include <string>
#include <vector>

namespace cudnn_ci {

struct Installation {
  std::string executable;  // of cudnn-ci
  // The folder of bin, libexec, plugins, matrices and knowledge; of a cudnn-ci that carries them, the path of
  // the executable itself (base/embedded.h).
  std::string root;

  const std::string& TreeRoot() const { return root; }
  std::string worker_path() const { return TreeRoot() + "/libexec/cudnn-ci-worker"; }
  std::string injector_path() const { return TreeRoot() + "/libexec/cudnn-ci-plant.so"; }
  std::string matrices_dir() const { return TreeRoot() + "/matrices"; }
  std::string knowledge_dir() const { return TreeRoot() + "/knowledge"; }

  // Whether these are files of the executable itself.
  bool IsEmbedded() const { return root == executable; }
  // Whether any part of a tree lies where it has to: of a file that stands alone, and carries nothing, none
  // does.
  bool HasTree() const;
  // The program by its path below the tree; empty where the executable is the tree.
  std::string ProgramInTree() const { return IsEmbedded() ? "" : "/bin/cudnn-ci"; }
  std::string program_path() const { return root + ProgramInTree(); }
  // Why the tree lacks one of these files, or this user may not use it as `mode` of access(2) says; empty: it
  // does not. An embedded file counts as usable: whether it can be unpacked is seen when it is.
  static std::string MissingFileText(const std::string& file, int mode);
};

// That of this process.
Installation OwnInstallation();
// The prefix of the Python environment that pip has put this executable into; empty: none has it.
std::string OwnPythonEnvironment(const Installation& installation);

// How this process was started.
struct Invocation {
  Installation installation;
  std::string command_line;  // as typed, quoted for a shell; "$NAME" instead of a secret
  // The words that ask for the same run again: without the places of reports, image_config, baseline,
  // rerun_failed, plugin_dirs, knowledge and what the launcher says of itself. Empty for other commands.
  std::vector<std::string> arguments;
};

// The version of cudnn-ci.
const char* ToolVersion();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_INSTALLATION_H_
