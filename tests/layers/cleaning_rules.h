// Text from outside is cleaned once, where it enters: which files clean, as a function of one file's text.
// Knows names of functions, nothing of what the code does.
#ifndef CUDNN_CI_TESTS_LAYERS_CLEANING_RULES_H_
#define CUDNN_CI_TESTS_LAYERS_CLEANING_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// Where a file of the harness cleans a text, one sentence each that names the place. `path` is relative to
// the repository, with slashes; files that may have none.
std::vector<std::string> MisplacedCleanings(std::string_view path, std::string_view text);

// The same whether the file may or not.
std::vector<std::string> Cleanings(std::string_view path, std::string_view text);

// Files that may, with why.
struct CleaningPlace {
  std::string_view path, why;
};
const std::vector<CleaningPlace>& CleaningPlaces();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_LAYERS_CLEANING_RULES_H_
