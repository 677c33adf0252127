// Which files the loader maps with a program or library. Reads, and loads nothing.
#ifndef CUDNN_CI_IMAGE_LOADER_LOADED_WITH_H_
#define CUDNN_CI_IMAGE_LOADER_LOADED_WITH_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// All that a program or library needs, as the loader finds it, itself first: paths in the order in which the
// loader maps them (breadth first). Names that are not found are added to *missing, if that is no null
// pointer. At most 2,000 files. `library_path`: LD_LIBRARY_PATH.
std::vector<std::string> LoadedWith(const std::string& path, const std::string& library_path,
                                    std::vector<std::string>* missing);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_LOADER_LOADED_WITH_H_
