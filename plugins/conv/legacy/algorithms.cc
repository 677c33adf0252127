// The three tables. Transforms were told from sums of products by comparing every output of every algorithm,
// with cuDNN 9.14 and 9.19 on an H200. Which are not deterministic:
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest/developer/misc.html#reproducibility-determinism
#include "conv/legacy/algorithms.h"

#include <cudnn.h>

namespace cudnn_ci {

const std::vector<LegacyAlgorithm>& LegacyAlgorithms(Operation operation) {
  static const std::vector<LegacyAlgorithm> kForward = {
      {"implicit_gemm", CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, Arithmetic::kExact},
      {"implicit_precomp_gemm", CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, Arithmetic::kExact},
      {"gemm", CUDNN_CONVOLUTION_FWD_ALGO_GEMM, Arithmetic::kExact},
      {"direct", CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, Arithmetic::kExact},
      {"fft", CUDNN_CONVOLUTION_FWD_ALGO_FFT, Arithmetic::kFft},
      {"fft_tiling", CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING, Arithmetic::kFft},
      {"winograd", CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, Arithmetic::kWinograd},
      {"winograd_nonfused", CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, Arithmetic::kWinograd}};
  static const std::vector<LegacyAlgorithm> kBackwardData = {
      {"algo_0", CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, Arithmetic::kExact, false},  // atomics
      {"algo_1", CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, Arithmetic::kExact},
      {"fft", CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT, Arithmetic::kFft},
      {"fft_tiling", CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING, Arithmetic::kFft},
      {"winograd", CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, Arithmetic::kWinograd},
      {"winograd_nonfused", CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED, Arithmetic::kWinograd}};
  static const std::vector<LegacyAlgorithm> kBackwardFilter = {
      {"algo_0", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, Arithmetic::kExact, false},  // atomics
      {"algo_1", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, Arithmetic::kExact},
      {"fft", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT, Arithmetic::kFft},
      {"algo_3", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, Arithmetic::kExact, false},  // atomics
      {"winograd", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD, Arithmetic::kWinograd},
      {"winograd_nonfused", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, Arithmetic::kWinograd},
      {"fft_tiling", CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING, Arithmetic::kFft}};
  switch (operation) {
    case Operation::kBackwardData:
      return kBackwardData;
    case Operation::kBackwardFilter:
      return kBackwardFilter;
    case Operation::kForward:
      break;
  }
  return kForward;
}

const LegacyAlgorithm* FindLegacyAlgorithm(Operation operation, const std::string& name) {
  for (const LegacyAlgorithm& a : LegacyAlgorithms(operation))
    if (name == a.name) return &a;
  return nullptr;
}

LegacyAlgorithm LegacyAlgorithmOf(Operation operation, int number) {
  for (const LegacyAlgorithm& a : LegacyAlgorithms(operation))
    if (number == a.number) return a;
  return {"", number, Arithmetic::kExact, false};
}

std::string LegacyAlgorithmName(Operation operation, int number) {
  const std::string name = LegacyAlgorithmOf(operation, number).name;
  return name.empty() ? "algorithm " + std::to_string(number) : name;
}

}  // namespace cudnn_ci
