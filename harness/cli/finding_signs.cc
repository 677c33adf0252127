#include "cli/finding_signs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "base/path.h"

namespace cudnn_ci {
namespace {

using nlohmann::json;

constexpr size_t kMostBytes = 4 << 20;

std::string Plain(std::string markdown) {
  std::erase(markdown, '`');
  return markdown;
}

// Calls `add` for the finding that has the row, and for each that the row names.
template <class Add>
void ForEachFinding(const std::string& id, const json& row, Add add) {
  add(id);
  for (const json& other : row.value("also", json::array())) add(other.get<std::string>());
}

void Take(const json& finding, std::map<std::string, FindingSigns>* signs) {
  const std::string id = finding.at("id");
  for (const json& row : finding.value("failure_modes", json::array()))
    ForEachFinding(id, row, [&](const std::string& of) {
      (*signs)[of].failure_modes.push_back({Plain(row.at("name")), Plain(row.at("shows"))});
    });
  for (const json& row : finding.value("messages", json::array()))
    ForEachFinding(id, row, [&](const std::string& of) {
      (*signs)[of].messages.push_back({Plain(row.at("text")), Plain(row.at("fix"))});
    });
}

bool TakeFile(const std::string& path, std::map<std::string, FindingSigns>* signs) try {
  const json file = json::parse(ReadSmallFile(path, kMostBytes));
  for (const json& finding : file.at("findings")) Take(finding, signs);
  return true;
} catch (const json::exception&) {
  return false;
}

}  // namespace

Result<std::map<std::string, FindingSigns>> ReadFindingSigns(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& name : NamesIn(folder))
    if (name.ends_with(".json")) files.push_back(folder + "/" + name);
  if (files.empty()) return Error{folder + ": no findings are there; repair the installation"};
  std::map<std::string, FindingSigns> signs;
  for (const std::string& file : files)
    if (!TakeFile(file, &signs)) return Error{file + ": no file of findings; repair the installation"};
  return signs;
}

}  // namespace cudnn_ci
