// Guards, fills and layout of device buffers, on a fake driver whose device memory is the host's.
#include "common/device_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "common/numeric/fill.h"
#include "common/numeric/repeat.h"
#include "common/session.h"
#include "fault_table.h"
#include "mentions.h"
#include "positions.h"

namespace cudnn_ci {
namespace {

using testing::HasSubstr;
using Role = BufferSpec::Role;

constexpr std::size_t kGuard = 4096;

class DeviceBuffersTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(driver_.Load()) << driver_.error();
    ASSERT_EQ(context_.Create(), CUDA_SUCCESS);
    ASSERT_EQ(buffers_.Reserve(Specs()), CUDA_SUCCESS);
  }
  // A real device's memory goes with the context.
  void TearDown() override { buffers_.Trim(0); }
  static std::vector<BufferSpec> Specs(std::size_t workspace = 100) {
    return {{"x", 1001, Role::kInput},
            {"w", 45, Role::kInput},
            {"y", 333, Role::kOutput, UnwrittenWord(DataType::kFloat32)},
            {"workspace", workspace, Role::kWorkspace}};
  }
  // One byte outside of a buffer, random places on one side of it.
  void ExpectFound(const std::vector<BufferSpec>& specs, std::size_t buffer, bool before);
  unsigned char* Bytes(std::size_t buffer) { return static_cast<unsigned char*>(buffers_.Pointer(buffer)); }

  DriverApi driver_;
  PrimaryContext context_{driver_};
  DeviceBuffers buffers_{driver_};
  std::mt19937_64 random_{5};
};

// The first byte of a guard among them.
void DeviceBuffersTest::ExpectFound(const std::vector<BufferSpec>& specs, std::size_t buffer, bool before) {
  for (int i = 0; i < Positions(); ++i) {
    const std::size_t distance = i == 0 ? 0 : random_() % kGuard;
    unsigned char& byte =
        before ? *(Bytes(buffer) - 1 - distance) : Bytes(buffer)[specs[buffer].bytes + distance];
    byte ^= static_cast<unsigned char>(1 + random_() % 255);
    ASSERT_THAT(buffers_.TouchedGuards(), HasSubstr("1 bytes written")) << buffer << before << distance;
    ASSERT_THAT(buffers_.TouchedGuards(), Mentions(before ? "before" : "after",
                                                   (before ? "start of " : "end of ") + specs[buffer].name));
    ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
    ASSERT_EQ(buffers_.TouchedGuards(), "");
  }
}

TEST_F(DeviceBuffersTest, OneByteOutsideIsFoundAnywhere) {
  for (const DataType type : {DataType::kFloat32, DataType::kInt8, DataType::kInt32, DataType::kFloat8E4m3,
                              DataType::kFloat8E5m2}) {
    std::vector<BufferSpec> specs = Specs();
    specs[2].fill = UnwrittenWord(type);
    ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
    ASSERT_EQ(buffers_.TouchedGuards(), "");
    for (std::size_t buffer = 0; buffer < specs.size(); ++buffer)
      for (const bool before : {true, false}) {
        ExpectFound(specs, buffer, before);
        if (HasFatalFailure()) return;
        fault_table->Add("fill " + BitsText(DataType::kInt32, specs[2].fill), "every bound",
                         (before ? "byte before " : "byte behind ") + specs[buffer].name, Positions(),
                         Positions());
      }
  }
}

TEST_F(DeviceBuffersTest, OutputsAndWorkspacesAreFilledAndInputsAreNot) {
  std::vector<unsigned char> x(1001);
  for (unsigned char& byte : x) byte = static_cast<unsigned char>(random_());
  buffers_.Upload(0, x.data());
  std::memset(Bytes(2), 1, 333);
  std::memset(Bytes(3), 1, 100);
  ASSERT_EQ(buffers_.Reserve(Specs()), CUDA_SUCCESS);
  EXPECT_TRUE(buffers_.inputs_kept());
  std::vector<unsigned char> back(1001);
  buffers_.Download(0, back.data());
  EXPECT_EQ(back, x);
  const std::uint32_t word = UnwrittenWord(DataType::kFloat32);
  for (std::size_t i = 0; i + 4 <= 333; i += 4) EXPECT_EQ(std::memcmp(Bytes(2) + i, &word, 4), 0) << i;
  EXPECT_EQ(std::count(Bytes(3), Bytes(3) + 100, kNanByte), 100);
  EXPECT_EQ(Bytes(1)[45], kNanByte) << "what lies beyond an input is no number";
}

