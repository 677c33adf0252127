// Opens a file of the image to read it. An image may have anything in a file's place: a FIFO, whose open
// waits for a writer, a device, whose open or read may wait or do something, a folder. None of these is
// opened, so that none can block who looks. (A mount that does not answer can.) For harness and plugins
// alike.
#ifndef CUDNN_CI_BASE_REGULAR_FILE_H_
#define CUDNN_CI_BASE_REGULAR_FILE_H_

#include <string>

#include "base/fd.h"

namespace cudnn_ci {

// Follows links, and opens an embedded file (base/embedded.h) as any other. Not valid: errno says why, and
// *kind what the file is if it is not a regular one ("a FIFO"), else empty. The caller bounds how much it
// reads: the file may grow meanwhile.
Fd OpenRegularFile(const std::string& path, std::string* kind = nullptr);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_REGULAR_FILE_H_
