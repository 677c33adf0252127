// What packages open before or beside their extension modules, which no ELF file says; and who brings which
// library: rows of knowledge/imports.json and packages.json.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_RULES_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_RULES_H_

#include <set>
#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "image/elf/dynamic_table.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {

// What it means that a step's file is nowhere.
enum class StepNeed {
  kTried,     // the package goes on without it
  kPartly,    // a part of what it does on a GPU does not work without it; what the file lacks is a warning
  kTogether,  // its GPU does not work without it; nothing is said of this and of kPartly if the image has the
              // file of no step of the two, as in an environment for the CPU
  kMust       // the package cannot be imported without it
};

// One dlopen of a package.
struct OpenStep {
  // Folders relative to a folder of Python packages, in order; the first that has a file is taken. "%" stands
  // for the CUDA major of the package.
  std::vector<std::string> folders;
  // The file's name: "*" for any text. Without a folder that has it, the loader is asked.
  std::string name;
  // Files below a folder of packages that open it by name: with the run path of one of them; none: with the
  // program's.
  std::vector<std::string> by;
  StepNeed need = StepNeed::kTried;
  bool global = false;   // RTLD_GLOBAL
  bool toolkit = false;  // its folder is one of SymbolRules::toolkit_folders too, behind the others
};

// A package's process: what `import` of it opens, in order, and what it opens when a GPU is used.
struct PackageRule {
  std::string title;        // "PyTorch"
  std::string import_name;  // "torch"
  std::string marker;       // relative to a folder of packages: applies where this file is
  std::string marker_says;  // and has this text; empty: whatever it has
  std::string cuda_of;      // a file whose DT_NEEDED say the CUDA major (libcudart.so.N); empty: none
  int cuda_major = 0;       // the same where no file says it; 0: not known
  // A source that has both versions, "paddle/version/__init__.py", and the names by which it has them; the
  // former is relative to a folder of packages.
  std::string versions_in, cuda_name, cudnn_name;
  std::string after;  // "torch": programs import that before, whose libraries this one finds then
  // The Python package that brings its libraries, a pattern of names; `whole`, which brings its sources, must
  // be on record beside that in the same version, and an extra of it, core_extra and the CUDA major, brings
  // both.
  std::string core, whole, core_extra;
  std::vector<std::string> import_names;  // packages whose extensions are loaded into this process
  std::vector<std::string> for_gpu;       // Python packages: one on record says that a GPU is meant
  std::vector<std::string> for_cpu;       // likewise: one on record uses no GPU, and opens nothing of `later`
  std::vector<std::string> libraries;     // extensions that need one of these belong into it too, by stem
  // Packages that compare the CUDA of their version.py with this one's as they are imported; the latter by
  // the major alone.
  std::vector<std::string> same_cuda, same_cuda_major;
  std::vector<OpenStep> first;  // ahead of `main`; without the file of a step that must be, the import fails
  std::vector<OpenStep> main;   // what makes the package
  bool main_begins = false;     // the first of `main` comes ahead of `first` if it can be opened then
  std::vector<OpenStep> later;  // when a GPU is first used
  bool added = false;           // the row does not come with cudnn-ci

  // True if a folder of packages has what it applies to.
  bool AppliesTo(const std::string& package_folder) const;
  // True if a file below such a folder belongs into this process.
  bool Concerns(const std::string& file, const std::string& package_folder, const DynamicTable& table) const;
};

// A library for GPUs that comes in a package of its own.
struct GpuLibrary {
  std::string stem;       // "libnvJitLink.so"
  std::string package;    // Python's, without the suffix of a CUDA major: "nvidia-nvjitlink"
  std::string conda;      // that of conda-forge, of CUDA 12 and later: "libnvjitlink"; empty: not known
  bool suffix_in_13;      // "nvidia-nccl-cu13": of CUDA 13 too
  bool numbered_as_cuda;  // the number behind ".so." begins with CUDA's major: "libnppc.so.13"
  bool linked_only;       // nothing opens it by name: it is for programs that are linked with it
  bool minor_in_name;     // its name has CUDA's minor too, and each release asks for its own: "...so.12.6"
  std::string folder;     // where its package puts it, relative to a folder of packages; empty: see FolderOf

