#include "cli/diagnostics.h"

#include <stdio.h>

#include "base/secrets.h"
#include "base/text.h"

namespace cudnn_ci {

void PrintDiagnostic(const std::string& message, size_t max_bytes) {
  fprintf(stderr, "cudnn-ci: %s\n", CleanLine(Secrets::OfThisProcess().Mask(message), max_bytes).c_str());
}

}  // namespace cudnn_ci
