// The table of version facts: which driver, toolkit, cuDNN and GPU go together, from a file with sources.
// Nothing of it is written in code. Plugins ask for single entries; the harness alone reads the file.
#ifndef CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_
#define CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "model/matrix/matrix.h"
#include "model/record/event.h"

namespace cudnn_ci {

struct Compatibility {
  VersionTable identity;
  std::map<std::string, std::string> entries;  // by the keys of cudnn_ci/facts.h
};

inline constexpr const char* kCompatibilitySchema = "cudnn-ci/compatibility/1";  // the version of the format

// Bounds: all of the table travels to every worker.
inline constexpr size_t kMaxCompatibilityRows = 500;              // of one list or object
inline constexpr size_t kMaxCompatibilityEntryBytes = 64 * 1024;  // of all entries, keys and values
inline constexpr size_t kMaxCompatibilityEntry = 4000;            // of one, which must fit a message

// Reads the file, at most 4 MiB. Reports every problem found, sorted by position.
std::variant<Compatibility, std::vector<Problem>> LoadCompatibility(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_
