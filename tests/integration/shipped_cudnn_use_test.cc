// cuDNN in use, by the fake one: handles in turn, at once, in threads and on several devices, without memory,
// and plans without a GPU.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>
#include <tuple>
#include <utility>

#include "golden_messages.h"
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CudnnUse : public ShippedTest {
 protected:
  CudnnUse() {
    Promise("image.cudnn", ">=9.0 <10");
    Set("FAKE_CUDNN_LOG", gate().Path("cudnn.log"));
  }
  // "+" for each cudnnCreate and "-" for each cudnnDestroy of the processes so far, in their order.
  std::string Calls() {
    std::istringstream log(gate().Read("cudnn.log"));
    std::string calls;
    for (std::string line; std::getline(log, line);)
      calls += line.find("cudnnCreate") != std::string::npos    ? "+"
               : line.find("cudnnDestroy") != std::string::npos ? "-"
                                                                : "";
    return calls;
  }
  // Of a warning or note.
  static std::string Said(const CheckOutcome& r, const std::string& slug) {
    for (const json& f : r.record["findings"])
      if (f["slug"] == slug) return f["severity"].get<std::string>() + ": " + f["detail"].get<std::string>();
    return "";
  }
};

TEST_F(CudnnUse, HandlesInTurnAtOnceAndInThreadsAreMadeAndGivenBack) {
  const CheckOutcome r = Check("cudnn.init");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.record["id"], "cudnn.init[handles=3,subject=system,threads=2]");
  EXPECT_EQ(Calls(),
            "+-"
            "+-+-+-"
            "++--"
            "++--");
  EXPECT_GE(r.Measured("cudnn_create"), 0);
  EXPECT_GE(r.Measured("cudnn_create_again"), 0);
  EXPECT_THAT(r.record["findings"], IsEmpty());
}

TEST_F(CudnnUse, AsManyHandlesAndThreadsAsTheEntrySays) {
  const CheckOutcome r = Check("cudnn.init", R"("params": {"handles": 10, "threads": 5})");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  const std::string calls = Calls();
  EXPECT_EQ(calls.size(), 2u * (1 + 10 + 2 + 5));
  EXPECT_EQ(calls.substr(calls.size() - 10), "+++++-----") << "the threads hold theirs at the same time";
}

TEST_F(CudnnUse, EachHandleThatFailsIsNamedWithTheLibrarysWords) {
  GoldenMessages golden("cudnn_handles.txt");
  for (const auto& [call, count, status] : {std::tuple<const char*, int, int>{"cudnnCreate", 1, 1001},
                                            {"cudnnDestroy", 1, 2000},
                                            {"cudnnCreate", 3, 1001},
                                            {"cudnnDestroy", 4, 2000},
                                            {"cudnnCreate", 6, 1001},
                                            {"cudnnDestroy", 5, 2000},
                                            {"cudnnCreate", 8, 1001},
                                            {"cudnnDestroy", 8, 2000}}) {
    const std::string fault =
        std::string("call:") + call + ":" + std::to_string(count) + ":" + std::to_string(status);
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Check("cudnn.init");
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-failed")) << fault;
    EXPECT_THAT(r.Detail(), Mentions(call, std::to_string(status))) << fault;
    const std::regex varies("(handle of thread |device memory: ).*");  // which thread, and how much is free
    golden.Row(fault, std::regex_replace(r.Detail(), varies, "$1..."));
  }
}

TEST_F(CudnnUse, MemoryThatEveryHandleLeavesBehindIsAWarningWithItsBytes) {
  Set("FAKE_CUDNN_HANDLE_KB", "4096");
  EXPECT_EQ(Said(Check("cudnn.init"), "cudnn-handle-leak"), "") << "what is given back is no leak";
  Set("FAKE_CUDNN_LEAK_KB", "2048");
  CheckOutcome r = Check("cudnn.init");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  const std::string said = Said(r, "cudnn-handle-leak");
  EXPECT_THAT(said, AllOf(HasSubstr("warning: "), HasSubstr(" bytes "), HasSubstr(" 6 handles")));
  const long bytes = std::atol(said.c_str() + 9);
  EXPECT_GE(bytes, 2048 << 10) << said;
  EXPECT_LT(bytes, 2100 << 10) << said;
  r = Check("cudnn.init", R"("params": {"handles": 2})");
  EXPECT_EQ(Said(r, "cudnn-handle-leak"), "")
      << "of two handles it cannot be told from another process's memory";
}

