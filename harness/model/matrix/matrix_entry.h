// Reads one item of a matrix's "checks". Private to model.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_ENTRY_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_ENTRY_H_

#include <optional>
#include <vector>

#include "model/json/json_tree.h"
#include "model/matrix/matrix.h"
#include "model/matrix/matrix_reader.h"

namespace cudnn_ci {

// What names that stand in case ids are made of, for messages.
inline constexpr const char* kIdCharacters = "letters, digits, \"_\", \".\" and \"+\"";

// "cover" of an entry or of the matrix, if it is given. Reports any other word.
void ReadCover(ObjectReader* reader, const Json::Object& object, std::optional<Coverage>* cover);

// Adds an entry for each check that the item lists. Knows the subjects and the coverage of `matrix`. Reports
// every problem; what has one may be added too.
void ReadEntry(const Json& json, const Matrix& matrix, std::vector<Problem>* problems,
               std::vector<Entry>* out);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_ENTRY_H_
