// FIFOs and character devices with a library's name in the loader's folders. Reads folders alone.
#ifndef CUDNN_CI_IMAGE_CONTENTS_BLOCKING_LIBRARY_H_
#define CUDNN_CI_IMAGE_CONTENTS_BLOCKING_LIBRARY_H_

#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

struct BlockingLibrary {
  std::string path;
  std::string kind;  // "a FIFO", "a device"
  std::string by;    // through which it is found: "LD_LIBRARY_PATH", "the default directories"
};

// The first library in these values of LD_LIBRARY_PATH, or in the loader's default
// directories, that is a FIFO or a character device: ld.so opens it, as it would a library, and waits. One
// that is behind a file of the same name is never opened.
std::optional<BlockingLibrary> FindBlockingLibrary(const std::vector<std::string>& library_paths);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_BLOCKING_LIBRARY_H_
