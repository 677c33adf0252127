// The framework plugin through the real gate: the real script, run by a real Python, asks fake frameworks
// (tests/fakes/frameworks) that are right, wrong, broken, crash, hang and flood.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "framework_test.h"
#include "small_group.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class EachFramework : public FrameworkTest, public testing::WithParamInterface<std::string> {};

TEST_P(EachFramework, ThatIsRightPasses) {
  const CheckOutcome r = Framework(GetParam());
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out << r.gate.err;
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_THAT(r.record["id"], "framework." + GetParam() + "[python=auto,subject=system,timeout_s=240]");
}

TEST_P(EachFramework, ThatIsAbsentIsSkippedAndClosesTheGateUnlessAllowed) {
  Set("PYTHONPATH", gate().Path("nothing"));
  const CheckOutcome r = Framework(GetParam());
  EXPECT_EQ(r.gate.exit_code, 4);
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_THAT(r.Skip("seen"), Mentions("module " + GetParam(), "Python 3."));
  EXPECT_EQ(Framework(GetParam(), "", R"(, "allow_skip": ["absent"])").gate.exit_code, 0);
}

TEST_P(EachFramework, ThatCannotBeImportedSaysPythonsAndTheLoadersWords) {
  Set("FAKE_FRAMEWORK", "import");
  const CheckOutcome r = Framework(GetParam());
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-import-failed"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("/" + GetParam() + "/__init__.py) in python3: ", "ImportError: ",
                                   " <- OSError: libcudnn.so.9: "));
}

TEST_P(EachFramework, ThatSeesNoGpuIsTheImagesFault) {
  Set("FAKE_FRAMEWORK", "no-gpu");
  const CheckOutcome r = Framework(GetParam());
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-no-gpu"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(Not(HasSubstr("without CUDA")), HasSubstr("CUDA_VISIBLE_DEVICES='GPU-")));
}

TEST_P(EachFramework, ThatFailsSaysWithWhichWords) {
  Set("FAKE_FRAMEWORK", "raise");
  const CheckOutcome r = Framework(GetParam());
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("\": RuntimeError: GET was unable"));
}

TEST_P(EachFramework, ThatIsWrongInOneElementIsRed) {
  Set("FAKE_FRAMEWORK", "wrong-y");
  const CheckOutcome r = Framework(GetParam());
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), testing::Each("framework-wrong-result"));
  EXPECT_THAT(r.Detail(), testing::ContainsRegex(R"(\[1\] is -?[0-9]+, expected -?[0-9]+; 1 of [0-9]+ )"));
}

INSTANTIATE_TEST_SUITE_P(All, EachFramework,
                         testing::Values("torch", "tensorflow", "jax", "onnxruntime", "ctranslate2", "cupy"),
                         [](const auto& each) { return each.param; });

TEST_F(FrameworkTest, AGradientThatIsWrongInOneModeIsSeen) {
  for (const char* mode : {"default", "benchmark", "deterministic"})
    for (const char* gradient : {"dx", "dw"}) {
      Set("FAKE_FRAMEWORK", std::string("wrong-") + gradient);
      Set("FAKE_FRAMEWORK_MODE", mode);
      const CheckOutcome r = Framework("torch");
      EXPECT_THAT(r.Slugs(), ElementsAre("framework-wrong-result")) << mode << gradient;
      EXPECT_THAT(r.Detail(), HasSubstr(std::string("PyTorch 9.9.9, ") + mode + ": " + gradient + "[1] is "));
    }
  Set("FAKE_FRAMEWORK_MODE", "without autotuning");
  EXPECT_THAT(Framework("jax").Slugs(), ElementsAre("framework-wrong-result"));
  Set("FAKE_FRAMEWORK_MODE", "deterministic");
  EXPECT_THAT(Framework("tensorflow").Slugs(), ElementsAre("framework-wrong-result"));
  Set("FAKE_FRAMEWORK", "wrong-y");
  Set("FAKE_FRAMEWORK_MODE", "exhaustive");
  EXPECT_THAT(Framework("onnxruntime").Slugs(), ElementsAre("framework-wrong-result"));
}

