// The version of the matrix format, and the bounds on what a matrix says.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_FORMAT_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_FORMAT_H_

#include <cstddef>

namespace cudnn_ci {

inline constexpr const char* kMatrixSchema = "cudnn-ci/matrix/1";

// All of a matrix must fit into messages to workers (64 KiB) and lines of the journal (1 MiB).
inline constexpr size_t kMaxNameCharacters = 200;   // ids, names, ranges, finding ids, owners
inline constexpr size_t kMaxTextCharacters = 4000;  // paths, patterns, reasons
inline constexpr size_t kMaxSubjects = 32;
inline constexpr size_t kMaxWaivers = 1000;
inline constexpr size_t kMaxWaiverBytes = 256 * 1024;  // of all waivers, in JSON
inline constexpr size_t kMaxParamBytes = 48 * 1024;    // of one case, in JSON

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_FORMAT_H_
