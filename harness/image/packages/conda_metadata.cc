#include "image/packages/conda_metadata.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/file.h"
#include "base/json_bytes.h"
#include "base/path.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

// Of one package's record, which is parsed whole: PyTorch's has 2 MB.
constexpr std::size_t kMostCondaBytes = std::size_t{8} << 20;

constexpr std::string_view kFolder = "/conda-meta", kEnding = ".json";

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

bool IsCondaEnvironment(const std::string& prefix) { return IsFolder(prefix + std::string(kFolder)); }

std::vector<Package> CondaPackagesIn(const std::string& prefix) {
  std::vector<Package> packages;
  const std::string folder = prefix + std::string(kFolder);
  for (const std::string& entry : RecordNames(folder)) {
    if (!entry.ends_with(kEnding)) continue;
    const std::string stem = entry.substr(0, entry.size() - kEnding.size());
    const std::size_t build = stem.rfind('-');
    const std::size_t version =
        build == std::string::npos || build == 0 ? std::string::npos : stem.rfind('-', build - 1);
    const bool told = version != std::string::npos;
    packages.push_back({PackageManager::kConda, PrintableRecord(told ? stem.substr(0, version) : stem),
                        told ? PrintableRecord(stem.substr(version + 1, build - version - 1)) : "",
                        folder + "/" + entry});
  }
  return packages;
}

Result<Package> ReadCondaPackage(const std::string& prefix, const std::string& records,
                                 const std::function<void(const std::string& path)>& take) {
  const Result<std::string> text = ReadFile(records, kMostCondaBytes);
  if (!text) return Error{text.error()};
  if (JsonNesting(*text) > kMostJsonNesting) return Error{records + " is nested too deep"};
  const nlohmann::json object = nlohmann::json::parse(*text, nullptr, false);
  if (!object.is_object() || TextOf(object, "name").empty())
    return Error{records + " is no record of conda's"};
  if (const auto files = object.find("files"); files != object.end() && files->is_array())
    for (const nlohmann::json& entry : *files)
      if (entry.is_string()) take(prefix + "/" + entry.get<std::string>());
  return Package{PackageManager::kConda, PrintableRecord(TextOf(object, "name")),
                 PrintableRecord(TextOf(object, "version")), records};
}

}  // namespace cudnn_ci
