#include "model/inventory/auto_matrix.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/inventory/cudnn_copies.h"

namespace cudnn_ci {
namespace {

constexpr char kSystem[] = "system";
constexpr size_t kMostNamed = 8;
// Of the CUDA majors whose matrix asks for cards of the data centres of today.
constexpr char kLowestFloor[] = "12";

std::string FactOf(const Facts& facts, const std::string& subject, const char* key) {
  const std::string* fact = facts.Find(subject, key);
  return fact == nullptr ? std::string() : *fact;
}

bool HasCudnn(const PythonEnvironment& environment) { return !environment.cudnn.empty(); }

std::string NameOf(const PythonEnvironment& environment) {
  return environment.name + " (" + environment.interpreter + ")";
}

std::string NamesOf(const std::vector<PythonEnvironment>& environments) {
  std::vector<std::string> names;
  for (const PythonEnvironment& e : environments)
    if (names.size() < kMostNamed) names.push_back(NameOf(e));
  const size_t more = environments.size() - names.size();
  return Join(names, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

std::string CudaOfLoadersCudnn(const Facts& facts) {
  for (const CudnnCopyFacts& copy : CudnnCopiesOf(facts))
    if (std::find(copy.used_by.begin(), copy.used_by.end(), kSystem) != copy.used_by.end())
      return CudaOfOrigin(copy.origin);
  return {};
}

AutoChoice ByLoader(const Facts& facts) {
  AutoChoice choice;
  if (choice.cuda = FactOf(facts, kSystem, CCI_FACT_TOOLKIT_VERSION); !choice.cuda.empty()) {
    choice.because = "CUDA toolkit " + choice.cuda;
  } else if (choice.cuda = FactOf(facts, kSystem, CCI_FACT_CUDNN_CUDART); !choice.cuda.empty()) {
    choice.because = "cuDNN for CUDA " + choice.cuda;
  } else if (choice.cuda = CudaOfLoadersCudnn(facts); !choice.cuda.empty()) {
    choice.because = "the package of the cuDNN that the loader finds is for CUDA " + choice.cuda;
  } else if (choice.cuda = FactOf(facts, kSystem, CCI_FACT_DRIVER_CUDA); !choice.cuda.empty()) {
    choice.because = "no CUDA library was found, and the driver supports CUDA " + choice.cuda;
  } else {
    choice.problem =
        "neither a CUDA toolkit, nor a Python environment that uses a GPU, nor a driver was found to choose a "
        "matrix by; name one with --matrix, or let cudnn-ci init write one of what is here";
  }
  return choice;
}

// What to type where one matrix cannot do.
std::string ForEach(const std::map<std::string, std::vector<PythonEnvironment>>& by_major) {
  const std::string& name = by_major.begin()->second.front().name;
  std::vector<std::string> sides;
  for (const auto& [major, environments] : by_major)
    sides.push_back(NamesOf(environments) + " for CUDA " + major);
  return "the loader finds no cuDNN, and the Python environments are for different CUDA majors: " +
         Join(sides, "; ") +
         ". No one matrix is kept by all of them; judge each by its own, as in: cudnn-ci init " + name +
         ".json --subject " + name + " && cudnn-ci --matrix " + name + ".json";
}

}  // namespace

std::string AutoChoice::Judged() const {
  if (environments.empty()) return "what the loader finds";
  return (environments.size() == 1 ? "the Python environment " : "the Python environments ") +
         NamesOf(environments);
}

std::string CudaOf(const Facts& facts, const PythonEnvironment& environment) {
  for (const std::string& cuda : {FactOf(facts, environment.name, CCI_FACT_CUDNN_CUDART), environment.cuda,
                                  FactOf(facts, environment.name, CCI_FACT_TOOLKIT_VERSION)})
    if (!cuda.empty()) return cuda;
  return {};
}

bool LoaderIsJudged(const Facts& facts, const std::vector<PythonEnvironment>& environments) {
  const std::string* cudnn = facts.Find(kSystem, CCI_FACT_CUDNN_PATH);
  if (cudnn == nullptr) return environments.empty();
  if (facts.Find(kSystem, CCI_FACT_TOOLKIT_PATH) != nullptr) return true;
  const std::string folder = cudnn->substr(0, cudnn->rfind('/'));
  return std::none_of(environments.begin(), environments.end(), [&](const PythonEnvironment& e) {
    return folder == e.cudnn || folder.starts_with(e.prefix + "/");
  });
}

AutoChoice ChooseMatrix(const Facts& facts, const std::vector<PythonEnvironment>& environments) {
  if (LoaderIsJudged(facts, environments)) return ByLoader(facts);
  AutoChoice choice;
  choice.environments = environments;
  std::map<std::string, std::vector<PythonEnvironment>> by_major;
  for (const PythonEnvironment& environment : environments) {
    const std::string cuda = CudaOf(facts, environment);
    if (cuda.empty()) continue;
    by_major[cuda.substr(0, cuda.find('.'))].push_back(environment);
    if (!choice.cuda.empty()) continue;
    choice.cuda = cuda;
    choice.because = "the loader finds no cuDNN, and " + environment.name +
                     (environment.cudnn.empty() ? " is for CUDA " : " has one for CUDA ") + cuda;
  }
  choice.contradictory = by_major.size() > 1;
  if (choice.contradictory) {
    choice.cuda.clear();
    choice.because.clear();
    choice.problem = ForEach(by_major);
  } else if (by_major.empty() && std::none_of(environments.begin(), environments.end(), HasCudnn)) {
    choice.cuda = FactOf(facts, kSystem, CCI_FACT_DRIVER_CUDA);
    choice.because = choice.cuda.empty() ? "nothing tells for which CUDA " + choice.Judged() + " is"
                                         : "the driver supports CUDA " + choice.cuda;
    if (choice.cuda.empty()) choice.cuda = kLowestFloor;
  } else if (by_major.empty()) {
    choice.problem = "the loader finds no cuDNN, and nothing tells for which CUDA that of " +
                     choice.Judged() + " is; name a matrix with --matrix";
  }
  return choice;
}

}  // namespace cudnn_ci
