// Comparing a report with the one in tests/golden, whatever time it was, wherever it ran.
#ifndef CUDNN_CI_TESTS_INTEGRATION_GOLDEN_H_
#define CUDNN_CI_TESTS_INTEGRATION_GOLDEN_H_

#include <string>

#include "gate_run.h"
#include "golden_messages.h"

namespace cudnn_ci {

// What a test's runs say on standard error and elsewhere, as its section of tests/golden/messages/gate.txt
// has it.
class GateMessages : public GoldenMessages {
 public:
  explicit GateMessages(const GateRun& run)
      : GoldenMessages("gate.txt", {{run.folder(), "FOLDER"},
                                    {CUDNN_CI_FIXTURES, "FIXTURES"},
                                    {CUDNN_CI_TREE, "TREE"},
                                    {CUDNN_CI_SOURCE_DIR, "SOURCE"}}) {}
};

// Times, ids, paths and hosts replaced by words that stand for them.
std::string Normalised(std::string text, const std::string& folder);

// Expects `text` to be the golden file of that name. With CUDNN_CI_UPDATE_GOLDEN=1 writes it instead.
void ExpectGolden(const std::string& name, const std::string& text);

// Expects the document to be valid against the schema of strict profiles. Skips silently where xmllint is
// missing.
void ExpectValidJunit(const std::string& file);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_GOLDEN_H_
