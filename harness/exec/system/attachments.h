// Files that checks attach, on their way into the report's folder.
#ifndef CUDNN_CI_EXEC_SYSTEM_ATTACHMENTS_H_
#define CUDNN_CI_EXEC_SYSTEM_ATTACHMENTS_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "exec/system/scratch_folder.h"
#include "model/record/event.h"

namespace cudnn_ci {

class Attachments {
 public:
  static constexpr int64_t kMostBytes = 16 << 20, kMostBytesOfRun = 256 << 20;

  // Attachments go to FOLDER/attachments; with an empty folder they are dropped.
  explicit Attachments(std::string folder) : folder_(std::move(folder)) {}

  bool wanted() const { return !folder_.empty(); }
  // Takes the file `attached->path` names in the worker's scratch folder to attachments/N-NAME, which becomes
  // its path. One of kTableType is read, too. An error says why it is not kept: not a regular file, too
  // large, no table though it says so, or nowhere to put it. Nothing that lies there already is replaced, and
  // no link is followed.
  Status Take(ScratchFolder* scratch, Attached* attached);

 private:
  const std::string folder_;
  int64_t count_ = 0, bytes_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SYSTEM_ATTACHMENTS_H_
