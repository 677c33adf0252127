#include "image/component_rules.h"

#include <cudnn_ci/facts.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/knowledge_rows.h"

namespace cudnn_ci {

using Row = nlohmann::json;

ComponentRules ReadComponentRules(const TableEntry& entry) {
  std::map<std::string, std::string> titles;
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_LIBRARY))
    titles[TextOf(row, "library")] = TextOf(row, "title");
  ComponentRules rules;
  rules.cudnn = titles["cudnn"];
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_PACKAGE))
    if (const std::string library = TextOf(row, "library"); !library.empty())
      rules.packages.push_back({TextOf(row, "manager"), TextOf(row, "name"), titles[library]});
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_FILE))
    rules.files.push_back(
        {TextOf(row, "file"), titles[TextOf(row, "library")], TextOf(row, "version_behind")});
  return rules;
}

}  // namespace cudnn_ci
