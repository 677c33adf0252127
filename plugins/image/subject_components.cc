#include "image/subject_components.h"

#include <stdexcept>

namespace cudnn_ci {

SubjectComponents ComponentsOfSubject(Context& ctx) {
  const std::string spec = ctx.SubjectSpec(), prefix = kSbomSubject;
  SubjectComponents found;
  if (spec.compare(0, prefix.size(), prefix) == 0) {
    const auto packages = ReadSbom(spec.substr(prefix.size()));
    if (!packages.ok()) throw std::runtime_error(packages.error());
    return {ComponentsOf(*packages), packages->size(), true};
  }
  const ImageFiles image = FilesOfSubject(ctx);
  for (const std::string& problem : image.problems) ctx.Log(problem, CCI_LOG_WARNING);
  return {ComponentsOf(image), image.packages.packages().size(), false};
}

}  // namespace cudnn_ci
