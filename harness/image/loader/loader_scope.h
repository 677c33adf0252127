// What ld.so makes of a process: which files it would map for a program and for what is opened in it later,
// and where each file's symbols are looked up. Computed from files; loads nothing, tests nothing.
// Follows ld.so(8), dlopen(3) and glibc's elf/dl-load.c and elf/dl-lookup.c.
#ifndef CUDNN_CI_IMAGE_LOADER_LOADER_SCOPE_H_
#define CUDNN_CI_IMAGE_LOADER_LOADER_SCOPE_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "image/elf/dynamic_table.h"

namespace cudnn_ci {

// Files as the loader sees them, each read once. One thread at a time.
class LoaderFiles {
 public:
  // `library_path`: LD_LIBRARY_PATH. `system_folders` false: neither /etc/ld.so.cache nor the default
  // directories are searched, so that a test depends on no machine.
  explicit LoaderFiles(const std::string& library_path, bool system_folders = true);

  struct File {
    std::string path;  // as it was asked for
    dev_t device = 0;
    ino_t inode = 0;
    const DynamicTable* table = nullptr;  // valid as long as the LoaderFiles
  };
  // Null table: no regular file that can be opened, or one that the loader passes over as foreign.
  File Open(const std::string& path);
  // The file that the loader takes for a name: in `first` (DT_RPATH), LD_LIBRARY_PATH, `then` (DT_RUNPATH),
  // the cache, the default directories. Null table: none.
  File Search(const std::string& name, const std::vector<std::string>& first,
              const std::vector<std::string>& then, bool default_folders);
  // The files named so in `first` (DT_RPATH), LD_LIBRARY_PATH, `then` (DT_RUNPATH), the cache and the default
  // directories; "*" stands for any text.
  std::vector<std::string> Matching(const std::string& pattern, const std::vector<std::string>& first = {},
                                    const std::vector<std::string>& then = {}) const;
  // LD_LIBRARY_PATH's folders.
  const std::vector<std::string>& library_path() const { return library_path_; }
  // Those in which the loader looks last.
  const std::vector<std::string>& default_folders() const { return default_folders_; }
  // Why files could not be looked at, one text each: the tables took more memory than there may be.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::map<std::string, File> by_path_;
  std::map<std::pair<dev_t, ino_t>, std::unique_ptr<DynamicTable>> tables_;
  std::vector<std::string> library_path_, default_folders_;
  std::map<std::string, std::vector<std::string>> cache_;  // of /etc/ld.so.cache, by name
  std::size_t bytes_ = 0;
  std::vector<std::string> problems_;
};

// A file in the process.
struct LoadedFile {
  LoaderFiles::File file;
  std::vector<std::string> names;    // by which a DT_NEEDED finds it: its soname, what was asked for
  int loader = -1;                   // which file's DT_NEEDED brought it, by index; -1: it was opened
  std::vector<int> needed;           // what its DT_NEEDED led to, by index, in order
  std::vector<std::string> missing;  // names of its DT_NEEDED for which there is no file
};

// What one dlopen brought.
struct OpenedFile {
  int root = -1;             // index; -1: the file is not there
  std::vector<int> closure;  // the file and what it needs, breadth first: its local scope
  std::vector<int> fresh;    // those of them that were not there before
};

// A symbol or a version that no file of its scope gives.
struct UnresolvedSymbol {
  int asker = -1;
  std::string name;            // empty: the version is missing as a whole
  std::string version;         // empty: any
  std::string file;            // who should have the version: "libnvJitLink.so.13"; empty: unknown
  bool other_version = false;  // the name is there in another version
};

// A value: a copy is a process in the same state. The LoaderFiles must outlive it.
class LoaderScope {
 public:
  // A process that runs this program. An empty path, or one that is no ELF file: a process with nothing in
  // it.
  LoaderScope(LoaderFiles* files, const std::string& program);

  // dlopen of a path, or of a name as the file `caller` asks for it (0: the program).
  OpenedFile Open(const std::string& file, bool global = false, int caller = 0);
  // What a failed dlopen leaves: nothing of what it brought. Only of the last Open.
  void TakeBack(const OpenedFile& opened);

  const std::vector<LoadedFile>& loaded() const { return loaded_; }
  const OpenedFile& program() const { return program_; }
  // The file that satisfies a DT_NEEDED of this name by now; -1: none.
  int Named(const std::string& name) const;
  // The file that a DT_NEEDED of `asker` would lead to if none of this name were there. Null table: none.
  LoaderFiles::File Found(const std::string& name, int asker) const;
  // The folders that DT_RPATH and DT_RUNPATH name where a DT_NEEDED of `asker` is searched for.
  std::vector<std::string> RunPathOf(int asker) const;
  // The files whose names fit that the loader would come upon for `asker`, in its order; "*" stands for any
  // text. -1: for a process with nothing in it.
  std::vector<std::string> Matching(const std::string& pattern, int asker) const;
  // In the order in which a file that came with `opened` looks symbols up: the program with what it needs,
  // what was opened RTLD_GLOBAL, then `opened` itself.
  std::vector<int> ScopeOf(const OpenedFile& opened) const;
  // What the fresh files of an Open ask for and do not get, weak symbols aside.
  std::vector<UnresolvedSymbol> Unresolved(const OpenedFile& opened) const;

 private:
  int Add(const LoaderFiles::File& file, const std::string& name, int loader);
  int Need(const std::string& name, int loader);
  std::vector<std::string> FoldersFirst(int loader) const;
  void UnresolvedVersions(int asker, std::vector<UnresolvedSymbol>* unresolved) const;

  LoaderFiles* files_;
  std::vector<LoadedFile> loaded_;
  std::vector<int> global_;
  OpenedFile program_;
};

// "libcudart.so" of "libcudart.so.13" and of "libcudart.so".
std::string LibraryStem(const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_LOADER_LOADER_SCOPE_H_
