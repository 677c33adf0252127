// The libraries of the running case's subject, by what is installed: of an image, or of a bill of materials
// that stands for one.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SUBJECT_COMPONENTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SUBJECT_COMPONENTS_H_

#include <cudnn_ci/check.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "image/contents/components.h"

namespace cudnn_ci {

struct SubjectComponents {
  std::vector<Component> components;  // sorted
  std::size_t packages = 0;           // that were looked at
  bool from_sbom = false;
};

// Logs why not everything could be read. A document that cannot be read ends the check as an uncaught
// exception: the harness has read it before.
SubjectComponents ComponentsOfSubject(Context& ctx);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SUBJECT_COMPONENTS_H_
