#include "image/packages/conda_metadata.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json_bytes.h"
#include "image/packages/record_text.h"

namespace cudnn_ci {
namespace {

// Of one package's record, which is parsed whole: PyTorch's has 2 MB.
constexpr std::size_t kMostCondaBytes = std::size_t{8} << 20;

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<Package> ReadCondaPackage(const std::string& prefix, const std::string& records,
                                 const std::function<void(const std::string& path)>& take) {
  const Result<std::string> text = ReadFile(records, kMostCondaBytes);
  if (!text) return Error{text.error()};
  if (JsonNesting(*text) > kMostJsonNesting) return Error{records + " is nested too deep"};
  const nlohmann::json object = nlohmann::json::parse(*text, nullptr, false);
  if (!object.is_object() || TextOf(object, "name").empty()) return Error{records + " is not a conda record"};
  if (const auto files = object.find("files"); files != object.end() && files->is_array())
    for (const nlohmann::json& entry : *files)
      if (entry.is_string()) take(prefix + "/" + entry.get<std::string>());
  return Package{PackageManager::kConda, PrintableRecord(TextOf(object, "name")),
                 PrintableRecord(TextOf(object, "version")), records};
}

}  // namespace cudnn_ci
