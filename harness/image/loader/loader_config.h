// What the loader would find if its cache were made anew.
#ifndef CUDNN_CI_IMAGE_LOADER_LOADER_CONFIG_H_
#define CUDNN_CI_IMAGE_LOADER_LOADER_CONFIG_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// The folders that /etc/ld.so.conf, and the files that it includes from ld.so.conf.d, name for the loader's
// cache. A pattern "*" that leads elsewhere, or a relative folder, is passed over. `root` is put before every
// path that is read.
std::vector<std::string> ConfiguredFolders(const std::string& root = {});

// "RUN ldconfig" if one of these libraries, which the loader does not find, lies in a folder that its
// configuration names: the image was built without making the cache. Else empty. `root` is put before every
// path.
std::string LdconfigLine(const std::vector<std::string>& sonames, const std::string& root = {});

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_LOADER_LOADER_CONFIG_H_
