// Whose fault a wrong number is, on a machine with two fake GPUs: what another GPU says of a failure decides
// about the blame, and never makes a pass of it.
#include <gmock/gmock.h>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What the check finds on the first GPU and on the others.
std::string Numbers(const std::string& here, const std::string& there, const std::string& check = "numbers",
                    const std::string& rest = "") {
  return Entry("fixture." + check,
               R"("params": {"here": ")" + here + R"(", "there": ")" + there + "\"}" + rest);
}

class SecondOpinion : public testing::Test {
 protected:
  explicit SecondOpinion(int gpus = 2) { run_.UseFakeGpus(gpus); }
  GateResult Gate(const std::string& entries, const std::vector<std::string>& arguments = {},
                  const std::string& rest = "") {
    run_.Matrix(entries, 20, rest);
    GateResult result = run_.Run(arguments);
    id_ = result.report.is_null() ? "" : CaseIn(result);
    return result;
  }
  static std::string CaseIn(const GateResult& result) {
    for (const json& c : result.report["cases"])
      if (c["check"].get<std::string>().rfind("fixture.numbers", 0) == 0) return c["id"].get<std::string>();
    return "";
  }
  // How many attempts were made on another GPU.
  static size_t Asked(const GateResult& result) {
    size_t count = 0;
    for (const json& e : result.Events("AttemptStarted")) count += e["mode"] == "elsewhere" ? 1 : 0;
    return count;
  }
  GateRun run_;
  std::string id_;
};

TEST_F(SecondOpinion, WhatAnotherGpuGetsRightIsTheRunnersFaultAndStaysRed) {
  for (const std::string here : {"image", "undetermined", "expect", "runner"}) {
    const GateResult result = Gate(Numbers(here, "pass"));
    EXPECT_EQ(result.exit_code, 3) << here << result.out;
    EXPECT_EQ(result.Outcome(id_), "failed") << here;
    EXPECT_EQ(result.report["root_cause"]["slug"], "gpu-computes-wrong") << here;
    // One pass may be luck, and does not take the blame from the image.
    const bool thrice = here == "image" || here == "expect";
    EXPECT_EQ(Asked(result), thrice ? 3u : 1u) << here;
    const std::string detail = result.report["root_cause"]["detail"];
    EXPECT_EQ(detail.find("passed 3 times") != std::string::npos, thrice) << detail;
    EXPECT_THAT(detail, AllOf(HasSubstr("gpu0 (GPU-"), HasSubstr("failed once"), HasSubstr("gpu1 (GPU-"),
                              HasSubstr("passed")));
    if (here != "expect") {
      EXPECT_THAT(detail, HasSubstr("4 in place"));
    }
  }
}

TEST_F(SecondOpinion, WhatFailsOnBothIsTheImages) {
  const GateResult image = Gate(Numbers("image", "image"));
  EXPECT_EQ(image.exit_code, 1) << image.out;
  EXPECT_EQ(image.Errors(id_), "image.fixture-image") << "the second GPU is evidence, a note";
  EXPECT_THAT(image.report.dump(), HasSubstr("fails-on-another-gpu"));
  const GateResult nobody = Gate(Numbers("undetermined", "undetermined"));
  EXPECT_EQ(nobody.exit_code, 1) << nobody.out;
  EXPECT_EQ(nobody.report["root_cause"]["slug"], "fails-on-another-gpu");
  const GateResult unstable = Gate(Numbers("gpu", "gpu"));
  EXPECT_EQ(unstable.exit_code, 1) << "two GPUs are not broken in one way: " << unstable.out;
  EXPECT_EQ(Gate(Numbers("runner", "runner")).exit_code, 1) << "nor do two change their results in one way";
  const GateResult other = Gate(Numbers("image", "gpu"));
  EXPECT_EQ(other.exit_code, 1) << "what the other GPU says of itself is not the case's: " << other.out;
  EXPECT_EQ(other.Errors(id_), "image.fixture-image");
}

TEST_F(SecondOpinion, WithoutAnAnswerTheChecksOwnWordCounts) {
  for (const std::string there : {"crash", "skip", "harness", "undetermined"}) {
    const GateResult image = Gate(Numbers("image", there));
    EXPECT_EQ(Asked(image), 1u) << there;
    EXPECT_EQ(image.Outcome(id_), "failed") << there;
    EXPECT_EQ(image.exit_code, 1) << there << image.out;
    EXPECT_THAT(image.report.dump(),
                AllOf(Not(HasSubstr("gpu-computes-wrong")), Not(HasSubstr("fails-on-another-gpu"))));
  }
  const GateResult nobody = Gate(Numbers("undetermined", "skip"));
  EXPECT_EQ(nobody.exit_code, 6) << nobody.out;
  const GateResult another = Gate(Numbers("undetermined", "image"));
  EXPECT_EQ(another.exit_code, 6) << "it failed there for another reason: " << another.out;
  EXPECT_EQ(Gate(Numbers("undetermined", "harness")).exit_code, 6)
      << "nor is the plugin's fault there the case's";
  EXPECT_EQ(Gate(Numbers("expect", "harness")).exit_code, 1);
  const GateResult gpu = Gate(Numbers("gpu", "skip"));
  EXPECT_EQ(gpu.exit_code, 3) << gpu.out;
}

