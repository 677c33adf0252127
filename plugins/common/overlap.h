// Two Python packages that have written the same files, so that one has those of the other: who requires
// which, and what leaves one of them whole. Read from records.
#ifndef CUDNN_CI_PLUGINS_COMMON_OVERLAP_H_
#define CUDNN_CI_PLUGINS_COMMON_OVERLAP_H_

#include <optional>
#include <string>
#include <vector>

#include "image/packages/installed_packages.h"
#include "image/packages/python_requirements.h"

namespace cudnn_ci {

struct Overlap {
  std::string for_loser, for_winner;  // who requires each: "torch 2.15.0"; empty: nobody
  std::string words;  // of these, and of what to do: "; torch 2.15.0 requires x; pip uninstall -y y; ..."
  std::string line;   // of a Dockerfile; empty: none is certain
};

// Who requires the package, extras aside or with them, other than these: "torch 2.15.0"; empty: nobody.
std::string PackagesThatRequire(const InstalledPackages& packages, PythonRequirements* requirements,
                                const Package& package, bool for_extras,
                                const std::vector<const Package*>& but = {});

// `loser` has lost files to `winner`. Which one is meant is known where one alone is required, by an extra
// too: which extras were asked for is on no record. Where both are, each needs an environment.
Overlap DescribeOverlap(const InstalledPackages& packages, PythonRequirements* requirements,
                        const Package& loser, const Package& winner);

// The same of a library of a wheel of NVIDIA's, "SITE/nvidia/cudnn/lib/libcudnn.so.9": another of the
// packages whose names begin with `prefix` ("nvidia-cudnn-cu") has replaced what the one for this CUDA major
// brought. None: none has. Reads the records of all packages of the environment.
struct ReplacedWheel {
  Package loser, winner;
  Overlap overlap;
};
std::optional<ReplacedWheel> FindReplacedWheel(const std::string& file, const std::string& prefix,
                                               int cuda_major);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_OVERLAP_H_
