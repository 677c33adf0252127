// The programs of an image that use a GPU with libraries of their own: those that need a library of CUDA or
// hold device code, and those beside which such libraries lie.
#ifndef CUDNN_CI_IMAGE_CONTENTS_PROGRAMS_H_
#define CUDNN_CI_IMAGE_CONTENTS_PROGRAMS_H_

#include <string>
#include <vector>

#include "base/variables.h"
#include "image/contents/candidate.h"

namespace cudnn_ci {

struct FoundPrograms {
  std::vector<Candidate> candidates;  // sorted by place; names that no other of them has
  bool complete = true;               // false: there may be more, for not every place was looked at
};

// Looks at the programs in the folders of PATH and, below `root` ("" for an image), in /opt, /srv, /app,
// /workspace, /root, /home/*, $HOME, /usr/local, /usr/lib, /usr/libexec and folders at / that no distribution
// has; and at the libraries there. Left out are the folders that the loader searches by itself, CUDA
// toolkits, NVIDIA's tools (/opt/nvidia), packages of Python (also outside of an environment: beside a
// dist-info, or with extension modules beside __init__.py), conda and virtual environments, and what lies in
// `prefixes`.
//
// A program that reaches its libraries of CUDA by what it needs is "program:PATH". What it opens by name, or
// shares with other programs, is "path:FOLDERS": the folders that use a GPU, and the one above if they need a
// library of it. Folders that no program leads to are the same. With `only_with_libraries` programs that
// bring none are left out.
FoundPrograms FindPrograms(const Variables& environment, const CudaLibraries& cuda,
                           const std::vector<std::string>& prefixes, bool only_with_libraries,
                           const std::string& root = "");

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_PROGRAMS_H_
