#include "image/jit_tools_needs.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/package_names.h"
#include "common/knowledge_rows.h"
#include "image/contents/components.h"

namespace cudnn_ci {
namespace {

using Row = nlohmann::json;

// The words of knowledge/compilers.json, by which a row names what is looked for.
constexpr std::pair<std::string_view, JitTool> kTools[] = {
    {"c_compiler", JitTool::kCCompiler},
    {"cxx_compiler", JitTool::kCxxCompiler},
    {"python_headers", JitTool::kPythonHeaders},
    {"ldconfig", JitTool::kLdconfig},
    {"driver_link_name", JitTool::kDriverLinkName},
    {"triton_ptxas", JitTool::kTritonPtxas},
    {"triton_libdevice", JitTool::kTritonLibdevice},
    {"triton_cache", JitTool::kTritonCache},
    {"triton_package", JitTool::kTritonPackage},
    {"libnvvm", JitTool::kLibnvvm},
    {"libdevice", JitTool::kLibdevice},
    {"nvrtc", JitTool::kNvrtc},
    {"cuda_headers", JitTool::kCudaHeaders},
    {"cupy_cache", JitTool::kCupyCache},
    {"toolkit_ptxas", JitTool::kToolkitPtxas},
    {"nvcc", JitTool::kNvcc},
    {"curand_headers", JitTool::kCurandHeaders},
    {"ninja", JitTool::kNinja},
};

JitTool ToolOf(const std::string& word) {
  for (const auto& [name, tool] : kTools)
    if (word == name) return tool;
  throw std::runtime_error("a row of what compilers need names the tool " + word +
                           ", which is not known here");
}

bool Has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The first installed package that has the feature; null: none.
const Package* PackageOf(const ImageFiles& image, const JitFeatureRow& row) {
  for (const Package& package : image.packages.packages())
    if (package.manager == PackageManager::kPython && NameMatches(row.package, package.name)) return &package;
  return nullptr;
}

// PyTorch without CUDA compiles for the CPU alone.
bool IsForCpu(const ImageFiles& image, const Package& torch) {
  if (torch.version.find("+cpu") != std::string::npos) return true;
  bool has_library = false, has_cuda = false;
  for (const ImageFile& file : image.files) {
    const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
    has_library = has_library || name == "libtorch_cpu.so";
    has_cuda = has_cuda || name == "libtorch_cuda.so";
  }
  return has_library && !has_cuda;
}

// Who uses the feature whatever else is installed; empty: nobody that is known.
std::string UserOf(const JitRules& rules, const std::string& feature, const ImageFiles& image) {
  for (const JitUser& user : rules.users)
    if (user.feature == feature)
      if (const Package* package = image.packages.Python(user.package)) return package->Text();
  return "";
}

}  // namespace

JitRules ReadJitRules(const TableEntry& entry) {
  JitRules rules;
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_FEATURE))
    rules.features.push_back({TextOf(row, "feature"), TextOf(row, "package"), FlagOf(row, "ordinary"),
                              TextOf(row, "part_of"), TextOf(row, "serves"),
                              FlagOf(row, "only_if_required")});
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_USER))
    rules.users.push_back({TextOf(row, "feature"), TextOf(row, "package")});
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_NEED))
    rules.needs.push_back({TextOf(row, "feature"), TextOf(row, "versions"), ToolOf(TextOf(row, "tool")),
                           FlagOf(row, "always"), TextOf(row, "used_for"), TextOf(row, "source")});
  return rules;
}

std::vector<JitFeature> JitFeaturesOf(const JitRules& rules, const ImageFiles& image,
                                      const std::vector<std::string>& required) {
  std::vector<JitFeature> features;
  const Package* torch = image.packages.Python("torch");
  const auto known = [&](const std::string& name) {
    return std::any_of(features.begin(), features.end(), [&](const JitFeature& f) { return f.name == name; });
  };
  for (const JitFeatureRow& row : rules.features) {
    const bool is_required = Has(required, row.feature);
    const Package* package = PackageOf(image, row);
    if (!package || known(row.feature) || (row.only_if_required && !is_required)) continue;
    if (package == torch && IsForCpu(image, *torch) && !is_required) continue;
    JitFeature feature{row.feature, package->Text(), ReleaseOf(package->version), row.ordinary, ""};
    feature.why = UserOf(rules, feature.name, image);
    const bool alone = !row.part_of.empty() && !image.packages.Python(row.part_of);
    feature.ordinary = feature.ordinary || alone || !feature.why.empty() ||
                       (!row.serves.empty() && Has(required, row.serves)) || is_required;
    features.push_back(std::move(feature));
  }
  return features;
}

std::vector<JitNeed> NeedsOf(const JitRules& rules, const JitFeature& feature, const Satisfies& satisfies) {
  std::vector<JitNeed> needs;
  for (const JitNeed& need : rules.needs) {
    if (feature.name != need.feature) continue;
    // Of a version that is not known the newest releases' needs are asked.
    if (!need.versions.empty() && (feature.version.empty() || !satisfies(feature.version, need.versions)))
      continue;
    needs.push_back(need);
  }
  return needs;
}

}  // namespace cudnn_ci
