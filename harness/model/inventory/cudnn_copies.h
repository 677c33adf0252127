// The copies of cuDNN that an image holds, by the facts (CCI_FACT_CUDNN_COPY), and which subjects use them.
#ifndef CUDNN_CI_MODEL_INVENTORY_CUDNN_COPIES_H_
#define CUDNN_CI_MODEL_INVENTORY_CUDNN_COPIES_H_

#include <string>
#include <vector>

#include "model/record/facts.h"

namespace cudnn_ci {

struct CudnnCopyFacts {
  std::string path, version, origin;  // of its main library; what is not known is empty
  std::vector<std::string> used_by;   // the subjects whose cuDNN it is, sorted
};

// Every copy once, by path.
std::vector<CudnnCopyFacts> CudnnCopiesOf(const Facts& facts);

// The CUDA major that a copy is for, by the name of the package that brought it, as its origin has it: "12"
// of "Python package nvidia-cudnn-cu12 9.19.0.56"; empty: it does not tell.
std::string CudaOfOrigin(const std::string& origin);

// Those that lie in no subject's directory of cuDNN: they are not tested.
std::vector<CudnnCopyFacts> UnusedCudnnCopies(const Facts& facts);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_INVENTORY_CUDNN_COPIES_H_
