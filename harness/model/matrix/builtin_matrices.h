// The matrices that come with cudnn-ci, known by name: "builtin:cu12" is cu12.json of their folder.
#ifndef CUDNN_CI_MODEL_MATRIX_BUILTIN_MATRICES_H_
#define CUDNN_CI_MODEL_MATRIX_BUILTIN_MATRICES_H_

#include <string>

#include "base/result.h"

namespace cudnn_ci {

// Whether a text names a matrix by "builtin:" and not by its path. A file of such a name is written
// "./builtin:x".
bool IsBuiltin(const std::string& text);

// Whether what follows "builtin:" can be the name of one: letters, digits, "_" and "-", and so no path.
bool IsBuiltinName(const std::string& name);

// The file of that name in `folder`. The error lists the names there are.
Result<std::string> FindBuiltin(const std::string& name, const std::string& folder);

// The file that is meant where a matrix is named, by --matrix and by "extends" alike: "builtin:NAME", the
// NAME alone, or a path from the folder `from` (empty: the one we are in). A name that is a file there as
// well is an error (a folder is no file). A path comes back as it is, even if it leads nowhere.
Result<std::string> FindMatrix(const std::string& named, const std::string& folder,
                               const std::string& from = {});

// What to write instead of a path that leads nowhere, if its stem is the name of one: "builtin:cu12". Else
// empty.
std::string BuiltinInPlaceOf(const std::string& path, const std::string& folder);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MATRIX_BUILTIN_MATRICES_H_
