// The cuDNN plugin against installs of a fake cuDNN: whole, damaged, mixed.
#include <filesystem>

#include "shipped_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CudnnTest : public ShippedTest {
 protected:
  CudnnTest() { Promise("image.cudnn", ">=9.12 <10"); }
};

TEST_F(CudnnTest, HealthyInstallPasses) {
  const CheckOutcome r = Check("cudnn.init");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
  EXPECT_EQ(r.Fact("cudnn.version"), "9.19.0");
  EXPECT_THAT(r.Fact("cudnn.path"), HasSubstr("/libcudnn.so.9"));
}

TEST_F(CudnnTest, CopyInOneDirectoryPasses) {
  TakeCudnn();
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Fact("cudnn.path"), libraries() + "/libcudnn.so.9");
}

TEST_F(CudnnTest, InstallCompletedFromAnotherDirectoryIsMixed) {
  TakeCudnn();
  fs::remove(libraries() + "/libcudnn_ops.so.9");
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-mixed-directories"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(libraries()), HasSubstr("libcudnn_ops.so.9")));
}

TEST_F(CudnnTest, LibrariesOfTwoVersionsInOneDirectoryAreMixed) {
  TakeCudnn();
  Take("cudnn_old", "libcudnn_ops.so.9");
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-mixed-versions"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("9.14.0 (" + libraries() + "/libcudnn_ops.so.9)"),
                                HasSubstr("9.19.0 (" + libraries() + "/libcudnn_graph.so.9")));
}

TEST_F(CudnnTest, TruncatedSublibraryIsNamedAndDoesNotKill) {
  TakeCudnn();
  Halve("libcudnn_ops.so.9");
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-sublibrary-unloadable"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr(libraries() + "/libcudnn_ops.so.9"), HasSubstr("truncated")));
}

TEST_F(CudnnTest, SublibraryOfANewerReleaseIsLookedAtToo) {
  TakeCudnn();
  Take("cudnn_new_part", "libcudnn_new.so.9");
  EXPECT_EQ(Check("cudnn.load").Outcome(), "passed");
  Halve("libcudnn_new.so.9");
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-sublibrary-unloadable"));
  EXPECT_THAT(r.Detail(), HasSubstr("libcudnn_new.so.9"));
}

// It loads as well as the right one, and no version in it tells.
TEST_F(CudnnTest, AnotherLibraryUnderTheNameOfAPartIsNamed) {
  TakeCudnn();
  const std::string heuristic = libraries() + "/libcudnn_heuristic.so.9",
                    main = libraries() + "/libcudnn.so.9";
  fs::copy_file(FakeFile("cudnn", "libcudnn_cnn.so.9"), heuristic, fs::copy_options::overwrite_existing);
  CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-other-library"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions(heuristic + " is libcudnn_cnn.so.9", "needed by " + main));
  TakeCudnn();
  fs::copy_file(FakeFile("cudnn8", "libcudnn.so.8"), main, fs::copy_options::overwrite_existing);
  r = Check("cudnn.load");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-other-library"));
  EXPECT_THAT(r.Detail(), Mentions(main + " is libcudnn.so.8"));
}

TEST_F(CudnnTest, TextInPlaceOfTheGraphLibraryIsNamedAndNothingAborts) {
  TakeCudnn();
  WriteLibrary("libcudnn_graph.so.9", "version https://git-lfs.github.com/spec/v1\n" + std::string(90, 'x'));
  const CheckOutcome r = Check("cudnn.version");
  EXPECT_EQ(r.Outcome(), "blocked");
  EXPECT_EQ(r.gate.Errors("cudnn.load[subject=system]"), "image.cudnn-sublibrary-unloadable");
  EXPECT_EQ(r.gate.report["totals"]["errored"], 0);
  EXPECT_EQ(r.gate.report["root_cause"]["slug"], "cudnn-sublibrary-unloadable");
}

TEST_F(CudnnTest, MissingCudnnIsNamed) {
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "hiding the loader's cache needs a mount namespace";
  UseFakes({"libcuda", "nvml"});
  gate().Before(words);
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-missing")) << ::testing::PrintToString(r);
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(StartsWith("libcudnn.so.9: "), Mentions("LD_LIBRARY_PATH='")));
}

