// Reading and parsing the driver's traces outside its API.
#include "common/driver_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace cudnn_ci {
namespace {

bool IsVersion(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) &&
         std::isdigit(static_cast<unsigned char>(word.back())) && word.find('.') != std::string::npos &&
         word.find_first_not_of("0123456789.") == std::string::npos;
}

std::string ReadText(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
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
  return IsVersion(version) ? version : std::string();
}

bool IsCompatPath(const std::string& real_path) {
  std::istringstream parts(real_path.substr(0, real_path.rfind('/')));
  for (std::string part; std::getline(parts, part, '/');)
    if (part == "compat" || part.compare(0, 7, "compat-") == 0 || part.compare(0, 12, "cuda-compat-") == 0)
      return true;
  return false;
}

std::string FirstBadVisibleDevice(const std::string& value, const std::vector<std::string>& uuids) {
  std::set<int> seen;
  std::istringstream entries(value);
  for (std::string entry; std::getline(entries, entry, ',');) {
    entry.erase(0, std::min(entry.find_first_not_of(' '), entry.size()));
    entry.erase(entry.find_last_not_of(' ') + 1);
    const int gpu = GpuOfEntry(entry, uuids);
    if (gpu < 0 || (gpu < static_cast<int>(uuids.size()) && !seen.insert(gpu).second)) return entry;
  }
  return {};
}

std::string LoadedModuleVersion() {
  const std::string version = ParseModuleVersion(ReadText("/proc/driver/nvidia/version"));
  return version.empty() ? ParseModuleVersion(ReadText("/sys/module/nvidia/version")) : version;
}

std::string DeviceNodes() {
  std::string all;
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"}) {
    const int fd = open(node, O_RDWR | O_CLOEXEC);
    const int error = errno;
    all += (all.empty() ? "" : ", ") + std::string(node);
    if (fd >= 0) {
      all += " present";
      close(fd);
    } else {
      all += error == ENOENT ? " missing" : std::string(" cannot be opened (") + std::strerror(error) + ")";
    }
  }
  return all;
}

}  // namespace cudnn_ci
