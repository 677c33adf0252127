// Which case speaks best against the next suspect.
#include "report/text/suspects.h"

#include <gtest/gtest.h>

#include "run_builder.h"

namespace cudnn_ci {
namespace {

std::string Excluded(const RunBuilder& b) {
  const Summary summary = b.Summarize();
  return ExcludedSuspect(summary, Judge(summary));
}

void Passes(RunBuilder* b, const std::string& id, Layer layer, const std::string& device = "",
            const std::string& subject = "") {
  b->Plan(id, layer, device).subject = subject;
  b->End(CaseRef{id, device}, Passed{});
}

void Fails(RunBuilder* b, const std::string& id, Blame blame, Layer layer, const std::string& device = "",
           const std::string& subject = "") {
  b->Plan(id, layer, device).subject = subject;
  b->End(CaseRef{id, device}, Failed{}, {Wrong("wrong", blame, "4 in place of 5")});
}

TEST(SuspectsTest, ADriverThatComputesOnTheSameGpuIsNotIt) {
  RunBuilder b;
  Passes(&b, "driver.load", Layer::kDriver);
  Passes(&b, "driver.canary", Layer::kDriver, "gpu0");
  Passes(&b, "driver.late", Layer::kDriver);
  Passes(&b, "driver.canary", Layer::kDriver, "gpu1");
  Fails(&b, "conv.a", Blame::kImage, Layer::kConvolution, "gpu0");
  EXPECT_EQ(Excluded(b), "the driver: driver.canary passed on gpu0");
}

TEST(SuspectsTest, ADriverThatDidNotPassIsNoWitness) {
  RunBuilder b;
  Fails(&b, "driver.load", Blame::kRunner, Layer::kDriver);
  Fails(&b, "cudnn.load", Blame::kImage, Layer::kCudnn);
  EXPECT_EQ(Excluded(b), "") << "the image decides, and nothing speaks for the driver";
}

// One that loads says nothing of one that cannot compute, though nothing rests on the second.
TEST(SuspectsTest, ADriverOfWhichOneCaseIsRedIsNotClearedByAnother) {
  RunBuilder b;
  Passes(&b, "driver.load", Layer::kDriver);
  b.Plan("driver.canary", Layer::kDriver, "gpu0").required = false;
  b.End(CaseRef{"driver.canary", "gpu0"}, Failed{}, {Wrong("canary-failed", Blame::kRunner, "700")});
  Fails(&b, "conv.a", Blame::kImage, Layer::kConvolution, "gpu0");
  EXPECT_EQ(Excluded(b), "");
}

TEST(SuspectsTest, ARedDriverOnAnotherGpuTakesNothingFromThisOne) {
  RunBuilder b;
  Passes(&b, "driver.canary", Layer::kDriver, "gpu0");
  b.Plan("driver.canary", Layer::kDriver, "gpu1").required = false;
  b.End(CaseRef{"driver.canary", "gpu1"}, Failed{}, {Wrong("canary-failed", Blame::kRunner, "700")});
  Fails(&b, "conv.a", Blame::kImage, Layer::kConvolution, "gpu0");
  EXPECT_EQ(Excluded(b), "the driver: driver.canary passed on gpu0");
}

TEST(SuspectsTest, InAMergedRunNoDriverSpeaks) {
  RunBuilder b;
  b.run.merged_by = "gpus";
  Passes(&b, "driver.canary", Layer::kDriver, "gpu0");
  Fails(&b, "conv.a", Blame::kImage, Layer::kConvolution, "gpu0");
  EXPECT_EQ(Excluded(b), "");
}

TEST(SuspectsTest, NobodyIsClearedWhereNeitherImageNorRunnerIsBlamed) {
  for (const Blame blame : {Blame::kHarness, Blame::kMatrix, Blame::kUndetermined}) {
    RunBuilder b;
    Passes(&b, "driver.canary", Layer::kDriver, "gpu0");
    Fails(&b, "conv.a", blame, Layer::kConvolution, "gpu0");
    EXPECT_EQ(Excluded(b), "") << Name(blame);
  }
}

TEST(SuspectsTest, NobodyIsClearedOfWhatTookTooLong) {
  RunBuilder b;
  Passes(&b, "driver.canary", Layer::kDriver, "gpu0");
  b.Plan("conv.a", Layer::kConvolution, "gpu0");
  b.End(CaseRef{"conv.a", "gpu0"}, Failed{}, {Wrong("slower-than-baseline", Blame::kImage, "2 s")});
  EXPECT_EQ(Excluded(b), "");
}

// Optional or waived: it was found all the same.
TEST(SuspectsTest, AnImageThatOneCaseFoundAtFaultIsNotClearedByAnother) {
  for (const bool waived : {false, true}) {
    RunBuilder b;
    if (waived) b.waivers = {{"cudnn.version", "wrong", "known", "me", "2099-01-01"}};
    Passes(&b, "cudnn.load", Layer::kCudnn);
    b.Plan("cudnn.version", Layer::kCudnn).required = waived;
    b.End("cudnn.version", Failed{}, {Wrong("wrong", Blame::kImage)});
    Fails(&b, "conv.a", Blame::kRunner, Layer::kConvolution, "gpu0");
    Passes(&b, "conv.a", Layer::kConvolution, "gpu1");
    EXPECT_EQ(Excluded(b), "") << waived;
  }
}

TEST(SuspectsTest, WhatDidNotPassSpeaksForNoImage) {
  RunBuilder b;
  Passes(&b, "toolkit.runtime", Layer::kToolkit);
  Fails(&b, "cudnn.load", Blame::kUndetermined, Layer::kCudnn);
  b.Plan("cudnn.version", Layer::kCudnn).allow_skip = {SkipKind::kAbsent};
  b.End("cudnn.version", Skipped{SkipKind::kAbsent, "metadata", "none"});
  Fails(&b, "conv.a", Blame::kRunner, Layer::kConvolution, "gpu0");
  EXPECT_EQ(Excluded(b), "the image's libraries: toolkit.runtime passed");
}

TEST(SuspectsTest, WhatTheImageGotRightSpeaksForItWhereTheRunnerIsAtFault) {
  RunBuilder b;
  Passes(&b, "toolkit.runtime[subject=system]", Layer::kToolkit, "", "system");
  Passes(&b, "cudnn.load[subject=system]", Layer::kCudnn, "", "system");
  Passes(&b, "cudnn.version[subject=other]", Layer::kCudnn, "", "other");
  Passes(&b, "host.disk", Layer::kOther);
  b.Plan("conv.a", Layer::kConvolution, "gpu0").subject = "system";
  b.End(CaseRef{"conv.a", "gpu0"}, Failed{}, {Wrong("gpu-computes-wrong", Blame::kRunner, "bits")});
  EXPECT_EQ(Excluded(b), "the image's libraries: cudnn.load[subject=system] passed");
  Passes(&b, "conv.a", Layer::kConvolution, "gpu1", "system");
  EXPECT_EQ(Excluded(b), "the image: conv.a passed on gpu1");
}

TEST(SuspectsTest, WithoutARootCauseInACaseNobodyIsSuspected) {
  RunBuilder b;
  Passes(&b, "driver.load", Layer::kDriver);
  EXPECT_EQ(Excluded(b), "");
  b.Add(FindingReported{{}, HarnessFinding("worker-not-started", "no")});
  EXPECT_EQ(Excluded(b), "");
}

}  // namespace
}  // namespace cudnn_ci
