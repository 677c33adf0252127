#include "common/overlap.h"

#include <algorithm>

#include "base/path.h"
#include "common/install_line.h"
#include "image/packages/record_conflicts.h"

namespace cudnn_ci {

std::string PackagesThatRequire(const InstalledPackages& packages, PythonRequirements* requirements,
                                const Package& package, bool for_extras,
                                const std::vector<const Package*>& but) {
  for (const Package& other : packages.packages()) {
    if (std::find(but.begin(), but.end(), &other) != but.end()) continue;
    for (const PythonRequirement& requirement : requirements->Of(other))
      if ((for_extras || !requirement.optional) && requirement.name == package.name) return other.Text();
  }
  return "";
}

Overlap DescribeOverlap(const InstalledPackages& packages, PythonRequirements* requirements,
                        const Package& loser, const Package& winner) {
  Overlap overlap = {PackagesThatRequire(packages, requirements, loser, true),
                     PackagesThatRequire(packages, requirements, winner, true), "", ""};
  if (!overlap.for_loser.empty()) overlap.words += "; " + overlap.for_loser + " requires " + loser.name;
  if (!overlap.for_winner.empty()) overlap.words += "; " + overlap.for_winner + " requires " + winner.name;
  if (overlap.for_loser.empty() && overlap.for_winner.empty()) {
    overlap.words +=
        "; pip uninstall -y " + loser.name + " " + winner.name + "; pip install the one that you need";
  } else if (!overlap.for_loser.empty() && !overlap.for_winner.empty()) {
    overlap.words += "; install them in separate environments";
  } else {
    const bool keeps_loser = overlap.for_winner.empty();
    const Package &kept = keeps_loser ? loser : winner, &gone = keeps_loser ? winner : loser;
    overlap.words += "; pip uninstall -y " + gone.name + "; pip install --force-reinstall --no-deps " +
                     kept.name + "==" + kept.version;
    overlap.line = ReplaceLine({Manager::kPip, kept.name, kept.version, PythonOf(DirectoryOf(kept.records))},
                               {gone.name});
  }
  return overlap;
}

std::optional<ReplacedWheel> FindReplacedWheel(const std::string& file, const std::string& prefix,
                                               int cuda_major) {
  const std::string folder = DirectoryOf(file);  // SITE/nvidia/cudnn/lib
  const std::string site = DirectoryOf(DirectoryOf(DirectoryOf(folder)));
  const std::string right = prefix + std::to_string(cuda_major);
  InstalledPackages packages;
  packages.AddPython(site);
  if (!packages.Python(right)) return {};
  for (const ReplacedFiles& replaced : FindRecordConflicts(packages.packages()).replaced) {
    const bool of_these = replaced.loser.name == right && replaced.winner.name.starts_with(prefix);
    if (!of_these || !replaced.files.front().starts_with(folder + "/")) continue;
    PythonRequirements requirements(&packages);
    return ReplacedWheel{replaced.loser, replaced.winner,
                         DescribeOverlap(packages, &requirements, replaced.loser, replaced.winner)};
  }
  return {};
}

}  // namespace cudnn_ci
