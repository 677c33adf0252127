// The matrix that a run is tested against: one of this machine, mounted with its parents where the container
// reads it by the path that it has here; one of the tool's own; or one of the image's.
#ifndef CUDNN_CI_LAUNCH_MATRIX_H_
#define CUDNN_CI_LAUNCH_MATRIX_H_

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "launch/options.h"
#include "launch/tool.h"

namespace cudnn_ci::launch {

struct MatrixChoice {
  std::string file;    // of this machine, absolute; empty: it is none
  std::string folder;  // of the file
  // Parents outside of the folder: files, and the paths by which the tool looks for them.
  std::vector<std::pair<std::string, std::string>> parents;
  std::string builtin;  // "builtin:cu12"; empty: none of the tool's own
  std::string inside;   // a file of the container's; empty: none
};

// Which matrix the options mean. A run that names nothing to test by, and passes no GPU, tests what the
// image's files say: by "static". Errors name the matrix, and those that there are.
Result<MatrixChoice> ChooseMatrix(const Options& options, const Tool& tool);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_MATRIX_H_
