#include "image/jit_tools_look.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/path.h"
#include "common/loader_path.h"
#include "image/contents/python_packages.h"
#include "image/jit_tools_scan.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

bool IsFile(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool IsProgram(const std::string& path) { return IsFile(path) && access(path.c_str(), X_OK) == 0; }

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "libnvrtc.so" and "libnvrtc.so.12"; not "libnvrtc-builtins.so".
bool IsLibraryOf(const std::string& name, const std::string& stem) {
  return name.compare(0, stem.size(), stem) == 0 && (name.size() == stem.size() || name[stem.size()] == '.');
}

// "3.12" of the folder ".../lib/python3.12/site-packages"; empty: it has no such name.
std::string PythonVersionOf(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::size_t at = folder.find("/lib/python");
    if (at == std::string::npos) continue;
    const std::size_t begin = at + 11, end = folder.find('/', begin);
    std::string version = folder.substr(begin, end - begin);
    if (version.find('.') != std::string::npos) return version;
  }
  return "";
}

std::vector<std::string> FoldersIn(const std::string& folder) {
  constexpr std::size_t kMost = 200;
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && folders.size() < kMost;
       it.increment(error))
    if (std::error_code ignored; it->is_directory(ignored)) folders.push_back(it->path().string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

// A file that was found, or what is lacking.
ToolLook FileOr(const std::string& path, const std::string& lacking) {
  return path.empty() ? ToolLook{ToolState::kMissing, lacking} : ToolLook{ToolState::kPresent, path};
}

std::string JoinedByOr(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " or ") + name;
  return all;
}

// Less than 0, 0 or more than 0: dotted numbers.
int CompareReleases(const std::string& a, const std::string& b) {
  const char *left = a.c_str(), *right = b.c_str();
  while (*left || *right) {
    char *left_end = nullptr, *right_end = nullptr;
    const long x = std::strtol(left, &left_end, 10), y = std::strtol(right, &right_end, 10);
    if (x != y) return x < y ? -1 : 1;
    left = *left_end == '.' ? left_end + 1 : "";
    right = *right_end == '.' ? right_end + 1 : "";
  }
  return 0;
}

}  // namespace

std::string CardsTooNewFor(const std::string& release,
                           const std::map<std::string, std::string>& first_toolkit) {
  std::string text;
  for (const auto& [gpu, first] : first_toolkit)
    if (!first.empty() && CompareReleases(release, first) < 0)
      text += (text.empty() ? "" : ", ") + gpu + " (added in " + first + ")";
  return text.empty() ? "" : release + " does not support " + text;
}

JitPlaces::JitPlaces(const ImageFiles& image, std::map<std::string, std::string> variables, std::string root)
    : image_(image), variables_(std::move(variables)), root_(std::move(root)) {
  for (const std::string& folder : image_.folders)
    for (const std::string& toolkit : FoldersIn(folder + "/nvidia")) toolkits_.push_back(toolkit);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string folder = Variable(name); !folder.empty()) toolkits_.push_back(folder);
  if (!image_.prefix.empty()) {
    toolkits_.push_back(image_.prefix);
    toolkits_.push_back(image_.prefix + "/targets/x86_64-linux");
  }
  for (const char* folder : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit", "/usr"})
    toolkits_.push_back(root_ + folder);
}

std::string JitPlaces::Variable(const char* name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? "" : found->second;
}

std::string JitPlaces::Program(const std::string& name) const {
  if (name.find('/') != std::string::npos) return IsProgram(name) ? name : "";
  for (const std::string& folder : SplitLibraryPath(Variable("PATH")))
    if (IsProgram(folder + "/" + name)) return folder + "/" + name;
  return "";
}

std::string JitPlaces::InToolkit(const std::vector<std::string>& files) const {
  for (const std::string& folder : toolkits_)
    for (const std::string& file : files)
      if (IsFile(folder + "/" + file)) return folder + "/" + file;
  return "";
}

std::string JitPlaces::Library(const std::string& stem) const {
  for (const ImageFile& file : image_.files)
    if (IsLibraryOf(NameOf(file.path), stem)) return file.path;
  if (!root_.empty()) return "";  // a test has no loader of its own
  const std::vector<std::string> found = LibrariesOf(stem, Environment("LD_LIBRARY_PATH"));
  return found.empty() ? "" : found.front();
}

std::string JitPlaces::OfTriton(const std::string& file) const {
  for (const std::string& folder : image_.folders)
    if (IsFile(folder + "/triton/backends/nvidia/" + file)) return folder + "/triton/backends/nvidia/" + file;
  return "";
}