TEST_F(CudnnTest, WhatChangesTheLoaderIsAFact) {
  Set("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
  Set("CUDNN_LIB_CONFIG", "FULL");
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Fact("env.GLIBC_TUNABLES"), "glibc.malloc.tcache_count=0");
  EXPECT_EQ(r.Fact("env.CUDNN_LIB_CONFIG"), "FULL");
  EXPECT_EQ(r.Fact("env.LD_AUDIT"), "(none)");
}

// A copy as a Python wheel brings it, where only Python looks.
class WheelTest : public CudnnTest {
 protected:
  WheelTest() {
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(FakeFolder("cudnn")))
      if (entry.path().extension() == ".9")
        fs::copy_file(fs::canonical(entry.path()), folder_ + "/" + entry.path().filename().string());
    AddMetadata("nvidia_cudnn_cu13-9.19.0.56.dist-info");
    Set("VIRTUAL_ENV", gate().Path("venv"));
  }
  void AddMetadata(const std::string& name) {
    fs::create_directory(gate().Path("venv/lib/python3.11/site-packages/" + name));
  }
  // The severity of a finding of the check; "" if it has none.
  static std::string Severity(const CheckOutcome& r, const std::string& slug) {
    for (const json& f : r.record["findings"])
      if (f["slug"] == slug) return f["severity"];
    return "";
  }
  const std::string folder_ = gate().Path("venv/lib/python3.11/site-packages/nvidia/cudnn/lib");
};

TEST_F(WheelTest, CopyThatNoSubjectUsesIsAFactAndNotGated) {
  CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  const std::string facts = r.gate.report["facts"]["system"].dump(), real = fs::canonical(folder_).string();
  EXPECT_THAT(facts, AllOf(HasSubstr("\"" + real + "/libcudnn.so.9\""),
                           HasSubstr("package nvidia-cudnn-cu13 9.19.0.56")));
  const std::string copy =
      "cuDNN 9.19.0 at " + real + "/libcudnn.so.9 (Python package nvidia-cudnn-cu13 9.19.0.56)";
  EXPECT_THAT(r.gate.report["not_gated"].dump(),
              AllOf(HasSubstr(copy), HasSubstr("a subject \\\"python:PATH\\\"")));
  fs::create_directories(gate().Path("venv/bin"));
  gate().Write("venv/bin/python3", "");
  fs::permissions(gate().Path("venv/bin/python3"), fs::perms(0755));
  EXPECT_THAT(
      Check("cudnn.load").gate.report["not_gated"].dump(),
      HasSubstr("a subject \\\"python:" + fs::canonical(gate().Path("venv")).string() + "/bin/python3"));
  UseSubjects("{\"system\": \"loader\", \"wheel\": \"path:" + folder_ + "\"}");
  r = Check("cudnn.load");
  EXPECT_THAT(r.gate.report["not_gated"].dump(), ::testing::Not(HasSubstr(copy)));
}

TEST_F(WheelTest, MissingCudnnNamesTheCopy) {
  const auto words = InMountNamespace("mount --bind /dev/null /etc/ld.so.cache");
  if (words.empty()) GTEST_SKIP() << "hiding the loader's cache needs a mount namespace";
  UseFakes({"libcuda", "nvml"});
  gate().Before(words);
  const CheckOutcome r = Check("cudnn.load");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-missing")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), Mentions("9.19.0 in " + fs::canonical(folder_).string()));
}

TEST_F(WheelTest, MetadataAndHeadersOfAnotherVersionAreWarnings) {
  UseSubjects("{\"wheel\": \"path:" + folder_ + "\"}");
  Set("FAKE_CC", "8.6");  // of which nothing is known to go wrong
  CheckOutcome r = Check("cudnn.version");
  EXPECT_EQ(r.record["findings"].size(), 0u) << ::testing::PrintToString(r);
  AddMetadata("nvidia_cudnn_cu12-9.10.2.21.dist-info");
  fs::create_directory(folder_ + "/../include");
  gate().Write("venv/lib/python3.11/site-packages/nvidia/cudnn/include/cudnn_version.h",
               "#define CUDNN_MAJOR 8\n#define CUDNN_MINOR 9\n#define CUDNN_PATCHLEVEL 7\n");
  r = Check("cudnn.version");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(Severity(r, "cudnn-header-mismatch"), "warning");
  EXPECT_EQ(Severity(r, "cudnn-package-mismatch"), "warning");
}

