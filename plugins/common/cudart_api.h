// The CUDA runtime library of the image, bound at run time: the judge of "which toolkit is this".
// Prototypes by hand (https://docs.nvidia.com/cuda/cuda-runtime-api/): the two functions used have
// not changed since CUDA 8, and the headers at build time are another version. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUDART_API_H_
#define CUDNN_CI_PLUGINS_COMMON_CUDART_API_H_

#include <string>
#include <vector>

#include "common/late_function.h"
#include "common/promise.h"

namespace cudnn_ci {

// "13.0" of 13000: CUDA's own coding of versions, 1000 * major + 10 * minor.
std::string CudaVersionText(int version);

// One libcudart that the loader finds by one of its sonames.
struct CudartLibrary {
  int major = 0;
  std::string soname, path;
  std::string version;  // "13.0"; empty when it loaded but did not say
  std::string error;    // why it is unusable; empty when it is usable
  bool own = false;     // it lies in one of the subject's own folders
};

// Every CUDA runtime on the loader's path, newest soname first, sonames of which nothing exists left out.
// Asks each for its version, which needs no GPU; of CUDA 11's, which answers where there is a driver alone,
// the name of the file or the record of its wheel tells it.
std::vector<CudartLibrary> FindCudart(const std::vector<std::string>& subject_folders = {});

// Of those found, or, where some are the subject's own, of these alone: the one that keeps the promise, else
// one of a promised major that is broken, else the newest that says its version, else the newest; null: none
// was found.
const CudartLibrary* JudgedCudart(const std::vector<CudartLibrary>& found, const Promise& promise);

// The sonames FindCudart looks for, for messages: "libcudart.so.13, libcudart.so.12, ...".
std::string CudartSonames();
// Those of them whose major the promise means.
std::vector<std::string> PromisedCudartSonames(const Promise& promise);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUDART_API_H_
