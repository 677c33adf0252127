#include "compute/prepared_case.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace cudnn_ci {
namespace {

struct Kept {
  std::uint64_t seed = 0;  // of the case, by which it is known
  std::optional<Candidates> candidates;
};

// Never destroyed: at exit the library may be gone before it.
Kept& TheKept() {
  static Kept* const kKept = new Kept;
  return *kKept;
}

}  // namespace

void PrepareComputeCase(Context& ctx, ComputeProblem* problem) {
  const CaseRequest& request = problem->request();
  if (request.sweep || request.search) return;
  problem->OpenSession(ctx);
  Candidates candidates = problem->Open(request.choice, {});
  if (Candidate* const first = candidates.At(0)) first->Prepare();
  TheKept() = {ctx.Seed(), std::move(candidates)};
}

Candidates PreparedOr(const Context& ctx, const std::function<Candidates()>& open) {
  Kept& kept = TheKept();
  if (!kept.candidates || kept.seed != ctx.Seed()) return open();
  return *std::exchange(kept.candidates, std::nullopt);
}

}  // namespace cudnn_ci
