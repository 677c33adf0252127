// What the driver plugin concludes, on made-up hosts: from texts, and from folders with the files of a
// driver.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>

#include "common/driver_files.h"
#include "driver/init.h"
#include "driver/requirements.h"
#include "driver/variables.h"
#include "mentions.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The range has one term; two numbers are enough here.
bool InThatRange(const std::string& version, const std::string& range) {
  const auto number = [](const std::string& text) {
    std::istringstream in(text);
    int major = 0, minor = 0;
    char dot = 0;
    in >> major >> dot >> minor;
    return major * 10000 + minor;
  };
  const size_t digits = range.find_first_not_of("<>=!");
  const std::string op = range.substr(0, digits);
  const int a = number(version), b = number(range.substr(digits));
  if (op == ">=") return a >= b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return op == "=" ? a == b : a != b;
}

Kept Evaluated(const std::string& requirement, const HostProperties& host) {
  return Evaluate(requirement, host, InThatRange);
}

TEST(Requirements, BlanksAreAlternativesAndCommasConditions) {
  const HostProperties host{"12.2", "535.54.03", "9.0", "tesla"};
  EXPECT_EQ(Evaluated("cuda>=12.2", host), Kept::kYes);
  EXPECT_EQ(Evaluated("cuda>=12.8", host), Kept::kNo);
  EXPECT_EQ(Evaluated("cuda>=12.8 brand=tesla,driver>=535,driver<536", host), Kept::kYes);
  EXPECT_EQ(Evaluated("cuda>=12.8 brand=tesla,driver>=550,driver<551", host), Kept::kNo);
  EXPECT_EQ(Evaluated("cuda>=12.8 brand=geforce,driver>=535,driver<536", host), Kept::kNo);
  EXPECT_EQ(Evaluated("cuda>=12.0,arch<8.0", host), Kept::kNo);
  EXPECT_EQ(Evaluated("brand!=geforce", host), Kept::kYes);
}

TEST(Requirements, WhatIsNotKnownIsNeitherKeptNorBroken) {
  const HostProperties without_brand{"12.2", "535.54.03", "", ""};
  EXPECT_EQ(Evaluated("cuda>=12.8 brand=tesla,driver>=535,driver<536", without_brand), Kept::kUnknown);
  EXPECT_EQ(Evaluated("cuda>=12.8 brand=tesla,driver>=550", without_brand), Kept::kNo);
  EXPECT_EQ(Evaluated("arch>=7.0", without_brand), Kept::kUnknown);
  for (const char* text :
       {"", " ", "colour=red", "cuda", "cuda>=", "cuda>=x", "cuda=>12", "it's $HOME", "cuda>=12..0",
        "cuda>=12.", "cuda>=9999999999", "cuda>=1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1"})
    EXPECT_EQ(Evaluated(text, without_brand), Kept::kUnknown) << text;
}

TEST(Requirements, TheLowestCudaIsThatOfTheFirstCondition) {
  EXPECT_EQ(LowestCuda("cuda>=12.8 brand=tesla,driver>=535"), "12.8");
  EXPECT_EQ(LowestCuda("brand=tesla,driver>=535"), "");
  EXPECT_EQ(LowestCuda("cuda<13"), "");
}

TEST(VisibleDevices, WhatIsSurelyBadNeedsNoGpuToTell) {
  EXPECT_EQ(SurelyBadVisibleDevice(""), "");
  EXPECT_EQ(SurelyBadVisibleDevice("-1"), "-1");
  EXPECT_EQ(SurelyBadVisibleDevice("0,NoDevFiles"), "NoDevFiles");
  EXPECT_EQ(SurelyBadVisibleDevice("0, 1 ,0"), "0");
  EXPECT_EQ(SurelyBadVisibleDevice("0,,1"), "");
  EXPECT_EQ(SurelyBadVisibleDevice("0,GPU-aa,MIG-bb"), std::nullopt);
}

TEST(Xids, OnlyThoseOfTheHardwareAreTaken) {
  const std::vector<Xid> xids = ParseHardwareXids(
      "4,1,1,-;NVRM: Xid (PCI:0000:18:00): 79, pid=1, GPU has fallen off the bus.\n"
      "4,2,2,-;NVRM: Xid (PCI:0000:18:00): 31, pid=2, MMU fault of a program\n"
      "4,3,3,-;NVRM: Xid (PCI:0000:2a:00): 48, pid=3, DBE\n"
      "4,4,4,-;NVRM: Xid (PCI:0000:18:00): 79, again\n"
      "4,5,5,-;NVRM: Xid (PCI:" +
      std::string(5000, 'a') + "): 48\nNVRM: Xid (PCI:0000:99:00");
  ASSERT_EQ(xids.size(), 2u);
  EXPECT_EQ(xids[0].pci, "0000:18:00");
  EXPECT_EQ(xids[0].number, 79);
  EXPECT_EQ(xids[1].pci, "0000:2a:00");
  EXPECT_EQ(xids[1].number, 48);
}

