// What packages open before or beside their extension modules, which no ELF file says; and who brings which
// library. Data alone, each row with its source.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_RULES_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_RULES_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// What it means that a step's file is nowhere.
enum class StepNeed {
  kTried,     // the package goes on without it
  kTogether,  // its GPU does not work without it; nothing is said if no step of this kind has its file, as in
              // an environment for the CPU
  kMust       // the package cannot be imported without it
};

// One dlopen of a package.
struct OpenStep {
  // Folders relative to a folder of Python packages, in order; the first that has a file is taken. "*" stands
  // for any one name, "%" for the CUDA major of the package.
  std::vector<const char*> folders;
  // The file's name: "*" for any text. Without a folder that has it, the loader is asked if there is no "*".
  const char* name;
  StepNeed need;
  bool global = false;  // RTLD_GLOBAL
};

// A package's process: what `import` of it opens, in order, and what it opens when a GPU is used.
struct PackageRule {
  const char* title;              // "PyTorch"
  const char* import_name;        // "torch"
  const char* marker;             // relative to a folder of packages: applies where this file is
  const char* cuda_of = nullptr;  // a file whose DT_NEEDED say the CUDA major (libcudart.so.N); null: none
  int cuda_major = 0;             // the same where no file says it; 0: not known
  std::vector<const char*> import_names;  // packages whose extensions are loaded into this process
  std::vector<const char*> libraries;     // extensions that need one of these belong into it too, by stem
  std::vector<OpenStep> first;            // ahead of `main`
  std::vector<OpenStep> main;             // what makes the package
  bool main_begins = false;     // the first of `main` comes ahead of `first` if it can be opened then
  std::vector<OpenStep> later;  // when a GPU is first used
  const char* source;
};

const std::vector<PackageRule>& PackageRules();

// A library for GPUs that comes in a package of its own.
struct GpuLibrary {
  const char* stem;     // "libnvJitLink.so"
  const char* package;  // Python's, without the suffix of a CUDA major: "nvidia-nvjitlink"
  bool suffix_in_13;    // "nvidia-nccl-cu13": of CUDA 13 too
};

// Null: none of them.
const GpuLibrary* GpuLibraryOf(const std::string& name);

// "nvidia-nvjitlink (of CUDA 12: nvidia-nvjitlink-cu12)" for a library's name; empty: not known.
std::string PackageFor(const std::string& library);

// What the host's driver mounts into a container, and a prefix of the functions in it, "cu" before an upper
// case letter; null: no such library. Source: the list of libnvidia-container (src/nvc_info.c).
const char* DriverFunctionsOf(const std::string& library);
bool IsDriverFunction(const std::string& symbol, const std::string& prefix);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_RULES_H_
