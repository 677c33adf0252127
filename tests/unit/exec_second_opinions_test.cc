// Which failures another GPU is asked about, which GPU, and what its answers mean.
#include "exec/schedule/second_opinions.h"

#include <gmock/gmock.h>

namespace cudnn_ci {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Course = SecondOpinions::Course;

// Six cases of one check on gpu0, of four GPUs of two models.
class SecondOpinionsTest : public testing::Test {
 protected:
  SecondOpinionsTest() {
    for (int i = 0; i < 6; ++i) {
      Case c;
      c.planned.ref = {"conv.a[i=" + std::to_string(i) + "]", "gpu0"};
      c.planned.check = "conv.a";
      c.devices = Devices::kOne;
      c.second_opinion = true;
      plan_.cases.push_back(c);
      Add(c.planned);
    }
    devices_ = {{"gpu0", "GPU-0", "NVIDIA H200", "9.0"},
                {"gpu1", "GPU-1", "NVIDIA H100", "9.0"},
                {"gpu2", "GPU-2", "NVIDIA H200", "9.0"},
                {"gpu3", "", "NVIDIA H200", "9.0"}};
    opinions_.emplace(plan_, fold_.summary(), devices_);
  }
  void Add(EventBody body) { fold_.Apply({++seq_, 0, std::move(body)}); }
  void Attempt(size_t i, AttemptMode mode, const Outcome& outcome, Blame blame,
               const std::string& slug = "wrong") {
    const CaseRef& ref = plan_.cases[i].planned.ref;
    Add(AttemptStarted{ref, 1, 1, mode});
    if (std::holds_alternative<Failed>(outcome)) {
      Finding finding;
      finding.slug = slug;
      finding.blame = blame;
      finding.detail = "4 in place of 5";
      Add(FindingReported{ref, finding});
    }
    Add(AttemptFinished{ref, 1, 1, outcome, 0, "", ""});
  }
  Course Fail(size_t i, Blame blame = Blame::kUndetermined) {
    Attempt(i, AttemptMode::kAlone, Failed{}, blame);
    found_.clear();
    return opinions_->Consider(i, Failed{}, &found_);
  }
  std::vector<Finding> Answer(size_t i, const Outcome& outcome, const std::string& slug = "wrong",
                              Course course = Course::kEnd) {
    Attempt(i, AttemptMode::kCrossDevice, outcome, Blame::kUndetermined, slug);
    AttemptResult there;
    there.case_index = i;
    there.outcome = outcome;
    std::vector<Finding> answer;
    EXPECT_EQ(opinions_->Answer(there, "gpu2", &answer), course);
    if (course == Course::kEnd) opinions_->Take(i);
    return answer;
  }
  Plan plan_;
  Fold fold_;
  int64_t seq_ = 0;
  std::vector<DeviceInfo> devices_;
  std::optional<SecondOpinions> opinions_;
  std::vector<Finding> found_;
};

TEST_F(SecondOpinionsTest, AGpuOfTheSameModelIsAsked) {
  EXPECT_THAT(opinions_->DevicesFor(0), ElementsAre("gpu2"));
  EXPECT_EQ(Fail(0), Course::kWait);
  EXPECT_THAT(opinions_->Waiting(), ElementsAre(0));
  const std::vector<Finding> answer = Answer(0, Passed{});
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].slug, "gpu-computes-wrong");
  EXPECT_EQ(answer[0].detail,
            "gpu0 (GPU-0) failed once, gpu2 (GPU-2), of the same model, passed; wrong: 4 in place of 5");
  EXPECT_THAT(opinions_->Waiting(), IsEmpty());
}

TEST_F(SecondOpinionsTest, WithoutAnotherOfTheModelNobodyWaits) {
  opinions_.emplace(plan_, fold_.summary(), std::vector<DeviceInfo>{devices_[0], devices_[1], devices_[3]});
  EXPECT_EQ(Fail(0), Course::kEnd);
  EXPECT_THAT(found_, IsEmpty());
}

TEST_F(SecondOpinionsTest, WhatContradictsItselfIsNotAskedElsewhere) {
  Attempt(0, AttemptMode::kAlone, Failed{}, Blame::kImage);
  found_ = {HarnessFinding("flaky", "")};
  EXPECT_EQ(opinions_->Consider(0, Failed{}, &found_), Course::kEnd);
  found_.clear();
  EXPECT_EQ(opinions_->Consider(0, Passed{}, &found_), Course::kEnd);
  EXPECT_EQ(opinions_->Consider(0, Errored{ErrorKind::kCrashed, ""}, &found_), Course::kEnd);
}

TEST_F(SecondOpinionsTest, ThreeAnswersThatAgreeSpeakForTheRest) {
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Fail(i), Course::kWait) << i;
    Answer(i, Passed{});
  }
  EXPECT_EQ(Fail(3), Course::kEnd);
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_EQ(found_[0].slug, "gpu-computes-wrong");
}

