// What the table of version facts has: known faults as rows, so that they are listed like all others, and the
// names of all facts.
#include <cudnn_ci/facts.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/knowledge/knowledge.h"

namespace cudnn_ci {

namespace {

// For plugins that know cuDNN's rows alone, another library stands before what it hits: "library=nccl
// gpus_min=2".
void SplitLibrary(std::map<std::string, std::string>* values) {
  constexpr std::string_view kWord = "library=";
  std::string& library = (*values)["library"] = "cudnn";
  const auto hits = values->find("hits");
  if (hits == values->end() || !hits->second.starts_with(kWord)) return;
  const size_t end = std::min(hits->second.find(' '), hits->second.size());
  library = hits->second.substr(kWord.size(), end - kWord.size());
  hits->second.erase(0, std::min(end + 1, hits->second.size()));
  if (hits->second.empty()) values->erase(hits);
}

}  // namespace

std::vector<KnowledgeRow> FaultRows(const Compatibility& table) {
  std::vector<KnowledgeRow> rows;
  for (int i = 0;; ++i) {
    const std::string place = CCI_COMPATIBILITY_KNOWN + std::to_string(i);
    const auto at = [&](const char* key) {
      const auto entry = table.entries.find(place + key);
      return entry == table.entries.end() ? std::string() : entry->second;
    };
    KnowledgeRow row;
    row.list = kFaultList;
    row.key = at(CCI_COMPATIBILITY_KNOWN_ID);
    if (row.key.empty()) return rows;
    if (const auto position = table.rows.find(place); position != table.rows.end())
      row.position = position->second;
    row.position.file = table.FileOf(place).path;
    for (const auto& [field, key] :
         {std::pair{"what", CCI_COMPATIBILITY_KNOWN_WHAT},
          std::pair{"effect", CCI_COMPATIBILITY_KNOWN_EFFECT},
          std::pair{"first", CCI_COMPATIBILITY_KNOWN_FIRST}, std::pair{"last", CCI_COMPATIBILITY_KNOWN_LAST},
          std::pair{"fixed", CCI_COMPATIBILITY_KNOWN_FIXED}, std::pair{"hits", CCI_COMPATIBILITY_KNOWN_HITS}})
      if (std::string value = at(key); !value.empty()) row.values[field] = std::move(value);
    SplitLibrary(&row.values);
    row.source = at(CCI_COMPATIBILITY_KNOWN_SOURCE);
    row.confidence = at(CCI_COMPATIBILITY_KNOWN_CONFIDENCE);
    rows.push_back(std::move(row));
  }
}

std::vector<std::string> FactsOf(const Compatibility& table) {
  std::vector<std::string> facts;
  for (const auto& [key, value] : table.entries) {
    if (key == CCI_COMPATIBILITY_AS_OF) continue;
    std::string fact = key;
    for (const std::string prefix : {CCI_COMPATIBILITY_KNOWN, CCI_COMPATIBILITY_CUDNN})
      if (key.starts_with(prefix)) fact = key.substr(0, key.rfind('.'));
    if (facts.empty() || facts.back() != fact) facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace cudnn_ci
