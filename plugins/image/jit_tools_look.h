// Whether what a package needs to compile device code at run time is there, told from files and variables.
// Nothing is run. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_LOOK_H_
#define CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_LOOK_H_

#include <map>
#include <string>
#include <vector>

#include "image/contents/image_files.h"

namespace cudnn_ci {

enum class JitTool {
  kCCompiler,        // CC, else gcc or clang of PATH, with the headers of the C library
  kCxxCompiler,      // CXX, else g++ of PATH
  kPythonHeaders,    // Python.h of the interpreter
  kLdconfig,         // /sbin/ldconfig, by which Triton looks for the driver
  kDriverLinkName,   // libcuda.so beside libcuda.so.1
  kTritonPtxas,      // of Triton's own package, for each promised card
  kTritonLibdevice,  // libdevice.10.bc of Triton's own package
  kTritonCache,      // the folder that Triton writes and loads libraries from
  kTritonPackage,    // Triton itself
  kLibnvvm,
  kLibdevice,  // libdevice.10.bc of a toolkit
  kNvrtc,
  kCudaHeaders,  // cuda_fp16.h
  kCupyCache,
  kToolkitPtxas,  // of a toolkit, for each promised card
  kNvcc,
  kCurandHeaders,  // curand_kernel.h beside the nvcc that compiles with it
  kNinja
};

enum class ToolState {
  kPresent,
  kMissing,
  kTooOld,    // there, and it does not know a promised card
  kUnusable,  // a folder that cannot be written, or from which nothing may be loaded
  kUnknown    // nothing can be said here: there is no driver on this machine, or nothing that would use it
};

struct ToolLook {
  ToolState state = ToolState::kMissing;
  std::string text;  // what was found, or what is lacking, in words
};

// Where to look.
class JitPlaces {
 public:
  // `image` must outlive it. `variables` are those of the image's user. `root` is put before every path of
  // the system, for tests; paths of variables and packages are used as they are.
  JitPlaces(const ImageFiles& image, std::map<std::string, std::string> variables, std::string root = {});

  // `first_toolkit`: the promised cards by compute capability, with the first toolkit that compiles for each,
  // "12.9" of "10.3"; empty where that is not known.
  ToolLook Look(JitTool tool, const std::map<std::string, std::string>& first_toolkit) const;

  // Each NVRTC among the subject's files, and of them those without the libnvrtc-builtins of their version,
  // in words.
  struct NvrtcLook {
    std::size_t found = 0;
    std::vector<std::string> lacking;
  };
  NvrtcLook LookAtNvrtc() const;

 private:
  std::string Variable(const char* name) const;
  // A program by path, or of PATH; empty: there is none that may be executed.
  std::string Program(const std::string& name) const;
  // The first of these files below the folders of a toolkit, those of Python packages first.
  std::string InToolkit(const std::vector<std::string>& files) const;
  // A library of this stem ("libnvrtc.so") among the subject's files or where the loader looks.
  std::string Library(const std::string& stem) const;
  // A file of the package triton; empty: it has none.
  std::string OfTriton(const std::string& file) const;
  ToolLook Compiler(const char* variable, const std::vector<std::string>& names) const;
  ToolLook PythonHeaders() const;
  ToolLook DriverLinkName() const;
  ToolLook TritonPtxas(const std::map<std::string, std::string>& first_toolkit) const;
  ToolLook TritonLibdevice() const;
  ToolLook TritonPackage() const;
  ToolLook CupyCache() const;
  ToolLook ToolkitPtxas(const std::map<std::string, std::string>& first_toolkit) const;
  ToolLook OfToolkit(JitTool tool) const;
  ToolLook CurandHeaders() const;
  ToolLook Cache(const char* variable, const std::string& folder, bool loaded_from) const;
  std::string TritonCacheFolder() const;

  const ImageFiles& image_;
  const std::map<std::string, std::string> variables_;
  const std::string root_;
  std::vector<std::string> toolkits_;  // folders with bin, include, nvvm
};

// What keeps a ptxas from compiling for these cards: "12.8 does not know 10.3, which came with 12.9"; empty:
// nothing. `first_toolkit`: by compute capability, empty where it is not known.
std::string CardsTooNewFor(const std::string& release,
                           const std::map<std::string, std::string>& first_toolkit);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_JIT_TOOLS_LOOK_H_
