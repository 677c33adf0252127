// The packages that a software bill of materials lists: SPDX 2.2 or 2.3, or CycloneDX 1.4 and later, as JSON.
// The document is not trusted: it is read with bounds, and only names and versions are kept.
//   https://spdx.github.io/spdx-spec/v2.3/   https://cyclonedx.org/docs/1.6/json/
//   https://github.com/package-url/purl-spec
#ifndef CUDNN_CI_IMAGE_PACKAGES_SBOM_H_
#define CUDNN_CI_IMAGE_PACKAGES_SBOM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cudnn_ci {

inline constexpr std::size_t kMaxSbomBytes = std::size_t{64} << 20;
inline constexpr int kMaxSbomDepth = 64;  // of objects and lists
inline constexpr std::size_t kMaxSbomPackages = 50000;

// What a subject's specification begins with whose packages a document lists: "sbom:/srv/image.spdx.json".
inline constexpr char kSbomSubject[] = "sbom:";

struct SbomPackage {
  std::string type;           // of its package URL: "pypi", "deb", "conda"; empty: it has no package URL
  std::string name, version;  // of its package URL, else the document's own words; a version may be missing
};

// The packages of a document's text, in its order. Packages within packages count, the image itself does not.
// An error says in one line what is wrong with it.
Result<std::vector<SbomPackage>> ParseSbom(std::string_view text);

// Those of a regular file. Errors name it.
Result<std::vector<SbomPackage>> ReadSbom(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_PACKAGES_SBOM_H_
