// Which folders of libraries a program names, or a library: its own run paths and those of all that it
// needs.
#ifndef CUDNN_CI_IMAGE_CONTENTS_PROGRAM_LIBRARIES_H_
#define CUDNN_CI_IMAGE_CONTENTS_PROGRAM_LIBRARIES_H_

#include <string>
#include <vector>

#include "image/contents/folder_list.h"

namespace cudnn_ci {

// DT_RPATH of an ELF file and of the libraries that it needs comes before LD_LIBRARY_PATH (`library_path`),
// their DT_RUNPATH behind it; those nearest to the program first. What they need is found as the loader finds
// it: by these, its cache and the default directories. *problem says why the file is no program, in words
// that begin with its path; it is left alone otherwise.
// *files, if it is no null pointer, gets the program and the libraries that were found.
LibraryFolders FindProgramLibraries(const std::string& program, const std::string& library_path,
                                    FolderReader* reader, std::string* problem,
                                    std::vector<std::string>* files = nullptr);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_PROGRAM_LIBRARIES_H_
