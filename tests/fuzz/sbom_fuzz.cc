// Bills of materials as scanners and others write them: whatever the bytes, reading ends in packages with
// names, within the bounds, or in one line that says why not.
#include "fuzz_target.h"
#include "image/component_rules.h"
#include "image/contents/components.h"
#include "known_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cudnn_ci;
  static const ComponentRules kRules = ReadComponentRules(KnownEntry);
  const auto packages = ParseSbom(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!packages.ok()) {
    Require(!packages.error().empty(), "a refusal has a reason", "");
    Require(packages.error().find('\n') == std::string::npos, "of one line", packages.error());
    return 0;
  }
  Require(packages->size() <= kMaxSbomPackages, "packages are bounded", std::to_string(packages->size()));
  for (const SbomPackage& package : *packages) Require(!package.name.empty(), "a package has a name", "");
  for (const Component& component : ComponentsOf(kRules, *packages)) {
    const std::string& version = component.version;
    Require(version.find_first_not_of("0123456789.") == std::string::npos && version.size() <= 29,
            "a version is numbers", version);
    Require(version.empty() || (version.front() != '.' && version.back() != '.'), "and dots between them",
            version);
  }
  return 0;
}
