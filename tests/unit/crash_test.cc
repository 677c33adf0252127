// Whose code a crash was in, and whom that accuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/record/crash.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kPlugin[] = "/gate/plugins/team.cci.so", kWorker[] = "/gate/libexec/cudnn-ci-worker",
               kLibc[] = "/lib/x86_64-linux-gnu/libc.so.6", kLoader[] = "/lib64/ld-linux-x86-64.so.2",
               kCudnn[] = "/usr/lib/libcudnn_ops.so.9", kCuda[] = "/usr/lib/libcuda.so.580.65.06";

Crash Through(const std::vector<std::string>& modules, int signal_number = SIGSEGV) {
  Crash crash;
  crash.signal = signal_number;
  for (const std::string& module : modules) crash.frames.push_back({0x1000, module, 0x10, ""});
  return crash;
}

CrashSite Site(const Crash& crash) { return SiteOf(crash, {kWorker, kPlugin}); }

TEST(CrashSiteTest, TheInnermostFrameThatIsNoRuntimeDecides) {
  EXPECT_EQ(Site(Through({kPlugin, kWorker, kLibc})), CrashSite::kHarness);
  EXPECT_EQ(Site(Through({kWorker, kLibc})), CrashSite::kHarness);
  EXPECT_EQ(Site(Through({kCudnn, kPlugin, kWorker})), CrashSite::kImage);
  EXPECT_EQ(Site(Through({kCuda, kCudnn, kPlugin})), CrashSite::kDriver);
  EXPECT_EQ(Site(Through({"/usr/lib/libnvidia-ptxjitcompiler.so.580", kCuda})), CrashSite::kDriver);
}

TEST(CrashSiteTest, WhoCallsTheRuntimeIsAtFaultForWhatHappensInIt) {
  EXPECT_EQ(Site(Through({kLibc, kPlugin})), CrashSite::kHarness);
  EXPECT_EQ(Site(Through({kLibc, "/usr/lib/libstdc++.so.6.0.30", kCudnn, kPlugin}, SIGABRT)),
            CrashSite::kImage);
  EXPECT_EQ(Site(Through({"", "[vdso]", kLibc, kPlugin})), CrashSite::kHarness);
  for (const char* runtime : {"/l/libc-2.17.so", "/l/libpthread.so.0", "/l/libgcc_s.so.1",
                              "/l/libc++abi.so.1", "/l/ld-musl-x86_64.so.1", "/l/libm.so.6"})
    EXPECT_EQ(Site(Through({runtime, kPlugin})), CrashSite::kHarness) << runtime;
}

// An image names its files as it likes.
TEST(CrashSiteTest, ANameThatOnlyLooksLikeOursIsTheImages) {
  for (const char* name : {"/image/team.cci.so", "/gate/plugins/team.cci.so.1", "/image/cudnn-ci-worker",
                           "/gate/libexec/cudnn-ci-plant.so", "/image/libcurand.so.10", "/image/libcud.so"})
    EXPECT_EQ(Site(Through({name, kPlugin})), CrashSite::kImage) << name;
}

TEST(CrashSiteTest, TheDriverOfACompatPackageIsTheImages) {
  EXPECT_EQ(Site(Through({"/usr/local/cuda/compat/libcuda.so.580.65.06", kPlugin})), CrashSite::kImage);
}

TEST(CrashSiteTest, WithoutAFrameNobodyKnows) {
  EXPECT_EQ(Site(Through({})), CrashSite::kUnknown);
  EXPECT_EQ(Site(Through({"", kLibc})), CrashSite::kUnknown);
}

TEST(CrashSiteTest, AFileThatWasUnlinkedSinceIsTheOneItWas) {
  EXPECT_EQ(Site(Through({std::string(kPlugin) + " (deleted)"})), CrashSite::kHarness);
  EXPECT_EQ(Site(Through({std::string(kCudnn) + " (deleted)", kPlugin})), CrashSite::kImage);
  EXPECT_EQ(Site(Through({std::string(kCuda) + " (deleted)", kPlugin})), CrashSite::kDriver);
  EXPECT_EQ(Site(Through({std::string(kLibc) + " (deleted)", kPlugin})), CrashSite::kHarness);
}