// Triton and inductor start what the variable says as one program, without a shell: "ccache gcc" is none.
ToolLook JitPlaces::Compiler(const char* variable, const std::vector<std::string>& names) const {
  const std::string named = Variable(variable);
  std::string found;
  if (!named.empty()) {
    found = Program(named);
    if (found.empty())
      return {ToolState::kMissing, std::string(variable) + " is " + named + ", which is not a program"};
  }
  for (const std::string& name : names)
    if (found.empty()) found = Program(name);
  if (found.empty())
    return {ToolState::kMissing, "PATH has no " + JoinedByOr(names) + ", and " + variable + " is not set"};
  // That of a distribution has its headers there; others bring their own.
  const bool of_system = RealPath(found).compare(0, root_.size() + 9, root_ + "/usr/bin/") == 0;
  if (of_system && !IsFile(root_ + "/usr/include/stdlib.h"))
    return {ToolState::kMissing, found + " has no headers of the C library: no /usr/include/stdlib.h"};
  return {ToolState::kPresent, found};
}

ToolLook JitPlaces::PythonHeaders() const {
  const std::string version = PythonVersionOf(image_.folders);
  if (version.empty()) return {ToolState::kUnknown, "the interpreter's version is unknown"};
  // sysconfig's "include" of the interpreter that an environment was made from.
  const std::string real = RealPath(image_.interpreter);
  const std::string base = DirectoryOf(DirectoryOf(real));
  const std::string file = "/include/python" + version + "/Python.h";
  std::vector<std::string> folders = {base, image_.prefix};
  // An environment made with copies has no link to it.
  if (const std::string home = HomeOfEnvironment(image_.prefix); !home.empty())
    folders.push_back(DirectoryOf(RealPath(home)));
  for (const std::string& folder : folders)
    if (IsFile(folder + file)) return {ToolState::kPresent, folder + file};
  return {ToolState::kMissing, "no " + base + file};
}

// The name that `-lcuda` means must lie beside the driver's own, which a container gets from its runtime.
ToolLook JitPlaces::DriverLinkName() const {
  if (const std::string folder = Variable("TRITON_LIBCUDA_PATH"); !folder.empty()) {
    if (IsFile(folder + "/libcuda.so")) return {ToolState::kPresent, folder + "/libcuda.so"};
    return {ToolState::kMissing, "TRITON_LIBCUDA_PATH is " + folder + ", which has no libcuda.so"};
  }
  std::vector<std::string> folders = SplitLibraryPath(Variable("LD_LIBRARY_PATH"));
  if (root_.empty())
    for (const std::string& path : LoaderCachePaths([](const std::string& n) { return n == "libcuda.so.1"; }))
      folders.push_back(DirectoryOf(path));
  std::string driver;
  for (const std::string& folder : folders) {
    if (!IsFile(folder + "/libcuda.so.1")) continue;
    if (IsFile(folder + "/libcuda.so")) return {ToolState::kPresent, folder + "/libcuda.so"};
    if (driver.empty()) driver = folder + "/libcuda.so.1";
  }
  if (driver.empty()) return {ToolState::kUnknown, "this machine has no driver"};
  return {ToolState::kMissing, "no libcuda.so beside " + driver};
}

ToolLook JitPlaces::TritonPtxas(const std::map<std::string, std::string>& first_toolkit) const {
  const auto tool = [this](const char* variable, const char* file) {
    // One that does not start is passed over for Triton's own.
    const std::string named = Variable(variable);
    return IsProgram(named) ? named : OfTriton(file);
  };
  const std::string common = tool("TRITON_PTXAS_PATH", "bin/ptxas");
  std::string blackwell = tool("TRITON_PTXAS_BLACKWELL_PATH", "bin/ptxas-blackwell");
  // Early releases have one for all cards.
  if (OfTriton("bin/ptxas-blackwell").empty()) blackwell = common;
  std::map<std::string, std::map<std::string, std::string>> cards;  // by program
  for (const auto& [gpu, first] : first_toolkit)
    cards[CompareReleases(gpu, "10.0") < 0 ? common : blackwell].emplace(gpu, first);
  if (cards.empty()) cards[common] = {};
  std::string found, lacking;
  for (const auto& [program, of_it] : cards) {
    if (!IsProgram(program))
      return {ToolState::kMissing,
              program.empty() ? "Triton's package has no ptxas" : program + " is not executable"};
    const std::string release = ToolRelease(program);
    found +=
        (found.empty() ? "" : ", ") + program + " of " + (release.empty() ? "an unknown release" : release);
    if (release.empty()) continue;
    if (const std::string why = CardsTooNewFor(release, of_it); !why.empty())
      lacking += (lacking.empty() ? "" : "; ") + program + " of " + why;
  }
  if (!lacking.empty()) return {ToolState::kTooOld, lacking};
  return {ToolState::kPresent, found};
}

