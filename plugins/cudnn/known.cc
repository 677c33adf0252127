#include "cudnn/known.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "common/known_regressions.h"
#include "cudnn/findings.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kNamed = 6;  // the attachment has all

// What is visible.
struct Machine {
  std::vector<std::string> compute_capabilities;  // of each GPU; empty where it is not known
  std::string cublaslt;
};

Machine MachineOf(const Context& ctx, const std::string& cublaslt) {
  Machine machine;
  machine.cublaslt = cublaslt;
  const int count = std::atoi(ctx.Fact(CCI_FACT_GPU_COUNT).c_str());
  for (int i = 0; i < count; ++i)
    machine.compute_capabilities.push_back(
        ctx.Fact((CCI_FACT_GPU + std::to_string(i) + CCI_FACT_GPU_COMPUTE_CAPABILITY).c_str()));
  return machine;
}

// Whether the machine and the image are such that it can happen. What limits the convolutions is not asked.
bool CanHappen(const KnownRegression& row, const Machine& machine, const Satisfies& satisfies) {
  const auto given = [&row](const char* key) {
    const auto found = row.hits.find(key);
    return found == row.hits.end() || found->second.empty() ? "" : found->second.front();
  };
  if (const std::string least = given("gpus_min");
      !least.empty() && static_cast<int>(machine.compute_capabilities.size()) < std::atoi(least.c_str()))
    return false;
  if (const std::string least = given("cublaslt_min");
      !least.empty() && (machine.cublaslt.empty() || !satisfies(machine.cublaslt, ">=" + least)))
    return false;
  const auto fits = [&](const std::string& gpu) { return FitsGpu(row.hits, gpu, satisfies); };
  // Without a GPU, what any one would show.
  return FitsGpu(row.hits, "", satisfies) ||
         std::any_of(machine.compute_capabilities.begin(), machine.compute_capabilities.end(), fits);
}

// What a program does not notice, or cannot survive, and another release is without: the others are known of
// every newer one as well, and a warning that nobody can heed would be on every image.
bool IsWorthAWarning(const KnownRegression& row) {
  return (row.effect == "wrong" || row.effect == "overwrite" || row.effect == "crash") && !row.Open();
}

// The earliest release that has all of these fixed; empty: the table does not know one, it is known to be
// wrong in another way here, or the matrix does not want it.
std::string ReleaseWithout(const Context& ctx, const std::vector<KnownRegression>& rows,
                           const Machine& machine, const Satisfies& satisfies) {
  std::string release;
  for (const KnownRegression& row : rows) {
    if (row.fixed.empty()) return {};
    if (release.empty() || satisfies(row.fixed, ">" + release)) release = row.fixed;
  }
  if (release.empty() || !PromiseOf(ctx, "image.cudnn").Kept(release)) return {};
  for (const KnownRegression& row : KnownRegressionsOf(ctx, release))
    if (CanHappen(row, machine, satisfies) && IsWorthAWarning(row)) return {};
  return release;
}

}  // namespace

void WarnOfKnownRegressions(Context& ctx, const std::string& version, const std::string& cublaslt,
                            const InstalledPackage& package) {
  const Machine machine = MachineOf(ctx, cublaslt);
  const Satisfies satisfies = [&ctx](const std::string& v, const std::string& range) {
    return ctx.Satisfies(v, range);
  };
  std::size_t count = 0;
  std::string named, all;
  std::vector<KnownRegression> warned;
  for (const KnownRegression& row : KnownRegressionsOf(ctx, version)) {
    if (!CanHappen(row, machine, satisfies)) continue;
    all += row.id + ": " + row.Text() + "\n";
    if (!IsWorthAWarning(row)) continue;
    warned.push_back(row);
    if (++count > kNamed) continue;
    named += "; " + row.what + " (" + row.effect + "; " + row.Remedy() + ")";
  }
  if (count == 0) return;
  if (count > kNamed) named += "; and " + std::to_string(count - kNamed) + " more";
  ctx.Attach("known-regressions.txt", "text/plain", all);
  ctx.Finding(kKnownRegression,
              std::to_string(count) + (count == 1 ? " known regression" : " known regressions") +
                  " of cuDNN " + version + " (version facts as of " +
                  ctx.Compatibility(CCI_COMPATIBILITY_AS_OF) + "; all are in known-regressions.txt)" + named,
              {ReleaseLine(package, ReleaseWithout(ctx, warned, machine, satisfies))});
}

}  // namespace cudnn_ci
