#include "conv/kernel_arithmetic.h"

namespace cudnn_ci {

Arithmetic ArithmeticByKernels(Arithmetic said, const std::vector<std::string>& names) {
  if (said != Arithmetic::kExact) return said;
  const KernelClass is = ClassOfKernels(names);
  if (is == KernelClass::kWinograd) return Arithmetic::kWinograd;
  return is == KernelClass::kFft ? Arithmetic::kFft : said;
}

}  // namespace cudnn_ci
