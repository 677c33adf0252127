// The facts the harness reads, decoded from what plugins report; and what the harness owes a case by its
// outcome.
#include <gmock/gmock.h>

#include "model/facts.h"
#include "model/reasons.h"

namespace cudnn_ci {
namespace {

TEST(HostFactsTest, AreDecodedFromTheSdksKeys) {
  Facts facts;
  facts.by_subject["system"] = {{"gpu.count", "2"},
                                {"gpu.0.uuid", "GPU-0"},
                                {"gpu.0.name", "NVIDIA H200"},
                                {"gpu.0.compute_capability", "9.0"},
                                {"gpu.0.memory_bytes", "150000000000"},
                                {"gpu.1.uuid", "GPU-1"},
                                {"gpu.1.memory_free_bytes", "1073741824"},
                                {"gpu.1.compute_mode", "exclusive_process"},
                                {"driver.version", "580.65.06"},
                                {"toolkit.version", "13.0"}};
  const HostFacts host = DecodeHostFacts(facts);
  ASSERT_EQ(host.gpus.size(), 2u);
  EXPECT_TRUE(host.gpus_known);
  EXPECT_EQ(host.gpus[0].uuid, "GPU-0");
  EXPECT_EQ(host.gpus[0].model, "NVIDIA H200");
  EXPECT_EQ(host.gpus[0].memory_bytes, 150000000000);
  EXPECT_EQ(host.gpus[0].memory_free_bytes, std::nullopt);
  EXPECT_EQ(FactsOfGpu(facts, "gpu1").memory_free_bytes, 1 << 30);
  EXPECT_EQ(FactsOfGpu(facts, "gpu1").compute_mode, "exclusive_process");
  EXPECT_EQ(FactsOfGpu(facts, "gpu7").uuid, "");
  EXPECT_EQ(FactsOfGpu(facts, "*").uuid, "");
  EXPECT_EQ(host.driver_version, "580.65.06");
  EXPECT_EQ(host.toolkit_version, "13.0");
}

TEST(HostFactsTest, WhatIsNotANumberIsUnknown) {
  for (const char* text : {"", "two", "-1", "1x", "99999999999999999999"}) {
    Facts facts;
    facts.by_subject["system"] = {{"gpu.count", text}, {"gpu.0.memory_free_bytes", text}};
    EXPECT_FALSE(DecodeHostFacts(facts).gpus_known) << text;
    EXPECT_EQ(FactsOfGpu(facts, "gpu0").memory_free_bytes, std::nullopt) << text;
  }
}

TEST(HostFactsTest, ASillyNumberOfGpusIsBounded) {
  Facts facts;
  facts.by_subject["system"] = {{"gpu.count", "1000000000"}};
  EXPECT_EQ(DecodeHostFacts(facts).gpus.size(), 256u);
}

TEST(ImpliedFindingsTest, WhatIsTheImagesFaultIsTheRunnersInTheDriversLayer) {
  for (const ErrorKind kind : {ErrorKind::kCrashed, ErrorKind::kTimedOut, ErrorKind::kOutOfMemory}) {
    CaseRecord record;
    EXPECT_EQ(ImpliedFindings(record, Errored{kind, "x"}).at(0).blame, Blame::kImage);
    record.plan.layer = Layer::kDriver;
    EXPECT_EQ(ImpliedFindings(record, Errored{kind, "x"}).at(0).blame, Blame::kRunner);
  }
}

TEST(ImpliedFindingsTest, AGoodEndAndAReportedErrorAreEnough) {
  CaseRecord record;
  EXPECT_TRUE(ImpliedFindings(record, Passed{}).empty());
  EXPECT_EQ(ImpliedFindings(record, Failed{}).at(0).slug, "expectation-failed");
  record.findings = {HarnessFinding("context-broken", "x")};
  EXPECT_TRUE(ImpliedFindings(record, Failed{}).empty());
  EXPECT_EQ(ImpliedFindings(record, Errored{}).at(0).slug, "crashed");
}

TEST(ImpliedFindingsTest, ARequiredSkipThatIsNotAllowedImpliesOne) {
  CaseRecord record;
  EXPECT_EQ(ImpliedFindings(record, Skipped{}).at(0).slug, "skip-not-allowed");
  record.plan.required = false;
  EXPECT_TRUE(ImpliedFindings(record, Skipped{}).empty());
  record.plan.required = true;
  record.plan.allow_skip = {SkipKind::kUnsupported};
  EXPECT_TRUE(ImpliedFindings(record, Skipped{}).empty());
}

TEST(ErrorFindingsTest, ALostDeviceOverrulesWhatTheImageIsAccusedOf) {
  CaseRecord record;
  record.outcome = Errored{ErrorKind::kDeviceLost, "x"};
  record.findings = {HarnessFinding("context-broken", "y"), HarnessFinding("device-lost", "x")};
  const std::vector<Finding> errors = ErrorFindings(record);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].blame, Blame::kRunner);
}

}  // namespace
}  // namespace cudnn_ci
