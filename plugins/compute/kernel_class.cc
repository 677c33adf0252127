// Transforms: what the kernels of FFTs and Winograds are called in cuDNN 9.14, 9.19 and 9.28, by the recorded
// launches of every engine on an H200, each compared with how exact it was. Sums of products: the parts of
// CUTLASS's names (s16816: sums in float32, h16816: in float16; tensorop),
// https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/profiler.md
// and of cuDNN's and cuBLAS's own, which profiles of frameworks show: scudnn and sgemm (multiply-adds of
// float32, "implicit_convolve_sgemm"), xmma with the types of a product's parts, "f32f32_tf32f32_f32", and
// ffma where it needs no tensor core. What no rule has is unknown, and judged as if it had no name.
#include "compute/kernel_class.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>

namespace cudnn_ci {
namespace {

struct Rule {
  const char* part;  // of the name in lower case, where a word begins or behind one of the prefixes
  KernelClass is;
};

// The first rule that fits decides. A transform's own kernels come first: the products between them are those
// of an ordinary matrix.
constexpr Rule kRules[] = {
    {"winograd", KernelClass::kWinograd},
    {"fft", KernelClass::kFft},
    {"fft1d", KernelClass::kFft},
    {"fft2d", KernelClass::kFft},
    {"fft3d", KernelClass::kFft},
    {"h884", KernelClass::kHalfSums},
    {"h1688", KernelClass::kHalfSums},
    {"h16816", KernelClass::kHalfSums},
    {"f16f16_f16f16_f16", KernelClass::kHalfSums},
    {"tf32", KernelClass::kTf32},
    {"tf32f32", KernelClass::kTf32},
    {"s1688tf32", KernelClass::kTf32},
    {"s884", KernelClass::kTensorCore},
    {"s1688", KernelClass::kTensorCore},
    {"s16816", KernelClass::kTensorCore},
    {"tensorop", KernelClass::kTensorCore},
    {"hmma", KernelClass::kTensorCore},
    {"wgmma", KernelClass::kTensorCore},
    {"f16f16_f16f32_f32", KernelClass::kTensorCore},
    {"bf16bf16_bf16f32_f32", KernelClass::kTensorCore},
    {"ffma", KernelClass::kFma},
    {"scudnn", KernelClass::kFma},
    {"sgemm", KernelClass::kFma},
    {"nchwtonhwckernel", KernelClass::kHelper},
    {"nhwctonchwkernel", KernelClass::kHelper},
    {"computeoffsetskernel", KernelClass::kHelper},
    {"scalepackedtensor_kernel", KernelClass::kHelper},
    {"im2col4d_kernel", KernelClass::kHelper},
};
// Numbers of instruction shapes are followed by what they do: "s1688fprop", "h16816gemm".
constexpr const char* kFollows[] = {"gemm", "fprop", "dgrad", "wgrad", "conv", "cudnn"};

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Whether `part` stands in `name` from where a word begins to where one ends, an underscore being no part of
// a word.
bool Has(std::string_view name, std::string_view part) {
  for (std::size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const std::string_view behind = name.substr(at + part.size());
    const bool begins = at == 0 || !IsWord(name[at - 1]);
    bool ends = behind.empty() || !IsWord(behind.front());
    for (const char* word : kFollows) ends = ends || behind.substr(0, std::string_view(word).size()) == word;
    // "winogradForwardData4x4" goes on in the same word.
    if (begins && (ends || part == "winograd")) return true;
  }
  return false;
}

const char* TextOf(KernelClass is) {
  switch (is) {
    case KernelClass::kFma:
      return "float32 multiply-adds";
    case KernelClass::kTensorCore:
      return "tensor cores, sums in float32";
    case KernelClass::kTf32:
      return "TF32 on tensor cores";
    case KernelClass::kHalfSums:
      return "sums in float16";
    case KernelClass::kFft:
      return "FFT";
    case KernelClass::kWinograd:
      return "Winograd";
    case KernelClass::kHelper:
    case KernelClass::kUnknown:
      break;
  }
  return "";
}

constexpr std::size_t kMostNamed = 4;

}  // namespace

KernelClass ClassOfKernel(const std::string& name) {
  std::string lower(name.size(), '\0');
  std::transform(name.begin(), name.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  for (const Rule& rule : kRules)
    if (Has(lower, rule.part)) return rule.is;
  return KernelClass::kUnknown;
}

KernelClass ClassOfKernels(const std::vector<std::string>& names) {
  KernelClass last = names.empty() ? KernelClass::kUnknown : KernelClass::kHelper;
  for (const std::string& name : names) last = std::max(last, ClassOfKernel(name));
  return last;
}

std::string KernelsText(const std::vector<std::string>& names, const std::string& before) {
  if (names.empty()) return {};
  std::string text = before + (names.size() == 1 ? "kernel " : "kernels ");
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostNamed) text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  const std::string is = TextOf(ClassOfKernels(names));
  return is.empty() ? text : text + ": " + is;
}

}  // namespace cudnn_ci
