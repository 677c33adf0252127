// What conv does where the host has too little memory: a skip that says so before anything is allocated, not
// a process that is ended for it. What the kernel says is scripted.
#include <filesystem>

#include "shipped_conv_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr long kMiB = 1 << 20;

class ConvMemory : public ConvTest {
 protected:
  // False: there can be no mount namespace here. `limit` is of the cgroup, "max" or bytes.
  bool UseHost(long available_mib, const std::string& limit, long used_mib) {
    std::filesystem::create_directories(gate().Path("cgroup"));
    gate().Write("meminfo", "MemTotal: 268435456 kB\nMemFree: 1 kB\nMemAvailable: " +
                                std::to_string(available_mib * 1024) + " kB\n");
    gate().Write("cgroup/memory.max", limit + "\n");
    gate().Write("cgroup/memory.current", std::to_string(used_mib * kMiB) + "\n");
    gate().Write("cgroup/memory.stat", "anon 1\ninactive_file 0\nactive_file 0\n");
    const auto words =
        InMountNamespace("mount --bind " + gate().Path("meminfo") + " /proc/meminfo && mount --bind " +
                         gate().Path("cgroup") + " /sys/fs/cgroup");
    gate().Before(words);
    return !words.empty();
  }
  CheckOutcome Forward(const std::string& params = Params("implicit_gemm")) {
    return Convolve("conv.forward", params);
  }
};

TEST_F(ConvMemory, TooLittleOnTheHostIsASkipWithTheBytes) {
  if (!UseHost(6144, "max", 1)) GTEST_SKIP() << "needs a mount namespace";
  const CheckOutcome r = Forward(Params("implicit_gemm", "float32", "vast"));
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "host-memory");
  EXPECT_THAT(r.Skip("need"), HasSubstr("host memory"));
  // Less 16 MiB, with less than which the harness ends a process.
  EXPECT_THAT(r.Skip("seen"), Mentions("6129 MiB", "no cgroup limit"));
  // The GPU's memory has nothing to do with it, though others hold much of it.
  EXPECT_EQ(r.gate.exit_code, 4);
  EXPECT_THAT(r.Slugs(), ElementsAre("skip-not-allowed"));
}

// A small case needs four buffers of 16 MiB, and hardly more.
TEST_F(ConvMemory, ACgroupThatHasNoRoomForACaseIsASkipToo) {
  const std::string limit = std::to_string(256 * kMiB);
  if (!UseHost(65536, limit, 160)) GTEST_SKIP() << "needs a mount namespace";
  ExpectPassed(Forward());
  // 72 MiB are enough for the case, and too few for it and what has to stay free.
  for (const long used : {184, 200}) {
    UseHost(65536, limit, used);
    const CheckOutcome r = Forward();
    EXPECT_EQ(r.Outcome(), "skipped") << used << ::testing::PrintToString(r);
    EXPECT_EQ(r.Skip("kind"), "memory");
    EXPECT_EQ(r.Skip("resource"), "host-memory");
    EXPECT_EQ(r.Skip("need"), "65 MiB of host memory");
    EXPECT_EQ(r.Skip("seen"), std::to_string(256 - used - 16 + 1) + " MiB available, cgroup limit 256 MiB");
    EXPECT_EQ(r.gate.exit_code, 4) << used;
  }
}

// The first of two needs a large buffer for its images, the second for its filters: 96 MiB each, and little
// more.
TEST_F(ConvMemory, WhatAnEarlierCaseLeftIsGivenBackFirst) {
  if (!UseHost(65536, std::to_string(256 * kMiB), 128)) GTEST_SKIP() << "needs a mount namespace";
  Set("FAKE_HOST_LEDGER", gate().Path("cgroup/memory.current"));
  const CheckOutcome r = Check("conv.forward", R"("params": {"algo": "gemm", "dtype": "float64"},
      "axes": {"shape": ["wide_images", "wide_filters"]})",
                               {"--workers-per-gpu", "1"});
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r) << r.gate.out;
  EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
  const std::vector<json> asked = AllAsked("cudnnConvolutionForward");
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.front()["pid"], asked.back()["pid"]);
  EXPECT_NE(asked.front()["x"], asked.back()["x"]);
}

// What a library computes that need not is read back.
TEST_F(ConvMemory, ResultsOfManyElementsNeedABufferToo) {
  if (!UseHost(65536, std::to_string(256 * kMiB), 230)) GTEST_SKIP() << "needs a mount namespace";
  Set("FAKE_CUDNN_TAKES", "success");
  Set("FAKE_CUDA_REFUSE_ABOVE_KB", "8192");  // or gigabytes would be filled
  const CheckOutcome r =
      Convolve("conv.refuses", R"("params": {"what": "too_many_elements", "dtype": "float32"})");
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "host-memory");
  EXPECT_EQ(r.Skip("need"), "17 MiB of host memory");
  EXPECT_EQ(r.Skip("seen"), "11 MiB available, cgroup limit 256 MiB");
}

TEST_F(ConvMemory, TheChoicesOfASweepShareTheirMemory) {
  if (!UseHost(65536, std::to_string(256 * kMiB), 160)) GTEST_SKIP() << "needs a mount namespace";
  ExpectPassed(Forward(Params("every")));
  UseHost(65536, std::to_string(256 * kMiB), 200);
  const CheckOutcome r = Forward(Params("every"));
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "host-memory");
  EXPECT_THAT(r.Skip("seen"), Mentions("65 MiB", "41 MiB"));
  EXPECT_EQ(r.gate.exit_code, 4);
}

}  // namespace
}  // namespace cudnn_ci
