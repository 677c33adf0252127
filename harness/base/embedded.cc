#include "base/embedded.h"

namespace cudnn_ci {
namespace {

EmbeddedFiles*& OfThisProcess() {
  static EmbeddedFiles* files = nullptr;
  return files;
}

}  // namespace

EmbeddedFiles* Embedded() { return OfThisProcess(); }

void SetEmbedded(EmbeddedFiles* files) { OfThisProcess() = files; }

bool IsEmbedded(const std::string& path) { return Embedded() != nullptr && Embedded()->Has(path); }

std::vector<std::string> EmbeddedNamesIn(const std::string& folder) {
  std::vector<std::string> names;
  if (Embedded() == nullptr) return names;
  const std::string prefix = folder + "/";
  for (const std::string& path : Embedded()->Paths())
    if (path.starts_with(prefix) && path.find('/', prefix.size()) == std::string::npos)
      names.push_back(path.substr(prefix.size()));
  return names;
}

std::string OpenablePath(const std::string& path) {
  if (!IsEmbedded(path)) return path;
  const Result<int> descriptor = Embedded()->Descriptor(path);
  return descriptor.ok() ? "/proc/self/fd/" + std::to_string(*descriptor) : path;
}

}  // namespace cudnn_ci