std::string JitPlaces::TritonCacheFolder() const {
  const std::string home = Variable("TRITON_HOME");
  const std::string base = home.empty() ? Variable("HOME") : home;
  return base.empty() ? "" : base + "/.triton/cache";
}

ToolLook JitPlaces::Cache(const char* variable, const std::string& folder, bool loaded_from) const {
  const std::string named = Variable(variable);
  const std::string cache = named.empty() ? folder : named;
  if (cache.empty()) return {ToolState::kUnknown, "neither " + std::string(variable) + " nor HOME is set"};
  // It is made with its parents when it is needed.
  std::string there = cache;
  struct stat status = {};
  while (stat(there.c_str(), &status) != 0 && there.size() > 1)
    there = there.find('/') == std::string::npos ? "." : there == "/" ? "/" : DirectoryOf(there);
  if (there.empty()) there = "/";
  if (!S_ISDIR(status.st_mode)) return {ToolState::kUnusable, there + " is not a folder"};
  if (access(there.c_str(), W_OK | X_OK) != 0)
    return {ToolState::kUnusable,
            cache + ": " + there + " cannot be written by user " + std::to_string(geteuid())};
  struct statvfs mount = {};
  if (loaded_from && statvfs(there.c_str(), &mount) == 0 && (mount.f_flag & ST_NOEXEC) != 0)
    return {ToolState::kUnusable, cache + " is on a mount with noexec: libraries cannot be loaded from it"};
  return {ToolState::kPresent, cache};
}

ToolLook JitPlaces::Look(JitTool tool, const std::map<std::string, std::string>& first_toolkit) const {
  switch (tool) {
    case JitTool::kCCompiler:
      return Compiler("CC", {"gcc", "clang"});
    case JitTool::kCxxCompiler:
      return Compiler("CXX", {"g++"});
    case JitTool::kPythonHeaders:
      return PythonHeaders();
    case JitTool::kLdconfig:
      if (!Variable("TRITON_LIBCUDA_PATH").empty()) return {ToolState::kPresent, "TRITON_LIBCUDA_PATH"};
      return FileOr(IsProgram(root_ + "/sbin/ldconfig") ? "/sbin/ldconfig" : "", "no /sbin/ldconfig");
    case JitTool::kDriverLinkName:
      return DriverLinkName();
    case JitTool::kTritonPtxas:
      return TritonPtxas(first_toolkit);
    case JitTool::kTritonLibdevice:
      return TritonLibdevice();
    case JitTool::kTritonCache:
      return Cache("TRITON_CACHE_DIR", TritonCacheFolder(), true);
    case JitTool::kTritonPackage:
      return TritonPackage();
    case JitTool::kToolkitPtxas:
      return ToolkitPtxas(first_toolkit);
    case JitTool::kCupyCache:
      return CupyCache();
    case JitTool::kCurandHeaders:
      return CurandHeaders();
    default:
      return OfToolkit(tool);
  }
}

ToolLook JitPlaces::TritonLibdevice() const {
  const std::string named = Variable("TRITON_LIBDEVICE_PATH");
  if (named.empty())
    return FileOr(OfTriton("lib/libdevice.10.bc"), "Triton's package has no libdevice.10.bc");
  return FileOr(IsFile(named) ? named : "", "TRITON_LIBDEVICE_PATH is " + named + ", which is not a file");
}

ToolLook JitPlaces::TritonPackage() const {
  for (const char* name : {"triton", "pytorch-triton"})
    if (const Package* package = image_.packages.Python(name)) return {ToolState::kPresent, package->Text()};
  return {ToolState::kMissing, "the package triton is not installed"};
}

