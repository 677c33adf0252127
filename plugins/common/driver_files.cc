// Reading and parsing the driver's traces outside its API.
#include "common/driver_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>

#include "base/driver_names.h"
#include "base/file.h"
#include "base/path.h"
#include "common/loader_path.h"
#include "image/elf/elf_file.h"

namespace cudnn_ci {
namespace {

bool IsVersion(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) &&
         std::isdigit(static_cast<unsigned char>(word.back())) && word.find('.') != std::string::npos &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

// The index of the GPU an entry names, or -1. A UUID may be shortened if it stays unique; MIG
// instances are not in `uuids`, so their names are taken on trust.
int GpuOfEntry(const std::string& entry, const std::vector<std::string>& uuids) {
  constexpr int kMigTaken = 1 << 20;
  if (entry.compare(0, 4, "MIG-") == 0) return kMigTaken;
  if (!entry.empty() && entry.find_first_not_of("0123456789") == std::string::npos && entry.size() < 7) {
    const int index = std::stoi(entry);
    return index < static_cast<int>(uuids.size()) ? index : -1;
  }
  if (entry.compare(0, 4, "GPU-") != 0) return -1;
  int found = -1;
  for (size_t i = 0; i < uuids.size(); ++i) {
    if (uuids[i].compare(0, entry.size(), entry) != 0) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

// The entries between commas, without blanks around them.
std::vector<std::string> Entries(const std::string& value) {
  std::vector<std::string> entries;
  std::istringstream words(value);
  for (std::string entry; std::getline(words, entry, ',');) {
    entry.erase(0, std::min(entry.find_first_not_of(' '), entry.size()));
    entry.erase(entry.find_last_not_of(' ') + 1);
    entries.push_back(entry);
  }
  return entries;
}

constexpr char kUvmNode[] = "/dev/nvidia-uvm";

}  // namespace

std::string ParseModuleVersion(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;)
    if (IsVersion(word)) return word;
  return {};
}

std::string VersionOfLibraryFile(const std::string& real_path) {
  const size_t at = real_path.rfind(".so.");
  if (at == std::string::npos) return {};
  const std::string version = real_path.substr(at + 4);
  // Drivers count from three digits on; WSL's and Jetson's library is called libcuda.so.1.1.
  return IsVersion(version) && version.find('.') >= 3 ? version : std::string();
}

bool CountsOtherwise(const std::string& real_path) {
  return real_path.substr(real_path.rfind('/') + 1) == "libcuda.so.1.1";
}

bool IsCompatPath(const std::string& real_path) { return driver_names::IsCompatPath(real_path); }

bool IsDriverLibrary(const std::string& name) {
  return name == "libcuda.so" || name.compare(0, 11, "libcuda.so.") == 0 ||
         (name.compare(0, 10, "libnvidia-") == 0 && name.find(".so") != std::string::npos);
}

std::string AwaitedLibrary(const std::string& error) {
  const std::string name = error.substr(0, error.find(':'));
  return IsDriverLibrary(name) && IsNotFound(name, error) ? name : std::string();
}

std::string FirstBadVisibleDevice(const std::string& value, const std::vector<std::string>& uuids) {
  std::set<int> seen;
  for (const std::string& entry : Entries(value)) {
    const int gpu = GpuOfEntry(entry, uuids);
    if (gpu < 0 || (gpu < static_cast<int>(uuids.size()) && !seen.insert(gpu).second)) return entry;
  }
  return {};
}

std::optional<std::string> SurelyBadVisibleDevice(const std::string& value) {
  if (value.empty()) return "";
  std::set<std::string> seen;
  for (const std::string& entry : Entries(value)) {
    const bool number = !entry.empty() && entry.find_first_not_of("0123456789") == std::string::npos;
    const bool named = entry.compare(0, 4, "GPU-") == 0 || entry.compare(0, 4, "MIG-") == 0;
    if ((!number && !named) || !seen.insert(entry).second) return entry;
  }
  return std::nullopt;
}

std::vector<Xid> ParseHardwareXids(const std::string& log) {
  constexpr char kMark[] = "NVRM: Xid (PCI:";
  constexpr int kHardware[] = {48, 63, 64, 74, 79, 92, 94, 95, 119, 120};
  std::vector<Xid> found;
  for (size_t at = 0; (at = log.find(kMark, at)) != std::string::npos;) {
    at += sizeof kMark - 1;
    const size_t end = log.find_first_not_of("0123456789abcdefABCDEF:.", at);
    if (end == std::string::npos || end - at > 16 || log.compare(end, 3, "): ") != 0) continue;
    const Xid xid{log.substr(at, end - at), std::atoi(log.c_str() + end + 3)};
    const bool hardware =
        std::find(std::begin(kHardware), std::end(kHardware), xid.number) != std::end(kHardware);
    const auto same = [&](const Xid& x) { return x.pci == xid.pci && x.number == xid.number; };
    if (hardware && std::none_of(found.begin(), found.end(), same)) found.push_back(xid);
  }
  return found;
}

std::string XidsOf(const std::string& pci_bus_id, const std::vector<Xid>& xids) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  std::string numbers;
  for (const Xid& xid : xids) {
    const bool of_it = !xid.pci.empty() && xid.pci.size() <= pci_bus_id.size() &&
                       std::equal(xid.pci.begin(), xid.pci.end(), pci_bus_id.begin(), same);
    if (of_it) numbers += (numbers.empty() ? "" : ", ") + std::to_string(xid.number);
  }
  return numbers;
}

unsigned ParseDeviceMajor(const std::string& text, const std::string& driver) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    unsigned major = 0;
    std::string name;
    if (words >> major >> name && name == driver) return major;
  }
  return 0;
}

