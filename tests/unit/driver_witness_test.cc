// Whose words about the host are believed: mounts against layers, and libraries against the kernel.
#include <gtest/gtest.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>

#include "image/contents/driver_library.h"
#include "image/contents/mounts.h"

namespace cudnn_ci {
namespace {

TEST(Mounts, AreReadAsTheKernelWritesThem) {
  const Mounts mounts = Mounts::Parse(
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "23 22 8:1 /lib /usr/lib/libcuda.so.535.1 ro - ext4 /dev/sda1 rw\n"
      "24 22 0:5 / /with\\040blank ro - tmpfs none rw\n"
      "25 22 0:5 / /no\\09xescape\\ ro - tmpfs none rw\n"
      "torn 22 0:5\n");
  EXPECT_EQ(mounts.points(),
            std::vector<std::string>({"/", "/usr/lib/libcuda.so.535.1", "/with blank", "/no\\09xescape\\"}));
  EXPECT_TRUE(mounts.IsPoint("/with blank"));
  EXPECT_FALSE(mounts.IsPoint("/with blank/file")) << "a mounted folder may be the job's workspace";
}

TEST(Mounts, ALayerIsToldFromAMachinesRoot) {
  const auto root_is_of_image = [](const std::string& lines) {
    return Mounts::Parse(lines).root_is_of_image();
  };
  EXPECT_TRUE(root_is_of_image("22 1 0:50 / / rw,relatime shared:1 master:2 - overlay overlay rw\n"));
  EXPECT_TRUE(root_is_of_image("22 1 0:50 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw\n"));
  EXPECT_FALSE(
      root_is_of_image("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:5 / /x rw - overlay overlay rw\n"));
  EXPECT_FALSE(root_is_of_image("22 1 0:50 / / rw - overlay o rw\n23 1 8:1 / / rw - ext4 /dev/sda1 rw\n"));
  EXPECT_FALSE(root_is_of_image("22 1 0:50 / / rw overlay\n"));
}

// A node without a disk has an overlay for its root.
TEST(Mounts, AMachinesOwnOverlayIsNoImage) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / ("mounts-" + std::to_string(getpid()));
  fs::create_directories(root / "proc/self/ns");
  std::ofstream(root / "proc/self/mountinfo") << "22 1 0:50 / / rw - overlay overlay rw\n";
  fs::create_symlink("pid:[4026532177]", root / "proc/self/ns/pid");
  EXPECT_TRUE(Mounts::Read(root).root_is_of_image());
  fs::remove(root / "proc/self/ns/pid");
  fs::create_symlink("pid:[4026531836]", root / "proc/self/ns/pid");
  EXPECT_FALSE(Mounts::Read(root).root_is_of_image());
  fs::remove_all(root);
}

// On GKE the driver is a folder that is mounted.
TEST(Mounts, AMountedFolderForTheDriverAloneIsTheHosts) {
  const Mounts mounts = Mounts::Parse(
      "23 22 8:1 /lib /usr/local/nvidia ro - ext4 /dev/sda1 rw\n"
      "24 22 0:5 / /workspace rw - tmpfs none rw\n");
  EXPECT_TRUE(mounts.IsOfDriver("/usr/local/nvidia/lib64/libcuda.so.580.65.06"));
  EXPECT_FALSE(mounts.IsOfDriver("/workspace/libcuda.so.580.65.06"));
  EXPECT_FALSE(mounts.IsOfDriver("/usr/lib/wsl/lib/libcuda.so.1"));
  const Mounts part = Mounts::Parse("23 22 8:1 /lib /usr/local/nvidia/lib64 ro - ext4 /dev/sda1 rw\n");
  EXPECT_TRUE(part.IsOfDriver("/usr/local/nvidia/lib64/libcuda.so.1"));
  EXPECT_FALSE(part.IsOfDriver("/usr/local/nvidia/lib/libcuda.so.1"));
}

NvmlClaim Claim(const std::string& file, int status, const std::string& version) {
  NvmlClaim claim;
  claim.file = file;
  claim.status = status;
  claim.version = version;
  claim.driver.module = "580.65.06";
  claim.libcuda = "580.65.06";
  return claim;
}

TEST(Witness, WhoAgreesWithTheKernelIsBelieved) {
  EXPECT_EQ(NvmlContradiction(Claim("/own/libnvidia-ml.so.580.65.06", 0, "580.65.06")), "");
  EXPECT_EQ(NvmlContradiction(Claim("/own/libnvidia-ml.so.1", 0, "580.65.06")), "");
  NvmlClaim claim = Claim("/own/libnvidia-ml.so.1", 0, "580.95.05");
  claim.libcuda = claim.driver.module = "";
  EXPECT_EQ(NvmlContradiction(claim), "") << "nothing speaks against it";
}

TEST(Witness, WhoContradictsTheKernelIsNot) {
  EXPECT_NE(NvmlContradiction(Claim("/own/libnvidia-ml.so.1", 0, "580.95.05")), "");
  EXPECT_NE(NvmlContradiction(Claim("/own/libnvidia-ml.so.580.95.05", 0, "580.65.06")), "") << "by its name";
  EXPECT_NE(NvmlContradiction(Claim("/own/libnvidia-ml.so.1", 18, "")), "") << "module and libcuda agree";
}

TEST(Witness, WithoutAModuleLibcudasVersionStandsForIt) {
  const auto claim = [](const std::string& file, int status, const std::string& version) {
    NvmlClaim made = Claim(file, status, version);
    made.driver.module = "";
    return made;
  };
  EXPECT_EQ(NvmlContradiction(claim("/own/libnvidia-ml.so.580.65.06", 0, "580.65.06")), "");
  EXPECT_NE(NvmlContradiction(claim("/own/libnvidia-ml.so.1", 0, "580.95.05")), "") << "by its words";
  EXPECT_NE(NvmlContradiction(claim("/own/libnvidia-ml.so.580.95.05", 9, "")), "") << "by its name";
  EXPECT_EQ(NvmlContradiction(claim("/own/libnvidia-ml.so.1", 18, "")), "")
      << "a module that nobody sees says nothing";
  NvmlClaim alone = claim("/own/libnvidia-ml.so.580.95.05", 0, "580.65.06");
  alone.libcuda = "";
  EXPECT_NE(NvmlContradiction(alone), "") << "its words contradict its name";
  alone.version = "580.95.05";
  EXPECT_EQ(NvmlContradiction(alone), "") << "nothing speaks against it";
}

TEST(Witness, ADriverOfTwoVersionsIsNotTheImagesFault) {
  NvmlClaim claim = Claim("/own/libnvidia-ml.so.580.95.05", 18, "");
  claim.libcuda = "580.95.05";
  EXPECT_EQ(NvmlContradiction(claim), "");
}

TEST(Witness, WhoIsNoMountWhereTheDriverIsOneIsNot) {
  NvmlClaim claim = Claim("/own/libnvidia-ml.so.580.65.06", 0, "580.65.06");
  claim.driver.files = {"/usr/lib/libcuda.so.580.65.06"};
  EXPECT_NE(NvmlContradiction(claim), "");
  claim.driver.nvml = {"/usr/lib/libnvidia-ml.so.580.65.06"};
  EXPECT_NE(NvmlContradiction(claim), "") << "the host's is mounted, and another taken";
}

TEST(Witness, NoPathMakesAnNvmlTheHosts) {
  MountedDriver driver;
  driver.nvml = {"/usr/lib/libnvidia-ml.so.580.65.06"};
  EXPECT_NE(DescribeForeignDriver("/x/compat/libnvidia-ml.so.1", driver), "") << "no compat package has one";
  driver.files = {"/usr/lib/libcuda.so.580.65.06"};
  EXPECT_EQ(DescribeForeignDriver("/x/compat/libcuda.so.1", driver), "");
}

}  // namespace
}  // namespace cudnn_ci