TEST(CrashSiteTest, CodeThatAnybodyMayHaveWrittenIsNobodys) {
  EXPECT_EQ(Site(Through({"/memfd:jit (deleted)", kPlugin})), CrashSite::kUnknown);
  EXPECT_EQ(Site(Through({kLibc, "/memfd:jit", kCudnn, kPlugin})), CrashSite::kUnknown);
  EXPECT_EQ(PlaceOf(Through({"/memfd:jit (deleted)", kPlugin})), "");
  EXPECT_EQ(Site(Through({kUnkeptModule, kPlugin})), CrashSite::kUnknown);
  EXPECT_EQ(Site(Through({kCudnn, "/memfd:jit (deleted)"})), CrashSite::kImage);
}

TEST(CrashSiteTest, AHeapThatIsBrokenMayHaveBeenBrokenByAnybody) {
  for (const char* function : {"free+0x73", "__libc_free+0x73", "malloc+0x1", "realloc+0x2", "calloc+0x3"}) {
    Crash crash = Through({kLibc, kLibc, kPlugin}, SIGABRT);
    crash.frames[0].symbol = "abort+0xd3";
    crash.frames[1].symbol = function;
    EXPECT_EQ(Site(crash), CrashSite::kUnknown) << function;
    crash.signal = SIGFPE;
    EXPECT_EQ(Site(crash), CrashSite::kHarness) << function;
  }
  Crash crash = Through({kLibc, kPlugin, kLibc}, SIGABRT);
  crash.frames[0].symbol = "freeaddrinfo+0x1";
  crash.frames[1].symbol = "malloc+0x1";
  crash.frames[2].symbol = "calloc+0x1";
  EXPECT_EQ(Site(crash), CrashSite::kHarness) << "only what the plugin called counts";
}

TEST(CrashSiteTest, InTheLoaderTheFileOrTheArgumentMayBeBad) {
  EXPECT_EQ(Site(Through({kLoader, kLibc, kPlugin})), CrashSite::kUnknown);
  EXPECT_EQ(Site(Through({kLoader, kLibc, kCudnn, kPlugin})), CrashSite::kImage);
  EXPECT_EQ(Site(Through({kLibc, kLoader, kPlugin})), CrashSite::kHarness) << "it began in libc";
}

TEST(CrashSiteTest, ABusErrorOnAFileIsThatFiles) {
  Crash crash = Through({kLoader, kLibc, kPlugin}, SIGBUS);
  crash.code = BUS_ADRERR;
  crash.module = kCudnn;
  EXPECT_EQ(Site(crash), CrashSite::kImage);
  EXPECT_EQ(PlaceOf(crash), std::string("on a page of ") + kCudnn + " behind its end");
  crash.module = kPlugin;
  EXPECT_EQ(Site(crash), CrashSite::kHarness);
  crash.module = "/tmp/x (deleted)";
  EXPECT_EQ(Site(crash), CrashSite::kUnknown) << "the frames decide";
  crash.module = kCudnn;
  crash.code = BUS_ADRALN;
  EXPECT_EQ(Site(crash), CrashSite::kUnknown) << "the address is a wrong one";
  crash.code = BUS_ADRERR;
  crash.signal = SIGSEGV;
  EXPECT_EQ(Site(crash), CrashSite::kUnknown) << "only a bus error says so";
}

TEST(CrashSiteTest, ABusErrorOfAMachineIsNobodysInTheProcess) {
  Crash crash = Through({kCudnn, kPlugin}, SIGBUS);
  crash.code = BUS_ADRERR;
  EXPECT_EQ(Site(crash), CrashSite::kImage);
  for (const char* file : {"/dev/nvidia0", "/dev/shm/nccl-x", "/dev/shm/nccl-x (deleted)"}) {
    crash.module = file;
    EXPECT_EQ(Site(crash), CrashSite::kUnknown) << file;
    EXPECT_EQ(PlaceOf(crash), std::string("in ") + kCudnn) << file;
  }
  crash.module = kCudnn;
  for (const int code : {BUS_MCEERR_AR, BUS_MCEERR_AO}) {
    crash.code = code;
    EXPECT_EQ(Site(crash), CrashSite::kUnknown) << code;
    EXPECT_EQ(PlaceOf(crash), std::string("in ") + kCudnn) << code;
  }
}