TEST_F(FrameworkTest, AnAttentionThatIsWrongInOneBackendNamesItAndItsCudnn) {
  Set("FAKE_LIBRARIES", FakeFile("cudnn_plain", "libcudnn.so.9"));
  for (const char* backend : {"math", "efficient", "flash", "cudnn"}) {
    Set("FAKE_FRAMEWORK_MODE", std::string("attention, ") + backend);
    Set("FAKE_FRAMEWORK", "wrong-o");
    const CheckOutcome r = Framework("torch");
    EXPECT_THAT(r.Slugs(), ElementsAre("framework-wrong-attention")) << backend;
    EXPECT_THAT(r.Detail(), Mentions(std::string("PyTorch 9.9.9, attention, ") + backend, "with cuDNN",
                                     "/libcudnn.so.9.19.0): o[1] is ", "; 1 of 4096"));
  }
  Set("FAKE_FRAMEWORK", "nan-dq");
  EXPECT_THAT(Framework("jax").Detail(),
              Mentions("JAX 9.9.9, attention, cudnn, ", "; known: wrong", "cuDNN 9.15.1 to 9.23.2",
                       "fixed in 9.26.0", "cuDNN 9.26.0 or later"));
  Set("FAKE_FRAMEWORK_MODE", "attention, flash");
  EXPECT_THAT(Framework("torch").Detail(), Not(HasSubstr("; known: ")));
  Set("FAKE_FRAMEWORK", "wrong-o");
  Set("FAKE_FRAMEWORK_MODE", "attention, cudnn");
  EXPECT_THAT(Framework("torch").Detail(), Not(HasSubstr("; known: ")))
      << "only gradients are known to be wrong";
}

TEST_F(FrameworkTest, AnAttentionThatFailsIsRedAndOneThatIsRefusedIsNot) {
  Set("FAKE_FRAMEWORK", "raise-attention");
  Set("FAKE_FRAMEWORK_MODE", "attention, cudnn");
  for (const char* name : {"torch", "jax"}) {
    const CheckOutcome r = Framework(name);
    EXPECT_THAT(r.Slugs(), ElementsAre("framework-failed")) << name;
    EXPECT_THAT(r.Detail(), HasSubstr(" at \"attention, cudnn\": LibraryError: CUDNN_STATUS_SUBLIBRARY"));
  }
  Set("FAKE_FRAMEWORK", "crash-attention");
  EXPECT_THAT(Framework("torch").Detail(), HasSubstr("(Segmentation fault) at \"attention, cudnn\""));
  Set("FAKE_FRAMEWORK", "refuse-attention");
  const CheckOutcome refused = Framework("jax");
  EXPECT_EQ(refused.gate.exit_code, 0);
  EXPECT_EQ(refused.Outcome(), "passed");
}

TEST_F(FrameworkTest, AnElementThatIsNoNumberIsWrong) {
  Set("FAKE_FRAMEWORK", "nan-dw");
  EXPECT_EQ(Framework("torch").Detail(), "PyTorch 9.9.9, default: dw[0] is nan");
}

TEST_F(FrameworkTest, AJaxWithoutAnOptionGoesWithoutThatMode) {
  Set("FAKE_JAX_LACKS", "xla_gpu_deterministic_ops xla_gpu_autotune_level");
  EXPECT_EQ(Framework("jax").Outcome(), "passed");
}

TEST_F(FrameworkTest, ABuildForOtherMachinesIsNamedAsSuch) {
  Set("FAKE_FRAMEWORK", "cpu");
  for (const char* name : {"torch", "tensorflow", "jax", "onnxruntime"}) {
    const CheckOutcome r = Framework(name);
    EXPECT_THAT(r.Slugs(), ElementsAre("framework-no-gpu")) << name;
    EXPECT_THAT(r.Detail(), Mentions("9.9.9", "without CUDA"));
  }
  Set("FAKE_FRAMEWORK", "rocm");
  EXPECT_EQ(Framework("torch").Detail(), "PyTorch 9.9.9 is built for AMD's GPUs (ROCm)");
}

