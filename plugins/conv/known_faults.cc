#include "conv/known_faults.h"

#include <utility>

#include "common/known_rows.h"
#include "conv/findings.h"
#include "conv/legacy/algorithms.h"
#include "conv/needed_api.h"

namespace cudnn_ci {
namespace {

constexpr char kCrash[] = "crash";

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
      rows_(KnownRowsOf(ctx, version,
                        [this](const Predicates& hits) { return HitsConvolution(hits, subject_, asked_); })) {
}

void KnownFaults::NoteCrashes(Context& ctx) const {
  for (const KnownRegression& row : rows_)
    if (row.effect == kCrash) ctx.Finding(kKnownCrash, row.Text());
}

std::string KnownFaults::KnownFaultText(std::initializer_list<const char*> effects,
                                        const Candidate* ran) const {
  KnownChoice choice = asked_;
  if (ran != nullptr && subject_.api == kGraphApi) choice = {false, "", ran->number()};
  if (ran != nullptr && subject_.api != kGraphApi) choice = {false, ran->Name(), -1};
  return TextOfKnown(rows_, effects,
                     [&](const Predicates& hits) { return HitsConvolution(hits, subject_, choice); });
}

}  // namespace cudnn_ci
