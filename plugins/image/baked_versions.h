// Versions of libraries that were compiled into others, against those that the loader gives them.
#ifndef CUDNN_CI_PLUGINS_IMAGE_BAKED_VERSIONS_H_
#define CUDNN_CI_PLUGINS_IMAGE_BAKED_VERSIONS_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"

namespace cudnn_ci {

// A file that does not go together with the library that the loader takes for it.
struct BakedDifference {
  enum class Why { kOtherMajor, kNewerMinor, kFromBeforeAChange };
  std::string file, owner;     // "/x/_ep.so", and "deep-ep 1.2.1" which brought it, or nothing
  std::string title, inside;   // "NVSHMEM's device library", of which it has "3.4.5" in it
  std::string library, taken;  // the file that is taken, and its release
  Why why = Why::kOtherMajor;
  std::string changed_in;  // of kFromBeforeAChange: "3.5.19"

  std::string Text() const;
};

// By the rows `baked` of knowledge/packages.json: a file that needs a library, and has an object with the
// release of that with which it was linked, against the one that the loader takes for it. One for each pair
// of packages. What was stripped of its symbols says nothing.
std::vector<BakedDifference> BakedVersionsThatDiffer(const ImageFiles& image, const TableEntry& entry,
                                                     LoaderFiles* files);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_BAKED_VERSIONS_H_
