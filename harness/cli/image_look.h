// What is looked at in the image before anything of it runs, by files alone. Every function here may block on
// a file that does not answer, so that a Session calls them in a process that it can give up.
#ifndef CUDNN_CI_CLI_IMAGE_LOOK_H_
#define CUDNN_CI_CLI_IMAGE_LOOK_H_

#include <functional>
#include <string>
#include <vector>

#include "exec/workers/bounded_call.h"
#include "model/inventory/inventory.h"
#include "model/knowledge/knowledge.h"
#include "model/matrix/image_identity.h"
#include "model/record/record_fields.h"

namespace cudnn_ci {

// Subjects with the folders of their libraries.
struct SubjectLook {
  std::vector<SubjectInfo> subjects;
  std::vector<Finding> problems;  // what the subjects name and the image lacks, or has for another processor
  Notices warnings;               // what was not looked at
};
SubjectLook LookAtSubjects(const std::vector<SubjectInfo>& subjects, const PackageNames& names,
                           const LookingAt& looking_at);

// What uses a GPU with libraries or device code that the loader does not find by itself: the image's Python
// environments and programs.
struct CandidateLook {
  std::vector<SubjectInfo> subjects;  // with their folders
  std::vector<Candidate> candidates;  // the same ones
  std::vector<Finding> problems;      // why some of them cannot be used here, each with its subject
  Notices warnings;                   // what of them was not looked at
  // Activated environments (VIRTUAL_ENV, CONDA_PREFIX) that use no GPU, by their interpreters.
  // Where not all was looked at, it is not known which those are.
  std::vector<std::string> idle;
  std::string in_loader;  // as FoundUse has it
  GpuUse loader_use;      // of LookAtUseOfLoader, for a choice alone
  // Programs with their own libraries beside CUDA that the loader finds, which are tested if a matrix
  // names them.
  std::vector<Candidate> beside;
  // Where CUDA's libraries are all that there is for a GPU, and no program asks the loader for them: the
  // environments whose frameworks, by their files, cannot use them.
  std::vector<PythonEnvironment> for_cpu;

  FoundUse Found() const { return {candidates, in_loader}; }
};
CandidateLook LookAtCandidates(const PackageNames& names, const LookingAt& looking_at);

// What the libraries that the loader finds, other than CUDA's, ask it for. Parts of a cuDNN ask for the rest,
// and an NVRTC that is found is required.
GpuUse LookAtUseOfLoader(const PackageNames& names);

// Whether a folder of a resolved subject, or one where the loader looks, holds a library of this name:
// "libnvrtc".
bool FindsLibrary(const std::string& stem, const SubjectInfo& subject);

// The Python environments and programs of the image.
struct EnvironmentLook {
  CandidateLook found;
  std::vector<PythonEnvironment> environments;  // those that use a GPU
  std::vector<PythonEnvironment> others;  // that use none, or only borrow what uses it, with a framework
  std::vector<FoundToolkit> toolkits;
};
EnvironmentLook LookAtEnvironments(const PackageNames& names, const LookingAt& looking_at);

// The fields that travel from the process that looked, each once.
template <class Io, Like<SubjectLook> T>
void Fields(Io& io, T& look) {
  io("subjects", look.subjects), io("problems", look.problems), io("warnings", look.warnings);
}
template <class Io, Like<CandidateLook> T>
void Fields(Io& io, T& look) {
  io("subjects", look.subjects), io("candidates", look.candidates), io("problems", look.problems);
  io("warnings", look.warnings), io("idle", look.idle), io("in_loader", look.in_loader),
      io("loader_use", look.loader_use);
  io("beside", look.beside), io("for_cpu", look.for_cpu);
}
template <class Io, Like<Candidate> T>
void Fields(Io& io, T& one) {
  io("name", one.name), io("spec", one.spec), io("place", one.place), io("cudnn", one.cudnn);
  io("cuda", one.cuda), io("gpu", one.gpu), io("has_runtime", one.has_runtime);
  io("has_nvrtc", one.has_nvrtc), io("adapted", one.adapted);
}
template <class Io, Like<GpuUse> T>
void Fields(Io& io, T& use) {
  io("example", use.example), io("cuda", use.cuda), io("asks_for_cudnn", use.asks_for_cudnn);
  io("asks_for_runtime", use.asks_for_runtime), io("asks_for_nvrtc", use.asks_for_nvrtc);
  io("complete", use.complete);
}
template <class Io, Like<PythonPackage> T>
void Fields(Io& io, T& package) {
  io("title", package.title), io("distribution", package.distribution), io("version", package.version);
}
template <class Io, Like<PythonEnvironment> T>
void Fields(Io& io, T& one) {
  io("name", one.name), io("interpreter", one.interpreter), io("prefix", one.prefix);
  io("cudnn", one.cudnn), io("cuda", one.cuda), io("frameworks", one.frameworks), io("gpu", one.gpu);
  io("compiles", one.compiles), io("adapted", one.adapted);
}
template <class Io, Like<FoundToolkit> T>
void Fields(Io& io, T& toolkit) {
  io("version", toolkit.version), io("folder", toolkit.folder), io("origin", toolkit.origin);
  io("libraries", toolkit.libraries), io("taken_by", toolkit.taken_by);
}
template <class Io, Like<EnvironmentLook> T>
void Fields(Io& io, T& look) {
  io("found", look.found), io("environments", look.environments), io("others", look.others);
  io("toolkits", look.toolkits);
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_IMAGE_LOOK_H_
