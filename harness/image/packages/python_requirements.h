// What a Python package requires, as its METADATA says
// (https://packaging.python.org/en/latest/specifications/core-metadata/#requires-dist-multiple-use).
#ifndef CUDNN_CI_IMAGE_PACKAGES_PYTHON_REQUIREMENTS_H_
#define CUDNN_CI_IMAGE_PACKAGES_PYTHON_REQUIREMENTS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "image/packages/installed_packages.h"
#include "image/packages/package.h"

namespace cudnn_ci {

struct PythonRequirement {
  std::string name;       // in the form of NormalizedName
  std::string version;    // of "==", without a "*": "8.9.2.26"; empty: another one will do too
  bool optional = false;  // it holds for an extra only
};

// Of one line behind "Requires-Dist: "; none: it names no package.
std::optional<PythonRequirement> ParseRequirement(std::string_view text);

// Those of a package of Python's; at most 64 KiB of its METADATA or PKG-INFO are read.
std::vector<PythonRequirement> RequirementsOf(const Package& package);

// The requirements of an image's Python packages, each read when it is first asked for. One thread at a time.
class PythonRequirements {
 public:
  // `packages` must outlive this.
  explicit PythonRequirements(const InstalledPackages* packages) : packages_(packages) {}

  const std::vector<PythonRequirement>& Of(const Package& package);
  // True if `asker` requires the package of this name, or something that requires it, extras aside.
  bool Requires(const Package& asker, const std::string& name);
  // Who requires one very version of the package of this name: `first`, else the first that does; null:
  // none. *version is what it requires then.
  const Package* PinningPackage(const std::string& name, const Package* first, std::string* version);

 private:
  const std::set<std::string>& AllOf(const Package& asker);

  const InstalledPackages* packages_;
  std::map<std::string, std::vector<PythonRequirement>> read_;  // by the folder of records
  std::map<std::string, std::set<std::string>> all_;            // likewise, followed to the end
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_PYTHON_REQUIREMENTS_H_
