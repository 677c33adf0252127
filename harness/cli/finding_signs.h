// How a finding is met outside of cudnn-ci: the failure modes and the messages of other programs that
// knowledge/findings of the installed tree has for it.
#ifndef CUDNN_CI_CLI_FINDING_SIGNS_H_
#define CUDNN_CI_CLI_FINDING_SIGNS_H_

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace cudnn_ci {

// Texts are plain: the marks of Markdown that the files use are taken out.
struct FailureMode {
  std::string name, shows;  // "no driver library", and what a user sees of it
};
struct ProgramMessage {
  std::string text, fix;
};
struct FindingSigns {
  std::vector<FailureMode> failure_modes;
  std::vector<ProgramMessage> messages;
};

// By finding id, in the files' order. A row stands with its own finding and with each that its `also` names.
// `folder`: knowledge/findings of the installed tree. Fails if the folder or a file cannot be read.
Result<std::map<std::string, FindingSigns>> ReadFindingSigns(const std::string& folder);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_FINDING_SIGNS_H_
