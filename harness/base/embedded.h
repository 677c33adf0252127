// Files that this executable carries inside itself, so that no installed tree has to lie beside it. They are
// seen below a folder that is called like the executable: /usr/bin/cudnn-ci/matrices/cu13.json. No file
// system can have such a path, so none is taken for another.
#ifndef CUDNN_CI_BASE_EMBEDDED_H_
#define CUDNN_CI_BASE_EMBEDDED_H_

#include <string>
#include <vector>

#include "base/result.h"

namespace cudnn_ci {

// For one thread.
class EmbeddedFiles {
 public:
  virtual ~EmbeddedFiles() = default;

  // Whether a file has this path.
  virtual bool Has(const std::string& path) const = 0;
  // All files, by their paths, sorted.
  virtual std::vector<std::string> Paths() const = 0;
  // Whether the owner may execute the file.
  virtual bool IsProgram(const std::string& path) const = 0;
  // The content. Errors name the path and say that the executable is damaged.
  virtual Result<std::string> Read(const std::string& path) const = 0;
  // A descriptor of a file with that content, which has no name in any folder, and can be executed and
  // mapped: unpacked the first time, and open for as long as this process lives. It is closed in what is
  // executed, and its number is kFirstDescriptor or higher. Errors say what was tried and what to do.
  virtual Result<int> Descriptor(const std::string& path) = 0;
  // One more folder, the last to be tried, for what the kernel does not keep in memory.
  virtual void MayUnpackInto(const std::string& folder) = 0;
  // The executable without what it carries.
  virtual Result<std::string> ProgramAlone() const = 0;

  static constexpr int kFirstDescriptor = 32;
};

// Those of this process; null: it carries none. They are set once, before anything else runs.
EmbeddedFiles* Embedded();
void SetEmbedded(EmbeddedFiles* files);

// Whether the path is that of an embedded file.
bool IsEmbedded(const std::string& path);
// Names of the embedded files that lie in a folder, not below it, sorted.
std::vector<std::string> EmbeddedNamesIn(const std::string& folder);
// By which this process, and what it starts until that executes a program, opens or executes an embedded
// file; any other path, and one of a file that cannot be unpacked, as it is.
std::string OpenablePath(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_EMBEDDED_H_
