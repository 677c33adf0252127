// The framework plugin and cuDNN: what a framework was built with, what its packages bring and what its
// process has in memory, by metadata alone and after a convolution. Libraries are those of tests/fakes,
// packages folders made here.
#include "framework_cudnn_test.h"

namespace cudnn_ci {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(FrameworkCudnn, OlderThanTheFrameworkWasBuiltWithIsTheImagesFault) {
  Set("FAKE_LOADED_CUDNN", "9.14.0");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9", "cuDNN 9.19.0", "cuDNN 9.14.0 is older"));
  Set("FAKE_LOADED_CUDNN", "8.9.7");
  EXPECT_THAT(Framework("torch").Detail(), Mentions("cuDNN 9.19.0", "cuDNN 8.9.7", "major"));
  Set("FAKE_LOADED_CUDNN", "9.20.1");
  EXPECT_EQ(Framework("torch").Outcome(), "passed");
}

// What a crash leaves is judged all the same, and its cause comes first.
TEST_F(FrameworkCudnn, ThatIsUnfitExplainsACrash) {
  Set("FAKE_LOADED_CUDNN", "9.14.0");
  Set("FAKE_FRAMEWORK", "crash");
  const CheckOutcome r = Framework("torch");
  EXPECT_THAT(r.Slugs(), testing::Contains("framework-crashed"));
  EXPECT_EQ(r.Slugs().front(), "framework-cudnn-unfit");
}

TEST_F(FrameworkCudnn, InMemoryIsWhatCounts) {
  Loads({FakeFile("cudnn_plain", "libcudnn.so.9"), FakeFile("cudnn_plain", "libcudnn_graph.so.9")});
  const CheckOutcome healthy = Framework("tensorflow");
  EXPECT_EQ(healthy.Outcome(), "passed");
  EXPECT_EQ(Severities(healthy), "");
  ASSERT_EQ(healthy.record.value("attachments", json::array()).size(), 1u);
  EXPECT_EQ(gate().Read("report/" + healthy.record["attachments"][0]["path"].get<std::string>()),
            "TensorFlow 9.9.9, built for CUDA 13.0 and cuDNN 9.19.0, on NVIDIA H200 with cuDNN 9.19.0 of " +
                FakeFile("cudnn_plain", "libcudnn.so.9") +
                "\ncomputed: default\ncomputed: deterministic\nin memory: " +
                FakeFile("cudnn_plain", "libcudnn.so.9") +
                "\nin memory: " + FakeFile("cudnn_plain", "libcudnn_graph.so.9") + "\n");
  Set("FAKE_CUDNN_VERSION", "91400");
  const CheckOutcome r = Framework("tensorflow");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_THAT(r.Detail(), AllOf(Mentions("cuDNN 9.19.0", "cuDNN 9.14.0 is older"),
                                HasSubstr(fs::canonical(FakeFolder("cudnn_plain")).string() + "/libcudnn")));
  // JAX alone refuses 9.10.0.
  Set("FAKE_BUILT_CUDNN", "9.8.0");
  Set("FAKE_CUDNN_VERSION", "91000");
  EXPECT_EQ(Framework("tensorflow").Outcome(), "passed");
  EXPECT_THAT(Framework("jax").Detail(), Mentions("cuDNN 9.10.0", "JAX refuses"));
}

TEST_F(FrameworkCudnn, ForAnotherCudaMajorIsTheImagesFault) {
  Loads({FakeFile("cudnn_plain", "libcudnn.so.9")});
  Set("FAKE_CUDNN_CUDART", "12090");
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cuda-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("built for CUDA 13.0", "libcudnn.so.9.19.0", "for CUDA 12"));
}

TEST_F(FrameworkCudnn, OfTwoVersionsIsTheImagesFault) {
  Loads({FakeFile("cudnn_plain", "libcudnn.so.9"), FakeFile("cudnn_plain", "libcudnn_graph.so.9"),
         FakeFile("cudnn_old", "libcudnn_ops.so.9")});
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-mixed"));
  EXPECT_THAT(r.Detail(),
              AllOf(HasSubstr("9.19.0 in " + FakeFolder("cudnn")),
                    HasSubstr("9.14.0 in " + FakeFolder("cudnn_old") + " (libcudnn_ops.so.9.14.0)")));
}

