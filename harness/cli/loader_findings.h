// Findings about what the loader takes before a check begins.
#ifndef CUDNN_CI_CLI_LOADER_FINDINGS_H_
#define CUDNN_CI_CLI_LOADER_FINDINGS_H_

#include <string>
#include <vector>

#include "image/contents/blocking_library.h"
#include "image/contents/driver_library.h"
#include "image/contents/preloads.h"
#include "model/record/finding.h"

namespace cudnn_ci {

// About a library in the loader's folders that is no file.
Finding FindingOf(const BlockingLibrary& library);

// About what is preloaded: an error where it may change what a check sees and says, unless one of the
// patterns names it (as it stands, or the file's name); else a warning. What is mounted is the runner's.
Finding FindingOf(const Preload& preload, const std::vector<std::string>& allowed);

// About a driver library that is not the host's: an error, or a warning where a pattern allows it.
Finding FindingOf(const ForeignDriver& driver, const std::vector<std::string>& allowed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_LOADER_FINDINGS_H_
