// Which cases are repeated for their time, in which order, and what the repetitions mean.
#include "exec/schedule/slowness.h"

#include <gmock/gmock.h>

#include "exec/schedule/reattempts.h"
#include "golden_messages.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Course = Slowness::Course;

// Cases of one check on gpu0 that took a millisecond in the baseline; half as much again is allowed.
class SlownessTest : public testing::Test {
 protected:
  static constexpr size_t kCases = 40;
  SlownessTest() {
    RunStarted run;
    run.timestamp = "2026-01-31T10:00:00Z";
    Add(run);
    for (size_t i = 0; i < kCases; ++i) {
      Case c;
      c.planned.ref = {"conv.a[i=" + std::to_string(i) + "]", "gpu0"};
      c.planned.check = "conv.a";
      c.max_slowdown = 1.5;
      plan_.cases.push_back(c);
      baseline_.cases[c.planned.ref] = {{"milliseconds", {1, "ms", false}}, {"rate", {10, "TFLOP/s", true}}};
    }
  }
  // The plan is recorded when it is what the test wants.
  void Record() {
    for (const Case& c : plan_.cases) Add(c.planned);
    slowness_.emplace(plan_, fold_.summary(), baseline_, facts_);
  }
  void Add(EventBody body) { fold_.Apply({++seq_, 0, std::move(body)}); }
  void Measure(size_t i, double ms, const std::string& unit = "ms") {
    const CaseRef& ref = plan_.cases[i].planned.ref;
    Add(AttemptStarted{ref, 1, 1, AttemptMode::kAlone});
    Add(Measured{ref, "milliseconds", ms, unit, "lower"});
    Add(AttemptFinished{ref, 1, 1, Passed{}, 0, "", ""});
  }
  bool Pass(size_t i, double ms) {
    Measure(i, ms);
    return slowness_->Consider(i, Passed{});
  }
  Course Again(size_t i, double ms) {
    slowness_->SetAsked(i);
    Measure(i, ms);
    found_.clear();
    return slowness_->Answer(i, Passed{}, &found_);
  }
  Course ThreeTimes(size_t i, double ms) {
    EXPECT_EQ(Again(i, ms), Course::kRepeat);
    EXPECT_EQ(Again(i, ms), Course::kRepeat);
    return Again(i, ms);
  }
  Plan plan_;
  Fold fold_;
  int64_t seq_ = 0;
  SpeedBaseline baseline_;
  Facts facts_;
  std::optional<Slowness> slowness_;
  std::vector<Finding> found_;
};

TEST_F(SlownessTest, OnlyAPassThatIsSlowerThanItMayBeWaits) {
  plan_.cases[3].max_slowdown = 0;
  baseline_.cases.erase(plan_.cases[4].planned.ref);
  Record();
  EXPECT_TRUE(Pass(0, 1.6));
  EXPECT_FALSE(Pass(1, 1.5));
  EXPECT_FALSE(Pass(2, 0.1));
  EXPECT_FALSE(Pass(3, 9)) << "it is not held to the baseline";
  EXPECT_FALSE(Pass(4, 9)) << "the baseline has none of it";
  Measure(5, 9);
  EXPECT_FALSE(slowness_->Consider(5, Failed{}));
  Measure(6, 9, "s");
  EXPECT_FALSE(slowness_->Consider(6, Passed{})) << "of another unit";
  EXPECT_EQ(slowness_->Next(), std::optional<size_t>(0));
  slowness_->SetAsked(0);
  EXPECT_EQ(slowness_->Next(), std::nullopt);
}

TEST_F(SlownessTest, NobodyWaitsTwice) {
  Record();
  EXPECT_TRUE(Pass(0, 9));
  slowness_->Forget(0);
  EXPECT_FALSE(Pass(0, 9));
  slowness_->Reconsider(0);
  EXPECT_TRUE(Pass(0, 9)) << "unless it is run again for another reason";
}

