// Which libraries of cuDNN this process really has in memory, and whether they are of one install. cuDNN
// opens its sub-libraries when they are first needed, some of them only by a convolution, and by names that
// another install may have on the loader's path.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUDNN_LOADED_H_
#define CUDNN_CI_PLUGINS_COMMON_CUDNN_LOADED_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

namespace cudnn_ci {

struct LoadedCudnn {
  std::string files;     // "/a: libcudnn.so.9 libcudnn_graph.so.9 (of 9.19.0); /b: libcudnn_ops.so.9"
  bool several = false;  // they lie in more than one directory, or are of two majors
  bool mixed = false;    // and these are not all of one version
};

// Judges the files of this process's memory, or those given. Two copies of one version work together.
LoadedCudnn InspectLoadedCudnn();
LoadedCudnn InspectLoadedCudnn(const std::vector<std::string>& files);

// Judges, with a finding of this id, that cuDNN's libraries in this process's memory are of one install,
// where any library was loaded since the last call that found them so; false: the finding was reported. Costs
// next to nothing otherwise. For the thread that runs cases alone.
bool JudgeLoadedCudnn(Context& ctx, const char* slug);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUDNN_LOADED_H_
