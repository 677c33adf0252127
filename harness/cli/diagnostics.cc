#include "cli/diagnostics.h"

#include <stdio.h>

#include "base/secrets.h"
#include "base/text.h"
#include "report/text/pipeline_commands.h"

namespace cudnn_ci {

std::string DiagnosticLine(const std::string& message, size_t max_bytes) {
  // Cleaned first, for what splits a secret must not hide it, and shortened last.
  return WithoutPipelineCommands(SingleLine(Secrets::OfThisProcess().Mask(CleanText(message)), max_bytes));
}

void PrintDiagnostic(const std::string& message, size_t max_bytes) {
  fprintf(stderr, "cudnn-ci: %s\n", DiagnosticLine(message, max_bytes).c_str());
}

}  // namespace cudnn_ci
