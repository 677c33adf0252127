// A worker's own scratch folder, and files taken out of it. The worker may put whatever it likes there, links
// and pipes included: a file is opened by its plain name below the folder's descriptor, and only a regular
// one is read.
#ifndef CUDNN_CI_EXEC_SYSTEM_SCRATCH_FOLDER_H_
#define CUDNN_CI_EXEC_SYSTEM_SCRATCH_FOLDER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

class ScratchFolder {
 public:
  // Makes PARENT/worker-ID, readable by this user only.
  static Result<ScratchFolder> Make(const std::string& parent, int64_t id);

  ScratchFolder() = default;
  ScratchFolder(ScratchFolder&& other) noexcept { *this = std::move(other); }
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ~ScratchFolder() { Remove(); }  // with all that is in it

  const std::string& path() const { return path_; }
  // Empty, still at its path, and as private as when it was made.
  bool AsNew() const;
  // The content of the regular file `name` of at most `max_bytes`, which is removed; never blocks. Errors say
  // what it is instead.
  Result<std::string> Take(const std::string& name, int64_t max_bytes);

 private:
  void Remove();
  std::string path_;
  Fd folder_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_SCRATCH_FOLDER_H_
