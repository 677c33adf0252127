// A part of an image that uses a GPU and can be tested instead of what the loader finds: a Python
// environment, a program, or folders of libraries that a program opens.
#ifndef CUDNN_CI_IMAGE_CONTENTS_CANDIDATE_H_
#define CUDNN_CI_IMAGE_CONTENTS_CANDIDATE_H_

#include <string>
#include <vector>

#include "image/contents/gpu_use.h"
#include "image/contents/python_environment.h"

namespace cudnn_ci {

struct Candidate {
  std::string name, spec;  // of the subject that it can be: "opt_venv", "python:/opt/venv/bin/python"
  std::string place;       // "/opt/venv": an environment's prefix, the program, the first folder of libraries
  std::string cudnn;       // the first of its folders that holds a cuDNN, links followed; empty: none does
  // The CUDA major or version that it is for; empty: nothing tells it, or its files contradict each other.
  std::string cuda;
  GpuUse gpu = {};
  // It finds a CUDA runtime, or NVRTC, in its folders or as the loader does; known once it is resolved.
  bool has_runtime = false, has_nvrtc = false;
  std::vector<PythonPackage> adapted = {};  // of an environment, as it has them

  bool operator==(const Candidate&) const = default;
};

// The environment as a candidate; it has a name.
inline Candidate CandidateOf(const PythonEnvironment& environment) {
  Candidate candidate = {environment.name,   "python:" + environment.interpreter,
                         environment.prefix, environment.cudnn,
                         environment.cuda,   environment.gpu};
  candidate.adapted = environment.adapted;
  return candidate;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_CONTENTS_CANDIDATE_H_
