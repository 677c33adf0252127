// Paths: their parts, where links lead, and what lies there.
#ifndef CUDNN_CI_BASE_PATH_H_
#define CUDNN_CI_BASE_PATH_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// "/a/b" of "/a/b/c.so", "/" of "/a"; "." of a name without a folder.
std::string DirectoryOf(const std::string& path);
// "/a/b" of "/a/b/" and "/a/./b"; "/" of "/..". Follows no links.
std::string Normal(const std::string& path);
// The path with all links followed; unchanged when that fails.
std::string RealPath(const std::string& path);

// The names of what lies in a folder, embedded files (base/embedded.h) too, sorted; none where it cannot be
// read.
std::vector<std::string> NamesIn(const std::string& folder);
// Whether a path leads to a folder; false where that cannot be seen.
bool IsFolder(const std::string& path);
// Whether anything has this name, be it an embedded file or a link that leads nowhere; false where that
// cannot be seen.
bool Exists(const std::string& path);

// True if the file, or where its links lead, lies in the folder or below it; the folder's links are followed.
bool LiesIn(const std::string& path, const std::string& folder);
bool LiesInAny(const std::string& path, const std::vector<std::string>& folders);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_PATH_H_
