#include "model/inventory/auto_matrix.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text.h"
#include "image/contents/gpu_use.h"
#include "model/inventory/cudnn_copies.h"
#include "model/record/version.h"

namespace cudnn_ci {
namespace {

constexpr char kSystem[] = "system";
constexpr size_t kMostNamed = 8;
constexpr char kNoInstall[] = "the loader finds no cuDNN with a CUDA runtime";
// Of the CUDA majors whose matrix asks for cards of the data centres of today.
constexpr char kLowestFloor[] = "12";

std::string FactOf(const Facts& facts, const std::string& subject, const char* key) {
  const std::string* fact = facts.Find(subject, key);
  return fact == nullptr ? std::string() : *fact;
}

bool HasCudnn(const Candidate& candidate) { return !candidate.cudnn.empty(); }

std::string MajorOf(const std::string& cuda) { return cuda.substr(0, cuda.find('.')); }

std::string NameOf(const Candidate& candidate) {
  return candidate.name + " (" + candidate.spec.substr(candidate.spec.find(':') + 1) + ")";
}

std::string NamesOf(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& c : candidates)
    if (names.size() < kMostNamed) names.push_back(NameOf(c));
  const size_t more = candidates.size() - names.size();
  return Join(names, ", ") + (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

// What kind of candidate a specification is, as it is said of one and of several.
struct Kind {
  const char *prefix, *one, *several;
};
constexpr Kind kKinds[] = {{"python:", "the Python environment ", "the Python environments "},
                           {"program:", "the program ", "the programs "},
                           {"path:", "the libraries ", "the libraries "}};

// "/usr/lib/ollama/cuda_v" of libraries in /usr/lib/ollama/cuda_v12; empty of any other candidate.
std::string VariantsOf(const Candidate& candidate) {
  if (!candidate.spec.starts_with("path:")) return {};
  const size_t end = candidate.place.find_last_not_of("0123456789.");
  return end + 1 == candidate.place.size() ? "" : candidate.place.substr(0, end + 1);
}

std::string CudaOfLoadersCudnn(const Facts& facts) {
  for (const CudnnCopyFacts& copy : CudnnCopiesOf(facts))
    if (std::find(copy.used_by.begin(), copy.used_by.end(), kSystem) != copy.used_by.end())
      return CudaOfOrigin(copy.origin);
  return {};
}

// The driver's CUDA, or the one with the lowest floor that is shipped.
void ByDriver(const std::string& unknown, const Facts& facts, AutoChoice* choice) {
  choice->cuda = FactOf(facts, kSystem, CCI_FACT_DRIVER_CUDA);
  choice->because =
      choice->cuda.empty() ? unknown : unknown + ", and the driver supports CUDA " + choice->cuda;
  if (choice->cuda.empty()) choice->cuda = kLowestFloor;
}

AutoChoice ByLoader(const Facts& facts, const std::string& in_loader) {
  AutoChoice choice;
  if (choice.cuda = FactOf(facts, kSystem, CCI_FACT_TOOLKIT_VERSION); !choice.cuda.empty()) {
    choice.because = "CUDA toolkit " + choice.cuda;
  } else if (choice.cuda = FactOf(facts, kSystem, CCI_FACT_CUDNN_CUDART); !choice.cuda.empty()) {
    choice.because = "cuDNN for CUDA " + choice.cuda;
  } else if (choice.cuda = CudaOfLoadersCudnn(facts); !choice.cuda.empty()) {
    choice.because = "the package of the cuDNN that the loader finds is for CUDA " + choice.cuda;
  } else if (!FactOf(facts, kSystem, CCI_FACT_CUDNN_PATH).empty() ||
             !FactOf(facts, kSystem, CCI_FACT_TOOLKIT_PATH).empty() || !in_loader.empty()) {
    ByDriver("the CUDA version of the loader's libraries is unknown", facts, &choice);
  } else {
    choice.nothing = true;
    choice.because = "no library of CUDA and no device code was found";
  }
  return choice;
}

// What to type where one matrix cannot do.
std::string ForEach(const std::map<std::string, std::vector<Candidate>>& by_major) {
  const std::string& name = by_major.begin()->second.front().name;
  std::vector<std::string> sides;
  for (const auto& [major, candidates] : by_major)
    sides.push_back(NamesOf(candidates) + " for CUDA " + major);
  return std::string(kNoInstall) + ", and the image uses different CUDA majors: " + Join(sides, "; ") +
         ". No single matrix fits all of them; test each with its own, as in: cudnn-ci init " + name +
         ".json --subject " + name + " && cudnn-ci --matrix " + name + ".json";
}

// Of variants, those for the CUDA that the driver supports; without a driver, the latest.
std::vector<Candidate> OfDriversCuda(const Facts& facts, const std::vector<Candidate>& candidates) {
  const std::string driver = FactOf(facts, kSystem, CCI_FACT_DRIVER_CUDA);
  std::optional<Version> latest;
  for (const Candidate& candidate : candidates) {
    if (VariantsOf(candidate).empty()) continue;
    const std::optional<Version> cuda = ParseVersion(MajorOf(CudaOf(facts, candidate)));
    const std::optional<Version> most = ParseVersion(MajorOf(driver));
    if (cuda && (!most || Compare(*cuda, *most) <= 0) && (!latest || Compare(*cuda, *latest) > 0))
      latest = cuda;
  }
  return latest ? OfOneCuda(facts, candidates, std::to_string(latest->parts.front())) : candidates;
}

}  // namespace

std::string AutoChoice::Judged() const {
  std::vector<std::string> parts;
  for (const Kind& kind : kKinds) {
    std::vector<Candidate> these;
    for (const Candidate& candidate : candidates)
      if (candidate.spec.starts_with(kind.prefix)) these.push_back(candidate);
    if (!these.empty()) parts.push_back((these.size() == 1 ? kind.one : kind.several) + NamesOf(these));
  }
  return parts.empty() ? "what the loader finds" : Join(parts, " and ");
}

std::string CudaOf(const Facts& facts, const Candidate& candidate) {
  for (const std::string& cuda : {FactOf(facts, candidate.name, CCI_FACT_CUDNN_CUDART), candidate.cuda,
                                  FactOf(facts, candidate.name, CCI_FACT_TOOLKIT_VERSION)})
    if (!cuda.empty()) return cuda;
  return {};
}

bool LoaderIsTested(const Facts& facts, const FoundUse& found) {
  const std::vector<Candidate>& candidates = found.candidates;
  const std::string* cudnn = facts.Find(kSystem, CCI_FACT_CUDNN_PATH);
  if (cudnn == nullptr) return candidates.empty();
  if (facts.Find(kSystem, CCI_FACT_TOOLKIT_PATH) != nullptr) return true;
  const std::string folder = cudnn->substr(0, cudnn->rfind('/'));
  const bool alone = !IsToolkitLibrary(found.in_loader.substr(found.in_loader.rfind('/') + 1));
  return std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
    const bool is_whole = alone && HasCudnn(c) && c.has_runtime;
    return is_whole || folder == c.cudnn || folder.starts_with(c.place + "/");
  });
}