// Packages carry the one for the CPU along: beside a framework for CUDA nobody meant it to see a GPU.
TEST_F(FrameworkTest, APackageForTheCpuBesideOneForCudaIsAbsent) {
  Set("FAKE_FRAMEWORK", "cpu");
  const std::string fakes = CUDNN_CI_SOURCE_DIR "/tests/fakes/frameworks";
  const std::string allowed = R"(, "allow_skip": ["absent"])";
  fs::copy(fakes, gate().Path("site"), fs::copy_options::recursive);
  Set("PYTHONPATH", gate().Path("site"));
  const auto install = [this](const std::string& name) {
    fs::create_directory(gate().Path("site/" + name + "-9.9.9.dist-info"));
    gate().Write("site/" + name + "-9.9.9.dist-info/METADATA", "Name: " + name + "\nVersion: 9.9.9\n");
  };
  install("onnxruntime");
  const CheckOutcome carried = Framework("onnxruntime", "", allowed);
  EXPECT_EQ(carried.Outcome(), "skipped") << carried.gate.out;
  EXPECT_EQ(carried.Skip("kind"), "absent");
  EXPECT_THAT(carried.Skip("seen"), Mentions("onnxruntime", "without CUDA; ", "; torch", "CUDA 13"));
  // Promised by its entry, which lets it not be absent.
  EXPECT_NE(Framework("onnxruntime").gate.exit_code, 0);
  // With no other it is the one that was meant.
  for (const char* other : {"torch", "jax_cuda13_plugin"}) fs::remove_all(gate().Path("site/") + other);
  EXPECT_THAT(Framework("onnxruntime", "", allowed).Slugs(), ElementsAre("framework-no-gpu"));
}

// A PyTorch for the CPU has the name of the one for GPUs: it is a fault beside whatever else is there.
TEST_F(FrameworkTest, APackageForTheCpuOfTheSameNameIsTheImagesFault) {
  Set("FAKE_FRAMEWORK", "cpu");
  const CheckOutcome r = Framework("torch", "", R"(, "allow_skip": ["absent"])");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-no-gpu"));
}

TEST_F(FrameworkTest, ThatSeesNoGpuSaysWhyInItsOwnWords) {
  Set("FAKE_FRAMEWORK", "no-gpu");
  EXPECT_THAT(Framework("torch").Detail(),
              Mentions("PyTorch 9.9.9", "CUDA 13.0; ", "Found no NVIDIA", "; CUDA_VISIBLE_DEVICES='"));
  EXPECT_THAT(Framework("cupy").Detail(), HasSubstr("CUDARuntimeError: cudaErrorNoDevice: no CUDA-capable"));
}

TEST_F(FrameworkTest, ACrashIsNamedWithWhereItWas) {
  Set("FAKE_FRAMEWORK", "crash");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 1);
  // It is looked at again, alone; each time its last words are others.
  EXPECT_THAT(r.Slugs(), AllOf(Not(IsEmpty()), testing::Each("framework-crashed")));
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9: python3", "signal 11 (Segmentation fault)",
                                   "at \"convolution, default\"; ", "last line: "));
  EXPECT_THAT(r.gate.junit, HasSubstr("fake_framework.py"));
  Set("FAKE_FRAMEWORK", "crash-import");
  EXPECT_THAT(Framework("torch").Detail(), HasSubstr("(Segmentation fault) at \"import\"; "));
}

TEST_F(FrameworkTest, AProcessThatLeavesEarlyIsNotGreen) {
  Set("FAKE_FRAMEWORK", "exit");
  const CheckOutcome r = Framework("jax");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-crashed"));
  EXPECT_THAT(r.Detail(), Mentions("python3", "exit status 0", "at \"convolution, default\""));
  Set("FAKE_FRAMEWORK", "crash-at-exit");
  EXPECT_THAT(Framework("torch").Detail(), Mentions("(Aborted)", "answer; "));
  Set("FAKE_FRAMEWORK", "exit-import");
  EXPECT_THAT(Framework("torch").Detail(), HasSubstr(": SystemExit: 3"));
}

TEST_F(FrameworkTest, AHangIsEndedAndNamed) {
  Set("FAKE_FRAMEWORK", "hang");
  const CheckOutcome r = Framework("torch", R"("timeout_s": 3)");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-timed-out"));
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9", "3 s; ", "at \"convolution, default\"; "));
  EXPECT_THAT(gate().LeftAfter(2), IsEmpty());
}

