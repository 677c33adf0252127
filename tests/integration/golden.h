// Comparing a report with the one in tests/golden, whatever time it was, wherever it ran.
#ifndef CUDNN_CI_TESTS_INTEGRATION_GOLDEN_H_
#define CUDNN_CI_TESTS_INTEGRATION_GOLDEN_H_

#include <string>

namespace cudnn_ci {

// Times, ids, paths and hosts replaced by words that stand for them.
std::string Normalised(std::string text, const std::string& folder);

// Expects `text` to be the golden file of that name. With CUDNN_CI_UPDATE_GOLDEN=1 writes it instead.
void ExpectGolden(const std::string& name, const std::string& text);

// Expects the document to be valid against the schema of strict profiles. Skips silently where xmllint is
// missing.
void ExpectValidJunit(const std::string& file);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_GOLDEN_H_