  // "nvidia-nvjitlink-cu12" of CUDA 12, "nvidia-nvjitlink" of 13.
  std::string PackageOf(int cuda_major) const;
  // Where the package of this name puts the library, relative to a folder of packages: "nvidia/cublas/lib" of
  // nvidia-cublas-cu12, "nvidia/cu13/lib" of nvidia-cublas.
  std::string FolderOf(const std::string& of_package) const;
};

// The packages that bring the libraries of a GpuLibrary's package under a number.
struct LibraryNumber {
  std::string package;                // GpuLibrary::package: "nvidia-cudnn"
  std::string number;                 // "8" of libcudnn.so.8
  std::vector<std::string> packages;  // Python's: "nvidia-cudnn-cu11", "nvidia-cudnn-cu12"
  int major;                          // of those of their releases that have it; 0: all have
  int unsuffixed;  // of those of the package without a suffix, which goes on to other CUDAs; 0: not known

  // "8" where only releases of that major have it; else empty.
  std::string Release() const { return major == 0 ? "" : std::to_string(major); }
};

// What the host's driver mounts into a container, and a prefix of the functions in it.
struct DriverLibrary {
  std::string stem, prefix;
};

struct SymbolRules {
  std::vector<PackageRule> packages;
  std::vector<GpuLibrary> gpu_libraries;
  std::vector<LibraryNumber> numbers;
  std::vector<DriverLibrary> driver_libraries;
  std::set<std::string> openers;  // functions that open a shared object: "load_library"
  MachineWords machines;
  // Where packages that search for CUDA themselves look for a toolkit that the loader need not know.
  std::vector<std::string> toolkit_folders = {"/usr/local/cuda/lib64"};

  // Null: none of them.
  const GpuLibrary* GpuLibraryOf(const std::string& name) const;
  // The CUDA major that these names of libraries (DT_NEEDED) are of: 12 of "libcudart.so.12", 11 of
  // "libcudart.so.11.0"; 0: none says.
  int CudaMajorOf(const std::vector<std::string>& names) const;
  // Null: no row has the number of this library.
  const LibraryNumber* NumberOf(const std::string& library) const;
  // Whether a package for this CUDA major may bring a library of this name and number: what is known of the
  // number does not exclude it.
  bool MayBeOf(int cuda_major, const std::string& library, const GpuLibrary& known) const;
  // Whether a library serves who was built for this CUDA major (0: not known) and this release of cuDNN
  // ("8.6.0"; empty: not known): its number does not say that it is of another one.
  bool Serves(const std::string& library, int cuda_major, const std::string& cudnn) const;
  // Whether a Python package holds nothing but libraries of `gpu_libraries`.
  bool IsOfLibraries(const std::string& package) const;
  // The releases of a package without a suffix that bring a library for this CUDA major: "13.*"; empty: the
  // package has a suffix, or it is not known.
  std::string ReleasesFor(const std::string& library, const std::string& package, int cuda_major) const;
  // The file that such a package, of a version such as "8.9.*", brings of a library: "libcudnn.so.8"; empty:
  // not known, as where another release has another number.
  std::string FileIn(const GpuLibrary& known, const std::string& package, const std::string& version) const;
  // "nvidia-nvjitlink or, of CUDA 12, nvidia-nvjitlink-cu12" for a library's name, "nvidia-cudnn-cu11 8.* or
  // nvidia-cudnn-cu12 8.*" where its number tells the packages; empty: not known.
  std::string PackageFor(const std::string& library) const;
  // The prefix of the functions of a library of the driver; empty: it is none.
  std::string DriverFunctionsOf(const std::string& library) const;
};

// The rows, in their order.
SymbolRules ReadSymbolRules(const TableEntry& entry);

// Whether a library is cuDNN or a part of it.
bool IsCudnn(const std::string& library);

// True if the prefix stands before an upper-case letter or "_".
bool IsDriverFunction(const std::string& symbol, const std::string& prefix);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_RULES_H_