TEST_F(CudnnUse, MemoryThatAnotherProcessTakesMeanwhileIsNoLeakOfTheHandles) {
  Set("FAKE_OTHER_TAKES_MS", "300");
  EXPECT_EQ(Said(Check("cudnn.init"), "cudnn-handle-leak"), "");
  Set("FAKE_CUDNN_LEAK_KB", "2048");
  EXPECT_NE(Said(Check("cudnn.init"), "cudnn-handle-leak"), "") << "a leak beside it is seen all the same";
}

TEST_F(CudnnUse, AllocationThatFailsIsAMatterOfMemoryHoweverMuchIsFree) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnCreate:2:4004");
  const CheckOutcome r = Check("cudnn.init");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-out-of-memory")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.exit_code, 3);
}

TEST_F(CudnnUse, OneProcessUsesAllDevicesAtTheSameTime) {
  Set("FAKE_DEVICE_COUNT", "3");
  CheckOutcome r = Check("cudnn.init_all", "", {"--device", "all"});
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  // Behind those of cudnn.init on each of the devices.
  EXPECT_THAT(Calls(), ::testing::EndsWith("+-+-+-"
                                           "+-+-+-+-+-+-+-+-+-"
                                           "++++++------"
                                           "++--"));
  Set("FAKE_CUDNN_FAULT", "call:cudnnCreate:3:1001");
  r = Check("cudnn.init_all", "", {"--device", "all"});
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-failed")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), Mentions("first handle on device 2: cudnnCreate: 1001"));
}

class UnderPressure : public CudnnUse {
 protected:
  UnderPressure() {
    Set("FAKE_FREE_MB", "700");
    Set("FAKE_CUDNN_HANDLE_KB", "40960");
  }
  CheckOutcome Press(const std::string& rest = "") {
    return Check("cudnn.init_pressure", rest, {"--disturb"});
  }
};

TEST_F(UnderPressure, IsLeftOutUnlessItMayDisturb) {
  const CheckOutcome r = Check("cudnn.init_pressure");
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
}

TEST_F(UnderPressure, FailureThatSaysMemoryAndIsOverWithItPasses) {
  const CheckOutcome r = Press();
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_THAT(r.record["findings"], IsEmpty());
  EXPECT_LT(r.Measured("memory_left"), 2 << 20);
  EXPECT_GE(r.Measured("handle_bytes"), 40960 << 10);
  EXPECT_THAT(r.gate.journal.empty() ? "" : r.gate.journal.back().dump(), HasSubstr("RunFinished"));
}

TEST_F(UnderPressure, HandleThatNeedsNoMoreThanIsLeftPasses) {
  const CheckOutcome r = Press(R"("params": {"leave_mib": 50})");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_GE(r.Measured("memory_left"), 49 << 20);
  EXPECT_LT(r.Measured("memory_left"), 53 << 20);
}

TEST_F(UnderPressure, StatusThatCouldMeanAnythingIsANote) {
  Set("FAKE_CUDNN_NO_MEMORY", "1001");
  const CheckOutcome r = Press();
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r, "cudnn-pressure-unclear"),
              AllOf(HasSubstr("note: with "), Mentions("cudnnCreate", "1001 CUDNN_STATUS_OTHER: words")));
}

TEST_F(UnderPressure, LibraryThatDoesNotRecoverIsTheImagesFault) {
  Set("FAKE_CUDNN_NO_MEMORY", "4004:1001");
  const CheckOutcome r = Press();
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-lost-under-pressure"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("cudnnCreate: 1001", "returned 4004"));
}

TEST_F(UnderPressure, MemoryThatCannotBeTakenIsASkipOfItsOwnKind) {
  // In pieces so small that the bound of their number comes first.
  Set("FAKE_FREE_MB", "100000");
  Set("FAKE_CUDNN_HANDLE_KB", "0");
  Set("FAKE_CUDA_REFUSE_ABOVE_KB", "8192");
  const CheckOutcome r = Press();
  EXPECT_EQ(r.Skip("kind"), "memory") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("resource"), "device-memory");
  EXPECT_THAT(r.Skip("seen"), HasSubstr(" free of "));
}

TEST_F(UnderPressure, TheHostsOwnMemoryIsNotTaken) {
  Set("FAKE_INTEGRATED", "1");
  const CheckOutcome r = Press();
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), HasSubstr("shares"));
}

