// The facts the harness reads, decoded from what plugins report; and what the harness owes a case by its
// outcome.
#include <gmock/gmock.h>

#include "golden_messages.h"
#include "model/inventory/cudnn_copies.h"
#include "model/record/facts.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;

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

TEST(HostFactsTest, CopiesOfCudnnThatNoSubjectUsesAreToldOnce) {
  Facts facts;
  const FactMap copies = {
      {"cudnn.copy.0.path", "/a/libcudnn.so.9"}, {"cudnn.copy.0.version", "9.1.0"},
      {"cudnn.copy.0.origin", "toolkit"},        {"cudnn.copy.1.path", "/b/libcudnn.so.9"},
      {"cudnn.copy.2.path", "/c/libcudnn.so.9"}, {"cudnn.copy.2.origin", "system"}};
  facts.by_subject["one"] = facts.by_subject["two"] = copies;
  facts.by_subject["one"]["cudnn.path"] = "/b/libcudnn.so.9";
  facts.by_subject["two"]["cudnn.path"] = "/c/libcudnn.so.9.19.0";
  const std::vector<CudnnCopyFacts> unused = UnusedCudnnCopies(facts);
  ASSERT_EQ(unused.size(), 1u);
  EXPECT_EQ(unused[0].path + " " + unused[0].version + " " + unused[0].origin,
            "/a/libcudnn.so.9 9.1.0 toolkit");
  facts.by_subject["two"].erase("cudnn.path");
  EXPECT_EQ(UnusedCudnnCopies(facts).size(), 2u);
  // Two majors in one folder are two copies.
  facts.by_subject["two"]["cudnn.path"] = "/a/libcudnn.so.8.9.7";
  EXPECT_EQ(UnusedCudnnCopies(facts).size(), 2u);
}

TEST(HostFactsTest, WhatIsNotANumberIsUnknown) {
  for (const char* text : {"", "two", "-1", "1x", "99999999999999999999"}) {
    Facts facts;
    facts.by_subject["system"] = {{"gpu.count", text}, {"gpu.0.memory_free_bytes", text}};
    EXPECT_FALSE(DecodeHostFacts(facts).gpus_known) << text;
    EXPECT_EQ(FactsOfGpu(facts, "gpu0").memory_free_bytes, std::nullopt) << text;
  }
}

// What is reported of GPUs, and a word of why it cannot be.
struct ToldOfGpus {
  FactMap facts;
  const char* why;
};

TEST(HostFactsTest, GpusThatCannotBeAreNoneAndSayWhy) {
  GoldenMessages golden("gpu_facts.txt");
  const ToldOfGpus impossible[] = {
      {{{"gpu.count", ""}}, "gpu.count is \"\""},
      {{{"gpu.count", "many"}}, "gpu.count is \"many\""},
      {{{"gpu.count", "-1"}}, "gpu.count is \"-1\""},
      {{{"gpu.count", "257"}}, "gpu.count is \"257\""},
      {{{"gpu.count", "99999999999999999999"}}, "gpu.count is"},
      {{{"gpu.count", "1"}}, "gpu.0.uuid"},
      {{{"gpu.count", "2"}, {"gpu.0.uuid", "GPU-0"}, {"gpu.1.name", "B"}}, "gpu.1.uuid"},
      {{{"gpu.count", "1"}, {"gpu.0.uuid", ""}}, "gpu.0.uuid is \"\""},
      {{{"gpu.count", "1"}, {"gpu.0.uuid", "0"}}, "gpu.0.uuid is \"0\""},
      {{{"gpu.count", "1"}, {"gpu.0.uuid", "GPU-0,GPU-1"}}, "gpu.0.uuid is"},
      {{{"gpu.count", "2"}, {"gpu.0.uuid", "GPU-0"}, {"gpu.1.uuid", "GPU-0"}}, "gpu.0"},
      {{{"gpu.count", "1"}, {"gpu.0.uuid", "GPU-0"}, {"gpu.1.uuid", "GPU-1"}}, "gpu.1.uuid names"},
      {{{"gpu.0.uuid", "GPU-0"}}, "gpu.0.uuid names"},
  };
  for (const ToldOfGpus& told : impossible) {
    std::string given;
    for (const auto& [key, value] : told.facts) given += (given.empty() ? "" : " ") + key + "=" + value;
    EXPECT_THAT(golden.Row(given, FindGpuContradiction(told.facts).why), HasSubstr(told.why));
    Facts facts;
    facts.by_subject["system"] = told.facts;
    EXPECT_TRUE(DecodeHostFacts(facts).gpus.empty()) << told.why;
    EXPECT_FALSE(DecodeHostFacts(facts).gpus_known) << told.why;
  }
}

TEST(HostFactsTest, WhatIsHonestlyUnknownOfGpusIsNoContradiction) {
  FactMap most = {{"gpu.count", "256"}};
  for (int i = 0; i < 256; ++i) most["gpu." + std::to_string(i) + ".uuid"] = "GPU-" + std::to_string(i);
  for (const FactMap& told : {FactMap{},
                              {{"gpu.error", "cuInit: no device"}},
                              {{"gpu.count", "0"}, {"gpu.error", "no driver"}},
                              {{"gpu.count", "1"}, {"gpu.0.uuid", "MIG-GPU-1a2b/1/0"}},
                              most})
    EXPECT_EQ(FindGpuContradiction(told).why, "");
  Facts facts;
  facts.by_subject["system"] = most;
  EXPECT_EQ(DecodeHostFacts(facts).gpus.size(), 256u);
}

TEST(HostFactsTest, GpusAreNotPutTogetherFromTwoSubjects) {
  Facts facts;
  facts.by_subject["a"] = {{"driver.version", "1.0"}};
  facts.by_subject["b"] = {{"gpu.count", "1"}, {"gpu.0.uuid", "GPU-b"}, {"gpu.0.name", "B"}};
  facts.by_subject["c"] = {{"gpu.count", "1"}, {"gpu.0.uuid", "GPU-c"}, {"gpu.0.compute_mode", "default"}};
  const HostFacts host = DecodeHostFacts(facts);
  ASSERT_EQ(host.gpus.size(), 1u);
  EXPECT_EQ(host.gpus[0].uuid, "GPU-b");
  EXPECT_EQ(host.gpus[0].compute_mode, "");
}

TEST(ImpliedFindingsTest, WhatIsTheImagesFaultIsTheRunnersInTheDriversLayer) {
  for (const ErrorKind kind : {ErrorKind::kTimedOut, ErrorKind::kOutOfMemory}) {
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

TEST(ShareTest, AProcessIsToldItsOwnAndNoPluginsWord) {
  const FactMap facts = {{"driver.version", "580.65.06"},
                         {"share.processors", "64"},
                         {"share.device_memory", "9"},
                         {"share.host_memory", "9"}};
  EXPECT_EQ(WithShare(facts, {4, 1024, 2048}), (FactMap{{"driver.version", "580.65.06"},
                                                        {"share.processors", "4"},
                                                        {"share.device_memory", "1024"},
                                                        {"share.host_memory", "2048"}}));
  EXPECT_EQ(WithoutShare(facts), (FactMap{{"driver.version", "580.65.06"}}));
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
