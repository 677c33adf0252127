#include "common/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

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

bool HasRelocationsInCode(const dl_phdr_info& library) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
        return true;
  }
  return false;
}

void GiveBack(const dl_phdr_info& library) {
  const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const ElfW(Addr) start = library.dlpi_addr + segment.p_vaddr;
    const ElfW(Addr) begin = (start + page - 1) / page * page, end = (start + segment.p_filesz) / page * page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

// Calls `take` with each entry of the loader's list and its place in it.
template <class Take>
void ForEachLibrary(Take take) {
  struct State {
    Take* take;
    std::size_t place;
  } state{&take, 0};
  dl_iterate_phdr(
      [](struct dl_phdr_info* info, size_t, void* data) {
        auto* at = static_cast<State*>(data);
        (*at->take)(*info, at->place++);
        return 0;
      },
      &state);
}

}  // namespace

NewLibraries::NewLibraries() {
  ForEachLibrary([this](const dl_phdr_info&, std::size_t place) { before_ = place + 1; });
}

void NewLibraries::GiveBackPages() const {
  ForEachLibrary([this](const dl_phdr_info& library, std::size_t place) {
    if (place >= before_ && !HasRelocationsInCode(library)) GiveBack(library);
  });
}

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
