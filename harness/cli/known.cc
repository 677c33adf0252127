#include "cli/known.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "cli/diagnostics.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

constexpr const char* kVariable = "CUDNN_CI_KNOWLEDGE";

}  // namespace

std::vector<KnowledgePlace> KnowledgePlaces(const DiscoveryOptions& options) {
  std::vector<KnowledgePlace> places;
  if (const char* paths = getenv(kVariable))
    for (const std::string& path : Split(paths, ':'))
      if (!path.empty()) places.push_back({path, kVariable});
  for (const std::string& path : options.knowledge) places.push_back({path, "--knowledge"});
  return places;
}

std::variant<Known, std::vector<Problem>> LoadKnown(const Installation& installation,
                                                    const DiscoveryOptions& discovery,
                                                    const std::string& compatibility) {
  Known known;
  const std::string path =
      compatibility.empty() ? installation.matrices_dir() + "/compatibility.json" : compatibility;
  if (compatibility.empty() && access(path.c_str(), F_OK) != 0) {
    known.notices.push_back({NoticeCode::kNoVersionTable, {{"path", path}}});
  } else {
    auto table = LoadCompatibility(path);
    if (auto* problems = std::get_if<std::vector<Problem>>(&table)) return std::move(*problems);
    known.table = std::move(std::get<Compatibility>(table));
  }
  auto loaded = LoadKnowledge(installation.knowledge_dir(), KnowledgePlaces(discovery), &known.table);
  if (auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return std::move(*problems);
  known.knowledge = std::move(std::get<Knowledge>(loaded));
  known.names = PackageNamesOf(known.knowledge);
  known.notices.insert(known.notices.end(), known.knowledge.notices.begin(), known.knowledge.notices.end());
  return known;
}

void PrintNotices(const Known& known) {
  for (const std::string& notice : SentencesOf(known.notices)) PrintDiagnostic(notice);
}

std::map<std::string, std::string> EntriesOf(const Known& known) {
  std::map<std::string, std::string> entries = EntriesOf(known.knowledge);
  entries.insert(known.table.entries.begin(), known.table.entries.end());
  return entries;
}

}  // namespace cudnn_ci
