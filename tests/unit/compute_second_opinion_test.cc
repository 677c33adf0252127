// What follows from repeating a wrong run.
#include "compute/second_opinion.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "model/record/finding_ids.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

class Named : public Candidate {
 public:
  explicit Named(std::string name, bool deterministic = true)
      : name_(std::move(name)), deterministic_(deterministic) {}
  std::string Name() const override { return name_; }
  std::size_t Prepare() override { return 0; }
  bool deterministic() const override { return deterministic_; }
  std::int64_t number() const override { return 0; }
  void Run(const VariantPack&) override {}

 private:
  std::string name_;
  bool deterministic_;
};

const ComputeFindings kFindings = [] {
  ComputeFindings findings = {};
  findings.wrong = "wrong", findings.unexplained = "unexplained";
  return findings;
}();
const char* Finding(const SecondOpinion& opinion) { return FindingOf(opinion, kFindings); }

const std::vector<unsigned char> kWrong = {1, 2}, kOther = {1, 3}, kRight = {1, 1};

// The suspect gives `suspects` in turn; of the others those named so are right.
SecondOpinion Of(Named suspect, std::vector<std::vector<unsigned char>> suspects,
                 const std::vector<std::string>& others, const std::string& right) {
  std::size_t at = 0;
  const Rerunner run = [&](Candidate& c) -> std::optional<Rerun> {
    if (&c == &suspect) return Rerun{suspects.at(at++), false};
    if (c.Name() == "unsupported") return std::nullopt;
    if (c.Name() == "broken") throw std::runtime_error("the context is gone");
    const bool good = c.Name() == right;
    return Rerun{good ? kRight : kWrong, good};
  };
  return AskAgain(suspect, kWrong, run, [&] {
    Candidates candidates;
    for (const std::string& name : others) candidates.list.push_back(std::make_unique<Named>(name));
    return candidates;
  });
}

TEST(SecondOpinionOfCompute, TheSameBitsAndAnotherAlgorithmRightIsTheImages) {
  const SecondOpinion r = Of(Named("a"), {kWrong, kWrong}, {"a", "unsupported", "b", "c"}, "c");
  EXPECT_STREQ(Finding(r), kFindings.wrong);
  EXPECT_EQ(TextOf(r), "2 of 2 repetitions gave the same bits; c is right; also wrong: b");
}

TEST(SecondOpinionOfCompute, TheSameBitsAndNoneRightIsNobodys) {
  EXPECT_STREQ(Finding(Of(Named("a"), {kWrong, kWrong}, {"b"}, "")), kFindings.unexplained);
  const SecondOpinion alone = Of(Named("a"), {kWrong, kWrong}, {"a", "unsupported"}, "a");
  EXPECT_STREQ(Finding(alone), kFindings.unexplained) << "an algorithm is no witness for itself";
  EXPECT_THAT(TextOf(alone), testing::Not(HasSubstr("wrong: ")));
}

TEST(SecondOpinionOfCompute, OtherBitsAreTheGpusWhereTheSameArePromised) {
  for (const auto& second : {kOther, kRight}) {
    EXPECT_STREQ(Finding(Of(Named("a"), {kWrong, second}, {"b"}, "b")), kGpuComputesWrong);
    EXPECT_STREQ(Finding(Of(Named("a", false), {kWrong, second}, {"b"}, "b")), kFindings.wrong);
    EXPECT_STREQ(Finding(Of(Named("a", false), {kWrong, second}, {"b"}, "")), kFindings.unexplained);
  }
}

TEST(SecondOpinionOfCompute, AnEngineIsOneAlgorithmByWhicheverListItCame) {
  const SecondOpinion r =
      Of(Named("engine 17"), {kWrong, kWrong}, {"heuristics A 0, engine 17", "fallback 1, engine 1"},
         "heuristics A 0, engine 17");
  EXPECT_STREQ(Finding(r), kFindings.unexplained);
  EXPECT_THAT(TextOf(r), HasSubstr("wrong: fallback 1, engine 1"));
}

