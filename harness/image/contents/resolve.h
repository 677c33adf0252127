// From what a matrix calls a subject to the folders of its libraries, by files alone.
#ifndef CUDNN_CI_IMAGE_CONTENTS_RESOLVE_H_
#define CUDNN_CI_IMAGE_CONTENTS_RESOLVE_H_

#include <cstddef>
#include <string>

#include "base/package_names.h"
#include "base/variables.h"
#include "image/contents/subject.h"

namespace cudnn_ci {

// Of one subject: what is beyond does not fit into a worker's configuration.
inline constexpr size_t kMaxSubjectFolders = 64;
inline constexpr size_t kMaxSubjectFolderBytes = 16 << 10;  // in JSON

struct ResolvedSubject {
  SubjectInfo subject;   // with its folders
  std::string problem;   // why the image lacks what the subject names, in words; empty: it is there
  std::string left_out;  // the first folder that does not fit; empty: all do
  bool complete = true;  // false: its folders hold more entries than are looked at
};

// `environment`: the variables that the subject's programs would see. `names`: what is known of packages.
ResolvedSubject ResolveSubject(SubjectInfo subject, const Variables& environment, const PackageNames& names);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_RESOLVE_H_
