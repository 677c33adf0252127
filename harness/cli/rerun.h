// --rerun-failed: which cases of the last run are to run again.
#ifndef CUDNN_CI_CLI_RERUN_H_
#define CUDNN_CI_CLI_RERUN_H_

#include <vector>

#include "base/result.h"
#include "cli/output_folder.h"
#include "model/record/case_ref.h"

namespace cudnn_ci {

// The cases of the run whose reports lie at these paths that did not pass: what failed, what was blocked or
// not run, a skip of a required case that the matrix does not allow. Not what is waived. Read from the
// journal, or from report.json where there is none. An error, with what to do, when there is no record that
// holds a whole plan, or when there is nothing to run again. For use before the reports are removed.
Result<std::vector<CaseRef>> CasesToRerun(const OutputPaths& paths);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_RERUN_H_
