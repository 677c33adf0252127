#include "cli/diagnostics.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <utility>

#include "base/file.h"
#include "base/secrets.h"
#include "base/text.h"
#include "cli/process_setup.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {

std::string DiagnosticLine(const std::string& message, size_t max_bytes) {
  // Cleaned first, for what splits a secret must not hide it, and shortened last.
  return WithoutPipelineCommands(SingleLine(Secrets::OfThisProcess().Mask(CleanText(message)), max_bytes));
}

void PrintDiagnostic(const std::string& message, size_t max_bytes) {
  fprintf(stderr, "cudnn-ci: %s\n", DiagnosticLine(message, max_bytes).c_str());
}

bool PrintAnswer(std::string_view text) {
  if (!StandardOutputWasClosed()) {
    const bool written =
        fflush(stdout) == 0 && ferror(stdout) == 0 && WriteAll(STDOUT_FILENO, text, "standard output").ok();
    if (written || errno == EPIPE) return true;
  }
  static bool told = false;  // self-test says what it found line by line
  if (!std::exchange(told, true)) PrintDiagnostic("cannot write to standard output");
  return false;
}

}  // namespace cudnn_ci
