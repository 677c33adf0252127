// What a command knows of the world: the table of version facts and the files of knowledge, merged.
#ifndef CUDNN_CI_CLI_KNOWN_H_
#define CUDNN_CI_CLI_KNOWN_H_

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "cli/installation.h"
#include "cli/shared_options.h"
#include "model/knowledge/knowledge.h"
#include "model/plan/check_info.h"

namespace cudnn_ci {

struct Known {
  Compatibility table;  // without entries where the installation has none
  Knowledge knowledge;
  PackageNames names;
  Notices notices;  // of both
};

// What CUDNN_CI_KNOWLEDGE (paths between colons) and --knowledge name, in this order. LoadKnown refuses an
// empty path.
std::vector<KnowledgePlace> KnowledgePlaces(const DiscoveryOptions& options);

// Reads the table and every file. `compatibility` is a table instead of the installation's own; empty: that
// one. Every problem that they have, by file and position.
std::variant<Known, std::vector<Problem>> LoadKnown(const Installation& installation,
                                                    const DiscoveryOptions& discovery,
                                                    const std::string& compatibility = {});

// What is wrong with remedies, by the findings that the harness and these plugins declare. Nothing is checked
// if a plugin cannot be loaded, because it may declare more.
std::vector<Problem> RemedyProblems(const Known& known, const Catalog& catalog);

// Says them on stderr, one a line: of what is known, which rows were replaced, are outdated or were not
// taken. For what no report says.
void PrintNotices(const Notices& notices);

// What plugins are told of both, by the keys of cudnn_ci/facts.h.
std::map<std::string, std::string> EntriesOf(const Known& known);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_KNOWN_H_
