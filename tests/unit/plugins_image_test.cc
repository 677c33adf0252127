// The toolkit and cuDNN plugins against the libraries of this machine and damaged copies of them. Skip
// where there are none.
#include "plugin_process.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ToolkitTest : public PluginTest {
 protected:
  void SetUp() override { REQUIRE_LIBRARY("libcudart.so.13"); }
};

TEST_F(ToolkitTest, RuntimeKeepsItsContract) {
  EXPECT_EQ(RunCheck("toolkit.runtime", {}, {"contract:image.toolkit=>=13.0 <14"}).Verdict(), "passed");
  EXPECT_EQ(RunCheck("toolkit.runtime", {}).Verdict(), "passed") << "any version will do";
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
  EXPECT_EQ(RunCheck("cudnn.load", {}).Verdict(), "passed") << "any version will do";
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