TEST_F(SecondOpinion, NobodyAsksWhereTheGpuCannotBeTheReason) {
  for (const std::string& entry :
       {Numbers("pass", "image"), Numbers("harness", "pass"), Numbers("crash", "pass"),
        Numbers("skip", "pass"), Numbers("image", "pass", "numbers_as_they_are")}) {
    const GateResult result = Gate(entry);
    EXPECT_EQ(Asked(result), 0u) << entry;
    EXPECT_THAT(result.report.dump(), Not(HasSubstr("gpu-computes-wrong"))) << entry;
  }
}

TEST_F(SecondOpinion, AWaiverOfTheLibrarysFaultDoesNotExcuseTheGpu) {
  const std::string waiver =
      R"(, "waivers": [{"case": "fixture.numbers*", "slug": "fixture-image", "reason": "known", "owner": "us",
          "expires": "2999-01-01"}])";
  const std::string others = ", " + Entry("fixture.pass");
  EXPECT_EQ(Gate(Numbers("image", "image") + others, {}, waiver).exit_code, 0);
  EXPECT_EQ(Gate(Numbers("image", "pass") + others, {}, waiver).exit_code, 3);
}

TEST_F(SecondOpinion, InASharedProcessTheFailureIsConfirmedAloneFirst) {
  const GateResult result = Gate(Numbers("image", "pass", "numbers_shared"), {"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 3) << result.out;
  std::vector<std::string> modes;
  for (const json& e : result.Events("AttemptStarted"))
    if (e["id"].get<std::string>().rfind("fixture.", 0) == 0) modes.push_back(e["mode"]);
  EXPECT_THAT(modes, testing::ElementsAre("shared", "confirm", "elsewhere", "elsewhere", "elsewhere"));
  EXPECT_THAT(result.report["root_cause"]["detail"].get<std::string>(), HasSubstr("failed 2 times"));
}

TEST_F(SecondOpinion, OfOneKindThreeAreAskedAndTheRestIsTakenToBeAlike) {
  for (const std::string there : {"pass", "undetermined"}) {
    const GateResult result =
        Gate(Entry("fixture.numbers",
                   R"("axes": {"i": [1, 2, 3, 4, 5, 6]}, "params": {"here": "undetermined", "there": ")" +
                       there + "\"}"),
             {"--jobs", "1"});
    EXPECT_EQ(Asked(result), 3u) << there;
    EXPECT_EQ(result.exit_code, there == "pass" ? 3 : 1) << result.out;
    EXPECT_EQ(result.report["totals"]["failed"], 6);
    EXPECT_EQ(result.Errors("fixture.numbers[here=undetermined,i=6,there=" + there + "]"),
              std::string(there == "pass" ? "runner.gpu-computes-wrong" : "image.fails-on-another-gpu") +
                  " undetermined.fixture-undetermined");
  }
}

TEST_F(SecondOpinion, ADeviceOfTheRunIsAskedWhenItIsFree) {
  const GateResult result = Gate(Numbers("image", "pass"), {"--device", "all"});
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.Errors("fixture.numbers[here=image,i=0,there=pass]"),
            "image.fixture-image runner.gpu-computes-wrong");
  EXPECT_EQ(result.Outcome("fixture.numbers[here=image,i=0,there=pass]@gpu1"), "passed");
}

TEST_F(SecondOpinion, WhatACheckSaysOfItsGpuHidesNothingElse) {
  const GateResult both = Gate(Numbers("gpu_and_image", "skip"));
  EXPECT_EQ(both.exit_code, 1) << both.out;
  EXPECT_EQ(both.Errors(id_), "image.fixture-image runner.gpu-computes-wrong");
  const std::string waiver =
      R"(, "waivers": [{"case": "fixture.numbers*", "slug": "gpu-computes-wrong", "reason": "known",
          "owner": "us", "expires": "2999-01-01"}])";
  const std::string others = ", " + Entry("fixture.pass");
  EXPECT_EQ(Gate(Numbers("gpu_and_image", "skip") + others, {}, waiver).exit_code, 1);
  EXPECT_EQ(Gate(Numbers("gpu", "skip") + others, {}, waiver).exit_code, 0);
}

