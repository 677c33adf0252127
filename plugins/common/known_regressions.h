// What releases of a library are known to get wrong, from the table of version facts. Knows no shape and
// judges nothing; must not know the SDK's Context.
#ifndef CUDNN_CI_PLUGINS_COMMON_KNOWN_REGRESSIONS_H_
#define CUDNN_CI_PLUGINS_COMMON_KNOWN_REGRESSIONS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/promise.h"

namespace cudnn_ci {

// An entry of the table by its key (cudnn_ci/facts.h); empty: there is none.
using TableEntry = std::function<std::string(const std::string& key)>;
// By name, the values of which one must be a case's: {"dtype", {"float16", "bfloat16"}}.
using Predicates = std::map<std::string, std::vector<std::string>>;

// Libraries that rows are about and plugins judge themselves, as messages call them (the titles of
// "libraries" in knowledge/packages.json).
inline constexpr char kCudnn[] = "cuDNN", kCublas[] = "cuBLAS", kToolkit[] = "CUDA toolkit";

// One row.
struct KnownRegression {
  std::string library = kCudnn;
  std::string id, what;  // "half_3d_forward", and in words
  std::string effect;    // "wrong", "overwrite", "crash", "hang", "failure", "refused", "slow", "memory"
  std::string first, last, fixed;  // releases; empty: not known
  Predicates hits;                 // all must hold of what it hits
  std::string source, confidence, as_of;

  // Every release from the first one on has it, as far as is known.
  bool Open() const { return last.empty() && fixed.empty(); }
  // "9.8.0 to 9.14.0, fixed in 9.15.0", "from 9.14.0 on, no fix known as of 2026-11-20".
  std::string Releases() const;
  // "install cuDNN 9.15.0 or later"; empty where none is known to be without it.
  std::string Remedy() const;
  // "known: wrong in cuDNN 9.8.0 to 9.14.0, fixed in 9.15.0 (3-D forward ...; https://...); install ...".
  std::string Text() const;
};

// The table's rows that hit this release of a library, in their order. None of an unknown release (empty,
// "unknown").
std::vector<KnownRegression> KnownRegressionsOf(const std::string& version, const TableEntry& entry,
                                                const Satisfies& satisfies,
                                                const std::string& library = kCudnn);

// As above, by what a check or a facts step is told.
template <class Source>
std::vector<KnownRegression> KnownRegressionsOf(const Source& source, const std::string& version,
                                                const std::string& library = kCudnn) {
  return KnownRegressionsOf(
      version, [&source](const std::string& key) { return source.Compatibility(key); },
      [&source](const std::string& v, const std::string& range) { return source.Satisfies(v, range); },
      library);
}

// Whether a GPU lies between `compute_capability_min` and `compute_capability_max`, where they are given. An
// unknown one (empty) lies between none.
bool FitsGpu(const Predicates& hits, const std::string& compute_capability, const Satisfies& satisfies);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_KNOWN_REGRESSIONS_H_