// The line has what the image says, not what a subject's folders add to it for the worker.
TEST_F(FrameworkCudnn, OfTwoVersionsIsFixedWithoutTheSubjectsFolders) {
  Install("torch", "9.9.9", kPinned);
  InstallCudnn(13, "9.19.0.56");
  Take("cudnn_graph_old", "libcudnn_graph.so.9");
  Loads({Folder() + "/libcudnn.so.9", libraries() + "/libcudnn_graph.so.9"});
  fs::create_directory(gate().Path("mine"));
  UseSubjects("{\"mine\": \"path:" + gate().Path("mine") + "\"}");
  const CheckOutcome r = Framework("torch");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-mixed"));
  EXPECT_THAT(Line(r), AllOf(HasSubstr("image: ENV LD_LIBRARY_PATH="), Not(HasSubstr(libraries())),
                             Not(HasSubstr("/mine"))));
}

TEST_F(FrameworkCudnn, OfTheSameVersionFromElsewhereIsAWarning) {
  Install("torch", "9.9.9", "nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\"");
  InstallCudnn(13, "9.19.0.56");
  Loads({Folder() + "/libcudnn.so.9", Folder() + "/libcudnn_graph.so.9"});
  EXPECT_EQ(Severities(Framework("torch")), "");
  Loads({FakeFile("cudnn_plain", "libcudnn.so.9"), FakeFile("cudnn_plain", "libcudnn_graph.so.9")});
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(Severities(r), "framework-cudnn-foreign:warning ");
  EXPECT_THAT(r.Detail(),
              AllOf(HasSubstr("uses 9.19.0 in " + FakeFolder("cudnn")), Mentions("in " + Folder())));
  Take("cudnn", "libcudnn_graph.so.9");
  Loads({Folder() + "/libcudnn.so.9", libraries() + "/libcudnn_graph.so.9"});
  const CheckOutcome path = Framework("torch");
  EXPECT_EQ(Severities(path), "framework-cudnn-foreign:warning ");
  EXPECT_EQ(Line(path), "") << "another program may mean what LD_LIBRARY_PATH has";
}

TEST_F(FrameworkCudnn, ThatAConvolutionDidWithoutIsANote) {
  const CheckOutcome r = Framework("torch");
  EXPECT_EQ(r.gate.exit_code, 0);
  EXPECT_EQ(Severities(r), "framework-without-cudnn:note ");
}

TEST_F(FrameworkVersions, ThatGoTogetherPassWithoutAGpu) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(13, "9.20.0.48");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out << r.gate.err;
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_EQ(Severities(r), "");
}

TEST_F(FrameworkVersions, OfNoFrameworkAreSkipped) {
  Set("PYTHONPATH", site());
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 4);
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_THAT(r.Skip("need"), Mentions("torch", "tensorflow", "jax", "onnxruntime", "ctranslate2", "paddle",
                                       "cupy", "in python3"));
}

TEST_F(FrameworkVersions, NothingIsImported) {
  Set("FAKE_FRAMEWORK", "crash-import");
  EXPECT_EQ(Framework("versions").Outcome(), "passed");
}

TEST_F(FrameworkVersions, ThatAreTooOldAreNamed) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(13, "9.14.0.64");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9+cu130", "cuDNN 9.19.0.56", "nvidia-cudnn-cu13 9.14.0.64",
                                   "in " + Folder(), "cuDNN 9.14.0.64 is older",
                                   "; pip install --no-deps nvidia-cudnn-cu13==9.19.0.56"));
  EXPECT_EQ(Line(r), "") << "of no interpreter's folder of packages";
}