TEST_F(SecondOpinionsTest, TheImageIsBelievedUntilThreePassesSpeakAgainstIt) {
  EXPECT_EQ(Fail(0, Blame::kImage), Course::kWait);
  for (int pass = 0; pass < 2; ++pass) {
    opinions_->SetAsked(0);
    EXPECT_THAT(Answer(0, Passed{}, "", Course::kWait), IsEmpty());
    EXPECT_FALSE(opinions_->WasAsked(0));
  }
  const std::vector<Finding> answer = Answer(0, Passed{});
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0].slug, "gpu-computes-wrong");
  EXPECT_EQ(
      answer[0].detail,
      "gpu0 (GPU-0) failed once, gpu2 (GPU-2), of the same model, passed 3 times; wrong: 4 in place of 5");
  EXPECT_EQ(Fail(1, Blame::kImage), Course::kWait);
  Answer(1, Passed{}, "", Course::kWait);
  const std::vector<Finding> both = Answer(1, Failed{});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].slug, "fails-on-another-gpu");
  EXPECT_EQ(both[0].detail,
            "gpu0 (GPU-0) failed once, gpu2 (GPU-2), of the same model, failed too after it had passed once; "
            "wrong: 4 in place of 5");
}

TEST_F(SecondOpinionsTest, AFailureOfAnotherKindIsNoAnswer) {
  for (const char* slug : {"wrong", "wrong-unexplained", "gpu-computes-wrong"}) {
    EXPECT_EQ(Fail(0), Course::kWait);
    EXPECT_EQ(Answer(0, Failed{}, slug).size(), 1u) << slug;
  }
  opinions_.emplace(plan_, fold_.summary(), devices_);
  for (const char* slug : {"failed", "wrongly", "wron"}) {
    EXPECT_EQ(Fail(0), Course::kWait);
    EXPECT_THAT(Answer(0, Failed{}, slug), IsEmpty()) << slug;
  }
}

TEST_F(SecondOpinionsTest, AGpuThatIsSilentThreeTimesIsAskedNoMore) {
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Fail(i), Course::kWait) << i;
    EXPECT_THAT(Answer(i, Errored{ErrorKind::kTimedOut, ""}), IsEmpty());
  }
  EXPECT_THAT(opinions_->DevicesFor(3), IsEmpty());
  EXPECT_EQ(Fail(3), Course::kEnd);
}

TEST_F(SecondOpinionsTest, APluginOrAMatrixAtFaultIsNotAskedElsewhere) {
  EXPECT_EQ(Fail(0, Blame::kHarness), Course::kEnd);
  EXPECT_EQ(Fail(1, Blame::kMatrix), Course::kEnd);
  for (const Blame blame : {Blame::kImage, Blame::kRunner, Blame::kUndetermined})
    EXPECT_EQ(Fail(2, blame), Course::kWait);
}

TEST_F(SecondOpinionsTest, APluginAtFaultOnTheOtherGpuIsNoAnswer) {
  for (const Blame blame : {Blame::kHarness, Blame::kMatrix}) {
    EXPECT_EQ(Fail(0), Course::kWait);
    Attempt(0, AttemptMode::kCrossDevice, Failed{}, blame);
    AttemptResult there;
    there.case_index = 0;
    there.outcome = Failed{};
    std::vector<Finding> answer;
    EXPECT_EQ(opinions_->Answer(there, "gpu2", &answer), Course::kEnd);
    EXPECT_THAT(answer, IsEmpty());
    opinions_->Take(0);
  }
}

TEST_F(SecondOpinionsTest, AnAnswerIsOfItsOwnSubject) {
  plan_.cases[3].planned.subject = "torch";
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(Fail(i), Course::kWait) << i;
    Answer(i, Passed{});
  }
  EXPECT_EQ(Fail(3), Course::kWait) << "another cuDNN";
  EXPECT_EQ(Fail(4), Course::kEnd);
}

TEST_F(SecondOpinionsTest, AnswersThatDisagreeSpeakForNobodyElse) {
  EXPECT_EQ(Fail(0), Course::kWait);
  const std::vector<Finding> both = Answer(0, Failed{});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].slug, "fails-on-another-gpu");
  EXPECT_EQ(both[0].severity, Severity::kError);
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(Fail(i), Course::kWait) << i;
    Answer(i, Passed{});
  }
  EXPECT_EQ(Fail(5), Course::kWait);
}

TEST_F(SecondOpinionsTest, OneThatWaitsIsKnownWhenTheOthersWereAnswered) {
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(Fail(i), Course::kWait);
  std::vector<Finding> known;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(opinions_->IsKnown(3, &known));
    Answer(i, Failed{});
  }
  EXPECT_TRUE(opinions_->IsKnown(3, &known));
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].slug, "fails-on-another-gpu");
  EXPECT_TRUE(std::holds_alternative<Failed>(opinions_->Take(3)));
}

}  // namespace
}  // namespace cudnn_ci
