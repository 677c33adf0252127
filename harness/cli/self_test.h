// `self-test`: the gate as its own child, once as it is and once for each fault, injected here and now into
// the shipped checks. Shows that a green of this tree, on this machine, means something.
#ifndef CUDNN_CI_CLI_SELF_TEST_H_
#define CUDNN_CI_CLI_SELF_TEST_H_

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/options.h"

namespace cudnn_ci {

// Runs bin/cudnn-ci of this tree, with the shipped plugins alone, and says a line for each fault. Returns the
// exit code: 5 if an injected fault was not noticed, else that of the run without any if it is not 0, else 0;
// 6 if nothing could be injected. Errors are of use or installation: nothing ran. A signal ends this process
// at once; what it has started dies with it, by the guardian.
Result<int> SelfTest(const Options& options, const std::function<void(const std::string& line)>& say);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SELF_TEST_H_
