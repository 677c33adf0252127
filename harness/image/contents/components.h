// Which libraries with known faults an image has, and of which release, by what is installed. Loads nothing
// and tests nothing.
#ifndef CUDNN_CI_IMAGE_CONTENTS_COMPONENTS_H_
#define CUDNN_CI_IMAGE_CONTENTS_COMPONENTS_H_

#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/packages/sbom.h"

namespace cudnn_ci {

// A library whose releases matter.
struct Component {
  std::string library;  // as messages call it: "cuDNN"
  // Of three numbers at most, as the table has them: "9.19.0" of the wheel 9.19.0.56. Empty: it does not say.
  std::string version;
  std::string origin;  // who says so: "Python package nvidia-cudnn-cu13 9.19.0.56", "/usr/lib/libnccl.so.2"
  std::string path = {};  // of the file that says so; empty: a package does
  bool loaded = true;     // false: nothing in its environment loads the file
};

// What is known of packages and files (knowledge/packages.json): what a package brings, and whose release a
// file's name tells.
struct ComponentRules {
  struct Package {
    std::string manager;  // "python", "conda", "distribution"
    std::string name;     // a pattern (base/package_names.h)
    std::string library;  // as messages call it
  };
  struct File {
    std::string stem, library;  // "libnccl.so"
    std::string marker;         // what stands before its release in its data, "NCCL version "; empty: nothing
  };
  std::vector<Package> packages;  // that have a known library, in order
  std::vector<File> files;
  std::string cudnn;  // as messages call cuDNN, whose files tell their version in a way of their own
};

// The digits and dots at the beginning of a package's version, without the packager's epoch, and of those at
// most three numbers: "2.11.0" of "2.11.0+cu130", "9.8.0" of "9.8.0.87-1", "2.27.3" of "1:2.27.3-1+cuda12.9".
// Empty: it does not begin with a digit.
std::string ReleaseOf(const std::string& version);

// Of a subject's packages and files. A library says its version itself where its file does (cuDNN's parts,
// NCCL's words, the number at the end of a name such as libnvshmem_host.so.3.4.5); a package says it
// otherwise. Each library and version once, sorted by both.
std::vector<Component> ComponentsOf(const ComponentRules& rules, const ImageFiles& image);

// Of a bill of materials.
std::vector<Component> ComponentsOf(const ComponentRules& rules, const std::vector<SbomPackage>& packages);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_COMPONENTS_H_
