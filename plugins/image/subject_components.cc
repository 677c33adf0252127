#include "image/subject_components.h"
#include "image/component_rules.h"
#include "image/subject_files.h"

#include <stdexcept>

#include "image/component_use.h"

namespace cudnn_ci {

SubjectComponents ComponentsOfSubject(Context& ctx) {
  const std::string spec = ctx.SubjectSpec(), prefix = kSbomSubject;
  const ComponentRules rules =
      ReadComponentRules([&ctx](const std::string& key) { return ctx.Compatibility(key); });
  if (spec.compare(0, prefix.size(), prefix) == 0) {
    const auto packages = ReadSbom(spec.substr(prefix.size()));
    if (!packages.ok()) throw std::runtime_error(packages.error());
    return {ComponentsOf(rules, *packages), packages->size(), true};
  }
  const ImageFiles image = FilesOfSubject(ctx);
  for (const std::string& problem : image.problems) ctx.Log(problem, CCI_LOG_WARNING);
  SubjectComponents found = {ComponentsOf(rules, image), image.packages.packages().size(), false};
  const SymbolRules opened =
      ReadSymbolRules([&ctx](const std::string& key) { return ctx.Compatibility(key); });
  ComponentUse use(&image, &opened);
  for (Component& component : found.components)
    if (!component.path.empty()) component.loaded = use.MayBeLoaded(component.path);
  return found;
}

}  // namespace cudnn_ci
