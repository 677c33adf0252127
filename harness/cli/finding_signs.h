// How a finding is met outside of cudnn-ci: the failure modes and the messages of other programs that
// knowledge/findings of the installed tree has for it.
#ifndef CUDNN_CI_CLI_FINDING_SIGNS_H_
#define CUDNN_CI_CLI_FINDING_SIGNS_H_

#include <cstddef>
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
  std::vector<std::string> parts;     // of the text, those that a program prints, as the files quote them
  std::vector<std::string> findings;  // ids: the most likely one, then its `also`
};
struct FindingSigns {
  std::vector<FailureMode> failure_modes;
  std::vector<ProgramMessage> messages;
};

// Of ASCII letters; any other byte stays.
inline char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// By finding id: each of the files has an entry. Its rows are in the files' order. A row stands with its own
// finding and with each that its `also` names. `folder`: knowledge/findings of the installed tree. Fails if
// the folder or a file cannot be read.
Result<std::map<std::string, FindingSigns>> ReadFindingSigns(const std::string& folder);

// The messages that an error's text contains as whole words, or whose words it begins with some of, the one
// with most of it first; at most `most`. Upper and lower case are the same, and so are all numbers; of two
// that match alike, the one with the same numbers comes first, then the one that is the text itself, then one
// whose last word the text has whole, then the one that more findings have. "*" and "..." in a message stand
// for anything.
std::vector<ProgramMessage> FindMessages(const std::string& text,
                                         const std::map<std::string, FindingSigns>& signs, size_t most);

// The first finding's id that is a word of a text, in whatever case: one of `signs` that has a hyphen or that
// a report puts behind its blame ("image.crashed"). Else the first word behind a blame, which a plugin of a
// third party may declare; "" without one.
std::string FindingIdIn(const std::string& text, const std::map<std::string, FindingSigns>& signs);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_FINDING_SIGNS_H_
