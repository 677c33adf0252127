// The copies of cuDNN that an image holds beside those that the subjects use, by the facts
// (CCI_FACT_CUDNN_COPY).
#ifndef CUDNN_CI_MODEL_CUDNN_COPIES_H_
#define CUDNN_CI_MODEL_CUDNN_COPIES_H_

#include <string>
#include <vector>

#include "model/facts.h"

namespace cudnn_ci {

struct CudnnCopyFacts {
  std::string path, version, origin;  // of its main library; what is not known is empty
};

// Those that lie in no subject's directory of cuDNN, each once, by directory: they are not judged.
std::vector<CudnnCopyFacts> UnusedCudnnCopies(const Facts& facts);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_CUDNN_COPIES_H_