std::vector<Candidate> OfOneCuda(const Facts& facts, const std::vector<Candidate>& candidates,
                                 const std::string& toolkit) {
  std::string error;
  const std::optional<VersionRange> range = ParseRange(toolkit, &error);
  if (!range) return candidates;
  constexpr int kMostMinors = 20;
  const auto fits = [&](const Candidate& candidate) {
    const std::optional<Version> cuda = ParseVersion(MajorOf(CudaOf(facts, candidate)));
    for (int minor = 0; cuda && minor < kMostMinors; ++minor)
      if (Contains(*range, Version{{cuda->parts.front(), minor}})) return true;
    return false;
  };
  std::set<std::string> served;  // the sets of variants that have one that fits
  for (const Candidate& candidate : candidates)
    if (fits(candidate)) served.insert(VariantsOf(candidate));
  std::vector<Candidate> kept;
  for (const Candidate& candidate : candidates) {
    const std::string variants = VariantsOf(candidate);
    if (variants.empty() || served.count(variants) == 0 || fits(candidate)) kept.push_back(candidate);
  }
  return kept;
}

AutoChoice ChooseMatrix(const Facts& facts, const FoundUse& found) {
  if (LoaderIsTested(facts, found)) return ByLoader(facts, found.in_loader);
  AutoChoice choice;
  choice.candidates = OfDriversCuda(facts, found.candidates);
  std::map<std::string, std::vector<Candidate>> by_major;
  for (const Candidate& candidate : choice.candidates) {
    const std::string cuda = CudaOf(facts, candidate);
    if (cuda.empty()) continue;
    by_major[MajorOf(cuda)].push_back(candidate);
    if (!choice.cuda.empty()) continue;
    choice.cuda = cuda;
    choice.because = std::string(kNoInstall) + ", and " + candidate.name +
                     (candidate.cudnn.empty() ? " is for CUDA " : " has one for CUDA ") + cuda;
  }
  choice.contradictory = by_major.size() > 1;
  if (choice.contradictory) {
    choice.cuda.clear();
    choice.because.clear();
    choice.problem = ForEach(by_major);
  } else if (by_major.empty() && std::none_of(choice.candidates.begin(), choice.candidates.end(), HasCudnn)) {
    ByDriver("the CUDA version of " + choice.Judged() + " is unknown", facts, &choice);
  } else if (by_major.empty()) {
    choice.problem = std::string(kNoInstall) + ", and the CUDA version of " + choice.Judged() +
                     " is unknown; name a matrix with --matrix";
  }
  return choice;
}

}  // namespace cudnn_ci
