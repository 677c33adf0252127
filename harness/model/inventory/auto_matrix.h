// Which matrix an image without one of its own is judged by (`--auto`), and what of it: what the loader
// finds, or, where it finds no cuDNN, the image's Python environments that use a GPU. Decided from facts.
#ifndef CUDNN_CI_MODEL_INVENTORY_AUTO_MATRIX_H_
#define CUDNN_CI_MODEL_INVENTORY_AUTO_MATRIX_H_

#include <string>
#include <vector>

#include "image/contents/python_environment.h"
#include "model/record/facts.h"

namespace cudnn_ci {

struct AutoChoice {
  std::string cuda;     // the CUDA that decides: "13.0", or "13"; empty with a problem
  std::string because;  // whose that is, in words: "CUDA toolkit 13.0"
  // Judged in the place of what the loader finds, each as the subject of its name; empty: that is judged.
  std::vector<PythonEnvironment> environments;
  std::string problem;         // why none can be chosen and what to do, in words; empty: one is
  bool contradictory = false;  // the environments are for several CUDA majors: no one matrix is kept by all

  // "cu13", the name of the matrix for the CUDA that decides.
  std::string MatrixName() const { return "cu" + cuda.substr(0, cuda.find('.')); }
  // "what the loader finds", "the Python environment opt_venv (/opt/venv/bin/python)".
  std::string Judged() const;
};

// `environments`: those that use a GPU, with facts under their names. Facts of the subject "system" are what
// the loader finds. Where no environment tells for which CUDA it is and none has a cuDNN, all is linked
// statically: the driver's CUDA counts, and without a driver the one with the lowest floor that is shipped.
AutoChoice ChooseMatrix(const Facts& facts, const std::vector<PythonEnvironment>& environments);

// Whether the loader by itself finds what a program needs: a cuDNN that is no environment's or, where
// LD_LIBRARY_PATH leads into one, a CUDA runtime beside it.
bool LoaderIsJudged(const Facts& facts, const std::vector<PythonEnvironment>& environments);

// The CUDA version or major that an environment is for; empty: nothing tells it.
std::string CudaOf(const Facts& facts, const PythonEnvironment& environment);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_INVENTORY_AUTO_MATRIX_H_
