// Devices, on a fake driver: one at a time for each worker, the canary that tells a broken image from a
// broken GPU, and what is left of a device that is lost.
#include <gmock/gmock.h>

#include "gate_run.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

std::string Gpu(const std::string& how, const std::string& rest = "") {
  return Entry("fixture.gpu", R"("params": {"how": ")" + how + "\"}" + rest);
}

TEST(Devices, EveryGpuRunsThePlanInASuiteOfItsOwn) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Gpu("pass"));
  const GateResult result = run.Run({"--device", "all"});
  EXPECT_EQ(result.Outcome("fixture.gpu[how=pass,i=0]"), "passed");
  EXPECT_EQ(result.Outcome("fixture.gpu[how=pass,i=0]@gpu1"), "passed");
  EXPECT_THAT(result.junit, HasSubstr("fixture@gpu1"));
}

TEST(Devices, OneIsChosenByIndexAndTheOtherIsListedAsNotGated) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Gpu("pass"));
  const GateResult result = run.Run({"--device", "1"});
  ASSERT_EQ(result.report["cases"].size(), 1u) << result.out;
  EXPECT_EQ(result.report["cases"][0]["device"], "gpu1");
  EXPECT_THAT(result.report["not_gated"].dump(), HasSubstr("gpu0"));
}

TEST(Devices, ThatDoNotExistAreAUsageError) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Gpu("pass"));
  const GateResult result = run.Run({"--device", "7"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--device 7: no such GPU"));
}

TEST(Canary, AfterACrashOnAHealthyDeviceBlamesWhoseCodeItWas) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Matrix(Gpu("crash") + ", " + Entry("fixture.gpu", R"("axes": {"i": [1, 2]})"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 5) << result.out;
  EXPECT_EQ(result.Errors("fixture.gpu[how=crash,i=0]"), "harness.crashed");
  EXPECT_EQ(result.Outcome("fixture.gpu[how=pass,i=1]"), "passed");
  EXPECT_TRUE(result.Events("DeviceLost").empty());
}

TEST(Canary, ThatComputesWrongLosesTheDeviceAndBlamesTheRunner) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Set("FAKE_CANARY", "wrong");
  run.Matrix(Gpu("crash") + ", " + Entry("fixture.gpu", R"("axes": {"i": [1, 2, 3]})") + ", " +
             Entry("fixture.pass"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.Events("DeviceLost").size(), 1u);
  EXPECT_EQ(result.Errors("fixture.gpu[how=crash,i=0]"), "runner.device-lost");
  // What did not get its turn ends at once, and says why; what needs no device is judged.
  EXPECT_EQ(result.Errors("fixture.gpu[how=pass,i=3]"), "runner.device-lost");
  EXPECT_EQ(result.Outcome("fixture.pass[i=0]"), "passed");
}

TEST(Canary, AfterABrokenContextTellsABrokenDeviceFromABrokenImage) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Set("FAKE_CANARY", "wrong");
  run.Matrix(Gpu("sticky"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_EQ(result.Errors("fixture.gpu[how=sticky,i=0]"), "image.context-broken runner.device-lost");
}

TEST(Devices, ChecksThatUseNoneSeeNoneAndOthersSeeTheirOwn) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Entry("fixture.sees", R"("params": {"variable": "CUDA_VISIBLE_DEVICES", "value": "empty"})") +
             ", " + Gpu("pass"));
  EXPECT_EQ(run.Run().exit_code, 0);
}

TEST(Subjects, WithAFolderHaveItFirstInTheLoadersPath) {
  GateRun run;
  run.Write("one.so", "");
  run.Set("LD_LIBRARY_PATH", "/nowhere");
  run.Matrix(Entry("fixture.sees", R"("params": {"variable": "LD_LIBRARY_PATH", "value": ")" + run.folder() +
                                       ":/nowhere\"}, \"name\": \"own_first\""),
             20, R"(, "subjects": {"own": "path:)" + run.folder() + "\"}");
  const GateResult result = run.Run();
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST(Canary, ThatFailsOnOneDeviceLeavesTheOther) {
  GateRun run;
  run.UseFakeGpus(2);
  run.Matrix(Gpu("hang"), 0.4);
  const GateResult result = run.Run({"--device", "all"});
  EXPECT_EQ(result.Errors("fixture.gpu[how=hang,i=0]"), "image.timed-out");
  EXPECT_EQ(result.Errors("fixture.gpu[how=hang,i=0]@gpu1"), "image.timed-out");
}

TEST(Canary, BeginsTheConfirmationOfACrashInASharedProcess) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Matrix(Entry("fixture.gpu_shared", R"("axes": {"i": [1, 2, 3], "how": ["pass", "crash"]})"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.report["totals"]["passed"], 3);
  EXPECT_EQ(result.report["totals"]["errored"], 3);
}

TEST(BrokenContext, BehindAPassIsAFailure) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Matrix(Gpu("sticky") + ", " + Gpu("pass"));
  const GateResult result = run.Run();
  EXPECT_EQ(result.Outcome("fixture.gpu[how=sticky,i=0]"), "failed");
  EXPECT_EQ(result.Errors("fixture.gpu[how=sticky,i=0]"), "image.context-broken");
  EXPECT_EQ(result.Outcome("fixture.gpu[how=pass,i=0]"), "passed");
}

TEST(BrokenContext, InASharedProcessRetiresTheProcessAndTheRestRunsOn) {
  GateRun run;
  run.UseFakeGpus(1);
  run.Matrix(Entry("fixture.gpu_shared", R"("axes": {"i": [1, 2], "how": ["sticky", "pass"]})"));
  const GateResult result = run.Run({"--jobs", "1"});
  EXPECT_EQ(result.report["totals"]["passed"], 2);
  EXPECT_EQ(result.report["totals"]["failed"], 2);
  EXPECT_EQ(result.exit_code, 1);
}

}  // namespace
}  // namespace cudnn_ci