// What is printed decides nothing, however much it is and whatever it looks like.
TEST_F(FrameworkTest, WhatIsPrintedIsNoAnswer) {
  Set("FAKE_FRAMEWORK", "flood forge");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_LT(r.gate.junit.size(), 200000u);
}

TEST_F(FrameworkTest, TooLittleDeviceMemoryIsNoFaultOfTheImage) {
  Set("FAKE_FRAMEWORK", "memory");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("kind"), "memory");
  EXPECT_EQ(r.Skip("resource"), "device-memory");
  EXPECT_EQ(r.Skip("seen"), "OutOfMemoryError: tried to allocate 2 MiB");
}

TEST_F(FrameworkTest, LibrariesThatMustBePreloadedAreAWarning) {
  Set("FAKE_FRAMEWORK", "preload");
  const CheckOutcome r = Framework("onnxruntime");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(Severities(r), "framework-needs-preload:warning framework-without-cudnn:note ");
  EXPECT_THAT(r.Detail(), Mentions("libonnxruntime_providers_cuda.so", "libcudnn.so.9: "));
}

TEST_F(FrameworkTest, ThatCannotComputeWhatIsAskedIsSkipped) {
  Set("FAKE_CTRANSLATE2", "old");
  const CheckOutcome r = Framework("ctranslate2");
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("need"), "CTranslate2 that can compute \"copy\"");
}

TEST_F(FrameworkTest, NeedsAGpuThatWorks) {
  UseFakes({});
  EXPECT_EQ(Framework("torch").Outcome(), "blocked");
}

TEST_F(FrameworkTest, WithoutPythonThereIsNothingToAsk) {
  fs::remove(gate().Path("bin/python3"));
  Set("PATH", gate().Path("bin"));
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_EQ(r.Skip("seen"), "python3 is not in PATH");
}

TEST_F(FrameworkTest, AnInterpreterThatIsNamedMustBeThere) {
  const CheckOutcome r = Framework("torch", R"("python": "/no/such/python")", R"(, "name": "mine")");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-python-unusable"));
  EXPECT_EQ(r.Detail(), "/no/such/python: No such file or directory");
}

TEST_F(FrameworkTest, AnInterpreterThatCannotRunAScriptIsNamed) {
  Interpreter("echo 'No module named encodings' >&2; exit 1");
  CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-python-unusable"));
  EXPECT_EQ(
      r.Detail(),
      "python3 ended with exit status 1 before it ran a script; its last line: No module named encodings");
  Interpreter("sleep 1000");
  EXPECT_EQ(Framework("torch", R"("timeout_s": 0.5)").Detail(),
            "python3 did not run a script within 0.5 s; it printed nothing");
  Interpreter("", "/no/such/shell");
  // By its path: what is looked up in PATH may be found further on.
  const std::string python = gate().Path("bin/python3");
  EXPECT_EQ(Framework("torch", "\"python\": \"" + python + "\"", R"(, "name": "mine")").Detail(),
            python + " cannot be started: No such file or directory");
}

TEST_F(FrameworkTest, AnAnswerThatCannotBeReadIsNoPass) {
  Interpreter(
      R"(for answer; do :; done; echo '{"python": {"version": "3.11.2"}}' >$answer; echo nonsense >>$answer)");
  const CheckOutcome r = Framework("torch");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-python-unusable"));
  EXPECT_EQ(r.Detail(), "python3 left an answer that cannot be read: a line is not an answer: nonsense");
}

TEST_F(FrameworkTest, AnOldInterpreterIsSkipped) {
  Interpreter(R"(for answer; do :; done; echo '{"python": {"version": "3.7.17"}}' >$answer)");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.Skip("kind"), "version");
  EXPECT_EQ(r.Skip("seen"), "3.7.17 at python3");
}

TEST_F(FrameworkTest, WhatNoMachineCouldRunIsAnErrorOfTheMatrix) {
  for (const auto& [params, said] : std::map<std::string, std::string>{
           {R"("timeout_s": 0)", "from 0.1 to 86400"}, {R"("python": "")", "\"python\""}}) {
    const CheckOutcome r = Framework("torch", params, R"(, "name": "mine")");
    EXPECT_EQ(r.gate.exit_code, 2) << params;
    EXPECT_THAT(r.gate.err, HasSubstr(said));
  }
}