TEST_F(FrameworkVersions, OfAnotherCudaMajorAreNamed) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(12, "9.19.0.56");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cuda-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9+cu130", "CUDA 13",
                                   "nvidia-cudnn-cu12 9.19.0.56 is installed", "nvidia-cudnn-cu13 is not"));
}

// A framework that no release of cudnn-ci knows.
TEST_F(FrameworkVersions, OfAFrameworkByDataAloneAreJudged) {
  Set("PYTHONPATH", site());
  Install("acme-infer", "1.2", kPinned);
  fs::create_directory(site() + "/acme");
  std::ofstream(site() + "/acme/__init__.py") << "raise SystemExit";
  InstallCudnn(12, "9.19.0.56");
  gate().Write("team.json",
               R"({"schema": "cudnn-ci/packages/1", "as_of": ")" + Today() + R"(", "frameworks": [
    {"framework": "acme", "title": "Acme", "module": "acme", "distributions": ["acme-infer"],
     "takes_package": true, "opens_by_name": false, "source": "https://example.org", "confidence": "sure"}]})");
  EXPECT_EQ(Framework("versions").Outcome(), "skipped");
  const CheckOutcome r = Check("framework.versions", "", {"--knowledge", gate().Path("team.json")});
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cuda-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("Acme 1.2", "CUDA 13", "nvidia-cudnn-cu12 9.19.0.56 is"));
}

TEST_F(FrameworkVersions, ThatReplacedEachOthersFilesAreNamed) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(13, "9.19.0.56", "1234567");
  InstallCudnn(12, "9.19.0.56");
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cuda-mismatch"));
  EXPECT_THAT(r.Detail(), Mentions("nvidia-cudnn-cu12 9.19.0.56 has replaced ",
                                   " of nvidia-cudnn-cu13 9.19.0.56 in " + Folder()));
}

// TensorFlow beside PyTorch, without its extra for GPUs, is used on the CPU.
TEST_F(FrameworkVersions, OfAnExtraThatNobodyAskedForAreNotMissed) {
  Install("tensorflow", "9.9.9", "nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == \"and-cuda\"");
  InstallCudnn(13, "9.19.0.56");
  EXPECT_EQ(Framework("versions").Outcome(), "passed");
  InstallCudnn(12, "9.1.0.70");
  EXPECT_THAT(Framework("versions").Detail(),
              Mentions("TensorFlow 9.9.9", "cuDNN 9.3.0.75", "nvidia-cudnn-cu12 9.1.0.70"));
}

// As where the packages of cuDNN were removed because the system has one.
TEST_F(FrameworkVersions, OfTheSystemsCudnnAreComparedWhereNoPackageHasOne) {
  Take("cudnn_graph_old", "libcudnn_graph.so.9");
  Take("cudnn", "libcudnn.so.9");
  Install("torch", "9.9.9+cu130", "nvidia-cudnn-cu13==9.14.0.64");
  EXPECT_EQ(Framework("versions").Outcome(), "passed");
  Install("torch", "9.9.9+cu130", "nvidia-cudnn-cu13==9.19.0.56; extra == \"cuda\"");
  EXPECT_EQ(Framework("versions").Outcome(), "passed");
  Install("torch", "9.9.9+cu130", kPinned);
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9+cu130", "9.19.0.56", libraries() + "/libcudnn.so.9",
                                   "cuDNN 9.14.0 is older"));
  // That one of another CUDA is installed is the fault then.
  InstallCudnn(12, "9.19.0.56");
  EXPECT_THAT(Framework("versions").Slugs(), ElementsAre("framework-cuda-mismatch"));
}

