// Adapters: rows of knowledge that say how packages of the image are asked to compute, and their code.
#ifndef CUDNN_CI_PLUGINS_KERNELS_ADAPTER_H_
#define CUDNN_CI_PLUGINS_KERNELS_ADAPTER_H_

#include <string>
#include <vector>

#include "common/known_regressions.h"
#include "kernels/problem.h"

namespace cudnn_ci {

// What an implementation is known to get wrong.
struct KernelFault {
  std::vector<std::string> problems;  // as Implementation::promises
  std::string versions;               // of the package, a range
  std::string effect, remedy, source;

  bool Hits(const std::string& problem) const;
  // "; known: EFFECT (SOURCE); REMEDY".
  std::string Text() const;
};

// A way in which a package computes.
struct Implementation {
  std::string name;  // "sdpa flash"
  KernelArithmetic arithmetic = KernelArithmetic::kExact;
  // Names of problems, "*" for any text. What is promised has to be computed, what is offered may be refused.
  std::vector<std::string> promises, offers;
  std::vector<std::string> kernels;  // parts of the names of its kernels, of which one at least is launched
  std::string versions;              // of the package, a range; empty: all of the adapter's
  std::string capability;            // the least compute capability that it promises anything on: "8.0"
  bool calls_cudnn = false;          // what is known of cuDNN's attention is known of it
  // That compute its problems, in turn, at the same time as others where there is room; "": the adapter's
  // own.
  std::vector<std::string> processes = {""};
  std::vector<KernelFault> faults;

  bool Promises(const std::string& problem) const;
  bool Asks(const std::string& problem) const;  // promises or offers it
};

struct Adapter {
  std::string name, title;                 // "torch", "PyTorch"
  std::vector<std::string> distributions;  // Python packages, of which one brings it
  std::string versions;                    // a range
  std::string code;                        // Python
  std::string known_good, known_bad;       // releases, in words
  std::vector<Implementation> implementations;
};

// Those that are known, in order.
std::vector<Adapter> KnownAdapters(const TableEntry& entry);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_ADAPTER_H_
