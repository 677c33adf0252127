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
#include "model/record/knowledge_file.h"

namespace cudnn_ci {

struct Compatibility {
  VersionTable identity;
  std::map<std::string, std::string> entries;  // by the keys of cudnn_ci/facts.h
  // Where numbered rows stand in the file, by the beginning of their keys: "known.12".
  std::map<std::string, Position> rows;
  // The files of facts that were added to the table, by their keys, of numbered rows by the beginning of
  // them.
  std::map<std::string, KnowledgeFile> added;

  // The file that a fact is of, by its key or the beginning of a row's: an added one, or the table's own.
  KnowledgeFile FileOf(const std::string& place) const;
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

// Whether a part may replace a fact that the table has with another value, by the file that this one is of:
// {"driver_floor", "12"}, {"known_regressions", "half_3d_forward"}, {"cudnn of CUDA 12", "9.0.0 to 9.0.0"}.
using MayReplaceFact =
    std::function<bool(const std::string& list, const std::string& key, const KnowledgeFile& earlier)>;

// Adds the facts of a part, which is of `file`, to a table. Rows of `cudnn` replace those whose releases they
// overlap; a row that reaches beyond them is a problem.
void AddCompatibility(const Compatibility& part, const KnowledgeFile& file, Compatibility* table,
                      const MayReplaceFact& may_replace, std::vector<Problem>* problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_COMPATIBILITY_H_