// Plans, on a machine without a GPU and without a driver.
class Planned : public CudnnUse {
 protected:
  Planned() { UseFakes({"cudart13", "nvrtc", "cudnn"}); }
  CheckOutcome Plan(const std::string& rest = "") {
    return Check("cudnn.plans", rest, {"--stage", "static"});
  }
};

TEST_F(Planned, AreBuiltWithoutAGpu) {
  const CheckOutcome r = Plan();
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.record["id"], "cudnn.plans[plans=4,subject=system]");
  EXPECT_EQ(r.Measured("plans"), 3 * 4);
  EXPECT_EQ(Plan(R"("params": {"plans": 100})").Measured("plans"), 3 * 6)
      << "no more than the heuristics give";
}

TEST_F(Planned, HeuristicsThatGiveNothingAreRedThoughNothingFailed) {
  Set("FAKE_CUDNN_CONFIGURATIONS", "18/0");
  const CheckOutcome r = Plan();
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-no-plans"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(::testing::StartsWith("float16, channels last, 3x3: "),
                                Mentions("18 configurations", "none; float32", "; cuDNN 9.19.0 /")));
}

TEST_F(Planned, ConfigurationsOfWhichNoPlanCanBeBuiltAreNamedWithTheLibrarysWords) {
  Set("FAKE_CUDNN_FINALIZE", "5:3000");
  CheckOutcome r = Plan();
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-no-plans")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(),
              Mentions("none of 6", "cudnnBackendFinalize(plan): 3000 CUDNN_STATUS_NOT_SUPPORTED: words"));
  // One that is refused among others is what heuristics are like.
  Set("FAKE_CUDNN_FINALIZE", "");
  Set("FAKE_CUDNN_CONFIGURATIONS", "18/1");
  r = Plan();
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Measured("plans"), 3);
}

TEST_F(Planned, WhatIsRefusedFirstIsNotTheEnd) {
  Set("FAKE_CUDNN_PLANS_REFUSED", "5");
  const CheckOutcome r = Plan(R"("params": {"plans": 1})");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Measured("plans"), 3);
}

TEST_F(Planned, HeuristicsThatCannotBeAskedAreRed) {
  Set("FAKE_CUDNN_FINALIZE", "4:1008");
  CheckOutcome r = Plan();
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-plans-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("5x5: cudnnBackendFinalize(heuristics): 1008"));
  Set("FAKE_CUDNN_FINALIZE", "38:1008");
  r = Plan();
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-plans-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("cudnnBackendFinalize(described device): 1008"));
}

TEST_F(Planned, WhatAVersionCannotDoIsASkipThatNamesIt) {
  Set("FAKE_CUDNN_VERSION", "90501");
  CheckOutcome r = Plan();
  EXPECT_EQ(r.Skip("kind"), "version") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("need"), HasSubstr("cuDNN 9.8.0 or later"));
  EXPECT_THAT(r.Skip("seen"), HasSubstr("cuDNN 9.5.1 /"));
  // A later one that wants to be told more.
  for (const char* status : {"2000", "3000"}) {
    Set("FAKE_CUDNN_VERSION", "94000");
    Set("FAKE_CUDNN_FINALIZE", "38:" + std::string(status));
    r = Plan();
    EXPECT_EQ(r.Skip("kind"), "version") << ::testing::PrintToString(r);
    EXPECT_THAT(r.Skip("seen"), HasSubstr("(described device): " + std::string(status)));
  }
}

TEST_F(Planned, JitOnlyPackageHasNoHeuristics) {
  TakeCudnn();
  UseFakes({"cudart13", "nvrtc"});
  for (const char* part : {"ops", "cnn", "adv", "heuristic", "engines_precompiled"})
    std::remove((libraries() + "/libcudnn_" + part + ".so.9").c_str());
  EXPECT_EQ(Plan().Skip("kind"), "absent");
}

TEST_F(Planned, PartThatAwaitsTheDriverCannotBeAsked) {
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "hiding the loader's cache needs a mount namespace";
  gate().Before(words);
  TakeCudnn();
  Take("cudnn_driver", "libcudnn_engines_runtime_compiled.so.9");
  UseFakes({"cudart13", "nvrtc"});
  const CheckOutcome r = Plan();
  EXPECT_EQ(r.Skip("kind"), "absent") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("need"), HasSubstr("libcuda.so.1, which "));
}

