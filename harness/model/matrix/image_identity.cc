#include "model/matrix/image_identity.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "model/json/json_parse.h"
#include "model/matrix/matrix.h"

namespace cudnn_ci {

namespace {

constexpr size_t kMaxImageName = 255;

// By which an image's configuration is known when it stands alone: the properties of the OCI image
// specification.
constexpr const char* kConfigKeys[] = {"Env",          "Cmd",    "Entrypoint", "User",       "WorkingDir",
                                       "ExposedPorts", "Labels", "Volumes",    "StopSignal", "ArgsEscaped"};

std::string At(const Json& json, const std::string& message) {
  return ToString(Problem{json.position, message});
}

Result<const Json::Object*> AsObject(const Json& json) {
  const auto* object = std::get_if<Json::Object>(&json.value);
  if (object == nullptr) return Error{At(json, "this is not an image configuration: an object is expected")};
  return object;
}

bool HasConfigKey(const Json::Object& object) {
  return std::any_of(std::begin(kConfigKeys), std::end(kConfigKeys),
                     [&](const char* key) { return Find(object, key) != nullptr; });
}

// The image's configuration; null: it has none. What an inspector calls one is one, whatever it holds; alone
// it must have a key that is known: else it is more likely the output of a command that failed.
Result<const Json::Object*> FindConfig(const Json& root) {
  const Json* json = &root;
  if (const auto* list = std::get_if<Json::Array>(&root.value)) {
    if (list->size() != 1)
      return Error{At(root, "this describes " + std::to_string(list->size()) + " images, not one")};
    json = list->data();
  }
  Result<const Json::Object*> object = AsObject(*json);
  if (!object) return object;
  if (Find(**object, "HostConfig") != nullptr)
    return Error{
        At(*json, "this describes a container instead of an image; its variables include the runner's")};
  bool told = false;
  for (const char* key : {"Config", "config"}) {
    const Json* config = Find(**object, key);
    if (config == nullptr) continue;
    if (std::holds_alternative<std::nullptr_t>(config->value))
      return static_cast<const Json::Object*>(nullptr);
    json = config;
    object = AsObject(*config);
    if (!object) return object;
    told = true;
    break;
  }
  if (!told && !HasConfigKey(**object))
    return Error{At(*json, "this is not an image configuration: it has neither \"Config\" nor \"Env\"")};
  return object;
}

Result<Variables> VariablesOf(const Json& root) {
  const Result<const Json::Object*> config = FindConfig(root);
  if (!config) return Error{config.error()};
  Variables variables;
  const Json* env = *config == nullptr ? nullptr : Find(**config, "Env");
  if (env == nullptr || std::holds_alternative<std::nullptr_t>(env->value)) return variables;
  const auto* list = std::get_if<Json::Array>(&env->value);
  if (list == nullptr) return Error{At(*env, "\"Env\" must be a list")};
  for (const Json& item : *list) {
    const auto* text = std::get_if<std::string>(&item.value);
    const size_t equals = text == nullptr ? std::string::npos : text->find('=');
    // What stands there is not said: it may be a secret.
    if (text == nullptr) return Error{At(item, "an item of \"Env\" must be \"NAME=VALUE\"")};
    // Sets nothing; there are tools that write such a word, and engines that take it.
    if (equals == std::string::npos || equals == 0) continue;
    variables[text->substr(0, equals)] = text->substr(equals + 1);
  }
  return variables;
}

// A digest without the name before it, or empty: it is none.
std::string DigestAlone(const Json& json) {
  const auto* text = std::get_if<std::string>(&json.value);
  return text == nullptr ? std::string() : text->substr(text->find('@') + 1);
}

// Where an inspector tells of no digest, or not in this way, the digest is one that was told.
std::vector<std::string> DigestsOf(const Json& root) {
  const auto* images = std::get_if<Json::Array>(&root.value);
  const auto* image = std::get_if<Json::Object>(images == nullptr ? &root.value : &images->at(0).value);
  if (image == nullptr) return {};
  std::vector<std::string> digests;
  const Json* const listed = Find(*image, "RepoDigests");
  const auto* list = listed == nullptr ? nullptr : std::get_if<Json::Array>(&listed->value);
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) digests.push_back(DigestAlone((*list)[i]));
  return digests;
}

}  // namespace

bool IsImageByDigest(const std::string& text) {
  constexpr std::string_view kMark = "@sha256:";
  constexpr size_t kDigits = 64;
  const size_t at = text.find('@');
  if (at == 0 || at == std::string::npos || at > kMaxImageName || text.compare(at, kMark.size(), kMark) != 0)
    return false;
  const std::string name = text.substr(0, at), digits = text.substr(at + kMark.size());
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) {
                       return is_letter(c) || std::string_view("._:/-").find(c) != std::string_view::npos;
                     }) &&
         digits.size() == kDigits && digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string ImageById(const std::string& name_and_id) {
  const size_t at = name_and_id.find('@');
  return name_and_id.substr(0, at) + " (image id " + name_and_id.substr(at + 1) + ")";
}

const char* DigestFrom(const std::string& image, const ImageConfig& config) {
  const std::string digest = image.substr(image.find('@') + 1);
  return std::find(config.digests.begin(), config.digests.end(), digest) == config.digests.end()
             ? kDigestTold
             : kDigestOfEngine;
}

Result<ImageConfig> ReadImageConfig(const std::string& path) {
  const std::string remedy = "; give what `docker image inspect IMAGE` prints";
  const Result<std::string> text = ReadFile(path, kMaxJsonBytes);
  if (!text) return Error{text.error() + remedy};
  const auto parsed = ParseJson(*text, path);
  // The place alone: the words quote what stands there, which may be a secret.
  if (const auto* problems = std::get_if<std::vector<Problem>>(&parsed))
    return Error{ToString(Problem{problems->front().position, "this is not JSON that can be read"}) + remedy};
  const Json& root = std::get<Json>(parsed);
  Result<Variables> variables = VariablesOf(root);
  if (!variables) return Error{variables.error() + remedy};
  return ImageConfig{std::move(*variables), DigestsOf(root)};
}

Variables AttributeVariables(const Variables& seen, const Variables& of_image) {
  Variables by;
  for (const auto& [name, value] : seen) {
    const auto own = of_image.find(name);
    by[name] = own == of_image.end() ? "runner" : own->second == value ? "image" : "runner, over the image's";
  }
  return by;
}

}  // namespace cudnn_ci