TEST_F(FrameworkTest, TheShippedMatrixAsksThemAllAndPassesWithSome) {
  Extend(CUDNN_CI_SOURCE_DIR "/matrices/frameworks.json");
  GateResult r = Run("");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["totals"]["passed"], 13);
  fs::create_directory(gate().Path("some"));
  for (const char* part : {"fake_collectives.py", "fake_framework.py", "torch"})
    fs::create_symlink(std::string(CUDNN_CI_SOURCE_DIR "/tests/fakes/frameworks/") + part,
                       gate().Path("some/") + part);
  Set("PYTHONPATH", gate().Path("some"));
  r = Run("");
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_EQ(r.report["totals"]["passed"], 7);
  EXPECT_EQ(r.report["totals"]["skipped"], 6);
  Set("PYTHONPATH", gate().Path("nothing"));
  EXPECT_EQ(Run("").exit_code, 4);
}

// The example of matrices/README.md, with the interpreter of this machine.
TEST_F(FrameworkTest, TheDocumentedExampleRuns) {
  std::ifstream file(CUDNN_CI_SOURCE_DIR "/matrices/README.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t section = page.find("### Frameworks"), begin = page.find("```json\n", section) + 8;
  ASSERT_NE(section, std::string::npos);
  std::string example = page.substr(begin, page.find("```", begin) - begin);
  const std::string python = "/opt/venv/bin/python";
  ASSERT_NE(example.find(python), std::string::npos);
  example.replace(example.find(python), python.size(), gate().Path("bin/python3"));
  gate().Write("example.json", example);
  Compose();
  const GateResult r = gate().Command({"--matrix", gate().Path("example.json"), "--plugin-dir",
                                       CUDNN_CI_STAGE_PLUGINS, "--output-dir", gate().Path("example")});
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
  EXPECT_THAT(r.out, HasSubstr("[ PASSED ] framework.torch[python=auto,subject=system,timeout_s=240]"));
  EXPECT_THAT(r.out, HasSubstr("[ PASSED ] framework.torch[name=venv,subject=system,timeout_s=240]"));
}

// What a worker has in LD_LIBRARY_PATH for its subject is not what the subject's programs have.
TEST_F(FrameworkTest, TheInterpreterOfASubjectHasTheUsersLibraryPath) {
  const std::string venv = gate().Path("venv"), packages = venv + "/lib/python3.11/site-packages",
                    libraries = packages + "/nvidia/cudnn/lib";
  fs::create_directories(venv + "/bin");
  fs::create_directories(libraries);
  fs::copy_file(FakeFile("cudnn", "libcudnn.so.9"), libraries + "/libcudnn.so.9");
  gate().Write("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
  gate().Write("venv/bin/python", "#!/bin/sh\necho \"$LD_LIBRARY_PATH\" > " + gate().Path("seen") +
                                      "\nexec " CUDNN_CI_PYTHON " -S \"$@\"\n");
  fs::permissions(venv + "/bin/python", fs::perms(0755));
  UseSubjects("{\"train\": \"python:" + venv + "/bin/python\"}");
  const CheckOutcome r = Framework("versions");
  ASSERT_TRUE(gate().Exists("seen")) << ::testing::PrintToString(r);
  EXPECT_EQ(gate().Read("seen"), FakeFolder("libcuda") + ":" + FakeFolder("nvml") + "\n");
  EXPECT_THAT(r.gate.report["judged"]["subjects"].dump(), HasSubstr(libraries)) << "it has folders";
}

TEST_F(FrameworkTest, AnInterpreterThatTheKernelEndsForMemoryRanOutOfMemory) {
  const SmallGroup group = SmallGroup::OfMemory(256 << 20);
  if (!group.why().empty()) GTEST_SKIP() << group.why();
  gate().Before(group.Words());
  Interpreter("exec " CUDNN_CI_PYTHON " -c \"x = b'x' * (1 << 30)\"");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("out-of-memory"));
  EXPECT_THAT(r.Detail(), Mentions("python3", "1 process", "cgroup limit 256 MiB"));
}

}  // namespace
}  // namespace cudnn_ci