TEST_F(FrameworkVersions, ThatTheLoaderPathHidesAreNamed) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(13, "9.19.0.56");
  Take("cudnn_graph_old", "libcudnn_graph.so.9");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_THAT(r.Detail(),
              AllOf(Mentions("PyTorch 9.9.9+cu130: cuDNN 9.14.0", libraries() + "/libcudnn_graph.so.9"),
                    HasSubstr("(LD_LIBRARY_PATH entry " + libraries() + ") hides 9.19.0.56 in " + Folder()),
                    Mentions("for 9.19.0.56: cuDNN 9.14.0 is older")));
  EXPECT_EQ(Line(r), "image: ENV LD_LIBRARY_PATH=");
  Install("torch", "9.9.9+cu130", "nvidia-cudnn-cu13==9.10.2.21");
  const CheckOutcome newer = Framework("versions");
  EXPECT_EQ(newer.gate.exit_code, 0) << newer.gate.out;
  EXPECT_EQ(Line(newer), "") << "another program may mean the one that hides it";
  EXPECT_EQ(Severities(newer), "framework-cudnn-foreign:warning ");
}

// From 9.26 on libcudnn.so.9 has its folder in DT_RPATH, so that LD_LIBRARY_PATH gives it no other graph
// library; the engines are opened by that one.
TEST_F(FrameworkVersions, PartsThatTheMainLibraryFindsBesideItAreNotHidden) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(13, "9.19.0.56");
  const std::string compile = "cc -x c -w -shared -o " + Folder() +
                              "/libcudnn.so.9 /dev/null -Wl,--disable-new-dtags,-rpath,'$ORIGIN'";
  ASSERT_EQ(system(compile.c_str()), 0);  // NOLINT(cert-env33-c): a test's own words
  Take("cudnn_graph_old", "libcudnn_graph.so.9");
  EXPECT_EQ(Framework("versions").Outcome(), "passed");
  Take("cudnn", "libcudnn_engines_precompiled.so.9");
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_THAT(
      r.Detail(),
      Mentions(libraries() + "/libcudnn_engines_precompiled.so.9 (LD_LIBRARY_PATH entry " + libraries() + ")",
               "hides the libcudnn_engines_precompiled.so.9", "libcudnn_graph.so.9",
               "9.19.0.56 in " + Folder()));
}

// The worker's variable has the subject's folders in it, the image's has not.
TEST_F(FrameworkVersions, FoldersOfASubjectAreInNoLine) {
  Install("torch", "9.9.9+cu130", kPinned);
  InstallCudnn(13, "9.19.0.56");
  Take("cudnn_graph_old", "libcudnn_graph.so.9");
  fs::create_directory(gate().Path("mine"));
  UseSubjects("{\"mine\": \"path:" + gate().Path("mine") + "\"}");
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_EQ(Line(r), "image: ENV LD_LIBRARY_PATH=");
}

// A framework that leaves it to the loader to find CUDA's libraries.
class FrameworkLibraries : public FrameworkVersions {
 protected:
  void PutFile(const std::string& fake, const std::string& file, const std::string& place) const {
    fs::create_directories(fs::path(site() + "/" + place).parent_path());
    fs::copy_file(FakeFile(fake, file), site() + "/" + place);
  }
  void PutOnnxruntime() {
    Install("onnxruntime-gpu", "1.23.0");
    PutFile("provider_plain", "libonnxruntime_providers_cuda.so.1",
            "onnxruntime/capi/libonnxruntime_providers_cuda.so");
    std::ofstream(site() + "/onnxruntime/__init__.py") << "raise SystemExit\n";
  }
  void PutCtranslate2() {
    Install("ctranslate2", "4.6.0");
    PutFile("ctranslate2", "libctranslate2.so.4", "ctranslate2.libs/libctranslate2-1234.so.4.0.0");
    fs::create_directory(site() + "/ctranslate2");
    std::ofstream(site() + "/ctranslate2/__init__.py") << "raise SystemExit\n";
  }
  void PutCuda(const std::string& folder) const {
    PutFile("cuda99", "libcublas.so.99", folder + "/libcublas.so.99");
    PutFile("cuda99", "libcudnn.so.99", folder + "/libcudnn.so.99");
  }
};