// What compiles with nvcc takes the headers of that toolkit. Without an nvcc it compiles nothing.
ToolLook JitPlaces::CurandHeaders() const {
  const std::string in_toolkit = InToolkit({"bin/nvcc"});
  const std::string nvcc = RealPath(IsProgram(in_toolkit) ? in_toolkit : Program("nvcc"));
  if (nvcc.empty()) return {ToolState::kUnknown, "there is no nvcc"};
  const std::string toolkit = DirectoryOf(DirectoryOf(nvcc));
  for (const char* folder : {"/include", "/targets/x86_64-linux/include", "/targets/sbsa-linux/include"})
    if (const std::string header = toolkit + folder + "/curand_kernel.h"; IsFile(header))
      return {ToolState::kPresent, header};
  return {ToolState::kMissing, "no include/curand_kernel.h in " + toolkit +
                                   ", which has nvcc (the package libcurand-dev of the toolkit's release)"};
}

ToolLook JitPlaces::CupyCache() const {
  const std::string home = Variable("HOME");
  if (Variable("CUPY_CACHE_IN_MEMORY") == "1") return {ToolState::kPresent, "in memory"};
  return Cache("CUPY_CACHE_DIR", home.empty() ? "" : home + "/.cupy/kernel_cache", false);
}

ToolLook JitPlaces::ToolkitPtxas(const std::map<std::string, std::string>& first_toolkit) const {
  std::string ptxas = InToolkit({"bin/ptxas"});
  if (ptxas.empty()) ptxas = Program("ptxas");
  if (ptxas.empty()) return {ToolState::kMissing, "no ptxas in a toolkit or the package nvidia-cuda-nvcc"};
  const std::string release = ToolRelease(ptxas), why = CardsTooNewFor(release, first_toolkit);
  if (!release.empty() && !why.empty()) return {ToolState::kTooOld, ptxas + " of " + why};
  return {ToolState::kPresent, ptxas + " of " + (release.empty() ? "an unknown release" : release)};
}

ToolLook JitPlaces::OfToolkit(JitTool tool) const {
  switch (tool) {
    case JitTool::kLibnvvm:
      return FileOr(InToolkit({"nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so.4", "lib/libnvvm.so.4",
                               "lib/libnvvm.so", "lib64/libnvvm.so.4"}),
                    "no libnvvm.so in a toolkit or the package nvidia-nvvm (CUDA 12: nvidia-cuda-nvcc-cu12)");
    case JitTool::kLibdevice:
      return FileOr(InToolkit({"nvvm/libdevice/libdevice.10.bc", "libdevice/libdevice.10.bc"}),
                    "no libdevice.10.bc in a toolkit or the package nvidia-nvvm (CUDA 12: "
                    "nvidia-cuda-nvcc-cu12)");
    case JitTool::kNvrtc:
      return FileOr(Library("libnvrtc.so"),
                    "no libnvrtc where the loader looks or in the package nvidia-cuda-nvrtc (CUDA 12: "
                    "nvidia-cuda-nvrtc-cu12)");
    case JitTool::kCudaHeaders:
      return FileOr(InToolkit({"include/cuda_fp16.h"}),
                    "no include/cuda_fp16.h in a toolkit or the package nvidia-cuda-runtime (CUDA 12: "
                    "nvidia-cuda-runtime-cu12)");
    case JitTool::kNvcc: {
      const std::string nvcc = InToolkit({"bin/nvcc"});
      return FileOr(IsProgram(nvcc) ? nvcc : Program("nvcc"), "no nvcc in a toolkit or PATH");
    }
    default:
      return FileOr(Program("ninja"), "no ninja in PATH");
  }
}

JitPlaces::NvrtcLook JitPlaces::LookAtNvrtc() const {
  std::set<std::string> names, looked_at;
  for (const ImageFile& file : image_.files) names.insert(NameOf(file.path));
  NvrtcLook look;
  for (const ImageFile& file : image_.files) {
    const std::string name = NameOf(file.path);
    // "libnvrtc.alt.so.12" has builtins of its own name.
    if (!IsLibraryOf(name, "libnvrtc.so") || !looked_at.insert(RealPath(file.path)).second) continue;
    const std::string marker = "libnvrtc-builtins.so.", version = NumbersBehind(file.path, marker);
    if (version.empty()) continue;  // a link-time stub, or none that asks for any
    ++look.found;
    const std::string builtins = marker + version;
    if (names.count(builtins) > 0 || IsFile(DirectoryOf(RealPath(file.path)) + "/" + builtins)) continue;
    if (root_.empty() && !ResolveLibrary(builtins).empty()) continue;
    const std::string owner = image_.BroughtBy(file.path);
    look.lacking.push_back(file.path + (owner.empty() ? "" : " of " + owner) + " opens " + builtins +
                           ", which is missing");
  }
  return look;
}

}  // namespace cudnn_ci