TEST(Xids, BelongToAGpuWhateverTheLettersOfItsAddress) {
  const std::vector<Xid> xids = {{"0000:4b:00", 79}, {"0000:18:00", 48}, {"", 63}, {"0000:4B:00", 119}};
  EXPECT_EQ(XidsOf("0000:4B:00.0", xids), "79, 119");
  EXPECT_EQ(XidsOf("0000:18:00.0", xids), "48");
  EXPECT_EQ(XidsOf("0000:19:00.0", xids), "");
  EXPECT_EQ(XidsOf("", xids), "");
}

// A host's files below a folder.
class DriverRoot : public ::testing::Test {
 protected:
  DriverRoot() {
    for (const char* folder : {"dev", "proc/driver/nvidia", "sys/module/nvidia"})
      fs::create_directories(scratch_.File(folder));
  }
  Scratch scratch_;
};

TEST_F(DriverRoot, XidsAreReadWhereTheLogMayBeRead) {
  EXPECT_THAT(LoggedHardwareXids(scratch_.path()), IsEmpty());
  scratch_.Write("dev/kmsg",
                 "6,1,1,-;eth0 up\n4,2,2,-;NVRM: Xid (PCI:0000:18:00): 64, row remapping failed\n");
  ASSERT_EQ(LoggedHardwareXids(scratch_.path()).size(), 1u);
}

