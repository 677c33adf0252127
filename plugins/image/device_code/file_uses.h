// What loads a file with device code: the imports of its environment, and who asks for the package that has
// it.
#ifndef CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_FILE_USES_H_
#define CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_FILE_USES_H_

#include <string>
#include <utility>

#include "image/contents/image_files.h"
#include "image/device_code/device_code_judgement.h"
#include "image/imported_files.h"
#include "image/packages/python_requirements.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

class FileUses {
 public:
  // `library_path`: LD_LIBRARY_PATH as the image's user has it. The others must outlive this.
  FileUses(const ImageFiles* image, const SymbolRules* rules, std::string library_path)
      : image_(image),
        rules_(rules),
        imports_(image->folders, std::move(library_path), rules),
        requirements_(&image->packages) {}

  // The files of frameworks (SymbolRules::packages), of packages that were compiled for this image, and of
  // none are kImported where the import loads them. One thread at a time.
  FileUse Of(const std::string& path);

 private:
  const ImageFiles* image_;
  const SymbolRules* rules_;
  ImportedFiles imports_;
  PythonRequirements requirements_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_DEVICE_CODE_FILE_USES_H_
