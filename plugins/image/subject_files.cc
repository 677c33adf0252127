#include "image/subject_files.h"

#include <string>
#include <vector>

#include "common/loader_path.h"

namespace cudnn_ci {

ImageFiles FilesOfSubject(const Context& ctx) {
  const std::vector<std::string> folders = ctx.SubjectFolders();
  return FilesOfSubject(ctx.SubjectSpec(), folders,
                        UsersLibraryPath(Environment("LD_LIBRARY_PATH"), folders));
}

}  // namespace cudnn_ci
