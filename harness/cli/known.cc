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
  // A variable that is set to nothing is as one that is not set.
  if (const char* paths = getenv(kVariable); paths != nullptr && *paths != '\0')
    for (const std::string& path : Split(paths, ':'))
      places.push_back({path, kVariable, options.allow_adapters});
  for (const std::string& path : options.knowledge)
    places.push_back({path, "--knowledge", options.allow_adapters});
  return places;
}

std::vector<Problem> RemedyProblems(const Known& known, const Catalog& catalog) {
  if (!catalog.broken.empty() || known.knowledge.Rows("remedies").empty()) return {};
  std::vector<std::string> findings;
  for (const FindingInfo& finding : HarnessFindings()) findings.push_back(finding.slug);
  for (const PluginInfo& plugin : catalog.plugins)
    for (const FindingInfo& finding : plugin.findings) findings.push_back(finding.slug);
  return CheckRemedies(known.knowledge, findings);
}

std::variant<Known, std::vector<Problem>> LoadKnown(const Installation& installation,
                                                    const DiscoveryOptions& discovery,
                                                    const std::string& compatibility) {
  Known known;
  const std::string path =
      compatibility.empty() ? installation.knowledge_dir() + "/compatibility.json" : compatibility;
  if (compatibility.empty() && !Installation::MissingFileText(path, F_OK).empty()) {
    known.notices.push_back({NoticeCode::kNoVersionTable, {{"path", path}}});
  } else {
    auto table = LoadCompatibility(path);
    if (auto* problems = std::get_if<std::vector<Problem>>(&table)) return std::move(*problems);
    known.table = std::move(std::get<Compatibility>(table));
  }
  const std::vector<KnowledgePlace> places = KnowledgePlaces(discovery);
  for (const KnowledgePlace& place : places)
    if (place.path.empty())
      return std::vector<Problem>{
          {{place.from, 0, 0},
           "a path is empty; name files and folders, in the variable between single colons"}};
  auto loaded = LoadKnowledge(installation.knowledge_dir(), places, &known.table);
  if (auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return std::move(*problems);
  known.knowledge = std::move(std::get<Knowledge>(loaded));
  known.names = PackageNamesOf(known.knowledge);
  known.notices.insert(known.notices.end(), known.knowledge.notices.begin(), known.knowledge.notices.end());
  return known;
}

void PrintNotices(const Notices& notices) {
  constexpr size_t kMostListBytes = 10000;  // two paths and the names of rows
  for (const std::string& notice : SentencesOf(notices)) PrintDiagnostic(notice, kMostListBytes);
}

std::map<std::string, std::string> EntriesOf(const Known& known) {
  std::map<std::string, std::string> entries = EntriesOf(known.knowledge);
  entries.insert(known.table.entries.begin(), known.table.entries.end());
  return entries;
}

}  // namespace cudnn_ci
