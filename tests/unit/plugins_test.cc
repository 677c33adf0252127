// The environment plugins, one process per check: fake drivers through LD_LIBRARY_PATH, the toolkit and
// cuDNN of this machine, and damaged copies of them. Tests that need a real library skip where there is
// none; tests that need the absence of a driver skip where there is one.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Environment = std::map<std::string, std::string>;

struct Report {
  int status = -1;  // of the process, as waitpid gives it
  std::vector<std::vector<std::string>> records;

  std::string Verdict() const { return Field("verdict", 1); }
  std::vector<std::string> Slugs() const {
    std::vector<std::string> slugs;
    for (const auto& r : records)
      if (r[0] == "finding") slugs.push_back(r[1]);
    return slugs;
  }
  // Of the first finding.
  std::string Blame() const {
    const std::string blame = Field("finding", 3);
    return blame == "0" ? "image" : blame == "1" ? "runner" : blame;
  }
  std::string Detail() const { return Field("finding", 4); }
  std::string Fact(const std::string& key) const {
    for (const auto& r : records)
      if (r[0] == "fact" && r[1] == key) return r[2];
    return "(none)";
  }
  std::string Field(const std::string& kind, size_t index) const {
    for (const auto& r : records)
      if (r[0] == kind && r.size() > index) return r[index];
    return {};
  }
};

void PrintTo(const Report& report, std::ostream* os) {
  *os << "status " << report.status;
  for (const auto& r : report.records) *os << "\n  " << ::testing::PrintToString(r);
}

std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else if (c != '\n') {
      fields.back() += c;
    }
  }
  return fields;
}

// Runs PLUGIN.CHECK in a process that inherits nothing of the variables that change what is found.
// `arguments`: "contract:image.cudnn=>=9.0 <10", "fact:toolkit.version=12.8".
Report RunCheck(const std::string& check, const Environment& environment,
                const std::vector<std::string>& arguments = {}, const std::string& launcher = "") {
  const size_t dot = check.find('.');
  std::string command = "env -u LD_LIBRARY_PATH -u CUDA_VISIBLE_DEVICES -u NVIDIA_VISIBLE_DEVICES ";
  for (const auto& [name, value] : environment) command += Quoted(name + "=" + value) + " ";
  command += launcher + " " + Quoted(PLUGIN_RUNNER) + " " +
             Quoted(std::string(PLUGIN_DIR) + "/" + check.substr(0, dot) + ".cci.so") + " " +
             Quoted(check.substr(dot + 1));
  for (const auto& a : arguments) command += " " + Quoted(a);
  Report report;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, pipe) > 0) report.records.push_back(Fields(line));
  free(line);
  report.status = pclose(pipe);
  return report;
}

const std::string kFakeDriver = std::string(FAKES_DIR) + "/libcuda";
const std::string kFakeNvml = std::string(FAKES_DIR) + "/nvml";

Environment Fake(Environment more = {}) {
  more.emplace("LD_LIBRARY_PATH", kFakeDriver + ":" + kFakeNvml);
  return more;
}

