#include "conv/known_faults.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "conv/findings.h"
#include "conv/legacy/algorithms.h"
#include "conv/needed_api.h"

namespace cudnn_ci {
namespace {

constexpr char kCrash[] = "crash";

// Empty: the facts do not tell.
std::string ComputeCapabilityOfDevice(const Context& ctx) {
  const std::string uuid = ctx.DeviceUuid();
  const int count = std::atoi(ctx.Fact(CCI_FACT_GPU_COUNT).c_str());
  for (int i = 0; i < count; ++i) {
    const std::string gpu = CCI_FACT_GPU + std::to_string(i);
    if (ctx.Fact((gpu + CCI_FACT_GPU_UUID).c_str()) == uuid)
      return ctx.Fact((gpu + CCI_FACT_GPU_COMPUTE_CAPABILITY).c_str());
  }
  return "";
}

// An algorithm that the matrix names is no other; of all else any may be chosen.
KnownChoice ChoiceOf(const KnownSubject& subject, const std::string& algo) {
  const bool named = FindLegacyAlgorithm(subject.problem.operation, algo) != nullptr;
  return named ? KnownChoice{false, algo, -1} : KnownChoice{};
}

}  // namespace

KnownFaults::KnownFaults(const Context& ctx, const std::string& version, KnownSubject subject,
                         const std::string& algo)
    : subject_(std::move(subject)),
      asked_(ChoiceOf(subject_, algo)),
      rows_(KnownRegressionsOf(ctx, version)) {
  const std::string gpu = rows_.empty() ? "" : ComputeCapabilityOfDevice(ctx);
  const Satisfies satisfies = [&ctx](const std::string& v, const std::string& range) {
    return ctx.Satisfies(v, range);
  };
  const auto other = [&](const KnownRegression& row) {
    return !HitsConvolution(row.hits, subject_, asked_) || !FitsGpu(row.hits, gpu, satisfies);
  };
  rows_.erase(std::remove_if(rows_.begin(), rows_.end(), other), rows_.end());
}

void KnownFaults::NoteCrashes(Context& ctx) const {
  for (const KnownRegression& row : rows_)
    if (row.effect == kCrash) ctx.Finding(kKnownCrash, row.Text());
}

std::string KnownFaults::Behind(std::initializer_list<const char*> effects, const Candidate* ran) const {
  KnownChoice choice = asked_;
  if (ran != nullptr && subject_.api == kGraphApi) choice = {false, "", ran->number()};
  if (ran != nullptr && subject_.api != kGraphApi) choice = {false, ran->Name(), -1};
  std::string text;
  for (const KnownRegression& row : rows_) {
    const bool meant = std::any_of(effects.begin(), effects.end(),
                                   [&row](const char* effect) { return row.effect == effect; });
    if (meant && HitsConvolution(row.hits, subject_, choice)) text += "; " + row.Text();
  }
  return text;
}

}  // namespace cudnn_ci
