// What commands say on stderr.
#ifndef CUDNN_CI_CLI_DIAGNOSTICS_H_
#define CUDNN_CI_CLI_DIAGNOSTICS_H_

#include <cstddef>
#include <string>

namespace cudnn_ci {

// "cudnn-ci: MESSAGE", one line: cleaned, without secrets, of at most so many bytes.
void PrintDiagnostic(const std::string& message, size_t max_bytes = 2000);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_DIAGNOSTICS_H_
