#include "image/contents/driver_library.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/driver_names.h"
#include "base/file.h"
#include "base/path.h"
#include "image/contents/folder_list.h"
#include "image/contents/preloads.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kDriver[] = "libcuda.so.1";
constexpr size_t kMostMounts = 4 << 20, kMostVersion = 4096;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// As mountinfo has a path: "\040" for a blank (proc(5)).
std::string Unescaped(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size();
    out += escape ? static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8)) : text[i];
    if (escape) i += 3;
  }
  return out;
}

// "580.95.05": the first word of such a form in the first line.
std::string VersionIn(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return {};
}

bool IsSame(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

}  // namespace

MountedDriver FindMountedDriver(const std::string& root) {
  MountedDriver driver;
  std::istringstream lines(ReadSmallFile(root + "/proc/self/mountinfo", kMostMounts));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped, mount;
    words >> skipped >> skipped >> skipped >> skipped >> mount;
    mount = Unescaped(mount);
    if (NameOf(mount).starts_with("libcuda.so.") && ElfFile(mount).loadable()) driver.files.push_back(mount);
  }
  driver.module = VersionIn(ReadSmallFile(root + "/proc/driver/nvidia/version", kMostVersion));
  if (driver.module.empty())
    driver.module = VersionIn(ReadSmallFile(root + "/sys/module/nvidia/version", kMostVersion));
  return driver;
}

std::string DescribeForeignDriver(const std::string& file, const MountedDriver& driver) {
  if (driver_names::IsCompatPath(file) || file.find("/stubs/") != std::string::npos) return "";
  // WSL has copies of its library in two folders.
  if (file.starts_with("/usr/lib/wsl/") && Exists("/dev/dxg")) return "";
  if (!driver.files.empty()) {
    const auto same = [&](const std::string& mounted) { return IsSame(file, mounted); };
    return std::any_of(driver.files.begin(), driver.files.end(), same)
               ? ""
               : file + " is taken, and the host's " + driver.files.front() + " is mounted";
  }
  if (driver.module.empty()) return "";
  const std::string name = "libcuda.so." + driver.module;
  if (NameOf(file) == name) return "";
  const std::string hosts = FirstTaken(LoaderCandidates(name, {}, "", {}));
  return hosts.empty() || IsSame(file, hosts)
             ? ""
             : file + " is taken, and " + hosts + " is there, of the kernel module's version";
}

std::vector<ForeignDriver> FindForeignDrivers(const std::vector<std::string>& library_paths,
                                              const std::vector<std::string>& preloaded) {
  std::set<std::string> taken;
  for (const std::string& path : library_paths)
    for (const std::string& file : LibraryCandidates(kDriver, path)) taken.insert(file);
  for (const std::string& file : preloaded)
    if (ElfFile(file).Soname() == kDriver || NameOf(file) == kDriver) taken.insert(RealPath(file));
  std::vector<ForeignDriver> foreign;
  if (taken.empty()) return foreign;
  const MountedDriver driver = FindMountedDriver();
  for (const std::string& file : taken)
    if (std::string why = DescribeForeignDriver(file, driver); !why.empty())
      foreign.push_back({file, std::move(why)});
  return foreign;
}

}  // namespace cudnn_ci
