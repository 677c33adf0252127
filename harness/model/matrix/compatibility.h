// The table of version facts: which driver, toolkit, cuDNN and GPU go together, from a file with sources.
// Nothing of it is written in code. Plugins ask for single entries; the harness alone reads the file.
#ifndef CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_
#define CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_

#include <functional>
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

// Reads a table from an object, without its path and hash. `part`: lists may be missing, as in a file that
// adds to a table (model/knowledge/knowledge.h).
Compatibility ReadCompatibility(const Json& json, bool part, std::vector<Problem>* problems);

// Adds the facts of a part to a table. `may_replace` is asked with the name of each fact that the table has
// already, with another value: "driver_floor.12", "known_regressions half_3d_forward".
void AddCompatibility(const Compatibility& part, Compatibility* table,
                      const std::function<bool(const std::string& fact)>& may_replace);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_