TEST_F(FrameworkLibraries, ThatAreNowhereAreNamed) {
  PutOnnxruntime();
  CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-libraries-missing"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("ONNX Runtime 1.23.0: " + site() +
                                       "/onnxruntime/capi/libonnxruntime_providers_cuda.so needs "
                                       "libcublas.so.99, libcudnn.so.99, ",
                                   "; LD_LIBRARY_PATH='"));
  Install("onnxruntime-gpu", "1.23.0", "nvidia-cublas-cu99; extra == \"cuda\"");
  r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-libraries-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("'onnxruntime-gpu[cuda]==1.23.0'"));
  // Since CUDA 13 the packages have no suffix, and the names of many begin with "cu".
  Install("onnxruntime-gpu", "1.23.0", "nvidia-curand; extra == \"cuda\"");
  EXPECT_THAT(Framework("versions").Detail(), HasSubstr("'onnxruntime-gpu[cuda]==1.23.0'"));
  Install("onnxruntime-gpu", "1.23.0", "nvidia-curand-cu12; extra == \"cuda\"");
  EXPECT_THAT(Framework("versions").Detail(), Not(HasSubstr("[cuda]")));
  InstallCudnn(13, "9.19.0.56");
  r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-libraries-missing"));
  EXPECT_EQ(Line(r), "");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("nvidia-cudnn-cu99"), HasSubstr("nvidia-cudnn-cu13 9.19.0.56")));
  fs::remove_all(site() + "/nvidia_cudnn_cu13-9.19.0.56.dist-info");
  fs::remove_all(Folder());
  PutCtranslate2();
  fs::remove_all(site() + "/onnxruntime");
  r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-libraries-missing"));
  EXPECT_THAT(r.Detail(), HasSubstr("CTranslate2 4.6.0: " + site() +
                                    "/ctranslate2.libs/libctranslate2-1234"
                                    ".so.4.0.0 needs libcublas.so.99, "));
  EXPECT_EQ(Severities(r), "framework-libraries-missing:error framework-cudnn-absent:warning ");
}

// Later releases of CTranslate2 need none: another framework's, for whichever CUDA, is none of its business.
TEST_F(FrameworkLibraries, OfCudnnAreNamedOnlyToWhoNeedsThem) {
  PutCtranslate2();
  const std::string file = site() + "/ctranslate2.libs/libctranslate2-1234.so.4.0.0",
                    cudnn = "libcudnn.so.99";
  std::stringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  std::string bytes = content.str();
  for (size_t at = bytes.find(cudnn); at != std::string::npos; at = bytes.find(cudnn))
    bytes.replace(at, cudnn.size(), std::string(cudnn.size(), '_'));
  std::ofstream(file, std::ios::binary) << bytes;
  InstallCudnn(13, "9.19.0.56");
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-libraries-missing"));
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("needs libcublas.so.99, "), Not(HasSubstr("cuDNN"))));
}

// CTranslate2 opens cuDNN when a model first convolves. ONNX Runtime links it, and cannot be loaded without.
TEST_F(FrameworkLibraries, OfCudnnThatAreOpenedByNameMayBeAbsent) {
  PutCtranslate2();
  Take("cuda99", "libcublas.so.99");
  CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(Severities(r), "framework-cudnn-absent:warning ");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("4.0.0 needs libcudnn.so.99 "), HasSubstr("; LD_LIBRARY_PATH='")));
  fs::remove_all(site() + "/ctranslate2");
  PutOnnxruntime();
  r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_EQ(Severities(r), "framework-libraries-missing:error ");
  EXPECT_THAT(r.Detail(), HasSubstr("libonnxruntime_providers_cuda.so needs libcudnn.so.99, "));
}

// What a program has to load first is told beside it.
TEST_F(FrameworkLibraries, OfCudnnThatAreAbsentHideNoOther) {
  PutCtranslate2();
  PutFile("cuda99", "libcublas.so.99", "nvidia/cublas/lib/libcublas.so.99");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(Severities(r), "framework-cudnn-absent:warning framework-needs-preload:warning ");
}

TEST_F(FrameworkLibraries, ThatAProgramHasToLoadFirstAreAWarning) {
  PutOnnxruntime();
  PutCuda("nvidia/cu99/lib");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(Severities(r), "framework-needs-preload:warning ");
  EXPECT_THAT(r.Detail(), Mentions("needs libcublas.so.99, libcudnn.so.99, ",
                                   "in " + site() + "/nvidia/cu99/lib", "; LD_LIBRARY_PATH='"));
}

