// A first matrix for an image, from what is found in it: promises that hold today, with a word on each.
#ifndef CUDNN_CI_MODEL_FIRST_MATRIX_H_
#define CUDNN_CI_MODEL_FIRST_MATRIX_H_

#include <string>

#include "model/facts.h"

namespace cudnn_ci {

struct FirstMatrixInput {
  std::string name;  // of the matrix, in reports
  std::string
      parent;       // a matrix that comes with cudnn-ci and fits the toolkit ("cu13"); empty: there is none
  HostFacts found;  // in the image, and on the machine where it is looked at
};

// The text of the matrix: JSON with comments, of the format that `--matrix` reads. It promises what was found
// (toolkit and cuDNN of this minor version, GPUs of this compute capability or a higher one) or that there is
// none, and holds all to the checks of `parent`, or to those that are there for it. What was not found
// because there is no driver here is left to the reader.
std::string FirstMatrix(const FirstMatrixInput& input);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_FIRST_MATRIX_H_