TEST_F(SecondOpinion, AGpuThatDoesNotAnswerIsLeftAlone) {
  const GateResult result = Gate(
      Entry("fixture.numbers",
            R"("axes": {"i": [1, 2, 3, 4, 5, 6]}, "params": {"here": "undetermined", "there": "crash"})"),
      {"--jobs", "1"});
  EXPECT_EQ(Asked(result), 3u) << result.out;
  EXPECT_EQ(result.report["totals"]["failed"], 6);
  EXPECT_EQ(result.exit_code, 6);
}

TEST_F(SecondOpinion, AGpuThatIsKeptFreeOrInUseIsNotAsked) {
  EXPECT_EQ(Asked(Gate(Numbers("image", "pass"), {"--device", "gpu0"})), 0u) << "the run may use gpu0 alone";
  run_.Set("FAKE_COMPUTE_MODE", "0,3");
  const GateResult exclusive = Gate(Numbers("image", "pass"));
  EXPECT_EQ(Asked(exclusive), 0u);
  EXPECT_EQ(exclusive.exit_code, 1) << exclusive.out;
  run_.Set("FAKE_COMPUTE_MODE", "0");
  run_.Set("LD_LIBRARY_PATH", CUDNN_CI_FAKES "/libcuda:" CUDNN_CI_FAKES "/nvml");  // which tells free memory
  EXPECT_EQ(Asked(Gate(Numbers("image", "pass"))), 3u);
  run_.Set("FAKE_FREE_MB", "100000,1000");
  EXPECT_EQ(Asked(Gate(Numbers("image", "pass"))), 0u);
}

// The other GPU is of the run, and is lost while the case waits for it, and an idle process of
// another stream is in nobody's way.
TEST_F(SecondOpinion, ARunEndsThoughTheGpuThatWasToBeAskedIsLost) {
  run_.Set("FAKE_CANARY", "right,wrong");
  const GateResult result = Gate(Entry("fixture.order") + ", " + Numbers("image", "crash"),
                                 {"--device", "all", "--jobs", "8", "--time-limit", "20"});
  EXPECT_TRUE(result.Events("RunCancelled").empty()) << result.out;
  EXPECT_EQ(result.Events("DeviceLost").size(), 1u) << result.out;
  EXPECT_EQ(result.Errors("fixture.numbers[here=image,i=0,there=crash]"), "image.fixture-image");
  EXPECT_EQ(Asked(result), 0u);
}

TEST_F(SecondOpinion, WhatTheOtherGpuMeasuresIsNotTheCases) {
  const json c = Gate(Numbers("image", "pass")).Case(id_);
  ASSERT_EQ(c["measurements"].size(), 1u) << c.dump();
  EXPECT_EQ(c["measurements"][0]["value"], 0);
  EXPECT_EQ(c["steps"], json({"here"}));
}

TEST_F(SecondOpinion, OneProcessForEverythingAsksNobody) {
  const GateResult result = Gate(Numbers("image", "pass"), {"--isolation", "none"});
  EXPECT_EQ(Asked(result), 0u);
  EXPECT_EQ(result.Outcome(id_), "failed");
}

TEST_F(SecondOpinion, ACaseThatWaitsWhenTheRunIsCutShortEndsAsItStood) {
  // With one slot the next case of the plan comes before the question, and its failure ends the run.
  const GateResult result =
      Gate(Numbers("image", "pass") + ", " + Entry("fixture.fail"), {"--fail-fast", "--jobs", "1"});
  EXPECT_EQ(Asked(result), 0u);
  EXPECT_EQ(result.Outcome(id_), "failed");
  EXPECT_EQ(result.Errors(id_), "image.fixture-image");
  EXPECT_EQ(result.exit_code, 1) << result.out;
}

class OneGpu : public SecondOpinion {
 protected:
  OneGpu() : SecondOpinion(1) {}
};

TEST_F(OneGpu, HasNobodyToAsk) {
  const GateResult image = Gate(Numbers("image", "pass"));
  EXPECT_EQ(image.exit_code, 1) << image.out;
  EXPECT_EQ(Asked(image), 0u);
  EXPECT_EQ(Gate(Numbers("undetermined", "pass")).exit_code, 6);
  const GateResult gpu = Gate(Numbers("gpu", "pass"));
  EXPECT_EQ(gpu.exit_code, 3) << gpu.out;
  EXPECT_EQ(gpu.Errors(id_), "runner.gpu-computes-wrong") << "a check may say it itself";
}

}  // namespace
}  // namespace cudnn_ci
