// What host and image are, of one piece: the driver, GPUs, CUDA toolkits, copies of cuDNN, Python
// environments, who uses what, and what a matrix promises beside it. Made of facts and of what was found in
// files; tests nothing, for that is what checks do.
#ifndef CUDNN_CI_MODEL_INVENTORY_INVENTORY_H_
#define CUDNN_CI_MODEL_INVENTORY_INVENTORY_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "image/contents/python_environment.h"
#include "image/contents/toolkits.h"
#include "model/inventory/auto_matrix.h"
#include "model/matrix/image_identity.h"
#include "model/record/event.h"
#include "model/record/facts.h"

namespace cudnn_ci {

// Texts that are not known are empty, here and below.
struct FoundDriver {
  std::string version, source;  // source: who told the version, in words
  std::string cuda;             // the highest that it supports
  std::string library, module_version, nvml;
  std::string fabric_wait_s;  // how long its GPUs' fabric was waited for
  bool compat = false;        // the library is of a cuda-compat package
};

struct FoundCudnn {
  std::string version, cuda, path, origin;  // cuda: the major or version that it is for
  std::vector<std::string> used_by;         // subjects
  bool gated = false;                       // one of them is tested
};

// What one subject gets.
struct SubjectView {
  SubjectInfo subject;
  bool judged = false;
  std::string toolkit_version, toolkit_path, cudnn_version, cudnn_cuda, cudnn_path;
};

// One promise of a matrix beside what is found.
struct FoundPromise {
  std::string promise, range;  // "image.cudnn", ">=9.12 <10"
  std::string subject;         // of the image's promises
  std::string found;           // in words
  std::optional<bool> fits;    // absent: it cannot be told
};

struct MatrixIdentity {
  std::string name, path, sha256;
};

struct Inventory {
  FoundDriver driver;
  std::vector<GpuFacts> gpus;
  std::string gpu_error;  // why there are none
  std::vector<SubjectView> subjects;
  std::vector<FoundToolkit> toolkits;
  std::vector<FoundCudnn> cudnn;
  std::vector<PythonEnvironment> environments;
  std::map<std::string, std::string> variables;
  std::optional<MatrixIdentity> matrix;  // absent: none was given
  std::vector<FoundPromise> promises;    // of that matrix
  std::optional<AutoChoice> choice;      // without a matrix
  std::vector<std::string> unknown;      // what could not be found out, and why
};

struct InventoryInput {
  Facts facts;
  std::vector<SubjectInfo> subjects;  // those with facts
  std::vector<std::string> judged;    // the names of those that a run would test
  std::vector<FoundToolkit> toolkits;
  std::vector<PythonEnvironment> environments;
  Variables variables;  // of this process: what a worker sees may have been changed for its subject
  std::optional<MatrixIdentity> matrix;
  std::map<std::string, std::string> contract;
  std::optional<AutoChoice> choice;
  std::vector<std::string> unknown;  // of what was done before
};

Inventory MakeInventory(InventoryInput input);

// Whether a subject is the interpreter of an environment, by whichever of its names.
bool IsOf(const SubjectInfo& subject, const PythonEnvironment& environment);
// Whether a subject is a candidate, an interpreter by whichever of its names.
bool IsOf(const SubjectInfo& subject, const Candidate& candidate);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_INVENTORY_INVENTORY_H_