// By whichever name: the frontend of cuDNN writes eng2_k24=28.
TEST(SecondOpinionOfCompute, ConfigurationsOfOneEngineAreOneWitness) {
  const SecondOpinion r =
      Of(Named("heuristics A 0, eng1_k24=26"), {kWrong, kWrong},
         {"heuristics A 1, eng1_k24=28", "every engine, engine 1", "heuristics A 2, engine 2",
          "heuristics A 3, engine 2", "fallback 0, eng2_k24=1", "fallback 1, eng2_k24=2",
          "fallback 2, eng21_k24=2", "fallback 3, eng3"},
         "fallback 3, eng3");
  EXPECT_THAT(r.wrong, testing::ElementsAre("heuristics A 2, engine 2", "fallback 2, eng21_k24=2"));
  EXPECT_EQ(r.right, "fallback 3, eng3");
}

TEST(SecondOpinionOfCompute, FourOthersThatAreWrongAreEnough) {
  const SecondOpinion r = Of(Named("a"), {kWrong, kWrong}, {"b", "c", "d", "e", "f"}, "f");
  EXPECT_EQ(r.wrong.size(), 4u);
  EXPECT_EQ(r.right, "");
}

TEST(SecondOpinionOfCompute, WhatFailsIsToldAndChangesNothing) {
  const SecondOpinion r = Of(Named("a"), {kWrong, kWrong}, {"broken", "b"}, "b");
  EXPECT_STREQ(Finding(r), kFindings.unexplained);
  EXPECT_THAT(TextOf(r), HasSubstr("; then broken: "));
}

// What a case says of six wrong results, each repeated with these bits, beside another that is right or not.
std::vector<CaseOpinions::Said> OfCase(const std::vector<unsigned char>& repeated, bool right, int* runs) {
  CaseOpinions opinions(kFindings);
  std::vector<CaseOpinions::Said> said;
  for (int i = 0; i < 6; ++i) {
    Named suspect("a");
    const Rerunner run = [&](Candidate& c) -> std::optional<Rerun> {
      ++*runs;
      return c.Name() == "a" ? Rerun{repeated, false} : Rerun{kRight, right};
    };
    said.push_back(opinions.On(suspect, kWrong, run, [] {
      Candidates others;
      others.list.push_back(std::make_unique<Named>("b"));
      return others;
    }));
  }
  return said;
}

TEST(SecondOpinionOfCompute, OfACaseThreeAreAskedAboutAndTheRestIsNotTakenForThem) {
  int runs = 0;
  const auto right = OfCase(kWrong, true, &runs);
  EXPECT_EQ(runs, 9);
  EXPECT_EQ(right[2].text, "2 of 2 repetitions gave the same bits; b is right");
  EXPECT_EQ(right[3].text, "not repeated; the last one that was repeated: " + right[2].text);
  EXPECT_STREQ(right[3].finding, kFindings.wrong);
  EXPECT_STREQ(OfCase(kWrong, false, &runs)[5].finding, kFindings.unexplained);
  const auto changed = OfCase(kOther, true, &runs);
  EXPECT_STREQ(changed[2].finding, kGpuComputesWrong);
  EXPECT_STREQ(changed[3].finding, kFindings.unexplained);
}

TEST(SecondOpinionOfCompute, OfThoseThatAreNotAskedAboutNoneIsItsOwnWitness) {
  CaseOpinions opinions(kFindings);
  const auto slug_of = [&](const char* name) -> std::string {
    Named suspect(name);
    const Rerunner run = [](Candidate& c) -> std::optional<Rerun> {
      const bool good = c.Name() == "heuristics A 0, engine 2";
      return Rerun{good ? kRight : kWrong, good};
    };
    return opinions
        .On(suspect, kWrong, run,
            [] {
              Candidates others;
              others.list.push_back(std::make_unique<Named>("heuristics A 0, engine 2"));
              return others;
            })
        .finding;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(slug_of("engine 1"), kFindings.wrong);
  EXPECT_EQ(slug_of("engine 2"), kFindings.unexplained) << "it was right before, and is wrong now";
  EXPECT_EQ(slug_of("engine 3"), kFindings.wrong);
}

TEST(CandidatesTest, FurtherOnesAreAskedForOnceAndOnlyBehindTheLast) {
  Candidates candidates;
  candidates.list.push_back(std::make_unique<Named>("first"));
  int asked = 0;
  candidates.more = [&](Candidates* c) {
    ++asked;
    c->list.push_back(std::make_unique<Named>("further"));
  };
  EXPECT_EQ(candidates.At(0)->Name(), "first");
  EXPECT_EQ(asked, 0) << "it takes the library its time";
  EXPECT_EQ(candidates.At(1)->Name(), "further");
  EXPECT_EQ(candidates.At(2), nullptr);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace cudnn_ci
