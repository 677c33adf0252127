// What commands print: their answer, and what they say on stderr.
#ifndef CUDNN_CI_CLI_DIAGNOSTICS_H_
#define CUDNN_CI_CLI_DIAGNOSTICS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cudnn_ci {

// A message as one line: cleaned, without secrets and commands to a pipeline, of at most so many bytes.
std::string DiagnosticLine(const std::string& message, size_t max_bytes);
// "cudnn-ci: MESSAGE", such a line.
void PrintDiagnostic(const std::string& message, size_t max_bytes = 2000);

// Prints an answer as it is, behind what was printed before. False, and a line on stderr: standard output is
// closed or cannot take it. Whoever reads no further (`| head`) has seen enough.
bool PrintAnswer(std::string_view text);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_DIAGNOSTICS_H_
