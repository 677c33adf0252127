#include "common/library_path_line.h"

#include <algorithm>
#include <filesystem>

#include "base/path.h"
#include "common/install_line.h"
#include "common/loader_path.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

bool HasAny(const std::string& folder, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(folder + "/" + name, ignored));
  });
}

// Nothing else is lost with the entry: the loader looks into the folder all the same, or there is only cuDNN.
bool CanGo(const std::string& folder) {
  const std::vector<std::string> always = DefaultLibraryDirectories();
  if (std::find(always.begin(), always.end(), folder) != always.end()) return true;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find(".so") != std::string::npos && name.compare(0, 8, "libcudnn") != 0) return false;
  }
  return !error;
}

}  // namespace

std::string LibraryPathLine(const std::vector<std::string>& names, const std::string& own,
                            const std::vector<std::string>& subject_folders) {
  std::string rest;
  bool any = false, first = true;
  for (const std::string& entry :
       SplitLibraryPath(UsersLibraryPath(Environment("LD_LIBRARY_PATH"), subject_folders))) {
    if (RealPath(entry) != RealPath(own) && HasAny(entry, names)) {
      if (!CanGo(entry)) return {};
      any = true;
      continue;
    }
    rest += (first ? "" : ":") + entry;
    first = false;
  }
  return any ? EnvironmentLine("LD_LIBRARY_PATH", rest) : "";
}

std::string LibraryPathWords(const std::vector<std::string>& subject_folders) {
  const std::string value = Environment("LD_LIBRARY_PATH");
  const std::string users = UsersLibraryPath(value, subject_folders);
  std::string words = "LD_LIBRARY_PATH='" + users + "'";
  if (users == value) return words;
  words += ", and cudnn-ci added the subject's folders ";
  for (size_t i = 0; i < subject_folders.size(); ++i) words += (i == 0 ? "'" : ":") + subject_folders[i];
  return words + "'";
}

}  // namespace cudnn_ci
