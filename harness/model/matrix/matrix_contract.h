// The promises of a matrix: what "runner" and "image" hold.
#ifndef CUDNN_CI_MODEL_MATRIX_MATRIX_CONTRACT_H_
#define CUDNN_CI_MODEL_MATRIX_MATRIX_CONTRACT_H_

#include <string>
#include <vector>

#include "model/matrix/matrix.h"
#include "model/matrix/matrix_reader.h"

namespace cudnn_ci {

// Reads the ranges that the fleet ("runner") or the image ("image") promises by these keys, and the patterns
// of "image". "runner.compute_capability" may be a list of cards: ["8.0", "9.0"] becomes "8.0 or 9.0".
void ReadContract(const std::string& side, const std::vector<std::string>& keys, ObjectReader* top,
                  Matrix* matrix, std::vector<Problem>* problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_MATRIX_CONTRACT_H_