TEST_F(DriverRoot, AModulesVersionIsReadFromAFileAlone) {
  scratch_.Write("proc/driver/nvidia/version",
                 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  x\n");
  EXPECT_EQ(LoadedModuleVersion(scratch_.path()), "580.65.06");
  fs::remove(scratch_.File("proc/driver/nvidia/version"));
  ASSERT_EQ(mkfifo(scratch_.File("proc/driver/nvidia/version").c_str(), 0600), 0);
  EXPECT_EQ(LoadedModuleVersion(scratch_.path()), "") << "nobody writes into it";
}

// This program will do for a library: what counts is that it could be loaded here.
TEST_F(DriverRoot, LibrariesOfTheDriverAreFoundWhereTheyAreMounted) {
  const auto put = [&](const std::string& folder, const std::string& file) {
    fs::create_directories(scratch_.File(folder));
    fs::copy_file("/proc/self/exe", scratch_.File(folder + "/" + file));
  };
  EXPECT_THAT(MountedDriverLibraries(scratch_.path()), IsEmpty());
  put("usr/lib/wsl/lib", "libcuda.so.1");
  EXPECT_THAT(MountedDriverLibraries(scratch_.path()), ElementsAre("/usr/lib/wsl/lib/libcuda.so.1"));
  put("usr/local/nvidia/lib64", "libcuda.so.1");
  fs::create_directory_symlink("lib64", scratch_.File("usr/local/nvidia/lib"));
  EXPECT_THAT(MountedDriverLibraries(scratch_.path()),
              ElementsAre("/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"));
}

TEST_F(DriverRoot, StubsAndBrokenFilesAreNoDriver) {
  for (const char* folder : {"usr/lib64/stubs", "usr/lib/wsl/lib", "usr/local/nvidia/lib64"})
    fs::create_directories(scratch_.File(folder));
  fs::copy_file("/proc/self/exe", scratch_.File("usr/lib64/stubs/libcuda.so"));
  fs::create_symlink("stubs/libcuda.so", scratch_.File("usr/lib64/libcuda.so.1"));
  fs::create_symlink("nowhere", scratch_.File("usr/lib/wsl/lib/libcuda.so.1"));
  fs::copy_file("/proc/self/exe", scratch_.File("usr/local/nvidia/lib64/libcuda.so.1"));
  fs::resize_file(scratch_.File("usr/local/nvidia/lib64/libcuda.so.1"), 4096);
  EXPECT_THAT(MountedDriverLibraries(scratch_.path()), IsEmpty());
}

Lookup Of(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

TEST(Variables, OfDebuggingAreThoseThatHaveAnEffect) {
  EXPECT_EQ(DebuggingVariables(Of({})), "");
  EXPECT_EQ(DebuggingVariables(Of({{"CUDA_LAUNCH_BLOCKING", "0"}, {"CUDNN_LOGLEVEL_DBG", "1"}})), "");
  EXPECT_EQ(DebuggingVariables(Of({{"CUDNN_LOGLEVEL_DBG", "2"}, {"CUDA_FORCE_PTX_JIT", "1"}})),
            "CUDA_FORCE_PTX_JIT, CUDNN_LOGLEVEL_DBG");
}

TEST_F(DriverRoot, TheCacheIsWhereTheVariablesSay) {
  const std::string root = scratch_.path();
  scratch_.Write("file", "");
  EXPECT_EQ(ComputeCacheProblem(Of({})), "");
  EXPECT_EQ(ComputeCacheProblem(Of({{"HOME", root}})), "");
  EXPECT_EQ(ComputeCacheProblem(Of({{"CUDA_CACHE_PATH", root + "/not/yet/"}, {"HOME", root + "/file"}})), "");
  EXPECT_EQ(ComputeCacheProblem(Of({{"HOME", root}, {"CUDA_CACHE_DISABLE", "1"}})), "CUDA_CACHE_DISABLE=1");
  EXPECT_EQ(ComputeCacheProblem(Of({{"HOME", root + "/file"}})),
            root + "/file/.nv/ComputeCache cannot be written: Not a directory");
}

TEST_F(DriverRoot, ModuleVersionIsThatOfProcBeforeSys) {
  EXPECT_EQ(LoadedModuleVersion(scratch_.path()), "");
  scratch_.Write("sys/module/nvidia/version", "470.82.01\n");
  EXPECT_EQ(LoadedModuleVersion(scratch_.path()), "470.82.01");
  scratch_.Write("proc/driver/nvidia/version",
                 "NVRM version: NVIDIA UNIX x86_64 Kernel Module  525.60.13  Wed\n");
  EXPECT_EQ(LoadedModuleVersion(scratch_.path()), "525.60.13");
}

TEST_F(DriverRoot, EveryGpusNodeIsOpened) {
  EXPECT_EQ(Describe(DeviceNodes(scratch_.path())),
            "/dev/nvidiactl missing, /dev/nvidia0 missing, /dev/nvidia-uvm missing");
  for (const char* node : {"nvidiactl", "nvidia10", "nvidia2", "nvidia-uvm-tools", "nvidia-caps", "nvidiaX"})
    scratch_.Write(std::string("dev/") + node, "");
  fs::create_symlink("nvidia-uvm", scratch_.File("dev/nvidia-uvm"));
  const std::vector<DeviceNode> nodes = DeviceNodes(scratch_.path());
  EXPECT_EQ(Describe(nodes),
            "/dev/nvidiactl present, /dev/nvidia2 present, /dev/nvidia10 present, /dev/nvidia-uvm cannot be "
            "opened (Too many levels of symbolic links)");
  EXPECT_TRUE(IsUvmTheCause(nodes, false));
  EXPECT_EQ(DeniedNode(nodes), nullptr) << "that is no matter of rights";
}

TEST_F(DriverRoot, ANodeThatMayNotBeOpenedIsDenied) {
  for (const char* node : {"nvidiactl", "nvidia0", "nvidia-uvm"})
    scratch_.Write(std::string("dev/") + node, "");
  chmod(scratch_.File("dev/nvidia0").c_str(), 0);
  // Root may open everything.
  const bool root = geteuid() == 0;
  if (root) chmod(scratch_.path().c_str(), 0755);
  if (root && seteuid(65534) != 0) GTEST_SKIP() << "cannot become another user";
  const std::vector<DeviceNode> nodes = DeviceNodes(scratch_.path());
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  const DeviceNode* denied = nullptr;
  for (const DeviceNode& node : nodes)
    if (node.path == "/dev/nvidia0") denied = &node;
  ASSERT_NE(denied, nullptr);
  EXPECT_EQ(denied->error, EACCES);
  EXPECT_NE(DeniedNode(nodes), nullptr);
  EXPECT_THAT(Describe(nodes), ContainsRegex("/dev/nvidia0 [^,]*\\(Permission denied\\)"));
}

TEST(SandboxRules, WhichLimitExplainsACode) {
  const std::string gvisor = "#1 SMP Sun Jan 10 15:06:54 PST 2016";
  const Sandbox limited{std::uint64_t{64} << 30, "#1 SMP PREEMPT_DYNAMIC Debian 6.1.153-1"};
  EXPECT_THAT(SandboxDetail(2, limited), Mentions("65536 MiB", "ulimit"));
  EXPECT_EQ(SandboxDetail(3, limited), "");
  EXPECT_EQ(SandboxDetail(304, limited), "");
  EXPECT_EQ(SandboxDetail(2, Sandbox{UINT64_MAX, gvisor}), "") << "there is no limit";
  EXPECT_THAT(SandboxDetail(304, Sandbox{UINT64_MAX, gvisor}), Mentions("gVisor", "--nvproxy"));
  EXPECT_EQ(SandboxDetail(100, Sandbox{UINT64_MAX, gvisor}), "");
  EXPECT_NE(OwnSandbox().kernel, "");
}

TEST(DeviceNodeRules, WhichNodeIsTheCause) {
  const DeviceNode control{"/dev/nvidiactl", 0, 195}, gpu{"/dev/nvidia0", 0, 195},
      uvm{"/dev/nvidia-uvm", 0, 510};
  const auto with = [](DeviceNode node, int error) {
    node.error = error;
    return node;
  };
  EXPECT_FALSE(IsUvmTheCause({control, gpu, uvm}, false));
  EXPECT_TRUE(IsUvmTheCause({control, gpu, uvm}, true));
  EXPECT_TRUE(IsUvmTheCause({control, gpu, with(uvm, ENOENT)}, false));
  EXPECT_FALSE(IsUvmTheCause({with(control, ENOENT), gpu, with(uvm, ENOENT)}, false))
      << "there is no driver at all";
  EXPECT_EQ(DeniedNode({control, gpu, with(uvm, EPERM)}), nullptr) << "that is for IsUvmTheCause to say";
  const std::vector<DeviceNode> denied = {control, with(gpu, EPERM), uvm};
  ASSERT_NE(DeniedNode(denied), nullptr);
  EXPECT_EQ(DeniedNode(denied)->path, "/dev/nvidia0");
  const DeviceNode other{"/dev/nvidia1", 0, 195};
  EXPECT_EQ(DeniedNode({control, with(gpu, EPERM), other, uvm}), nullptr)
      << "a job that was given one of two";
  EXPECT_EQ(DeniedNode({control, gpu, with(other, EPERM), uvm}), nullptr);
  const std::vector<DeviceNode> without_control = {with(control, EACCES), gpu, uvm};
  ASSERT_NE(DeniedNode(without_control), nullptr);
  EXPECT_EQ(DeniedNode(without_control)->path, "/dev/nvidiactl");
}

TEST(OtherLibrary, ThatTheImageBroughtIsItsFault) {
  EXPECT_STREQ(SlugOfOtherLibrary("580.65.06", "580.65.06"), "driver-compat-mismatch");
  EXPECT_STREQ(SlugOfOtherLibrary("570.26", "580.65.06"), "driver-module-mismatch");
  EXPECT_STREQ(SlugOfOtherLibrary("", "580.65.06"), "driver-module-mismatch");
  EXPECT_STREQ(SlugOfOtherLibrary("", ""), "driver-module-mismatch");
}

TEST(Requirements, AreToldOnlyIfTheyHoldNothingElse) {
  EXPECT_TRUE(HasConditionsAlone("cuda>=12.8 brand=tesla,driver>=535,driver<536 arch!=9.0"));
  for (const char* text : {"cuda>=13.0,hunter2", "cuda>=hunter2", "token=hunter2", "brand=Hunter2", "hunter2",
                           "brand=averylongwordthatisasecret"})
    EXPECT_FALSE(HasConditionsAlone(text)) << text;
}

TEST_F(DriverRoot, AStaleMajorOfUvmIsSeen) {
  scratch_.Write("proc/devices",
                 "Character devices:\n  1 mem\n195 nvidia\n510 nvidia-uvm\n\nBlock devices:\n259 blkext\n");
  const auto node = [](unsigned major) { return std::vector<DeviceNode>{{"/dev/nvidia-uvm", 0, major}}; };
  EXPECT_FALSE(IsUvmNodeStale(node(510), scratch_.path()));
  EXPECT_TRUE(IsUvmNodeStale(node(235), scratch_.path()));
  EXPECT_FALSE(IsUvmNodeStale(node(0), scratch_.path())) << "it is no device node";
  scratch_.Write("proc/devices", "Character devices:\n  1 mem\n");
  EXPECT_FALSE(IsUvmNodeStale(node(235), scratch_.path())) << "the module's number is not known";
}

}  // namespace
}  // namespace cudnn_ci
