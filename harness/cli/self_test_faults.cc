#include "cli/self_test_faults.h"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/embedded.h"
#include "base/file.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A convolution whose numbers every cuDNN gets right to the bit, and that takes no time. Entries that look at
// libraries may be skipped where the image has none.
constexpr char kMatrix[] = R"({
  "schema": "cudnn-ci/matrix/1",
  "name": "self-test",
  "image": { "allow_preload": ["*"], "allow_driver_library": ["*"] },
  "shapes": { "small": { "x": [2, 16, 16, 16], "w": [16, 16, 3, 3], "pad": 1 } },
  "checks": [
    { "check": "driver.load" },
    { "check": "driver.version" },
    { "check": "driver.devices" },
    { "check": "driver.canary" },
    { "check": "toolkit.nvrtc", "allow_skip": ["absent"] },
    { "check": "cudnn.load", "allow_skip": ["absent"] },
    { "check": "cudnn.version", "allow_skip": ["absent"] },
    { "check": "cudnn.init", "allow_skip": ["absent"] },
    { "check": "conv.forward", "allow_skip": ["absent"],
      "params": { "shape": "small", "dtype": "float32", "layout": "nchw", "algo": "implicit_gemm" } }
  ]
})";

// Enough of a library to be known as one; its headers then speak of more than there is.
constexpr uintmax_t kStumpBytes = 4096;

// "9" of "libcudnn_ops.so.9"; empty where something else follows.
std::string MajorOf(const std::string& file) {
  const size_t at = file.find(".so.");
  std::string major = at == std::string::npos ? "" : file.substr(at + 4);
  return std::all_of(major.begin(), major.end(), [](unsigned char c) { return isdigit(c) != 0; }) ? major
                                                                                                  : "";
}

// The first of the libraries that belong to a cuDNN's main library and lie beside it.
fs::path PartOf(const fs::path& main) {
  const std::string name = main.filename().string();
  const size_t at = name.find(".so.");
  if (at == std::string::npos) return {};
  const std::string major = name.substr(at + 4, name.find('.', at + 4) - at - 4);
  fs::path first;
  std::error_code error;
  for (fs::directory_iterator it(main.parent_path(), error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.compare(0, 9, "libcudnn_") != 0 || MajorOf(file) != major) continue;
    if (first.empty() || it->path() < first) first = it->path();
  }
  return first;
}

// What is put before a variable that is a list.
std::string Before(const std::string& entry, const char* variable) {
  const char* inherited = getenv(variable);
  return inherited && *inherited ? entry + ":" + inherited : entry;
}

Result<Injection> InjectBrokenLibrary(const std::string& folder, const std::string& cudnn) {
  const fs::path part = PartOf(cudnn);
  if (part.empty()) return Error{"no libcudnn_*.so lies beside '" + cudnn + "'"};
  const fs::path stump = fs::path(folder) / "libraries" / part.filename();
  std::error_code error;
  fs::create_directory(stump.parent_path(), error);
  const uintmax_t size = fs::file_size(part, error);
  if (error) return Error{part.string() + ": " + error.message()};
  const std::string start = ReadSmallFile(part.string(), std::min<uintmax_t>(size / 2, kStumpBytes));
  if (Status s = WriteFileAtomically(stump.string(), start); !s.ok()) return Error{s.error()};
  Injection p;
  p.environment["LD_LIBRARY_PATH"] = Before(stump.parent_path().string(), "LD_LIBRARY_PATH");
  p.evidence = stump.string();
  return p;
}

}  // namespace

const std::vector<Fault>& Faults() {
  // Without a GPU the compiler of the toolkit is the one library that is called.
  static const std::vector<Fault> kFaults = {
      {"crash", "a null pointer is written to inside cudnnConvolutionForward", "conv.forward",
       InjectedBy::kPreload, "crash cudnnConvolutionForward", 1, "errored", "image", "crashed"},
      {"crash", "a null pointer is written to inside nvrtcCompileProgram", "toolkit.nvrtc",
       InjectedBy::kPreload, "crash nvrtcCompileProgram", 1, "errored", "image", "crashed"},
      {"hang", "cudnnConvolutionForward does not return", "conv.forward", InjectedBy::kPreload,
       "hang cudnnConvolutionForward", 1, "errored", "image", "timed-out"},
      {"hang", "nvrtcCompileProgram does not return", "toolkit.nvrtc", InjectedBy::kPreload,
       "hang nvrtcCompileProgram", 1, "errored", "image", "timed-out"},
      {"wrong-number", "one element of the output is 1 too large", "conv.forward", InjectedBy::kPreload,
       "wrong cudnnConvolutionForward", 1, "failed", "image", "wrong-value"},
      {"broken-library", "a library of cuDNN is cut off", "cudnn.load", InjectedBy::kLibraryPath, "", 1,
       "failed", "image", "cudnn-sublibrary-unloadable"},
      {"missing-device", "CUDA_VISIBLE_DEVICES is empty", "driver.devices", InjectedBy::kVisibility, "", 3,
       "failed", "runner", "no-visible-device"},
  };
  return kFaults;
}

std::vector<std::string> FaultNames() {
  std::vector<std::string> names;
  for (const Fault& fault : Faults())
    if (names.empty() || names.back() != fault.name) names.emplace_back(fault.name);
  return names;
}

std::string SelfTestMatrix(const std::string& check, double timeout_s) {
  nlohmann::ordered_json matrix = nlohmann::ordered_json::parse(kMatrix);
  for (nlohmann::ordered_json& entry : matrix["checks"])
    if (timeout_s > 0 && entry["check"] == check) entry["timeout_s"] = timeout_s;
  return matrix.dump(1) + "\n";
}

Result<Injection> Inject(const Fault& fault, const std::string& folder, const std::string& preload,
                         const std::string& cudnn) {
  if (fault.by == InjectedBy::kLibraryPath) return InjectBrokenLibrary(folder, cudnn);
  Injection p;
  if (fault.by == InjectedBy::kVisibility) {
    p.environment["CUDA_VISIBLE_DEVICES"] = "";
    p.evidence = "CUDA_VISIBLE_DEVICES=''";
    return p;
  }
  // The loader takes blanks and colons in LD_PRELOAD for separators, and the tree may lie anywhere.
  std::error_code error;
  const std::string link = folder + "/" + fs::path(preload).filename().string();
  fs::create_symlink(OpenablePath(preload), link, error);
  if (error) return Error{link + ": " + error.message()};
  p.mark = folder + "/struck";
  p.environment["LD_PRELOAD"] = Before(link, "LD_PRELOAD");
  p.environment["CUDNN_CI_PLANT"] = fault.order + (" " + p.mark);
  return p;
}

}  // namespace cudnn_ci
