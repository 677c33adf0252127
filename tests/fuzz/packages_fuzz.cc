// Records of packages as a hostile image has them: the name of a dist-info folder and its RECORD, conda's
// JSON and dpkg's status, whatever the bytes. The first line of the input is the name, what follows the
// content.
#include <filesystem>
#include <fstream>

#include "fuzz_target.h"
#include "image/component_rules.h"
#include "image/contents/components.h"
#include "image/jit_tools_needs.h"
#include "known_entry.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A folder that is emptied before each input.
const std::string& Root() {
  static const Scratch kFolder;
  return kFolder.path();
}

void Write(const std::string& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(fs::path(path).parent_path(), ignored);
  std::ofstream(path, std::ios::binary) << text;
}

// As a name in a folder: what no file can be called is taken out.
std::string NameOf(const std::string& line) {
  std::string name;
  for (const char c : line)
    if (c != '/' && c != '\0' && name.size() < 200) name += c;
  return name;
}

void TestPackages(const std::string& input) {
  static const ComponentRules kComponents = ReadComponentRules(KnownEntry);
  static const JitRules kTools = ReadJitRules(KnownEntry);
  const size_t end = input.find('\n');
  const std::string name = NameOf(input.substr(0, end)),
                    content = end == std::string::npos ? "" : input.substr(end + 1);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(Root(), ignored)) fs::remove_all(entry.path(), ignored);
  const std::string site = Root() + "/lib/python3.12/site-packages";
  Write(site + "/" + name + ".dist-info/RECORD", content);
  Write(Root() + "/conda-meta/a.json", content);
  Write(Root() + "/var/lib/dpkg/status", content);
  ImageFiles image;
  image.folders = {site};
  image.packages.AddPython(site);
  image.packages.AddConda(Root());
  image.packages.AddDpkg({"/usr/lib/libnccl.so.2"}, Root());
  for (const Package& package : image.packages.packages())
    Require(!package.records.empty() || package.manager == PackageManager::kDpkg, "a package has records",
            package.name);
  for (const Component& component : ComponentsOf(kComponents, image))
    Require(component.version.find_first_not_of("0123456789.") == std::string::npos, "a version is numbers",
            component.version);
  for (const JitFeature& feature : JitFeaturesOf(kTools, image, {"torch.compile", "triton", "numba.cuda"}))
    Require(feature.ordinary || !feature.name.empty(), "a feature has a name", feature.package);
}

}  // namespace
}  // namespace cudnn_ci

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cudnn_ci::TestPackages(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
