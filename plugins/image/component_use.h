// Whether anything in a Python environment loads a library that lies there: a known fault of a copy that
// nobody loads hurts nobody.
#ifndef CUDNN_CI_PLUGINS_IMAGE_COMPONENT_USE_H_
#define CUDNN_CI_PLUGINS_IMAGE_COMPONENT_USE_H_

#include <string>

#include "image/contents/image_files.h"
#include "image/packages/python_requirements.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

class ComponentUse {
 public:
  // Both must outlive this.
  ComponentUse(const ImageFiles* image, const SymbolRules* rules)
      : image_(image), rules_(rules), requirements_(&image->packages) {}

  // False only where it is sure enough: the file lies in an environment, no other package requires the one
  // that brought it, also not as an extra, no import rule of a package that is there opens a file of its
  // folder, and no file outside the folder needs one. One thread at a time.
  bool MayBeLoaded(const std::string& path);

 private:
  bool IsRequired(const Package& owner);

  const ImageFiles* image_;
  const SymbolRules* rules_;
  PythonRequirements requirements_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_COMPONENT_USE_H_
