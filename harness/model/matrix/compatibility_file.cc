// A whole table of version facts from its file.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "model/json/json_parse.h"
#include "model/matrix/compatibility.h"

namespace cudnn_ci {
namespace {

using Problems = std::vector<Problem>;

}  // namespace

std::variant<Compatibility, Problems> LoadCompatibility(const std::string& path) {
  const Result<std::string> text = ReadFile(path, kMaxJsonBytes);
  if (!text) {
    const std::string& error = text.error();
    const std::string reason =
        error.compare(0, path.size() + 2, path + ": ") == 0 ? error.substr(path.size() + 2) : error;
    return Problems{{{path, 0, 0}, reason + "; name a table of " + kCompatibilitySchema}};
  }
  auto parsed =
      ParseJson(*text, path, {"a table of version facts", kCompatibilitySchema, "leave out old rows"});
  if (auto* problems = std::get_if<Problems>(&parsed)) return std::move(*problems);
  const Json& json = std::get<Json>(parsed);
  if (!std::holds_alternative<Json::Object>(json.value))
    return Problems{{json.position, "the table must be an object in braces { }, found " + Describe(json)}};
  Problems problems;
  Compatibility table = ReadCompatibility(json, false, &problems);
  if (!problems.empty()) {
    std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
      return std::tie(a.position.line, a.position.column) < std::tie(b.position.line, b.position.column);
    });
    return problems;
  }
  table.identity.path = path;
  table.identity.sha256 = Sha256Hex(*text);
  return table;
}

}  // namespace cudnn_ci
