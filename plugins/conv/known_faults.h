// What is known of the cuDNN in use, by the table of version facts, that explains how a convolution ended. It
// changes no judgement.
#ifndef CUDNN_CI_PLUGINS_CONV_KNOWN_FAULTS_H_
#define CUDNN_CI_PLUGINS_CONV_KNOWN_FAULTS_H_

#include <cudnn_ci/check.hpp>

#include <initializer_list>
#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "compute/candidate.h"
#include "conv/known_shapes.h"

namespace cudnn_ci {

class KnownFaults {
 public:
  // Of nothing, before it is told which cuDNN is used.
  KnownFaults() = default;
  // Keeps the rows that may hit the convolution `subject`, asked for with the parameter `algo`, in this
  // release on the case's GPU.
  KnownFaults(const Context& ctx, const std::string& version, KnownSubject subject, const std::string& algo);

  // A note of each known crash: nothing can be said of one once it has happened.
  void NoteCrashes(Context& ctx) const;
  // "; known: wrong in ...", of the rows with one of these effects; empty: there is none. `ran` is what
  // computed it, null if that is not known.
  std::string KnownFaultText(std::initializer_list<const char*> effects,
                             const Candidate* ran = nullptr) const;

 private:
  KnownSubject subject_;
  KnownChoice asked_;
  std::vector<KnownRegression> rows_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_KNOWN_FAULTS_H_
