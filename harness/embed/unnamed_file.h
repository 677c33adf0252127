// Files that have no name in any folder: in memory, or on a disk where the kernel keeps none in memory.
// None has to be removed: it goes with the last process that has it open, however that ends.
#ifndef CUDNN_CI_EMBED_UNNAMED_FILE_H_
#define CUDNN_CI_EMBED_UNNAMED_FILE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

// In memory (memfd_create), of `size` bytes, which `write_bytes` writes, then sealed: it cannot be changed
// any more. `name` is what /proc/PID/maps shows of it. Not valid: the kernel refuses it, or refuses to
// execute it, or `write_bytes` has failed; *why says which.
Fd FileInMemory(const std::string& name, size_t size, const std::function<Status(char* to)>& write_bytes,
                std::string* why);

// On the disk of a folder, for its owner alone to read and execute. Not valid: it cannot be written there, or
// not be executed from there; *why says which.
Fd UnnamedFileIn(const std::string& folder, std::string_view content, std::string* why);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EMBED_UNNAMED_FILE_H_