TEST_F(SlownessTest, TheSlowestIsRepeatedFirstAndToItsEnd) {
  Record();
  EXPECT_TRUE(Pass(0, 2));
  EXPECT_TRUE(Pass(1, 4));
  EXPECT_EQ(slowness_->Next(), std::optional<size_t>(1));
  EXPECT_EQ(Again(1, 1.7), Course::kRepeat);
  EXPECT_TRUE(Pass(2, 8));
  EXPECT_EQ(slowness_->Next(), std::optional<size_t>(1));
  EXPECT_EQ(Again(1, 1.7), Course::kRepeat);
  EXPECT_EQ(Again(1, 1.7), Course::kFail);
  EXPECT_EQ(slowness_->Next(), std::optional<size_t>(2));
}

TEST_F(SlownessTest, AMeasurementThatIsNotRepeatedSaysNothing) {
  Record();
  EXPECT_TRUE(Pass(0, 9));
  EXPECT_EQ(Again(0, 9), Course::kRepeat);
  slowness_->SetAsked(0);
  Measure(0, 9, "s");
  EXPECT_EQ(slowness_->Answer(0, Passed{}, &found_), Course::kPass);
}

TEST_F(SlownessTest, AfterThreeThatCloseTheGateTheRestPassesWithAWarning) {
  plan_.cases[0].planned.required = false;
  Record();
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(Pass(i, 9));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(slowness_->TakeKnown(), IsEmpty()) << i;
    EXPECT_EQ(ThreeTimes(i, 9), Course::kFail);
    ASSERT_EQ(found_.size(), 1u);
    EXPECT_EQ(found_[0].slug, "slower-than-baseline");
  }
  const auto known = slowness_->TakeKnown();
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0].first, 4u);
  EXPECT_EQ(known[0].second.severity, Severity::kWarning);
  EXPECT_THAT(GoldenMessages("exec.txt").Row("after three", known[0].second.detail), HasSubstr(" 3 other "));
  EXPECT_THAT(slowness_->Waiting(), IsEmpty());
}

TEST_F(SlownessTest, WaivedOnesSpeakForNoOther) {
  Add(WaiverDeclared{{"conv.a*", "slower-than-baseline", "known", "us", "2999-01-01"}});
  Record();
  for (size_t i = 0; i < 6; ++i) EXPECT_TRUE(Pass(i, 9));
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(ThreeTimes(i, 9), Course::kFail);
  EXPECT_THAT(slowness_->TakeKnown(), IsEmpty());
}

TEST_F(SlownessTest, AfterManyThatWereFastAloneTheRestIsBelieved) {
  Record();
  for (size_t i = 0; i < kCases; ++i) EXPECT_TRUE(Pass(i, 9));
  for (size_t i = 0; i < size_t{reattempts::kSlowUnconfirmed}; ++i) {
    EXPECT_THAT(slowness_->TakeKnown(), IsEmpty()) << i;
    EXPECT_EQ(Again(i, 1), Course::kPass);
    EXPECT_THAT(found_, IsEmpty());
  }
  EXPECT_EQ(slowness_->TakeKnown().size(), kCases - size_t{reattempts::kSlowUnconfirmed});
}

TEST_F(SlownessTest, BlameFollowsFromWhatIsKnown) {
  baseline_.libraries = "toolkit: 12.4 -> 12.8";
  Record();
  EXPECT_TRUE(Pass(0, 9));
  EXPECT_EQ(ThreeTimes(0, 9), Course::kFail);
  EXPECT_EQ(found_.at(0).blame, Blame::kImage);
  EXPECT_THAT(found_.at(0).detail,
              AllOf(HasSubstr(" 9.00 "), HasSubstr(" 1.50 "), HasSubstr(": toolkit: 12.4 -> 12.8")));
  GoldenMessages("exec.txt").Row("another toolkit", found_.at(0).detail);
  facts_.by_subject["system"] = {{"gpu.count", "1"}, {"gpu.0.uuid", "GPU-1"}, {"gpu.0.slowed_by", "heat"}};
  EXPECT_TRUE(Pass(1, 9));
  EXPECT_EQ(ThreeTimes(1, 9), Course::kFail);
  EXPECT_EQ(found_.at(0).blame, Blame::kRunner);
}

}  // namespace
}  // namespace cudnn_ci
