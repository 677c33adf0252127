#include "model/knowledge/knowledge.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/knowledge/knowledge_format.h"

namespace cudnn_ci {
namespace {

// Finding and FindingInfo have the same members for it.
template <class F>
void Apply(const Knowledge& knowledge, F* finding) {
  for (const KnowledgeRow* row : knowledge.Rows("remedies")) {
    if (row->key != finding->slug) continue;
    finding->remedy = Knowledge::Value(*row, "remedy");
    finding->link = Knowledge::Value(*row, "link");
    finding->command = Knowledge::Value(*row, "command");
    finding->where = Where::kNone;
    Parse(Knowledge::Value(*row, "where"), &finding->where);
  }
}

// A field that is a list of texts; one that the row leaves out is empty.
std::vector<std::string> TextsOf(const KnowledgeRow& row, const std::string& field) {
  const std::string value = Knowledge::Value(row, field);
  return value.empty() ? std::vector<std::string>()
                       : nlohmann::json::parse(value).get<std::vector<std::string>>();
}

}  // namespace

void ApplyRemedy(const Knowledge& knowledge, Finding* finding) { Apply(knowledge, finding); }
void ApplyRemedy(const Knowledge& knowledge, FindingInfo* finding) { Apply(knowledge, finding); }

std::vector<Problem> CheckRemedies(const Knowledge& knowledge, const std::vector<std::string>& findings) {
  std::vector<Problem> problems;
  for (const KnowledgeRow* row : knowledge.Rows("remedies"))
    if (std::find(findings.begin(), findings.end(), row->key) == findings.end())
      AddProblem(&problems, row->position,
                 "no plugin declares the finding " + Quote(row->key) + Hint(row->key, findings));
  return problems;
}

std::vector<const KnowledgeRow*> Knowledge::Rows(const std::string& list) const {
  std::vector<const KnowledgeRow*> found;
  for (const KnowledgeRow& row : rows)
    if (row.list == list) found.push_back(&row);
  return found;
}

std::string Knowledge::Value(const KnowledgeRow& row, const std::string& field) {
  const auto value = row.values.find(field);
  return value == row.values.end() ? "" : value->second;
}

PackageNames PackageNamesOf(const Knowledge& knowledge) {
  PackageNames names;
  for (const KnowledgeRow* row : knowledge.Rows("packages")) {
    const std::string name = Knowledge::Value(*row, "name"), title = Knowledge::Value(*row, "framework");
    if (Knowledge::Value(*row, "manager") != "python") continue;
    if (!title.empty()) names.frameworks.push_back({name, title});
    if (Knowledge::Value(*row, "library") == "cudnn" && name.ends_with("#*")) names.cudnn.push_back(name);
  }
  for (const KnowledgeRow* row : knowledge.Rows("frameworks"))
    names.framework_files.push_back({Knowledge::Value(*row, "title"), Knowledge::Value(*row, "module"),
                                     TextsOf(*row, "distributions"), TextsOf(*row, "run_path_of"),
                                     TextsOf(*row, "native")});
  std::vector<std::string> libraries;
  for (const KnowledgeRow* row : knowledge.Rows("gpu_libraries"))
    libraries.push_back(Knowledge::Value(*row, "file"));
  names.cuda = CudaLibraries(libraries);
  for (const KnowledgeRow* row : knowledge.Rows("features"))
    if (Knowledge::Value(*row, "ordinary") == "true")
      names.compilers.push_back(Knowledge::Value(*row, "package"));
  for (const KnowledgeRow* row : knowledge.Rows("adapters"))
    for (const std::string& name : TextsOf(*row, "distributions"))
      names.adapted.push_back({Knowledge::Value(*row, "adapter"), Knowledge::Value(*row, "title"), name,
                               Knowledge::Value(*row, "versions")});
  return names;
}

std::map<std::string, std::string> EntriesOf(const Knowledge& knowledge) {
  std::map<std::string, std::string> entries;
  std::map<std::string, int> counts;
  for (const FileFormat& format : KnowledgeFormats())
    for (const ListFormat& list : format.lists)
      for (const KnowledgeRow* row : knowledge.Rows(list.name))
        if (list.entry != nullptr) entries[list.entry + std::to_string(counts[list.entry]++)] = row->entry;
  return entries;
}

bool IsEntryOfAdapters(const std::string& key) {
  return key.starts_with(CCI_KNOWLEDGE_ADAPTER) || key.starts_with(CCI_KNOWLEDGE_IMPLEMENTATION) ||
         key.starts_with(CCI_KNOWLEDGE_KERNEL_FAULT);
}

}  // namespace cudnn_ci
