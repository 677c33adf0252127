// What a command knows of the world: the table of version facts and the files of knowledge, merged.
#ifndef CUDNN_CI_CLI_KNOWN_H_
#define CUDNN_CI_CLI_KNOWN_H_

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "cli/options.h"
#include "model/knowledge/knowledge.h"

namespace cudnn_ci {

struct Known {
  Compatibility table;  // without entries where the installation has none
  Knowledge knowledge;
  PackageNames names;
  Notices notices;  // of both
};

// What CUDNN_CI_KNOWLEDGE (paths between colons) and --knowledge name, in this order.
std::vector<KnowledgePlace> KnowledgePlaces(const Options& options);

// Reads the table and every file. Every problem that they have, by file and position.
std::variant<Known, std::vector<Problem>> LoadKnown(const Options& options);

// What plugins are told of both, by the keys of cudnn_ci/facts.h.
std::map<std::string, std::string> EntriesOf(const Known& known);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_KNOWN_H_
