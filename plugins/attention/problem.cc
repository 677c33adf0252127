#include "attention/problem.h"

#include <utility>

#include "attention/graph.h"
#include "common/attention_faults.h"

namespace cudnn_ci {
namespace {

constexpr int kFirstMajor = 9;

CaseRequest RequestOf(const AttentionProblemSpec& spec, const std::string& algo) {
  CaseRequest request;
  request.choice = algo;
  request.alternatives = "every";
  request.sweep = algo != "auto";
  request.text =
      std::string("attention, ") + (spec.backward ? "backward, " : "forward, ") + spec.shape.Text();
  request.run_step = "attend";
  request.number = "engine";
  return request;
}

}  // namespace

AttentionProblem::AttentionProblem(AttentionProblemSpec spec, const std::string& algo, bool deterministic)
    : spec_(std::move(spec)),
      deterministic_(deterministic),
      operands_(AttentionOperands(spec_)),
      request_(RequestOf(spec_, algo)),
      reference_(AttentionReference(spec_)) {}

// Two products forward; backward the scores again, and four.
double AttentionProblem::Flops() const {
  double pairs = 0;
  for (std::int64_t b = 0; b < spec_.shape.batch; ++b)
    for (std::int64_t i = 0; i < spec_.shape.queries; ++i)
      pairs += static_cast<double>(spec_.shape.Visible(b, i).Count());
  const auto d = static_cast<double>(spec_.shape.head_size),
             dv = static_cast<double>(spec_.shape.v_head_size);
  return 2 * pairs * static_cast<double>(spec_.shape.q_heads) * (spec_.backward ? 3 * d + 2 * dv : d + dv);
}

DeviceSession& AttentionProblem::OpenSession(Context& ctx) {
  session_ = &Session::Get(CudnnMajors(PromiseOf(ctx, "image.cudnn"), ctx.SubjectFolders()));
  // cuDNN 8 has parts of it, from 8.9 on, which no framework of today asks for.
  if (session_->cudnn().major() < kFirstMajor)
    ctx.Skip(CCI_SKIP_ABSENT, "cuDNN 9, whose graph API has attention", session_->LibraryText());
  known_ = KnownRowsOf(ctx, session_->cudnn().VersionText(),
                       [this](const Predicates& hits) { return HitsAttention(hits, spec_, -1); });
  for (const KnownRegression& row : known_)
    if (row.effect == "crash") ctx.Finding(kAttentionKnownCrash, row.Text());
  return *session_;
}

Candidates AttentionProblem::Open(const std::string& choice, const SearchMemory&) {
  return AttentionCandidates(*session_, spec_, deterministic_, choice);
}

Expectation AttentionProblem::ExpectationOf(const Candidate&) const {
  // What is allowed of an element is the reference's to say.
  return {reference_, std::vector<double>(operands_.outputs.size(), 0)};
}

std::string AttentionProblem::Known(std::initializer_list<const char*> effects, const Candidate* ran) const {
  return TextOfKnown(known_, effects, [this, ran](const Predicates& hits) {
    return HitsAttention(hits, spec_, ran ? ran->number() : -1);
  });
}

}  // namespace cudnn_ci
