#include "cli/installation.h"

#include <unistd.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/path.h"

namespace cudnn_ci {

std::string Installation::MissingFileText(const std::string& file, int mode) {
  if (cudnn_ci::IsEmbedded(file) || access(file.c_str(), mode) == 0) return {};
  if (const Installation own = OwnInstallation(); !own.IsEmbedded() && !own.HasTree())
    return own.executable +
           " is incomplete: it carries no files, and is not in an installed tree. If it was cudnn-ci as one "
           "file, it was truncated or stripped: download it again, and compare its SHA-256";
  return "the installation is incomplete: " + file + " is missing or not " +
         ((mode & X_OK) != 0 ? "executable" : "readable");
}

bool Installation::HasTree() const {
  return Exists(worker_path()) || IsFolder(matrices_dir()) || IsFolder(knowledge_dir());
}

Installation OwnInstallation() {
  const std::string executable = ExecutablePath();
  return {executable, Embedded() != nullptr ? executable : DirectoryOf(DirectoryOf(executable))};
}

std::string OwnPythonEnvironment(const Installation& installation) {
  const std::string scripts = DirectoryOf(installation.executable);
  std::string prefix = DirectoryOf(scripts);
  if (!installation.IsEmbedded() || !Exists(scripts + "/python3")) return {};
  for (const std::string& python : NamesIn(prefix + "/lib"))
    for (const char* packages : {"/site-packages", "/dist-packages"})
      if (python.starts_with("python3") && IsFolder(prefix + "/lib/" + python + packages + "/cudnn_ci"))
        return prefix;
  return {};
}

}  // namespace cudnn_ci