class PluginTest : public ::testing::Test {
 protected:
  PluginTest() {
    std::string pattern = ::testing::TempDir() + "cudnn-ci-plugins-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~PluginTest() override { fs::remove_all(directory_); }

  void Write(const std::string& name, const std::string& bytes) {
    fs::remove(directory_ + "/" + name);
    std::ofstream(directory_ + "/" + name, std::ios::binary) << bytes;
  }
  // The first half of one of the toolkit's libraries.
  void WriteHalf(const std::string& name) {
    fs::remove(directory_ + "/" + name);
    fs::copy_file(fs::canonical(CUDA_LIBRARY_DIR "/" + name), directory_ + "/" + name);
    fs::resize_file(directory_ + "/" + name, fs::file_size(directory_ + "/" + name) / 2);
  }
  // cuDNN of this machine in our directory, by hard links so that links do not lead out of it again.
  void LinkCudnn() {
    for (const auto& entry : fs::directory_iterator(CUDA_LIBRARY_DIR)) {
      const std::string name = entry.path().filename().string();
      if (name.compare(0, 8, "libcudnn") != 0 || name.find(".so.9") == std::string::npos) continue;
      std::error_code failed;
      const fs::path file = fs::canonical(entry.path());
      fs::create_hard_link(file, directory_ + "/" + name, failed);
      if (failed) fs::copy_file(file, directory_ + "/" + name);
    }
  }
  Environment Here() const { return {{"LD_LIBRARY_PATH", directory_}}; }
  std::string directory_;
};

bool HasLibrary(const std::string& name) { return fs::exists(CUDA_LIBRARY_DIR "/" + name); }

#define REQUIRE_LIBRARY(name) \
  if (!HasLibrary(name)) GTEST_SKIP() << name << " is not in " CUDA_LIBRARY_DIR
#define REQUIRE_NO_DRIVER()                                                                      \
  if (RunCheck("driver.load", {}).Slugs() != std::vector<std::string>{"driver-library-missing"}) \
  GTEST_SKIP() << "this machine has a driver"

using DriverLoad = PluginTest;

TEST_F(DriverLoad, NamesTheMissingLibraryAndTheVariable) {
  REQUIRE_NO_DRIVER();
  const Report r = RunCheck("driver.load", {{"NVIDIA_VISIBLE_DEVICES", "void"}});
  EXPECT_EQ(r.Verdict(), "failed");
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("libcuda.so.1: cannot open shared object file"),
                                HasSubstr("/dev/nvidiactl"), HasSubstr("NVIDIA_VISIBLE_DEVICES='void'")));
}

TEST_F(DriverLoad, SeesThatOnlyTheUtilityCapabilityWasMounted) {
  REQUIRE_NO_DRIVER();
  const Report r = RunCheck("driver.load", {{"LD_LIBRARY_PATH", kFakeNvml}});
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("'utility'"));
}

TEST_F(DriverLoad, TellsTheToolkitsStubByItsAnswer) {
  REQUIRE_LIBRARY("stubs/libcuda.so");
  fs::copy_file(CUDA_LIBRARY_DIR "/stubs/libcuda.so", directory_ + "/libcuda.so.1");
  const Report r = RunCheck("driver.load", Here());
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-stub-library"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), HasSubstr("LD_LIBRARY_PATH entry " + directory_));
}

TEST_F(DriverLoad, TellsAStubByItsPath) {
  fs::create_directory(directory_ + "/stubs");
  fs::create_symlink(fs::canonical(kFakeDriver + "/libcuda.so.1"), directory_ + "/libcuda.so.1");
  EXPECT_EQ(RunCheck("driver.load", Here()).Verdict(), "passed");
  fs::copy_file(kFakeDriver + "/libcuda.so.1", directory_ + "/stubs/libcuda.so");
  fs::remove(directory_ + "/libcuda.so.1");
  fs::create_symlink("stubs/libcuda.so", directory_ + "/libcuda.so.1");
  EXPECT_THAT(RunCheck("driver.load", Here()).Slugs(), ElementsAre("driver-stub-library"));
}

TEST_F(DriverLoad, UnloadableLibraryIsNotAMissingOne) {
  Write("libcuda.so.1", std::string(100, 'x'));
  const Report r = RunCheck("driver.load", Here());
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-library-unloadable"));
  EXPECT_THAT(r.Detail(), HasSubstr("invalid ELF header"));
}

TEST(DriverVersion, PassesWhenTheContractIsKept) {
  const Report r = RunCheck("driver.version", Fake(), {"contract:runner.driver=>=525.60.13"});
  EXPECT_EQ(r.Verdict(), "passed") << ::testing::PrintToString(r);
}

