// Whose memory was short, by the words of a plugin that does not say it otherwise.
#include "worker/skip_words.h"

#include <gtest/gtest.h>

namespace cudnn_ci::worker {
namespace {

TEST(SkipWords, MemoryIsADevicesUnlessTheWordsSayTheHosts) {
  EXPECT_EQ(MemoryInWords("9 MiB of device memory", "8 MiB free"), Resource::kDeviceMemory);
  EXPECT_EQ(MemoryInWords("more", "less"), Resource::kDeviceMemory);
  EXPECT_EQ(MemoryInWords("9 MiB of host memory", "8 MiB available"), Resource::kHostMemory);
  EXPECT_EQ(MemoryInWords("one result", "gemm: 9 MiB of host memory, 8 MiB available"),
            Resource::kHostMemory);
  EXPECT_EQ(MemoryInWords("one result", "9 MiB of host memory; 9 MiB of device memory"),
            Resource::kDeviceMemory);
}

}  // namespace
}  // namespace cudnn_ci::worker