TEST_F(CudnnUse, MixtureThatHandlesOrHeuristicsLoadIsSeen) {
  const std::string other = FakeFile("cudnn_old", "libcudnn_ops.so.9");
  for (const auto& [variable, check] :
       {std::pair{"FAKE_CUDNN_LOADS", "cudnn.init"}, {"FAKE_CUDNN_CHOOSES", "cudnn.plans"}}) {
    Set(variable, other);
    const CheckOutcome r = Check(check);
    EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-mixed-directories")) << ::testing::PrintToString(r);
    EXPECT_THAT(r.Detail(), HasSubstr("libcudnn_ops.so.9.14.0 (of 9.14.0)"));
    Set(variable, "");
  }
}

// The system's folders stand in for those of an image: cuDNN in /usr, records of dpkg and rpm, and a program
// rpm.
TEST_F(CudnnUse, PackageManagersRecordIsComparedWithTheLibraries) {
  TakeCudnn();
  const std::string records = gate().Path("lib"), script = gate().Path("bin/rpm");
  for (const char* folder : {"dpkg", "rpm"}) fs::create_directories(records + "/" + folder);
  fs::create_directory(gate().Path("bin"));
  gate().Write("lib/dpkg/status",
               "Package: libcudnn9-cuda-13\nStatus: install ok installed\nArchitecture: amd64\nVersion: "
               "9.14.0.64-1\n\n");
  fs::create_directory(records + "/dpkg/info");
  gate().Write("lib/dpkg/info/libcudnn9-cuda-13.list", "/.\n/usr/local/share/libcudnn.so.9\n");
  gate().Write("lib/rpm/rpmdb.sqlite", "");
  gate().Write("bin/rpm", "#!/bin/sh\n[ \"$1\" = -qf ] && echo libcudnn9-cuda-13 9.10.2.21-1\n");
  fs::permissions(script, fs::perms::owner_all);
  const auto words = InMountNamespace("mount --bind " + libraries() + " /usr/local/share && mount --bind " +
                                      records + " /var/lib");
  if (words.empty()) GTEST_SKIP() << "needs a mount namespace";
  gate().Before(words);
  UseSubjects(R"({"system": "path:/usr/local/share"})");
  Set("PATH", gate().Path("bin") + ":/usr/bin:/bin");
  CheckOutcome r = Check("cudnn.version");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_THAT(Said(r, "cudnn-package-mismatch"),
              AllOf(HasSubstr("warning: "),
                    Mentions("/usr/local/share", "9.19.0", "/usr/local/share/libcudnn.so.9", "dpkg",
                             "libcudnn9-cuda-13 9.14.0.64-1", "rpm", "libcudnn9-cuda-13 9.10.2.21-1")));
  // Records that agree, and a database that nobody can read.
  gate().Write("lib/dpkg/status",
               "Package: libcudnn9-cuda-13\nStatus: install ok installed\nVersion: 9.19.0.56-1\n\n");
  fs::remove(script);
  r = Check("cudnn.version");
  EXPECT_EQ(Said(r, "cudnn-package-mismatch"), "") << ::testing::PrintToString(r);
}

// A part that cuDNN loads with the first convolution, of another release.
TEST_F(CudnnUse, MixtureThatOnlyAConvolutionLoadsIsSeen) {
  const std::string other = FakeFile("cudnn_old", "libcudnn_ops.so.9");
  const std::string entry = R"("params": {"algo": "implicit_gemm", "dtype": "float32", "shape": "one"})";
  UseShapes(R"({"one": {"x": [1, 4, 8, 8], "w": [4, 4, 3, 3]}})");
  EXPECT_EQ(Check("conv.forward", entry).Outcome(), "passed");
  Set("FAKE_CUDNN_CONVOLVES", other);
  CheckOutcome r = Check("conv.forward", entry);
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-cudnn-mixed"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("loaded: "), HasSubstr("libcudnn_ops.so.9.14.0 (of 9.14.0)"),
                                HasSubstr("libcudnn.so.9.19.0")));
  // And it is the cause of a convolution that then fails.
  Set("FAKE_CUDNN_FAULT", "call:cudnnConvolutionForward:1:5000");
  r = Check("conv.forward", entry);
  EXPECT_THAT(r.Slugs(), ElementsAre("convolution-cudnn-mixed", "convolution-failed"))
      << ::testing::PrintToString(r);
}

}  // namespace
}  // namespace cudnn_ci
