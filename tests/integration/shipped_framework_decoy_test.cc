// framework.*_decoy: what a framework's process takes where the loader's path has another cuDNN. The real
// loader answers, for the fake frameworks (tests/fakes/frameworks), which load what FAKE_LIBRARIES says.
#include <algorithm>
#include <filesystem>

#include "framework_test.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class FrameworkDecoy : public FrameworkTest {
 protected:
  // A virtual environment with the files of the fake cuDNN, and an interpreter that can be run.
  FrameworkDecoy() : lib_(gate().Path("venv/lib/python3.11/site-packages/nvidia/cudnn/lib")) {
    fs::create_directories(gate().Path("venv/bin"));
    fs::create_directories(lib_);
    gate().Write("venv/pyvenv.cfg", "home = " + gate().Path("venv/bin") + "\nversion = 3.11.2\n");
    Python("exec " CUDNN_CI_PYTHON " -S \"$@\"");
    for (const auto& entry : fs::directory_iterator(FakeFolder("cudnn_plain")))
      if (entry.path().extension() == ".9")
        fs::copy_file(fs::canonical(entry.path()), lib_ + "/" + entry.path().filename().string());
    UseSubjects("{\"venv\": \"python:" + gate().Path("venv/bin/python3.11") + "\"}");
    Set("FAKE_LIBRARIES", Own("libcudnn.so.9"));
  }

  void Python(const std::string& script) {
    gate().Write("venv/bin/python3.11", "#!/bin/sh\n" + script + "\n");
    fs::permissions(gate().Path("venv/bin/python3.11"), fs::perms(0755));
  }
  // A file of the environment's own cuDNN.
  std::string Own(const std::string& name) const { return lib_ + "/" + name; }
  const std::string& lib() const { return lib_; }

 private:
  const std::string lib_;
};

TEST_F(FrameworkDecoy, WhoLoadsAllByPathKeepsToItsOwn) {
  Set("FAKE_LIBRARIES", Own("libcudnn_graph.so.9") + ":" + Own("libcudnn_ops.so.9") + ":" +
                            Own("libcudnn.so.9") + ":libcudnn_ops.so.9:libcudnn.so.9");
  for (const char* name : {"torch_decoy", "tensorflow_decoy", "jax_decoy", "onnxruntime_decoy"}) {
    const CheckOutcome r = Framework(name);
    EXPECT_EQ(r.gate.exit_code, 0) << name << r.gate.out << r.gate.err;
    EXPECT_EQ(r.Outcome(), "passed");
  }
}

TEST_F(FrameworkDecoy, AMainLibraryThatIsAskedForByNameIsTakenFromElsewhere) {
  Set("FAKE_LIBRARIES", "libcudnn.so.9");
  const CheckOutcome r = Framework("torch_decoy");
  EXPECT_EQ(r.gate.exit_code, 1) << r.gate.out;
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-decoy-taken"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(Mentions("PyTorch 9.9.9, ", "LD_LIBRARY_PATH", "loads libcudnn.so.9 "),
                                Not(HasSubstr("together"))));
}

// Whatever becomes of the process: here it cannot be imported any more.
TEST_F(FrameworkDecoy, SoIsAPartAndSaysWhichInstallThatJoins) {
  Set("FAKE_LIBRARIES", Own("libcudnn.so.9") + ":libcudnn_ops.so.9");
  Set("FAKE_FRAMEWORK", "import");
  CheckOutcome r = Framework("jax_decoy");
  EXPECT_THAT(r.Slugs(), ElementsAre("framework-failed")) << "it came to neither";
  Set("FAKE_FRAMEWORK", "crash");
  r = Framework("jax_decoy");
  EXPECT_THAT(r.Slugs(), AllOf(Not(testing::IsEmpty()), testing::Each("framework-decoy-taken")));
  EXPECT_THAT(r.Detail(), Mentions("loads libcudnn_ops.so.9 ", "together with " + Own("libcudnn.so.9")));
}

// As wheels of 9.20 came: the graph library opens a part that its own install lacks.
TEST_F(FrameworkDecoy, APartThatTheInstallLacksIsOfferedToo) {
  fs::copy_file(FakeFile("cudnn_opens", "libcudnn_graph.so.9"), Own("libcudnn_graph.so.9"),
                fs::copy_options::overwrite_existing);
  Set("FAKE_LIBRARIES", Own("libcudnn.so.9") + ":libcudnn_engines_tensor_ir.so.9");
  EXPECT_THAT(Framework("torch_decoy").Detail(), Mentions("loads libcudnn_engines_tensor_ir.so.9 "));
}

TEST_F(FrameworkDecoy, AProcessThatEndsEarlyIsNoPass) {
  for (const char* fault : {"crash", "raise", "exit"}) {
    Set("FAKE_FRAMEWORK", fault);
    const CheckOutcome r = Framework("torch_decoy");
    EXPECT_EQ(r.gate.exit_code, 1) << fault;
    EXPECT_THAT(r.Slugs(), testing::Each("framework-failed")) << fault;
    EXPECT_THAT(r.Detail(), Mentions("loads nothing", " at \""));
  }
  Set("FAKE_FRAMEWORK", "memory");
  EXPECT_EQ(Framework("torch_decoy").Skip("kind"), "memory");
}

TEST_F(FrameworkDecoy, WhoUsesNoCudnnShowsNothing) {
  Set("FAKE_LIBRARIES", "");
  CheckOutcome r = Framework("torch_decoy");
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_EQ(r.Skip("seen"), "PyTorch 9.9.9 loads none");
  Set("FAKE_LIBRARIES", Own("libcudnn.so.9"));
  Set("FAKE_FRAMEWORK", "cpu");
  r = Framework("torch_decoy");
  EXPECT_EQ(r.Outcome(), "skipped");
  EXPECT_EQ(r.Skip("seen"), "PyTorch 9.9.9 sees no GPU");
}

// A process that does not look into the folder at all would pass whatever it loads.
TEST_F(FrameworkDecoy, AnInterpreterThatDoesNotLookThereIsNoPass) {
  Python("unset LD_LIBRARY_PATH; exec " CUDNN_CI_PYTHON " -S \"$@\"");
  const CheckOutcome r = Framework("torch_decoy");
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("need"), Mentions("glibc's loader", "LD_LIBRARY_PATH"));
  EXPECT_THAT(r.Skip("seen"), Mentions("/venv/bin/python3.11"));
}

TEST_F(FrameworkDecoy, IsForSubjectsThatBringACudnn) {
  fs::remove_all(lib());
  EXPECT_EQ(Framework("torch_decoy").Skip("seen"), "none in its folders of libraries");
  UseSubjects("{\"system\": \"loader\"}");
  const CheckOutcome r = Framework("torch_decoy");
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_EQ(r.Skip("seen"), "loader");
}

TEST_F(FrameworkDecoy, AFrameworkThatIsAbsentIsSkipped) {
  Set("PYTHONPATH", gate().Path("nothing"));
  EXPECT_THAT(Framework("torch_decoy").Skip("seen"), Mentions("module torch", "Python 3."));
}

}  // namespace
}  // namespace cudnn_ci
