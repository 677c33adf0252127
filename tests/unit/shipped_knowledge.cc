#include "shipped_knowledge.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "known_entry.h"

namespace cudnn_ci {

Knowledge ShippedKnowledge(const std::vector<KnowledgePlace>& places) {
  Compatibility table;
  auto loaded = LoadKnowledge(CUDNN_CI_KNOWLEDGE_FOLDER, places, &table);
  if (auto* knowledge = std::get_if<Knowledge>(&loaded)) return std::move(*knowledge);
  for (const Problem& problem : std::get<std::vector<Problem>>(loaded))
    std::fprintf(stderr, "%s\n", ToString(problem).c_str());
  std::abort();
}

std::string KnownEntry(const std::string& key) {
  static const std::map<std::string, std::string> kEntries = EntriesOf(ShippedKnowledge());
  const auto entry = kEntries.find(key);
  return entry == kEntries.end() ? "" : entry->second;
}

}  // namespace cudnn_ci
