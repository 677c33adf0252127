// A first matrix for an image, from what is found in it: promises that hold today, with a word on each.
#ifndef CUDNN_CI_MODEL_MATRIX_FIRST_MATRIX_H_
#define CUDNN_CI_MODEL_MATRIX_FIRST_MATRIX_H_

#include <string>
#include <vector>

#include "model/record/facts.h"

namespace cudnn_ci {

// What is to be tested, and what it has; a version that was not found is empty.
struct FirstMatrixSubject {
  std::string name, spec;       // "system", "loader"
  std::string toolkit_version;  // of its CUDA runtime; NVRTC alone is none
  std::string cudnn_version;
  // It has a library of CUDA or device code: without its own CUDA runtime it may hold one statically.
  bool uses_gpu = false;
  bool without_nvrtc = false;  // it brings no NVRTC, and nothing in it asks for one
};

struct FirstMatrixInput {
  std::string name;  // of the matrix, in reports
  // A matrix that comes with cudnn-ci and fits what every subject has ("cu13"); empty: there is none.
  std::string parent;
  HostFacts host;                            // where the image is looked at
  std::vector<FirstMatrixSubject> subjects;  // at least one
};

// The text of the matrix: JSON with comments, of the format that `--matrix` reads. It promises what was found
// (toolkit and cuDNN of these minor versions, GPUs of this compute capability or a higher one) or that there
// is none, and holds all to the checks of `parent`, or to those that are there for it. What was not found
// because there is no driver here is left to the reader, and so is what one subject has and another lacks,
// and a CUDA runtime that a subject which uses a GPU does without.
std::string FirstMatrix(const FirstMatrixInput& input);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_FIRST_MATRIX_H_
