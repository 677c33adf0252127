// Which folders of libraries the packages of a Python interpreter load from, and whether LD_LIBRARY_PATH
// comes before them.
#ifndef CUDNN_CI_IMAGE_CONTENTS_PACKAGE_LIBRARIES_H_
#define CUDNN_CI_IMAGE_CONTENTS_PACKAGE_LIBRARIES_H_

#include "base/package_names.h"
#include "image/contents/folder_list.h"
#include "image/contents/python_packages.h"

namespace cudnn_ci {

// First those that the run paths of frameworks name (FrameworkFiles::run_path_of), then each
// nvidia/*/lib and torch/lib of the packages, then what the interpreter's own run path names and, in a conda
// environment, its lib.
//
// A framework whose library has a DT_RUNPATH is searched for behind LD_LIBRARY_PATH; all folders then come
// behind. A DT_RPATH comes before, and so does what is loaded by its path, as JAX does and programs that use
// a package of NVIDIA's without a framework.
LibraryFolders FindPackageLibraries(const PythonPackages& python, const PackageNames& names,
                                    FolderReader* reader);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_PACKAGE_LIBRARIES_H_
