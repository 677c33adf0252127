#include "cli/known.h"

#include <unistd.h>

#include <utility>

#include "model/record/notice_list.h"

namespace cudnn_ci {

std::variant<Known, std::vector<Problem>> LoadKnown(const Options& options) {
  Known known;
  const std::string path = options.compatibility_path();
  if (options.compatibility.empty() && access(path.c_str(), F_OK) != 0) {
    known.notices.push_back({NoticeCode::kNoVersionTable, {{"path", path}}});
  } else {
    auto table = LoadCompatibility(path);
    if (auto* problems = std::get_if<std::vector<Problem>>(&table)) return std::move(*problems);
    known.table = std::move(std::get<Compatibility>(table));
  }
  auto loaded = LoadKnowledge(options.knowledge_dir(), {}, &known.table);
  if (auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return std::move(*problems);
  known.knowledge = std::move(std::get<Knowledge>(loaded));
  known.names = PackageNamesOf(known.knowledge);
  known.notices.insert(known.notices.end(), known.knowledge.notices.begin(), known.knowledge.notices.end());
  return known;
}

std::map<std::string, std::string> EntriesOf(const Known& known) {
  std::map<std::string, std::string> entries = EntriesOf(known.knowledge);
  entries.insert(known.table.entries.begin(), known.table.entries.end());
  return entries;
}

}  // namespace cudnn_ci
