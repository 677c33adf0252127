#include "common/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_ci {
namespace {

// By their paths. The program and what has none are always there.
std::vector<std::string> Loaded() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](struct dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name && info->dlpi_name[0] == '/')
          static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

}  // namespace

unsigned long long LibrariesLoadedSoFar() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](struct dl_phdr_info* info, size_t size, void* out) {
        if (size >= offsetof(struct dl_phdr_info, dlpi_adds) + sizeof info->dlpi_adds)
          *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;  // the first entry says all
      },
      &count);
  return count;
}

void KeepLibrariesLoaded() {
  static unsigned long long kept = 0;
  const unsigned long long now = LibrariesLoadedSoFar();
  if (now != 0 && now == kept) return;
  // One more handle of each; the loader opens nothing for it.
  for (const std::string& path : Loaded()) dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  kept = now;
}

}  // namespace cudnn_ci
