// Files that a package has once for each release of something else: of a CUDA, a PyTorch, an FFmpeg, a card.
// Whoever opens one of them chooses by what the machine has. Pure functions over names.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_VARIANTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_VARIANTS_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// What a word of a name says of the machine that the file is for.
enum class MachineKind { kCuda, kAnyGpu, kCpu, kOther };
// "cuda" and "cu", "gpu", "cpu", "rocm": rows of knowledge/imports.json.
using MachineWords = std::map<std::string, MachineKind>;

// What sets one file of a set apart: "cuda" and "118", "torch" and "29", "core" and "5"; "cpu" has no number.
struct VariantMark {
  std::string word, number;
  std::optional<MachineKind> machine = {};  // none: the word is none of the machines'
  bool operator==(const VariantMark&) const = default;
};

struct VariantName {
  std::string key;                 // the name without its marks: "libbitsandbytes_#"
  std::vector<VariantMark> marks;  // in their order; none: the file belongs to no set
  std::size_t begin = 0;           // of the first mark within the name
};

// Of a path below a folder of packages, "bitsandbytes/libbitsandbytes_cuda118.so". What follows the first dot
// of the file's name is left out.
VariantName VariantOf(const std::string& path, const MachineWords& machines);

// What a package was built with, as its version.py says.
struct BuiltWith {
  std::string version;  // "2.11.0+cu129"; empty: not known
  std::string cuda;     // "12.9"; empty: without CUDA, or not known
};

// "130" of "2.11.0+cu130": what the local part of a version names as its CUDA; empty: nothing.
std::string CudaDigitsOf(const std::string& version);
// "130" of "13.0" for two parts, "13" for one.
std::string VersionDigits(const std::string& version, int parts);

enum class VariantFit {
  kUnknown,  // no mark speaks of PyTorch or CUDA
  kFits,     // each that does names this PyTorch or its CUDA
  kOther     // one names another
};

VariantFit FitOf(const VariantName& name, const BuiltWith& torch);

// True if this text of a source can be the beginning, or all, of the file's name: "libbitsandbytes_cuda" of
// "libbitsandbytes_cuda118.so", "_torchaudio" of "_torchaudio.abi3.so".
bool NamesFile(const std::string& literal, const std::string& file_name, const MachineWords& machines);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_VARIANTS_H_
