// The suggested command for the cuDNN of a framework's packages.
#include "framework_cudnn_test.h"

namespace cudnn_ci {
namespace {

using testing::ElementsAre;

// The packages of a virtual environment that has pip.
class FrameworkEnvironment : public FrameworkVersions {
 protected:
  FrameworkEnvironment() : FrameworkVersions("venv/lib/python3.11/site-packages") {
    fs::create_directories(site() + "/pip");
    fs::create_directories(gate().Path("venv/bin"));
    gate().Write("venv/bin/python", "");
    gate().Write("venv/pyvenv.cfg", "");
    Install("torch", "9.9.9+cu130", kPinned);
  }
  const std::string pip_ = fs::canonical(site() + "/../../..").string() + "/bin/python -m pip ";
};

TEST_F(FrameworkEnvironment, AnOlderCudnnIsFixedByTheOneThatTheFrameworkAsksFor) {
  InstallCudnn(13, "9.14.0.64");
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cudnn-unfit"));
  EXPECT_EQ(Line(r), "image: RUN " + pip_ + "install --no-deps nvidia-cudnn-cu13==9.19.0.56");
  Install("torch", "9.9.9+cu130", "nvidia-cudnn-cu13>=9.19");
  EXPECT_EQ(Line(Framework("versions")),
            "image: RUN " + pip_ + "install --no-deps 'nvidia-cudnn-cu13>=9.19,<10'");
  Install("torch", "9.9.9+cu130", "nvidia-cudnn-cu13==9.19");
  EXPECT_EQ(Line(Framework("versions")), "") << "no whole version";
}

// PyTorch refuses an older cuDNN when it first uses one: known before the push, by metadata.
TEST_F(FrameworkEnvironment, AnOlderCudnnIsKnownToTheStaticMatrix) {
  InstallCudnn(13, "9.14.0.64");
  gate().Write("before.json",
               R"({"schema": "cudnn-ci/matrix/1", "name": "before", "extends": ")" CUDNN_CI_SOURCE_DIR
               R"(/matrices/static.json", "subjects": {"system": "loader"}})");
  const GateResult r = gate().Command({"--matrix", gate().Path("before.json"), "--filter", "framework.*",
                                       "--output-dir", gate().Path("out")});
  EXPECT_EQ(r.exit_code, 1) << r.out << r.err;
  EXPECT_THAT(r.out, testing::HasSubstr("image.framework-cudnn-unfit"));
}

TEST_F(FrameworkEnvironment, ReplacedFilesAreFixedByTakingTheOtherPackageOut) {
  InstallCudnn(13, "9.19.0.56", "1234567");
  InstallCudnn(12, "9.19.0.56");
  const CheckOutcome r = Framework("versions");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-cuda-mismatch"));
  EXPECT_EQ(Line(r), "image: RUN " + pip_ + "uninstall -y nvidia-cudnn-cu13 nvidia-cudnn-cu12 && " + pip_ +
                         "install --no-deps nvidia-cudnn-cu13==9.19.0.56");
  // Another framework needs the one that is there.
  Install("tensorflow", "2.21.0", "nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == \"and-cuda\"");
  const CheckOutcome both = Framework("versions");
  EXPECT_EQ(Line(both), "");
  EXPECT_THAT(both.Slugs(), ElementsAre("framework-cuda-mismatch"));
  EXPECT_THAT(both.Detail(), testing::HasSubstr("tensorflow 2.21.0"));
}

// The cuDNN that is loaded is not the toolkit's for the same reason: that is what is said of it.
TEST_F(FrameworkEnvironment, ACudnnThatAnotherPackageHasReplacedNamesThatPackage) {
  TakeCudnn();
  fs::create_directories(Folder());
  fs::copy(libraries(), Folder());
  fs::remove_all(libraries());
  fs::create_directory(libraries());
  const std::string graph = "nvidia/cudnn/lib/libcudnn_graph.so.9,sha256=",
                    size = std::to_string(fs::file_size(Folder() + "/libcudnn_graph.so.9"));
  Install("nvidia-cudnn-cu13", "9.19.0.56", "", graph + std::string(43, 'A') + ",1\n");
  Install("nvidia-cudnn-cu12", "9.19.0.56", "", graph + std::string(43, 'B') + "," + size + "\n");
  UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  UseSubjects("{\"mine\": \"path:" + Folder() + "\"}");
  Promise("image.cudnn", ">=9.12 <10");
  Set("FAKE_CUDNN_CUDART", "12080");
  const CheckOutcome r = Check("cudnn.version");
  EXPECT_THAT(r.Slugs(), ElementsAre("cudnn-replaced")) << ::testing::PrintToString(r);
  EXPECT_EQ(Line(r), "image: RUN " + pip_ + "uninstall -y nvidia-cudnn-cu13 nvidia-cudnn-cu12 && " + pip_ +
                         "install --no-deps nvidia-cudnn-cu13==9.19.0.56");
}

TEST_F(FrameworkEnvironment, AMissingPackageIsNoOnesToReplace) {
  InstallCudnn(12, "9.19.0.56");
  EXPECT_EQ(Line(Framework("versions")), "");
}

}  // namespace
}  // namespace cudnn_ci
