// The command knowledge: what is known of packages, faults and remedies, from which files.
#ifndef CUDNN_CI_CLI_KNOWLEDGE_COMMAND_H_
#define CUDNN_CI_CLI_KNOWLEDGE_COMMAND_H_

#include <string>

#include "cli/known.h"

namespace cudnn_ci {

// The files with their schemas, days and numbers of rows. `what`: the rows of a list of that name
// ("packages"), or those that have such a word; empty: none. An empty text: nothing has it.
std::string KnowledgeText(const Known& known, const std::string& what);

// The same as JSON, cudnn-ci/knowledge/1; with an empty `what` with all rows.
std::string KnowledgeJson(const Known& known, const std::string& what);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_KNOWLEDGE_COMMAND_H_
