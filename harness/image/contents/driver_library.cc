#include "image/contents/driver_library.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/driver_names.h"
#include "base/file.h"
#include "base/path.h"
#include "image/contents/mounts.h"
#include "image/contents/preloads.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostVersion = 4096;
constexpr int kMismatch = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsDriversName(const std::string& name) { return name.starts_with("libcuda.so."); }
bool IsNvmlsName(const std::string& name) { return name.starts_with("libnvidia-ml.so."); }

// "580.95.05" of "libnvidia-ml.so.580.95.05"; empty where the name ends in a soname's number.
std::string VersionInName(const std::string& file) {
  const std::string name = NameOf(file);
  const size_t at = name.find(".so.");
  const std::string version = at == std::string::npos ? "" : name.substr(at + 4);
  const bool is = version.find('.') != std::string::npos && version.find('.') >= 3 &&
                  version.find_first_not_of("0123456789.") == std::string::npos;
  return is ? version : "";
}

// "580.95.05": the first word of such a form in the first line.
std::string VersionIn(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return {};
}

// Of an NVML that is no mount where no kernel module can be seen, and that is held against libcuda's file
// alone. `name`: the version in its file's name. That it finds another module contradicts nothing.
std::string ContradictionWithoutModule(const NvmlClaim& claim, const std::string& name) {
  if (claim.libcuda.empty()) return "";
  const std::string whose = "the loaded libcuda is of " + claim.libcuda + ", and no kernel module is visible";
  const std::string said = claim.version.empty() ? name : claim.version;
  return said.empty() || said == claim.libcuda ? "" : claim.file + " is of driver " + said + ", " + whose;
}

bool IsSame(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

bool IsOneOf(const std::string& file, const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& one) { return IsSame(file, one); });
}

}  // namespace

MountedDriver FindMountedDriver(const std::string& root) {
  MountedDriver driver;
  const Mounts mounts = Mounts::Read(root);
  std::vector<std::string> files = mounts.points();
  for (const char* folder : driver_names::kFolders)
    for (const char* library : {"/lib64", "/lib"})
      for (const std::string& name : NamesIn(std::string(folder) + library))
        if (std::string file = std::string(folder) + library + "/" + name; mounts.IsOfDriver(file))
          files.push_back(std::move(file));
  for (const std::string& file : files) {
    const bool drivers = IsDriversName(NameOf(file)), nvmls = IsNvmlsName(NameOf(file));
    if (!drivers && !nvmls) continue;
    driver.traces.push_back(file);
    if (ElfFile(file).loadable()) (drivers ? driver.files : driver.nvml).push_back(file);
  }
  driver.module = VersionIn(ReadSmallFile(root + "/proc/driver/nvidia/version", kMostVersion));
  if (driver.module.empty())
    driver.module = VersionIn(ReadSmallFile(root + "/sys/module/nvidia/version", kMostVersion));
  return driver;
}

std::string DescribeForeignDriver(const std::string& file, const MountedDriver& driver) {
  const bool nvml = IsNvmlsName(NameOf(file));
  // No cuda-compat package has an NVML.
  if ((!nvml && driver_names::IsCompatPath(file)) || file.find("/stubs/") != std::string::npos) return "";
  // WSL has copies of its library in two folders.
  if (file.starts_with("/usr/lib/wsl/") && Exists("/dev/dxg")) return "";
  const std::vector<std::string>& mounts = nvml ? driver.nvml : driver.files;
  if (!mounts.empty())
    return IsOneOf(file, mounts) ? ""
                                 : file + " is loaded, although the host's " + mounts.front() + " is mounted";
  if (driver.module.empty()) return "";
  const std::string name = (nvml ? "libnvidia-ml.so." : "libcuda.so.") + driver.module;
  if (NameOf(file) == name) return "";
  const std::string hosts = FirstTaken(LoaderCandidates(name, {}, "", {}));
  return hosts.empty() || IsSame(file, hosts)
             ? ""
             : file + " is loaded, although " + hosts + " has the kernel module's version";
}

std::vector<ForeignDriver> FindForeignDrivers(const std::vector<std::string>& library_paths,
                                              const std::vector<std::string>& preloaded) {
  std::set<std::string> taken;
  for (const char* name : {kDriverLibrary, kNvmlLibrary}) {
    for (const std::string& path : library_paths)
      for (const std::string& file : LibraryCandidates(name, path)) taken.insert(file);
    for (const std::string& file : preloaded)
      if (ElfFile(file).Soname() == name || NameOf(file) == name) taken.insert(RealPath(file));
  }
  std::vector<ForeignDriver> foreign;
  if (taken.empty()) return foreign;
  const MountedDriver driver = FindMountedDriver();
  for (const std::string& file : taken)
    if (std::string why = DescribeForeignDriver(file, driver); !why.empty())
      foreign.push_back({file, std::move(why)});
  return foreign;
}

std::string NvmlContradiction(const NvmlClaim& claim) {
  const MountedDriver& driver = claim.driver;
  if (std::string shadows = DescribeForeignDriver(claim.file, driver); !shadows.empty()) return shadows;
  if (IsOneOf(claim.file, driver.nvml)) return "";
  if (!driver.files.empty())
    return claim.file + " is not mounted, but the host's " + driver.files.front() + " is";
  const bool answers = claim.status == 0 && !claim.version.empty();
  const std::string name = VersionInName(claim.file);
  if (answers && !name.empty() && claim.version != name)
    return claim.file + " reports driver " + claim.version + ", but its file name says " + name;
  if (driver.module.empty()) return ContradictionWithoutModule(claim, name);
  const std::string& known = driver.module;
  // A driver of two versions is a separate fault, and NVML may be right about it.
  if (!claim.libcuda.empty() && claim.libcuda != known) return "";
  const std::string whose = "the kernel module is " + known;
  if (!name.empty() && name != known) return claim.file + " is of another driver: " + whose;
  if (answers && claim.version != known)
    return claim.file + " reports driver " + claim.version + ", but " + whose;
  if (claim.status == kMismatch && !claim.libcuda.empty())
    return claim.file + " reports that driver and kernel module differ, but both are " + known;
  return "";
}

}  // namespace cudnn_ci
