// Reads many files by several threads: where none has been read before, the disk is waited for.
#ifndef CUDNN_CI_IMAGE_ELF_READ_IN_PARALLEL_H_
#define CUDNN_CI_IMAGE_ELF_READ_IN_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace cudnn_ci {

// Calls read(i) once for each i below `count`, from up to eight threads, and returns when all calls have
// returned. Calls must not touch what another one writes, and must not throw. Where no thread can be made,
// the caller's own makes all calls.
void ReadInParallel(size_t count, const std::function<void(size_t)>& read);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_READ_IN_PARALLEL_H_
