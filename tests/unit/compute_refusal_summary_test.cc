// Why a problem has no algorithm, from the answers of made-up candidates.
#include "compute/refusal_summary.h"

#include <gmock/gmock.h>

#include "mentions.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Agrees with a workspace, or answers a failure.
class Answering : public Candidate {
 public:
  Answering(std::string name, std::size_t bytes) : name_(std::move(name)), bytes_(bytes) {}
  Answering(std::string name, CudnnFailure failure) : name_(std::move(name)), failure_(std::move(failure)) {}
  std::string Name() const override { return name_; }
  std::size_t Prepare() override {
    if (failure_) throw CudnnFailure(*failure_);
    return bytes_;
  }
  bool deterministic() const override { return true; }
  std::int64_t number() const override { return 0; }
  void Run(const VariantPack&) override {}

 private:
  std::string name_;
  std::size_t bytes_ = 0;
  std::optional<CudnnFailure> failure_;
};

CudnnFailure Answer(int status, const std::string& words = "") {
  return {"cudnnBackendFinalize(engine): " + std::to_string(status) + words, true, status,
          CauseOf(9, status)};
}

template <class... Of>
void Add(Candidates* candidates, Of&&... of) {
  candidates->list.push_back(std::make_unique<Answering>(std::forward<Of>(of)...));
}

const std::function<bool()> kForEver = [] { return true; };

TEST(RefusalSummaryTest, CountsWhatTheAnswersSayAndHasTheFirstOfEach) {
  Candidates candidates;
  Add(&candidates, "engine 0", Answer(3000));
  Add(&candidates, "engine 1", Answer(3004));
  Add(&candidates, "engine 2", Answer(3007));
  Add(&candidates, "engine 3", Answer(3004));
  Add(&candidates, "engine 4", Answer(3011));
  RefusalSummary why(Answer(3000));
  why.AskEach(&candidates, 0, kForEver);
  EXPECT_EQ(why.Head(), "cause type or architecture 1, layout 2, padding 1, not said 1; ");
  EXPECT_EQ(why.Tail(),
            "; 5 asked one by one: type or architecture 1 (engine 2: cudnnBackendFinalize(engine): 3007), "
            "layout 2 (engine 1: cudnnBackendFinalize(engine): 3004), "
            "padding 1 (engine 4: cudnnBackendFinalize(engine): 3011), "
            "not said 1 (engine 0: cudnnBackendFinalize(engine): 3000)");
  EXPECT_FALSE(why.offered());
  EXPECT_FALSE(why.broken());
  EXPECT_EQ(candidates.list.front(), nullptr) << "its plan is let go";
}

TEST(RefusalSummaryTest, OneAnswerStandsForItselfWhereNobodyIsAsked) {
  EXPECT_EQ(RefusalSummary(Answer(3011)).Head(), "cause padding; ");
  EXPECT_EQ(RefusalSummary(Answer(3011)).Tail(), "");
  EXPECT_EQ(RefusalSummary().Head(), "") << "nothing was answered";
}

TEST(RefusalSummaryTest, WorkspaceIsToldBesideWhatIsFree) {
  Candidates candidates;
  Add(&candidates, "engine 0", 7 * kMiB);
  Add(&candidates, "engine 1", 8 * kMiB + 1);
  RefusalSummary why(Answer(3000));
  why.AskEach(&candidates, 8 * kMiB, kForEver);
  EXPECT_EQ(why.Head(), "cause offered when asked 1, memory 1; ");
  EXPECT_THAT(why.Tail(), Mentions("asked 1 (engine 0: workspace 7340032 B, 9 MiB free)"));
  EXPECT_THAT(why.Tail(), HasSubstr("memory 1 (engine 1: workspace 8388609 B, 9 MiB free)"));
  EXPECT_TRUE(why.offered());
}

TEST(RefusalSummaryTest, ABrokenInstallationIsTheFirstOfThem) {
  Candidates candidates;
  Add(&candidates, "engine 0", Answer(3000));
  Add(&candidates, "engine 1", Answer(3008));
  Add(&candidates, "engine 2", Answer(3009));
  RefusalSummary why(Answer(3000));
  why.AskEach(&candidates, 0, kForEver);
  ASSERT_TRUE(why.broken());
  EXPECT_EQ(why.broken()->status(), 3008);
  EXPECT_EQ(why.Head(), "cause broken installation or driver 2, not said 1; ");
}

// An engine of many, which nothing proposed, wants a newer driver or a part that a package goes without.
TEST(RefusalSummaryTest, WhatOneEngineWantsBreaksNoInstallation) {
  Candidates candidates;
  int engine = 0;
  for (const int status : {3000, 3005, 3006, 3009})
    Add(&candidates, "engine " + std::to_string(engine++), Answer(status));
  RefusalSummary why(Answer(3000));
  why.AskEach(&candidates, 0, kForEver);
  EXPECT_FALSE(why.broken());
  EXPECT_EQ(why.Head(), "cause broken installation or driver 3, not said 1; ");
}

TEST(RefusalSummaryTest, AskingEndsWithTheTimeForIt) {
  Candidates candidates;
  for (int i = 0; i < 5; ++i) Add(&candidates, "engine", Answer(3004));
  int left = 2;
  RefusalSummary why;
  why.AskEach(&candidates, 0, [&left] { return left-- > 0; });
  EXPECT_EQ(why.Head(), "cause layout 2; ");
  EXPECT_THAT(why.Tail(), Mentions("; 2 of 5 asked", "time", ": layout 2 ("));
}

TEST(RefusalSummaryTest, LongWordsAreCut) {
  Candidates candidates;
  Add(&candidates, "engine 0", Answer(3004, std::string(2000, 'x')));
  RefusalSummary why;
  why.AskEach(&candidates, 0, kForEver);
  EXPECT_LT(why.Tail().size(), 400u);
}

TEST(RefusalSummaryTest, WhatCannotBeDescribedCanBeAskedOfNone) {
  RefusalSummary why(Answer(3002));
  why.Ask([]() -> Candidates { throw Answer(3002); }, 0);
  EXPECT_EQ(why.Head(), "cause shape; ");
  EXPECT_EQ(why.Tail(), "");
}

}  // namespace
}  // namespace cudnn_ci