// cuDNN is an extra of ONNX Runtime's package: one that is not installed is none, and one that is must be
// found.
TEST_F(FrameworkLibraries, OfAnExtraThatIsInstalledAreNeeded) {
  PutOnnxruntime();
  Install("onnxruntime-gpu", "1.23.0", "nvidia-cudnn-cu13~=99.0; extra == \"cudnn\"");
  for (const char* name : {"libcublas.so.99", "libcudnn.so.99"}) Take("cuda99", name);
  EXPECT_EQ(Severities(Framework("versions")), "");
  Install("nvidia-cudnn-cu13", "98.0.0");
  EXPECT_EQ(Severities(Framework("versions")), "framework-libraries-missing:error ") << "its files are gone";
  fs::create_directories(site() + "/nvidia/cudnn/lib");
  fs::copy_file(FakeFile("cuda99", "libcudnn.so.99"), site() + "/nvidia/cudnn/lib/libcudnn.so.98");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(Severities(r), "framework-needs-preload:warning ");
  EXPECT_THAT(r.Detail(), Mentions("needs libcudnn.so.98, ", "in " + site() + "/nvidia/cudnn/lib"));
}

TEST_F(FrameworkLibraries, ThatTheLoaderFindsAreFine) {
  PutOnnxruntime();
  PutCtranslate2();
  for (const char* name : {"libcublas.so.99", "libcudnn.so.99"}) Take("cuda99", name);
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 0) << r.gate.out;
  EXPECT_EQ(Severities(r), "");
}

// The driver of the machine that the image meets.
class FrameworkDriver : public FrameworkVersions {
 protected:
  FrameworkDriver() {
    UseFakes({"libcuda", "nvml"});
    Set("FAKE_DRIVER_VERSION", "12090");
    Set("FAKE_NVML_DRIVER", "575.57.08");
    Set("PYTHONPATH", site());
  }
  // A package and the module that it brings.
  void InstallModule(const std::string& module, const std::string& package, const std::string& version) {
    fs::create_directories(site() + "/" + module);
    std::ofstream(site() + "/" + module + "/__init__.py") << "raise SystemExit\n";
    Install(package, version);
  }
  std::string Said() {
    const CheckOutcome r = Framework("versions");
    return Severities(r) + r.Detail();
  }
};

TEST_F(FrameworkDriver, OfAnOlderMajorThanAFrameworkIsNamedWithItsFloor) {
  InstallModule("torch", "torch", "9.9.9+cu130");
  const CheckOutcome r = Framework("versions");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-driver-too-old"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), Mentions("PyTorch 9.9.9+cu130", "CUDA 13", "driver 575.57.08", "CUDA 12.9",
                                   "driver 580.65.06", "version facts as of"));
}

TEST_F(FrameworkDriver, IsHeldToWhatEachFrameworkSaysOfItself) {
  InstallModule("jax", "jax-cuda13-plugin", "0.9.9");
  EXPECT_THAT(Said(), Mentions("framework-driver-too-old:error JAX 0.9.9", "CUDA 13"));
}

TEST_F(FrameworkDriver, ServesEveryToolkitOfItsMajorAndOlderOnes) {
  Set("FAKE_DRIVER_VERSION", "12020");
  InstallModule("torch", "torch", "9.9.9+cu128");
  InstallModule("jax", "jax-cuda12-plugin", "0.9.9");
  InstallModule("cupy", "cupy-cuda11x", "13.0.0");
  EXPECT_EQ(Said(), "");
}

TEST_F(FrameworkDriver, IsNotKnownWhereThereIsNoGpu) {
  InstallModule("torch", "torch", "9.9.9+cu130");
  Set("FAKE_CUINIT", "100");
  EXPECT_EQ(Said(), "");
}

}  // namespace
}  // namespace cudnn_ci
