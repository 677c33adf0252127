// The binding of NVRTC.
#include "common/nvrtc_api.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

const Sonames kSonames = {{13, "libnvrtc.so.13"}, {12, "libnvrtc.so.12"}, {11, "libnvrtc.so.11.2"}};

}  // namespace

std::string NvrtcApi::Sonames() { return JoinedSonames(kSonames); }

std::vector<std::string> NvrtcApi::PromisedSonames(const Promise& promise) {
  return cudnn_ci::PromisedSonames(kSonames, promise);
}

bool NvrtcApi::Load(const Promise& promise, const std::vector<std::string>& subject_folders) {
  load_ = LoadPromised(kSonames, promise, subject_folders, &library_);
  if (library_.loaded()) Bind();
  return library_.loaded();
}

void NvrtcApi::Bind() {
  version_.Bind(library_, "nvrtcVersion");
  arch_count_.Bind(library_, "nvrtcGetNumSupportedArchs");
  archs_.Bind(library_, "nvrtcGetSupportedArchs");
  create_.Bind(library_, "nvrtcCreateProgram");
  compile_.Bind(library_, "nvrtcCompileProgram");
  log_size_.Bind(library_, "nvrtcGetProgramLogSize");
  log_.Bind(library_, "nvrtcGetProgramLog");
  ptx_size_.Bind(library_, "nvrtcGetPTXSize");
  ptx_.Bind(library_, "nvrtcGetPTX");
  cubin_size_.Bind(library_, "nvrtcGetCUBINSize");
  cubin_.Bind(library_, "nvrtcGetCUBIN");
  destroy_.Bind(library_, "nvrtcDestroyProgram");
  error_string_.Bind(library_, "nvrtcGetErrorString");
}

std::string NvrtcApi::Version() const {
  int major = 0, minor = 0;
  if (!version_ || version_(&major, &minor) != 0) return {};
  return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<int> NvrtcApi::SupportedArchs() const {
  int count = 0;
  if (!arch_count_ || !archs_ || arch_count_(&count) != 0 || count <= 0) return {};
  std::vector<int> archs(static_cast<size_t>(count));
  if (archs_(archs.data()) != 0) return {};
  std::sort(archs.begin(), archs.end());
  return archs;
}

std::string NvrtcApi::Describe(const char* call, int status) const {
  const char* text = error_string_ ? error_string_(status) : nullptr;
  return std::string(call) + ": " + std::to_string(status) + (text ? std::string(" ") + text : "");
}

std::string NvrtcApi::Log(Program program) const {
  size_t size = 0;
  if (log_size_(program, &size) != 0 || size <= 1) return {};
  std::string log(size, '\0');
  if (log_(program, log.data()) != 0) return {};
  log.resize(size - 1);  // the size counts the terminator
  while (!log.empty() && log.back() == '\n') log.pop_back();
  return log;
}

NvrtcResult NvrtcApi::Compile(const std::string& source, const std::vector<std::string>& options,
                              Output output) const {
  NvrtcResult result;
  Program program = nullptr;
  if (int s = create_(&program, source.c_str(), "cudnn_ci.cu", 0, nullptr, nullptr); s != 0) {
    result.error = Describe("nvrtcCreateProgram", s);
    return result;
  }
  std::vector<const char*> arguments;
  for (const auto& option : options) arguments.push_back(option.c_str());
  const int status = compile_(program, static_cast<int>(arguments.size()), arguments.data());
  result.log = Log(program);
  if (status != 0) {
    result.error = Describe("nvrtcCompileProgram", status);
  } else {
    const bool cubin = output == Output::kCubin;
    size_t size = 0;
    int s = (cubin ? cubin_size_ : ptx_size_)(program, &size);
    result.code.resize(size);
    if (s == 0 && size > 0) s = (cubin ? cubin_ : ptx_)(program, result.code.data());
    result.ok = s == 0 && size > 0;
    if (!result.ok) result.error = Describe(cubin ? "nvrtcGetCUBIN" : "nvrtcGetPTX", s);
  }
  destroy_(&program);
  return result;
}

}  // namespace cudnn_ci
