// Which known faults of an installed release matter to what a matrix promises, and whether they close the
// gate. Pure functions.
#ifndef CUDNN_CI_PLUGINS_IMAGE_KNOWN_FAULTS_SCOPE_H_
#define CUDNN_CI_PLUGINS_IMAGE_KNOWN_FAULTS_SCOPE_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "image/contents/components.h"

namespace cudnn_ci {

// What is promised. An empty list is all there is.
struct FaultScope {
  std::vector<std::string> gpus;  // compute capabilities: "9.0"
  // Operations are "convolution", "attention", "matmul", "norm", "elementwise", "collective" and "compile"
  // (kernels that are made at run time).
  std::vector<std::string> dtypes, operations;
  std::vector<std::string> fail_on;  // effects that close the gate, whatever is named
  std::string processor;             // "x86_64"; empty: not known
  std::vector<std::string> cublas;   // versions of the cuBLAS beside it
};

enum class FaultWeight {
  kNone,     // hits nothing that is promised
  kListed,   // no release is known to be without it, so that nobody could heed a warning; or it is only slow
  kWarning,  // hits what is promised
  kRed       // closes the gate
};

// kRed: the effect is in `fail_on`, or the row is sure, gives wrong numbers (or writes where it must not),
// another release is without it, the matrix names its operation, and the cards that it names are promised.
// Rows of confidence "unsure" are never red.
FaultWeight WeightOf(const KnownRegression& row, const FaultScope& scope, const Satisfies& satisfies);

// Every compute capability that lies in the contract's range and that the table of version facts knows;
// `entry` as of KnownRegressionsOf. Empty: no range, or none that is known.
std::vector<std::string> PromisedGpus(const std::string& range, const TableEntry& entry,
                                      const Satisfies& satisfies);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_KNOWN_FAULTS_SCOPE_H_
