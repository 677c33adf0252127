// What the loader has put into this process. Knows no library by its name.
#ifndef CUDNN_CI_PLUGINS_COMMON_LOADED_LIBRARIES_H_
#define CUDNN_CI_PLUGINS_COMMON_LOADED_LIBRARIES_H_

#include <cstddef>

namespace cudnn_ci {

// The libraries that are loaded after this was made. To load one, the loader reads tables of relocations of
// its file, and nobody reads them again: of cuDNN's libraries and cuBLASLt's together 190 MB, which count as
// this process's memory.
class NewLibraries {
 public:
  NewLibraries();
  // Gives the pages back of their files' segments that nobody writes into; a page that is asked for again is
  // read again. To be called right behind the load, before anybody can have changed their code. A library
  // with relocations in its code (DT_TEXTREL) keeps its pages.
  void GiveBackPages() const;

 private:
  std::size_t before_ = 0;  // libraries in the loader's list, which is in the order of loading
};

// How many libraries were loaded into this process so far, those among them that are gone again; 0: the
// loader does not say (dlpi_adds, https://man7.org/linux/man-pages/man3/dl_iterate_phdr.3.html).
unsigned long long LibrariesLoadedSoFar();

// No library that is in memory now leaves it any more. cuDNN opens NVRTC for each graph whose engine it
// compiles and closes it behind the last one, so that a process that has no other use for it loads and
// relocates 100 MB for every case; a framework is linked against it and does not. Whichever file cuDNN has
// found stays the one, for other plugins in this process as well (--isolation none). Costs next to nothing
// where nothing was loaded since the last call. For the thread that runs cases alone.
void KeepLibrariesLoaded();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_LOADED_LIBRARIES_H_
