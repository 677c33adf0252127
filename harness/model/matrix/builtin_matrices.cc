#include "model/matrix/builtin_matrices.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "model/json/json_parse.h"
#include "model/matrix/matrix_format.h"

namespace cudnn_ci {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "builtin:";

// What else lies beside the matrices (their schema, tables) is none. What cannot be read may be one: who
// loads it says why.
bool IsMatrixFile(const fs::path& path) {
  const Result<std::string> text = ReadFile(path.string(), kMaxJsonBytes);
  if (!text) return true;
  const auto parsed = ParseJson(*text, path.string());
  const auto* json = std::get_if<Json>(&parsed);
  if (json == nullptr) return true;
  const auto* top = std::get_if<Json::Object>(&json->value);
  const Json* schema = top == nullptr ? nullptr : Find(*top, "schema");
  const auto* format = schema == nullptr ? nullptr : std::get_if<std::string>(&schema->value);
  return format != nullptr && *format == kMatrixSchema;
}

std::vector<std::string> Names(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& file : NamesIn(folder)) {
    const fs::path path = fs::path(folder) / file;
    if (path.extension() == ".json" && IsBuiltinName(path.stem().string()) && IsMatrixFile(path))
      names.push_back(path.stem().string());
  }
  return names;
}

std::string FileOf(const std::string& name, const std::string& folder) {
  return folder + "/" + name + ".json";
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "cu13" of "cu14": of names that are alike but for a number at their end, the one with the nearest; where
// two are as near, the higher. Empty: there is none.
std::string NearestNumber(const std::string& name, const std::vector<std::string>& names) {
  const auto number_of = [](const std::string& text) {
    const size_t begin = text.find_last_not_of("0123456789") + 1;
    const std::string digits = text.substr(begin);
    return std::pair(text.substr(0, begin), digits.empty() || digits.size() > 6 ? -1 : std::stoi(digits));
  };
  const auto [stem, wanted] = number_of(name);
  std::string nearest;
  int distance = 0;
  for (const std::string& candidate : names) {
    const auto [other, number] = number_of(candidate);
    if (wanted < 0 || number < 0 || other != stem) continue;
    if (nearest.empty() || std::abs(number - wanted) <= distance) {
      nearest = candidate;
      distance = std::abs(number - wanted);
    }
  }
  return nearest;
}

Error Unknown(const std::string& name, const std::string& folder, const std::vector<std::string>& names) {
  if (names.empty()) return Error{"this installation has no matrices: there are none in " + folder};
  std::string near = NearestNumber(name, names);
  if (near.empty()) near = DidYouMean(name, names);
  return Error{"no matrix " + Quote(name) + " comes with cudnn-ci; the built-in ones are " +
               Join(names, ", ") + (near.empty() ? "" : "; did you mean " + Quote(near) + "?")};
}

}  // namespace

bool IsBuiltin(const std::string& text) { return text.compare(0, kPrefix.size(), kPrefix) == 0; }

bool IsBuiltinName(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<std::string> FindBuiltin(const std::string& name, const std::string& folder) {
  const std::vector<std::string> names = Names(folder);
  if (!Contains(names, name)) return Unknown(name, folder, names);
  return FileOf(name, folder);
}

Result<std::string> FindMatrix(const std::string& named, const std::string& folder, const std::string& from) {
  if (IsBuiltin(named)) return FindBuiltin(named.substr(kPrefix.size()), folder);
  if (!IsBuiltinName(named)) return named;
  const std::vector<std::string> names = Names(folder);
  std::error_code error;
  const fs::file_status status = fs::status(fs::path(from) / named, error);
  const bool is_file = fs::exists(status) && !fs::is_directory(status);
  if (!names.empty() && !Contains(names, named)) {
    if (fs::exists(status)) return named;
    if (fs::exists(fs::path(from) / (named + ".json"), error))
      return Error{"no such file, and no matrix " + Quote(named) + " comes with cudnn-ci; did you mean " +
                   Quote(named + ".json") + "?"};
    return Error{"no such file, and " + Unknown(named, folder, names).message};
  }
  // The folder we are in may be the image's, and must not decide what the image is tested against: not even
  // where the installation has lost its matrices.
  if (is_file)
    return Error{"this is both a file and a built-in matrix; write \"./" + named + "\" or \"" +
                 std::string(kPrefix) + named + "\""};
  if (names.empty()) return Error{Unknown(named, folder, names).message};
  return FileOf(named, folder);
}

std::string BuiltinInPlaceOf(const std::string& path, const std::string& folder) {
  const std::string stem = fs::path(path).stem().string();
  return IsBuiltinName(stem) && Contains(Names(folder), stem) ? std::string(kPrefix) + stem : "";
}

}  // namespace cudnn_ci