TEST(CrashSiteTest, PlaceAndStoryNameModuleAndFunction) {
  Crash crash = Through({"", kLibc, kCudnn, kPlugin});
  crash.frames[2].symbol = "cudnn\x1b[31mCreate+0x1f";
  crash.code = 1;
  EXPECT_EQ(PlaceOf(crash), std::string("in ") + kCudnn + ", cudnnCreate+0x1f");
  const std::string story = StoryOf(crash);
  EXPECT_THAT(story, StartsWith("SIGSEGV, code 1, address 0x0\n#0 0x1000\n#1 "));
  EXPECT_THAT(story, AllOf(HasSubstr(std::string("#2 ") + kCudnn + "+0x10 cudnnCreate+0x1f\n"),
                           HasSubstr(std::string("#3 ") + kPlugin + "+0x10\n")));
}

Blame BlameOfCrash(CrashSite site, Layer layer) {
  return BlameOf(Errored{ErrorKind::kCrashed, "x", site}, layer);
}

TEST(CrashBlameTest, FollowsTheSiteAndInTheDriversLayerTheRunner) {
  EXPECT_EQ(BlameOfCrash(CrashSite::kHarness, Layer::kCudnn), Blame::kHarness);
  EXPECT_EQ(BlameOfCrash(CrashSite::kHarness, Layer::kDriver), Blame::kHarness);
  EXPECT_EQ(BlameOfCrash(CrashSite::kImage, Layer::kCudnn), Blame::kImage);
  EXPECT_EQ(BlameOfCrash(CrashSite::kImage, Layer::kDriver), Blame::kImage);
  EXPECT_EQ(BlameOfCrash(CrashSite::kDriver, Layer::kCudnn), Blame::kUndetermined);
  EXPECT_EQ(BlameOfCrash(CrashSite::kDriver, Layer::kDriver), Blame::kRunner);
  EXPECT_EQ(BlameOfCrash(CrashSite::kUnknown, Layer::kOther), Blame::kUndetermined);
  EXPECT_EQ(BlameOfCrash(CrashSite::kUnknown, Layer::kDriver), Blame::kRunner);
}

TEST(CrashBlameTest, TheSiteOfAnythingElseMeansNothing) {
  EXPECT_EQ(BlameOf(Errored{ErrorKind::kOutOfMemory, "x", CrashSite::kHarness}, Layer::kCudnn),
            Blame::kImage);
}

TEST(CrashSiteTest, AHangIsAPluginsOnlyWhereItsOwnCodeRuns) {
  EXPECT_EQ(SiteOfHang(Through({kPlugin, kWorker}, SIGTERM), {kPlugin}), CrashSite::kHarness);
  EXPECT_EQ(SiteOfHang(Through({std::string(kPlugin) + " (deleted)"}, SIGTERM), {kPlugin}),
            CrashSite::kHarness);
  for (const char* other : {kWorker, kLibc, kCudnn, kCuda, "", "[vdso]"})
    EXPECT_EQ(SiteOfHang(Through({other, kPlugin}, SIGTERM), {kPlugin}), CrashSite::kUnknown) << other;
  EXPECT_EQ(SiteOfHang(Through({}, SIGTERM), {kPlugin}), CrashSite::kUnknown);
}

TEST(CrashSiteTest, ATimeoutIsThePluginsOnlyByItsSite) {
  EXPECT_EQ(BlameOf({ErrorKind::kTimedOut, "", CrashSite::kHarness}, Layer::kDriver), Blame::kHarness);
  EXPECT_EQ(BlameOf({ErrorKind::kTimedOut, "", CrashSite::kUnknown}, Layer::kDriver), Blame::kRunner);
  EXPECT_EQ(BlameOf({ErrorKind::kTimedOut, "", CrashSite::kUnknown}, Layer::kCudnn), Blame::kImage);
}

}  // namespace
}  // namespace cudnn_ci