TEST(DriverVersion, DriverBelowTheContractIsTheRunnersFault) {
  const Report r =
      RunCheck("driver.version", Fake({{"FAKE_NVML_DRIVER", "470.82.01"}, {"FAKE_DRIVER_VERSION", "11040"}}),
               {"contract:runner.driver=>=525.60.13", "fact:toolkit.version=13.0"});
  EXPECT_EQ(r.Verdict(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-below-contract")) << "the image is not to blame as well";
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_EQ(r.Detail(), "driver 470.82.01 found, >=525.60.13 promised");
}

TEST(DriverVersion, DriverThatKeepsTheContractButNotTheToolkitIsTheImagesFault) {
  const Report r = RunCheck("driver.version", Fake({{"FAKE_DRIVER_VERSION", "12080"}}),
                            {"contract:runner.driver=>=525.60.13", "fact:toolkit.version=13.0"});
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-too-old-for-toolkit"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("CUDA 12.8"), HasSubstr("13.0")));
}

TEST(DriverVersion, NewerMinorOfTheToolkitAndNewerDriverAreHealthy) {
  EXPECT_EQ(
      RunCheck("driver.version", Fake({{"FAKE_DRIVER_VERSION", "12000"}}), {"fact:toolkit.version=12.9"})
          .Verdict(),
      "passed");
  EXPECT_EQ(RunCheck("driver.version", Fake(), {"fact:toolkit.version=11.8"}).Verdict(), "passed");
}

TEST(DriverVersion, ToolkitThatIsNotPromisedBindsNoDriver) {
  EXPECT_EQ(RunCheck("driver.version", Fake({{"FAKE_DRIVER_VERSION", "12080"}}),
                     {"contract:image.toolkit=>=12.0 <13", "fact:toolkit.version=13.0"})
                .Verdict(),
            "passed");
}

TEST(DriverVersion, NvmlsMismatchIsReported) {
  const Report r = RunCheck("driver.version", Fake({{"FAKE_NVML_INIT", "18"}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("driver-module-mismatch"));
  EXPECT_THAT(r.Detail(), HasSubstr("Driver/library version mismatch"));
}

struct InitCase {
  const char* code;
  const char* slug;
  const char* blame;
};

class DriverInit : public ::testing::TestWithParam<InitCase> {};

TEST_P(DriverInit, CodeIsDecoded) {
  const Report r = RunCheck("driver.devices", Fake({{"FAKE_CUINIT", GetParam().code}}));
  EXPECT_EQ(r.Verdict(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre(GetParam().slug));
  EXPECT_EQ(r.Blame(), GetParam().blame);
  EXPECT_THAT(r.Detail(), HasSubstr("cuInit: " + std::string(GetParam().code) + " CUDA_ERROR_"));
}

INSTANTIATE_TEST_SUITE_P(Codes, DriverInit,
                         ::testing::Values(InitCase{"3", "driver-init-failed", "runner"},
                                           InitCase{"34", "driver-stub-library", "image"},
                                           InitCase{"46", "device-busy", "runner"},
                                           InitCase{"100", "no-visible-device", "runner"},
                                           InitCase{"101", "no-visible-device", "runner"},
                                           InitCase{"802", "fabric-not-ready", "runner"},
                                           InitCase{"803", "driver-compat-mismatch", "image"},
                                           InitCase{"804", "driver-compat-mismatch", "image"},
                                           InitCase{"999", "driver-unknown-error", "runner"}),
                         [](const auto& param) { return std::string("code") + param.param.code; });

TEST(DriverDevices, PassesOnThePromisedGpus) {
  const Report r = RunCheck("driver.devices", Fake({{"FAKE_DEVICE_COUNT", "2"}}),
                            {"contract:runner.gpus=>=2", "contract:runner.compute_capability=>=7.0"});
  EXPECT_EQ(r.Verdict(), "passed") << ::testing::PrintToString(r);
}

TEST(DriverDevices, NamesTheVariableThatHidesTheGpus) {
  Report r = RunCheck("driver.devices", Fake({{"FAKE_DEVICE_COUNT", "2"}, {"CUDA_VISIBLE_DEVICES", ""}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("no-visible-device"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("CUDA_VISIBLE_DEVICES=''"), HasSubstr("NVML sees 2 GPU(s)")));
  r = RunCheck("driver.devices", Fake({{"FAKE_DEVICE_COUNT", "2"}, {"CUDA_VISIBLE_DEVICES", "7"}}));
  EXPECT_THAT(r.Detail(), HasSubstr("first bad entry: '7'"));
}

TEST(DriverDevices, TooFewGpusAndOldGpusAreTheRunnersFault) {
  const Report r = RunCheck("driver.devices", Fake({{"FAKE_CC", "6.1"}}),
                            {"contract:runner.gpus=>=2", "contract:runner.compute_capability=>=7.0"});
  EXPECT_THAT(r.Slugs(), ElementsAre("too-few-gpus", "compute-capability-outside-contract"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("1 GPU(s) visible, >=2 promised"));
}

TEST(DriverCanary, EveryElementIsCompared) {
  EXPECT_EQ(RunCheck("driver.canary", Fake()).Verdict(), "passed");
  const Report r = RunCheck("driver.canary", Fake({{"FAKE_CANARY", "wrong"}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("1 of 1048653 elements are wrong"));
}

TEST(DriverCanary, FailingContextNamesTheCall) {
  const Report r = RunCheck("driver.canary", Fake({{"FAKE_CONTEXT", "2"}}));
  EXPECT_THAT(r.Slugs(), ElementsAre("canary-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuDevicePrimaryCtxRetain: 2 CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST(DriverFacts, GpusAreNumberedInPciOrder) {
  const Report r = RunCheck("driver.--facts", Fake({{"FAKE_DEVICE_COUNT", "2"}, {"FAKE_PCI", "reverse"}}));
  EXPECT_EQ(r.Fact("gpu.count"), "2");
  EXPECT_EQ(r.Fact("gpu.0.name"), "NVIDIA Fake 1");
  EXPECT_EQ(r.Fact("gpu.0.pci_bus_id"), "0000:10:00.0");
  EXPECT_EQ(r.Fact("gpu.0.uuid"), "GPU-11111111-1111-1111-1111-000000000001");
  EXPECT_EQ(r.Fact("gpu.1.uuid"), "GPU-11111111-1111-1111-1111-000000000000");
  EXPECT_EQ(r.Fact("gpu.1.compute_capability"), "9.0");
  EXPECT_EQ(r.Fact("driver.version"), "580.65.06");
  EXPECT_EQ(r.Fact("driver.cuda"), "13.0");
  EXPECT_EQ(r.Fact("driver.library.path"), fs::canonical(kFakeDriver + "/libcuda.so.1").string());
}

TEST(DriverFacts, SayWhyThereIsNoGpuAndKeepSecretsOut) {
  const Report r = RunCheck(
      "driver.--facts", Fake({{"FAKE_CUINIT", "999"}, {"CI_TOKEN", "secret"}, {"CUDA_VERSION", "13.0.2"}}));
  EXPECT_THAT(r.Fact("gpu.error"), HasSubstr("999 CUDA_ERROR_UNKNOWN"));
  EXPECT_EQ(r.Fact("env.CUDA_VERSION"), "13.0.2");
  for (const auto& record : r.records) EXPECT_THAT(record, Not(Contains(HasSubstr("secret"))));
}

class ToolkitTest : public PluginTest {
 protected:
  void SetUp() override { REQUIRE_LIBRARY("libcudart.so.13"); }
};

TEST_F(ToolkitTest, RuntimeKeepsItsContract) {
  EXPECT_EQ(RunCheck("toolkit.runtime", {}, {"contract:image.toolkit=>=13.0 <14"}).Verdict(), "passed");
  EXPECT_EQ(RunCheck("toolkit.runtime", {}).Verdict(), "skipped") << "what is not promised is not gated";
}

TEST_F(ToolkitTest, RuntimeOutsideTheContractIsNamedWithBoth) {
  const Report r = RunCheck("toolkit.runtime", {}, {"contract:image.toolkit=>=12.0 <13"});
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-outside-contract"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_EQ(r.Detail(), "toolkit 13.0 found, >=12.0 <13 promised");
}

TEST_F(ToolkitTest, AbsentIsAPromise) {
  const Report r = RunCheck("toolkit.runtime", {}, {"contract:image.toolkit=absent"});
  EXPECT_EQ(r.Verdict(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-not-promised"));
  EXPECT_THAT(RunCheck("toolkit.nvrtc", {}, {"contract:image.toolkit=absent"}).Slugs(),
              ElementsAre("toolkit-not-promised"));
}

TEST_F(ToolkitTest, TruncatedRuntimeIsNamedAndDoesNotKill) {
  WriteHalf("libcudart.so.13");
  const Report r = RunCheck("toolkit.runtime", Here(), {"contract:image.toolkit=>=13.0 <14"});
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.Slugs(), ElementsAre("toolkit-runtime-missing"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(directory_ + "/libcudart.so.13"), HasSubstr("truncated")));
}

class NvrtcTest : public PluginTest {
 protected:
  void SetUp() override { REQUIRE_LIBRARY("libnvrtc.so.13"); }
  const std::vector<std::string> kPromise = {"contract:image.toolkit=>=13.0 <14"};
};

TEST_F(NvrtcTest, Compiles) {
  const Report r = RunCheck("toolkit.nvrtc", {}, kPromise);
  EXPECT_EQ(r.Verdict(), "passed") << ::testing::PrintToString(r);
}

TEST_F(NvrtcTest, OutsideTheContract) {
  const Report r = RunCheck("toolkit.nvrtc", {}, {"contract:image.toolkit=>=12.0 <13"});
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-outside-contract"));
  EXPECT_THAT(r.Detail(), HasSubstr("NVRTC 13.0 found, >=12.0 <13 promised"));
}

TEST_F(NvrtcTest, BrokenBuiltinsAreFoundByCompiling) {
  Write("libnvrtc-builtins.so.13.0", std::string(100, 'x'));
  const Report r = RunCheck("toolkit.nvrtc", Here(), kPromise);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-compile-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("builtins"));
}

TEST_F(NvrtcTest, TruncatedFilesDoNotKill) {
  WriteHalf("libnvrtc-builtins.so.13.0");
  Report r = RunCheck("toolkit.nvrtc", Here(), kPromise);
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-compile-failed"));
  WriteHalf("libnvrtc.so.13");
  r = RunCheck("toolkit.nvrtc", Here(), kPromise);
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-missing"));
}

TEST_F(NvrtcTest, LaunchComparesEveryElement) {
  EXPECT_EQ(RunCheck("toolkit.launch", Fake(), kPromise).Verdict(), "passed");
  const Report r = RunCheck("toolkit.launch", Fake({{"FAKE_CANARY", "wrong"}}), kPromise);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("1 of 100003 elements are wrong"));
}

TEST_F(NvrtcTest, LaunchNamesAGpuTheCompilerDoesNotServe) {
  const Report r = RunCheck("toolkit.launch", Fake({{"FAKE_CC", "5.0"}}), kPromise);
  EXPECT_THAT(r.Slugs(), ElementsAre("nvrtc-kernel-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("the GPU is sm_50"));
}

TEST_F(NvrtcTest, LaunchFallsBackToTheHighestArchitectureBelowTheGpu) {
  EXPECT_EQ(RunCheck("toolkit.launch", Fake({{"FAKE_CC", "19.9"}}), kPromise).Verdict(), "passed");
}

TEST_F(NvrtcTest, FactsNameBothLibraries) {
  const Report r = RunCheck("toolkit.--facts", {});
  EXPECT_EQ(r.Fact("toolkit.version"), "13.0");
  EXPECT_EQ(r.Fact("toolkit.nvrtc.version"), "13.0");
  EXPECT_THAT(r.Fact("toolkit.runtime.path"), HasSubstr("/libcudart.so.13"));
  EXPECT_THAT(r.Fact("toolkit.nvrtc.path"), HasSubstr("/libnvrtc.so.13"));
}

class CudnnTest : public PluginTest {
 protected:
  void SetUp() override { REQUIRE_LIBRARY("libcudnn.so.9"); }
  const std::vector<std::string> kPromise = {"contract:image.cudnn=>=9.0 <10"};
};

TEST_F(CudnnTest, HealthyInstallPasses) {
  const Report load = RunCheck("cudnn.load", {}, kPromise), version = RunCheck("cudnn.version", {}, kPromise);
  EXPECT_EQ(load.Verdict(), "passed") << ::testing::PrintToString(load);
  EXPECT_EQ(version.Verdict(), "passed") << ::testing::PrintToString(version);
  EXPECT_EQ(RunCheck("cudnn.load", {}).Verdict(), "skipped") << "what is not promised is not gated";
}

TEST_F(CudnnTest, CopyInOneDirectoryPasses) {
  LinkCudnn();
  const Report r = RunCheck("cudnn.load", Here(), kPromise);
  EXPECT_EQ(r.Verdict(), "passed") << ::testing::PrintToString(r);
}

TEST_F(CudnnTest, InstallCompletedFromAnotherDirectoryIsMixed) {
  LinkCudnn();
  fs::remove(directory_ + "/libcudnn_ops.so.9");
  const Report r = RunCheck("cudnn.load", Here(), kPromise);
  if (r.Slugs() == std::vector<std::string>{"cudnn-sublibrary-unloadable"})
    GTEST_SKIP() << "this machine's loader knows no second cuDNN";
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-mixed-directories"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(directory_), HasSubstr("libcudnn_ops.so.9")));
}

TEST_F(CudnnTest, TruncatedSublibraryIsNamedAndDoesNotKill) {
  LinkCudnn();
  WriteHalf("libcudnn_ops.so.9");
  const Report r = RunCheck("cudnn.load", Here(), kPromise);
  EXPECT_EQ(r.status, 0);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-sublibrary-unloadable"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(directory_ + "/libcudnn_ops.so.9"), HasSubstr("truncated")));
}

TEST_F(CudnnTest, TextInPlaceOfTheGraphLibraryIsNamedAndVersionDoesNotAbort) {
  LinkCudnn();
  Write("libcudnn_graph.so.9", "version https://git-lfs.github.com/spec/v1\n" + std::string(90, 'x'));
  const Report r = RunCheck("cudnn.load", Here(), kPromise);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-sublibrary-unloadable"));
  EXPECT_THAT(r.Detail(), HasSubstr("libcudnn_graph.so.9"));
  EXPECT_EQ(RunCheck("cudnn.version", Here(), kPromise).status, 0);
  EXPECT_EQ(RunCheck("cudnn.--facts", Here()).status, 0);
}

TEST_F(CudnnTest, MissingCudnnIsNamed) {
  const Report r = RunCheck("cudnn.load", {}, kPromise,
                            "unshare -m sh -c 'mount --bind /dev/null /etc/ld.so.cache && exec \"$@\"' --");
  if (r.records.empty()) GTEST_SKIP() << "hiding the loader's cache needs a mount namespace of our own";
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-missing"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), HasSubstr("libcudnn.so.9: cannot open shared object file"));
}

TEST_F(CudnnTest, VersionOutsideTheContractIsNamedWithBoth) {
  const Report facts = RunCheck("cudnn.--facts", {});
  const Report r = RunCheck("cudnn.version", {}, {"contract:image.cudnn=>=8.0 <9"});
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-outside-contract"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuDNN " + facts.Fact("cudnn.version") + " found, >=8.0 <9 promised"))
      << "the version in the file and the library's own answer agree";
}

TEST_F(CudnnTest, BuildForAnotherCudaMajorIsAMismatch) {
  const std::string cuda = RunCheck("cudnn.--facts", {}).Fact("cudnn.cudart");
  auto arguments = kPromise;
  arguments.push_back("fact:toolkit.version=11.8");
  Report r = RunCheck("cudnn.version", {}, arguments);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-flavour-mismatch"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("is built for CUDA " + cuda), HasSubstr("11.8")));
  arguments.back() = "contract:image.toolkit=>=11.0 <12";
  EXPECT_THAT(RunCheck("cudnn.version", {}, arguments).Slugs(), ElementsAre("cudnn-flavour-mismatch"));
  arguments.back() = "fact:toolkit.version=" + cuda + ".9";
  EXPECT_THAT(RunCheck("cudnn.version", {}, arguments).Slugs(), IsEmpty()) << "minors do not matter";
}

TEST_F(CudnnTest, AbsentIsAPromise) {
  EXPECT_THAT(RunCheck("cudnn.load", {}, {"contract:image.cudnn=absent"}).Slugs(),
              ElementsAre("cudnn-not-promised"));
  EXPECT_EQ(RunCheck("cudnn.init", Fake(), {"contract:image.cudnn=absent"}).Verdict(), "skipped");
}

TEST_F(CudnnTest, FailedInitialisationIsTheImagesFaultUnlessMemoryIsShort) {
  Report r = RunCheck("cudnn.init", Fake(), kPromise);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-failed"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("CUDNN_STATUS_"), HasSubstr("MiB free of")));
  r = RunCheck("cudnn.init", Fake({{"FAKE_FREE_MB", "100"}}), kPromise);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-out-of-memory"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("100 MiB free"));
}

TEST_F(CudnnTest, FactsComeFromTheFiles) {
  const Report r = RunCheck("cudnn.--facts", {});
  EXPECT_THAT(r.Fact("cudnn.version"), ::testing::StartsWith("9."));
  EXPECT_THAT(r.Fact("cudnn.path"), HasSubstr("/libcudnn.so.9"));
}

}  // namespace
}  // namespace cudnn_ci
