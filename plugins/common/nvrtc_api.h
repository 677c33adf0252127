// NVRTC, the toolkit's run-time compiler, bound at run time. Prototypes by hand
// (https://docs.nvidia.com/cuda/nvrtc/): they are the same from CUDA 11 on. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_NVRTC_API_H_
#define CUDNN_CI_PLUGINS_COMMON_NVRTC_API_H_

#include <string>
#include <vector>

#include "common/late_function.h"
#include "common/promised_library.h"

namespace cudnn_ci {

// What a compilation gave. `code` is PTX text or a cubin, by what was asked for.
struct NvrtcResult {
  bool ok = false;
  std::string code;
  std::string error;  // "nvrtcCompileProgram: 7 NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"
  std::string log;    // the compiler's own
};

class NvrtcApi {
 public:
  enum class Output { kPtx, kCubin };

  // As LoadPromised, of CUDA 13, 12 and 11. False: error() says why, and missing() whether simply none is
  // there.
  bool Load(const Promise& promise = {}, const std::vector<std::string>& subject_folders = {});
  const std::string& error() const { return load_.error; }
  bool missing() const { return load_.missing; }
  std::string path() const { return library_.Path(); }

  // "13.0"; empty if NVRTC does not say.
  std::string Version() const;
  // Architectures NVRTC can compile for (75 for sm_75), ascending; empty before CUDA 11.2.
  std::vector<int> SupportedArchs() const;
  // Compiles CUDA C++. Each option is one argument of the compiler ("--gpu-architecture=compute_90").
  NvrtcResult Compile(const std::string& source, const std::vector<std::string>& options,
                      Output output = Output::kPtx) const;
  // The sonames Load tries, for messages.
  static std::string Sonames();
  // Those of them that keep the promise.
  static std::vector<std::string> PromisedSonames(const Promise& promise);

 private:
  void Bind();
  using Program = struct _nvrtcProgram*;
  std::string Describe(const char* call, int status) const;
  std::string Log(Program program) const;
  PromisedLoad load_;
  LateLibrary library_;
  LateFunction<int(int*, int*)> version_;
  LateFunction<int(int*)> arch_count_, archs_;
  LateFunction<int(Program*, const char*, const char*, int, const char* const*, const char* const*)> create_;
  LateFunction<int(Program, int, const char* const*)> compile_;
  LateFunction<int(Program, size_t*)> log_size_, ptx_size_, cubin_size_;
  LateFunction<int(Program, char*)> log_, ptx_, cubin_;
  LateFunction<int(Program*)> destroy_;
  LateFunction<const char*(int)> error_string_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NVRTC_API_H_
