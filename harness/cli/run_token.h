// The word by which whoever started a run in a container knows its reports from forged ones.
#ifndef CUDNN_CI_CLI_RUN_TOKEN_H_
#define CUDNN_CI_CLI_RUN_TOKEN_H_

#include <string>

#include "base/result.h"

namespace cudnn_ci {

// Reads the word from the file, 16 to 128 letters and digits, and removes the file: from then on this process
// alone knows the word, until the end of the record tells it.
Result<std::string> TakeRunToken(const std::string& path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_RUN_TOKEN_H_
