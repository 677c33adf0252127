// LD_LIBRARY_PATH in evidence, and the Dockerfile's line that takes another cuDNN out of it.
#ifndef CUDNN_CI_PLUGINS_COMMON_LIBRARY_PATH_LINE_H_
#define CUDNN_CI_PLUGINS_COMMON_LIBRARY_PATH_LINE_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// "ENV LD_LIBRARY_PATH=" with the user's entries but those, other than `own`, that have a file of one of
// these names. Empty: there is no such entry; or one of them has other libraries as well, which the image may
// need from there.
std::string LibraryPathLine(const std::vector<std::string>& names, const std::string& own,
                            const std::vector<std::string>& subject_folders);

// "LD_LIBRARY_PATH='/usr/lib/x'", as the image has it; behind it the folders of the subject, if cudnn-ci has
// put them there for this process.
std::string LibraryPathWords(const std::vector<std::string>& subject_folders);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_LIBRARY_PATH_LINE_H_