TEST_F(CudnnTest, JitOnlyPackageIsWholeAndItsConvolutionsAreANamedSkip) {
  TakeCudnn();
  for (const char* part : {"ops", "cnn", "adv", "heuristic", "engines_precompiled"})
    fs::remove(libraries() + "/libcudnn_" + part + ".so.9");
  CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Fact("cudnn.libraries"), "jit");
  std::string slugs;
  for (const json& f : r.record["findings"])
    slugs += f["severity"].get<std::string>() + " " + f["slug"].get<std::string>() + "; ";
  EXPECT_EQ(slugs, "note cudnn-jit-only; warning cudnn-jit-completed; ") << "the fake cuDNN lies behind it";
  UseShapes(R"({"one": {"x": [1, 4, 8, 8], "w": [4, 4, 3, 3]}})");
  r = Check(
      "conv.forward",
      R"("params": {"algo": "implicit_gemm", "dtype": "float32", "shape": "one"}, "allow_skip": ["absent"])");
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), HasSubstr("a JIT-only cuDNN: " + libraries()));
}

TEST_F(CudnnTest, JitOnlyPackageThatMustBeToldNamesTheVariable) {
  TakeCudnn();
  for (const char* part : {"ops", "cnn", "adv", "heuristic", "engines_precompiled"})
    fs::remove(libraries() + "/libcudnn_" + part + ".so.9");
  const std::string variable = "CUDNN_LIB_CONFIG=GRAPH_JIT_ONLY";
  EXPECT_THAT(Check("cudnn.load").Detail(), Not(HasSubstr(variable))) << "9.19.0 finds out by itself";
  Take("cudnn_graph_untold", "libcudnn_graph.so.9");
  const CheckOutcome untold = Check("cudnn.load");
  EXPECT_EQ(untold.record["findings"][0]["slug"], "cudnn-jit-only") << ::testing::PrintToString(untold);
  EXPECT_THAT(untold.Detail(), Mentions("9.12.0", variable, "9.13.0"));
  Set("CUDNN_LIB_CONFIG", "GRAPH_JIT_ONLY");
  EXPECT_THAT(Check("cudnn.load").Detail(), Not(HasSubstr(variable)));
}

TEST_F(CudnnTest, PartThatAwaitsTheDriverIsANoteAndInitialisationTheRunners) {
  TakeCudnn();
  Take("cudnn_more", "libcudnn_engines_runtime_compiled.so.9");
  UseFakes({"libcuda", "nvml", "cudart13", "cudart12", "nvrtc"});
  EXPECT_EQ(Check("cudnn.init").gate.exit_code, 0) << "all it needs is there";
  Take("cudnn_profiler", "libcudnn_profiler.so.9");
  const CheckOutcome load = Check("cudnn.load");
  EXPECT_EQ(load.Outcome(), "passed") << ::testing::PrintToString(load);
  EXPECT_EQ(load.record["findings"][0]["slug"], "cudnn-awaits-driver");
  EXPECT_EQ(load.record["findings"][0]["severity"], "note");
  EXPECT_THAT(load.Detail(), HasSubstr("libcudnn_profiler.so.9 needs libnvidia-profiler.so.1"));
  const CheckOutcome init = Check("cudnn.init");
  EXPECT_EQ(init.gate.exit_code, 3) << ::testing::PrintToString(init);
  EXPECT_THAT(init.Slugs(), ElementsAre("cudnn-driver-library-missing"));
  EXPECT_EQ(init.Blame(), "runner");
}

TEST_F(CudnnTest, SubjectWithoutACudnnOfItsOwnDoesNotPassWithAnothers) {
  const std::string folder = gate().Path("subject");
  fs::create_directory(folder);
  fs::copy_file(FakeFile("cudart13", "libcudart.so.13"), folder + "/libcudart.so.13");
  UseSubjects("{\"mine\": \"path:" + folder + "\"}");
  CheckOutcome r = Check("cudnn.load");
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("not in " + folder));
  TakeCudnn();
  UseSubjects("{\"mine\": \"path:" + libraries() + "\"}");
  r = Check("cudnn.load");
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
}

