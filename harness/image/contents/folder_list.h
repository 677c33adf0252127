// Folders, read within bounds and kept in an order, each once. An image may hold millions of files, or links
// that go in a circle; the gate reads what it needs and says when that was not all.
#ifndef CUDNN_CI_IMAGE_CONTENTS_FOLDER_LIST_H_
#define CUDNN_CI_IMAGE_CONTENTS_FOLDER_LIST_H_

#include <set>
#include <string>
#include <vector>

namespace cudnn_ci {

// Reads folders, all of them together at most so many entries.
class FolderReader {
 public:
  explicit FolderReader(int most = 100000) : left_(most) {}
  // The names in a folder, sorted; none where it cannot be read.
  std::vector<std::string> Names(const std::string& folder);
  // True if a name in the folder is one of a shared library: "libcudnn.so.9".
  bool HoldsLibrary(const std::string& folder);
  // False: the bound was reached, and folders were read in part or not at all.
  bool complete() const { return left_ > 0; }

 private:
  int left_;
};

// Where libraries lie, in the order of a search.
class FolderList {
 public:
  // Takes a folder that holds libraries, unless it is there already, by whatever way. A folder "stubs" is for
  // the linker, and a library that names one in its run path never means to load from it.
  void Add(const std::string& folder, FolderReader* reader);
  void Add(const std::vector<std::string>& folders, FolderReader* reader);
  const std::vector<std::string>& folders() const { return folders_; }

 private:
  std::vector<std::string> folders_;
  std::set<std::string> known_;  // links followed
};

// The folders of a subject's libraries, as the loader comes upon them.
struct LibraryFolders {
  std::vector<std::string> before;  // before those of LD_LIBRARY_PATH
  std::vector<std::string> behind;  // behind them
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_FOLDER_LIST_H_
