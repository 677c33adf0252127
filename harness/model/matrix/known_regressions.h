// The rows of the table of version facts that say in which releases a library computes something wrong, fails
// or is slow. Private to model.
#ifndef CUDNN_CI_MODEL_MATRIX_KNOWN_REGRESSIONS_H_
#define CUDNN_CI_MODEL_MATRIX_KNOWN_REGRESSIONS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/json/json_tree.h"
#include "model/matrix/matrix_reader.h"

namespace cudnn_ci {

// Reads where a row is from and how sure it is; returns the source's address or words.
using ReadProvenance = std::function<std::string(ObjectReader* row)>;

// Adds the rows' entries, by the keys of cudnn_ci/facts.h, numbered in the file's order, and where they
// stand. Reports every mistake; what is wrong has no entry.
void ReadKnownRegressions(const Json::Array& rows, const ReadProvenance& provenance,
                          std::vector<Problem>* problems, std::map<std::string, std::string>* entries,
                          std::map<std::string, Position>* positions);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_KNOWN_REGRESSIONS_H_