TEST_F(CudnnTest, VersionOutsideTheContractIsNamedWithBoth) {
  Promise("image.cudnn", ">=8.0 <9");
  const CheckOutcome r = Check("cudnn.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-outside-contract"));
  EXPECT_THAT(r.Detail(), HasSubstr("cuDNN 9.19.0 found, >=8.0 <9 promised"));
}

TEST_F(CudnnTest, BuildForAnotherCudaMajorIsAMismatch) {
  Set("FAKE_CUDART_VERSION", "11080");
  CheckOutcome r = Check("cudnn.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-flavour-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("CUDA 13", "toolkit 11.8"));
  Set("FAKE_CUDNN_CUDART", "11080");
  UseFakes({"libcuda", "nvml", "cudart13", "cublas11", "nvrtc", "cudnn"});
  EXPECT_EQ(Check("cudnn.version").Outcome(), "passed");
  Set("FAKE_CUDART_VERSION", "11010");
  EXPECT_EQ(Check("cudnn.version").Outcome(), "passed") << "minors do not matter";
}

TEST_F(CudnnTest, AbsentIsAPromise) {
  Promise("image.cudnn", "absent");
  EXPECT_THAT(Check("cudnn.load").Slugs(), ElementsAre("cudnn-not-promised"));
}

TEST_F(CudnnTest, OfAnUnknownReleaseIsNotAbsent) {
  fs::copy_file(FakeFile("cudnn", "libcudnn.so.9"), libraries() + "/libcudnn.so.7");
  Promise("image.cudnn", "absent");
  EXPECT_THAT(Check("cudnn.load").Detail(), HasSubstr(libraries() + "/libcudnn.so.7"));
}

TEST_F(CudnnTest, FailedInitialisationIsTheImagesFaultUnlessMemoryIsShort) {
  CheckOutcome r = Check("cudnn.init");
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_GE(r.Measured("cudnn_create"), 0);
  Set("FAKE_CUDNN_FAULT", "call:cudnnCreate:1:1001");
  r = Check("cudnn.init");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-failed"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("cudnnCreate: 1001 CUDNN_STATUS_"), HasSubstr("MiB free of")));
  Set("FAKE_FREE_MB", "100");
  r = Check("cudnn.init");
  EXPECT_EQ(r.gate.exit_code, 3);
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-out-of-memory"));
  EXPECT_EQ(r.Blame(), "runner");
  EXPECT_THAT(r.Detail(), HasSubstr("100 MiB free"));
}

TEST_F(CudnnTest, SecondHandleAndEachDestructionCount) {
  for (const std::string fault :
       {"call:cudnnCreate:2:1001", "call:cudnnDestroy:1:2000", "call:cudnnDestroy:2:2000"}) {
    Set("FAKE_CUDNN_FAULT", fault);
    const CheckOutcome r = Check("cudnn.init");
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-init-failed")) << fault;
  }
}

TEST_F(CudnnTest, LibraryThatAbortsIsACrashOfTheImage) {
  Set("FAKE_CUDNN_FAULT", "call:cudnnCreate:1:abort");
  const CheckOutcome r = Check("cudnn.init");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(r.Outcome(), "errored");
  EXPECT_THAT(r.Slugs(), ElementsAre("crashed"));
  EXPECT_EQ(r.Blame(), "image");
}

// What the runtime remembers as an error behind a pass belongs to the check that left it.
TEST_F(CudnnTest, ErrorLeftInTheRuntimeIsAFailure) {
  Set("FAKE_CUDART_LAST_ERROR", "700");
  Set("FAKE_CUDNN_LOADS", "libcudart.so.13");
  const CheckOutcome r = Check("cudnn.init");
  EXPECT_EQ(r.gate.exit_code, 1) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Slugs(), ElementsAre("context-broken"));
  EXPECT_THAT(r.Detail(), HasSubstr("cudaGetLastError: 700"));
}

}  // namespace
}  // namespace cudnn_ci
