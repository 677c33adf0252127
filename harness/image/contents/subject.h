// A subject of a matrix: what is tested.
#ifndef CUDNN_CI_IMAGE_CONTENTS_SUBJECT_H_
#define CUDNN_CI_IMAGE_CONTENTS_SUBJECT_H_

#include <string>
#include <vector>

namespace cudnn_ci {

struct SubjectInfo {
  std::string name, spec;  // "system", "loader"
  // Of its libraries, absolute, in the order of the search: `folders` before those of LD_LIBRARY_PATH,
  // `late_folders` behind them. Known once it is resolved (ResolveSubject).
  std::vector<std::string> folders = {}, late_folders = {};
  bool operator==(const SubjectInfo&) const = default;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_SUBJECT_H_
