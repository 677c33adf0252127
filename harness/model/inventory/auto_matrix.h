// Which matrix an image without its own matrix is tested against (`--auto`), and what of it: what the loader
// finds, or, where it finds no cuDNN with a CUDA runtime, the image's Python environments and programs that
// use a GPU. Decided from facts.
#ifndef CUDNN_CI_MODEL_INVENTORY_AUTO_MATRIX_H_
#define CUDNN_CI_MODEL_INVENTORY_AUTO_MATRIX_H_

#include <string>
#include <vector>

#include "image/contents/candidate.h"
#include "model/record/facts.h"

namespace cudnn_ci {

struct AutoChoice {
  std::string cuda;     // the CUDA that decides: "13.0", or "13"; empty with a problem
  std::string because;  // whose that is, in words: "CUDA toolkit 13.0"
  // Tested instead of what the loader finds, each as the subject of its name; empty: that is tested.
  std::vector<Candidate> candidates;
  std::string problem;         // why none can be chosen and what to do, in words; empty: one is
  bool contradictory = false;  // the candidates are for several CUDA majors: no single matrix fits all
  bool nothing = false;        // there is nothing of CUDA to test

  // "cu13", the name of the matrix for the CUDA that decides; "static" where there is nothing, which says so.
  std::string MatrixName() const { return nothing ? "static" : "cu" + cuda.substr(0, cuda.find('.')); }
  // "what the loader finds", "the Python environment opt_venv (/opt/venv/bin/python)".
  std::string Judged() const;
};

// What uses a GPU in an image, as its files show it.
struct FoundUse {
  std::vector<Candidate> candidates;  // with facts under their names
  // A library of CUDA that the loader finds, one of the toolkit's (IsToolkitLibrary) if there is any; empty:
  // none.
  std::string in_loader;
};

// Facts of the subject "system" are what the loader finds. Where no candidate tells for which CUDA it is and
// none has a cuDNN, all is linked statically: the driver's CUDA counts, and without a driver the one with the
// lowest floor that is shipped. Of variants (OfOneCuda) those for the driver's CUDA count, or the latest.
AutoChoice ChooseMatrix(const Facts& facts, const FoundUse& found);

// Whether what the loader finds by itself is tested: a cuDNN with a CUDA runtime. A cuDNN alone is, unless it
// is a candidate's, to which LD_LIBRARY_PATH leads, or a candidate has both. Beside other libraries of a
// toolkit it is tested: what is missing there, or cannot be used, is a fault.
bool LoaderIsTested(const Facts& facts, const FoundUse& found);

// The CUDA version or major that a candidate is for; empty: nothing tells it.
std::string CudaOf(const Facts& facts, const Candidate& candidate);

// Without the variants for other CUDA majors than those in `toolkit`, a range as a matrix promises it:
// libraries in folders that lie side by side and differ in digits alone (cuda_v12, cuda_v13), of which a
// program opens one. Where none is for such a major, all stay.
std::vector<Candidate> OfOneCuda(const Facts& facts, const std::vector<Candidate>& candidates,
                                 const std::string& toolkit);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_INVENTORY_AUTO_MATRIX_H_