TEST_F(DeviceBuffersTest, FillsAgainWhatIsNeitherInputNorGuard) {
  std::vector<unsigned char> x(1001, 7), back(1001);
  buffers_.Upload(0, x.data());
  std::memset(Bytes(2), 1, 333);
  std::memset(Bytes(3), 1, 100);
  Bytes(2)[333] ^= 1;
  Bytes(2)[-1] ^= 1;
  const std::uint32_t word = 0x04030201;
  buffers_.FillAgain(2, word);
  buffers_.FillAgain(3, word);
  for (std::size_t i = 0; i < 333; ++i) ASSERT_EQ(Bytes(2)[i], i % 4 + 1) << "to its last byte, " << i;
  EXPECT_EQ(std::count(Bytes(3), Bytes(3) + 100, kNanByte), 100);
  EXPECT_THAT(buffers_.TouchedGuards(),
              Mentions("0 bytes after", "end of y", "1 bytes before", "start of y"));
  buffers_.Download(0, back.data());
  EXPECT_EQ(back, x);
}

TEST_F(DeviceBuffersTest, GuardsAreAsWideAsIsAskedFor) {
  std::vector<BufferSpec> specs = Specs();
  const std::size_t usual = DeviceBuffers::BytesFor(specs), wide = 10000;
  specs[2].guard = wide;
  EXPECT_GE(DeviceBuffers::BytesFor(specs), usual + 2 * (wide - kGuard) - 512);
  ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
  EXPECT_GE(buffers_.held(), static_cast<std::size_t>(Bytes(3) - Bytes(0)) + 100 + 2 * kGuard);
  EXPECT_EQ(buffers_.TouchedGuards(), "");
  for (unsigned char* byte : {Bytes(2) - wide, Bytes(2) + 333 + wide - 1}) {
    ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
    *byte ^= 1;
    EXPECT_THAT(buffers_.TouchedGuards(), HasSubstr("1 bytes written")) << byte - Bytes(2);
  }
}

TEST_F(DeviceBuffersTest, InputsAreKeptOnlyWhereTheyLie) {
  ASSERT_EQ(buffers_.Reserve(Specs(50)), CUDA_SUCCESS);
  EXPECT_TRUE(buffers_.inputs_kept()) << "a smaller workspace";
  ASSERT_EQ(buffers_.Reserve(Specs(1 << 20)), CUDA_SUCCESS);
  EXPECT_FALSE(buffers_.inputs_kept()) << "another allocation";
  std::vector<BufferSpec> specs = Specs();
  specs[1].bytes += 1;
  ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
  EXPECT_FALSE(buffers_.inputs_kept()) << "another input";
  buffers_.Trim(0);
  ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
  EXPECT_FALSE(buffers_.inputs_kept()) << "memory given back";
}

TEST_F(DeviceBuffersTest, BuffersAreAlignedAndApart) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Bytes(i)) % 256, 0u);
  EXPECT_GE(buffers_.held(), DeviceBuffers::BytesFor(Specs()));
  std::vector<BufferSpec> specs = Specs(0);
  ASSERT_EQ(buffers_.Reserve(specs), CUDA_SUCCESS);
  EXPECT_EQ(buffers_.Pointer(3), nullptr) << "an empty one has no address";
}

TEST_F(DeviceBuffersTest, HostBuffersSayWhatTheyWillGrowBy) {
  HostBuffer buffer(driver_);
  EXPECT_EQ(buffer.Growth(1000), HostBuffer::SizeFor(1000));
  EXPECT_GE(HostBuffer::SizeFor(1000), 1000u);
  buffer.Get(1000);
  EXPECT_EQ(buffer.Growth(1000), 0u) << "it is there";
  const std::size_t large = std::size_t{40} << 20;
  EXPECT_EQ(HostBuffer::SizeFor(large), large);
  EXPECT_EQ(buffer.Growth(large), large - HostBuffer::SizeFor(1000)) << "for which what is there goes";
  buffer.Trim(0);
  EXPECT_EQ(buffer.Growth(large), large);
}

// Pinned where the driver gives such pages, and a plain buffer where it does not.
TEST_F(DeviceBuffersTest, HostBuffersArePinnedWhereTheyCanBeAndOnlyGrow) {
  HostBuffer buffer(driver_);
  unsigned char* first = buffer.Get(1000);
  EXPECT_TRUE(buffer.pinned());
  EXPECT_EQ(buffer.Get(2000), first);
  std::memset(buffer.Get(std::size_t{20} << 20), 1, std::size_t{20} << 20);
  EXPECT_TRUE(buffer.pinned());
  buffer.Get(std::size_t{300} << 20)[0] = 1;
  EXPECT_FALSE(buffer.pinned()) << "too much of a host's memory to be pinned";
  buffer.Trim(0);
  EXPECT_NE(buffer.Get(1), nullptr);
  EXPECT_TRUE(buffer.pinned());
  setenv("FAKE_NO_PINNED", "1", 1);
  HostBuffer refused(driver_);
  std::memset(refused.Get(1000), 1, 1000);
  EXPECT_FALSE(refused.pinned());
  unsetenv("FAKE_NO_PINNED");
  const DriverApi none{};  // a driver without the function
  HostBuffer plain(none);
  std::memset(plain.Get(1000), 1, 1000);
  EXPECT_FALSE(plain.pinned());
}

}  // namespace
}  // namespace cudnn_ci