std::string Describe(const std::vector<DeviceNode>& nodes) {
  constexpr size_t kMostShown = 8;
  std::string all;
  for (size_t i = 0; i < nodes.size() && i < kMostShown; ++i) {
    const int error = nodes[i].error;
    all += (all.empty() ? "" : ", ") + nodes[i].path;
    all += error == 0        ? " present"
           : error == ENOENT ? " missing"
                             : std::string(" cannot be opened (") + std::strerror(error) + ")";
  }
  if (nodes.size() > kMostShown) all += ", and " + std::to_string(nodes.size() - kMostShown) + " more";
  return all;
}

std::string LoadedModuleVersion(const std::string& root) {
  const std::string version = ParseModuleVersion(ReadSmallFile(root + "/proc/driver/nvidia/version"));
  return version.empty() ? ParseModuleVersion(ReadSmallFile(root + "/sys/module/nvidia/version")) : version;
}

std::vector<DeviceNode> DeviceNodes(const std::string& root) {
  std::vector<int> numbers;
  if (DIR* folder = opendir((root + "/dev").c_str())) {
    constexpr char kStem[] = "nvidia";
    while (const dirent* entry = readdir(folder)) {
      const std::string name = entry->d_name;
      const std::string number =
          name.compare(0, sizeof kStem - 1, kStem) == 0 ? name.substr(sizeof kStem - 1) : "";
      if (!number.empty() && number.size() < 5 && number.find_first_not_of("0123456789") == std::string::npos)
        numbers.push_back(std::stoi(number));
    }
    closedir(folder);
  }
  if (numbers.empty()) numbers.push_back(0);
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> paths = {"/dev/nvidiactl"};
  for (const int number : numbers) paths.push_back("/dev/nvidia" + std::to_string(number));
  paths.emplace_back(kUvmNode);
  std::vector<DeviceNode> nodes;
  for (const std::string& path : paths) {
    DeviceNode node{path, 0, 0};
    const int fd = open((root + path).c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) node.error = errno;
    struct stat state {};
    if (stat((root + path).c_str(), &state) == 0 && S_ISCHR(state.st_mode)) node.major = major(state.st_rdev);
    if (fd >= 0) close(fd);
    nodes.push_back(node);
  }
  return nodes;
}

bool IsUvmNodeStale(const std::vector<DeviceNode>& nodes, const std::string& root) {
  const unsigned current = ParseDeviceMajor(ReadSmallFile(root + "/proc/devices"), "nvidia-uvm");
  for (const DeviceNode& node : nodes)
    if (node.path == kUvmNode) return current != 0 && node.major != 0 && node.major != current;
  return false;
}

std::vector<std::string> MountedDriverLibraries(const std::string& root) {
  std::vector<std::string> found;
  std::set<std::string> files;
  std::vector<std::string> folders;
  for (const char* folder : driver_names::kFolders)
    for (const char* library : {"/lib64", "/lib"}) folders.push_back(std::string(folder) + library);
  folders.insert(folders.end(), {"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"});
  for (const std::string& folder : folders) {
    const std::string path = folder + "/libcuda.so.1", real = RealPath(root + path);
    const bool stub = real.find("/stubs/") != std::string::npos;
    if (!stub && ElfFile(real).loadable() && files.insert(real).second) found.push_back(path);
  }
  return found;
}

std::vector<Xid> LoggedHardwareXids(const std::string& root) {
  // A record a read; the kernel's log holds some thousands.
  constexpr int kMostRecords = 100000;
  const int fd = open((root + "/dev/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return {};
  std::string log;
  char record[8192];
  for (int i = 0; i < kMostRecords; ++i) {
    const ssize_t n = read(fd, record, sizeof record);
    if (n < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: records were overwritten
    if (n <= 0) break;
    if (const std::string text(record, static_cast<size_t>(n)); text.find("NVRM: Xid") != std::string::npos)
      log += text;
  }
  close(fd);
  return ParseHardwareXids(log);
}

}  // namespace cudnn_ci
