// Nothing decides by reading a message: who searches one, as a function of one file's text. Knows names of
// members and methods, nothing of what the code does.
#ifndef CUDNN_CI_TESTS_LAYERS_MESSAGE_RULES_H_
#define CUDNN_CI_TESTS_LAYERS_MESSAGE_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// Where a file of the harness searches a message, or compares it with a literal, one sentence each that names
// the place. `path` is relative to the repository, with slashes; files that may have none.
std::vector<std::string> SearchedMessages(std::string_view path, std::string_view text);

// The same whether the file may or not.
std::vector<std::string> MessageSearches(std::string_view path, std::string_view text);

// Files that may, with why.
struct MessageReader {
  std::string_view path, why;
};
const std::vector<MessageReader>& MessageReaders();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_LAYERS_MESSAGE_RULES_H_
