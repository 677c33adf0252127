// Subjects that are interpreters, programs and several folders: images whose libraries come as wheels,
// healthy and broken, made of the fake ones.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

std::string Site(FaultTest& t) { return t.gate().Path("venv/lib/python3.11/site-packages"); }
std::string Wheel(FaultTest& t, const std::string& package) {
  return Site(t) + "/nvidia/" + package + "/lib";
}

// An interpreter, a virtual environment of it, and the subject "venv" that means it.
void MakeEnvironment(FaultTest& t) {
  fs::create_directories(t.gate().Path("base/bin"));
  fs::create_directories(t.gate().Path("venv/bin"));
  fs::create_directories(Site(t));
  t.gate().Write("base/bin/python3.11", "");
  fs::create_symlink(t.gate().Path("base/bin/python3.11"), t.gate().Path("venv/bin/python"));
  t.gate().Write("venv/pyvenv.cfg", "home = " + t.gate().Path("base/bin") + "\nversion = 3.11.2\n");
  t.UseSubjects("{\"venv\": \"python:" + t.gate().Path("venv/bin/python") + "\"}");
}

void AddToolkit(FaultTest& t, const std::string& cudart = "cudart13", const std::string& nvrtc = "nvrtc") {
  t.TakeAll(cudart, Wheel(t, "cuda_runtime"));
  t.TakeAll(nvrtc, Wheel(t, "cuda_nvrtc"));
}

// Wheels and nothing else: no toolkit, no cuDNN where the loader looks.
Make WheelsAlone(const std::function<void(FaultTest&)>& change) {
  return Alone([change](FaultTest& t) {
    t.UseFakes({"libcuda", "nvml"});
    MakeEnvironment(t);
    AddToolkit(t);
    t.TakeAll("cudnn", Wheel(t, "cudnn"));
    change(t);
  });
}

// Wheels beside a system install, which comes in LD_LIBRARY_PATH.
Make WheelsBesideSystem(const std::function<void(FaultTest&)>& change) {
  return Machine([change](FaultTest& t) {
    MakeEnvironment(t);
    AddToolkit(t);
    t.TakeAll("cudnn", Wheel(t, "cudnn"));
    change(t);
  });
}

// PyTorch, whose library names the wheels in one of two ways; `module` is its __init__.py.
void AddTorch(FaultTest& t, const std::string& kind, const std::string& module = "") {
  fs::create_directories(Site(t) + "/torch/lib");
  fs::copy_file(FaultTest::FakeFile("torch_" + kind, "libtorch_cuda.so.2"),
                Site(t) + "/torch/lib/libtorch_cuda.so");
  t.gate().Write("venv/lib/python3.11/site-packages/torch/__init__.py",
                 "libcudnn = \"libcudnn.so.*[0-9]\"\n" + module);
}

void AddJax(FaultTest& t) {
  fs::create_directories(Site(t) + "/jax_plugins/xla_cuda13");
  t.gate().Write("venv/lib/python3.11/site-packages/jax_plugins/xla_cuda13/__init__.py",
                 "_load(\"cudnn\", [\"libcudnn.so.9\"])\n");
}

void UseSystemToo(FaultTest& t) {
  t.UseSubjects("{\"system\": \"loader\", \"venv\": \"python:" + t.gate().Path("venv/bin/python") + "\"}");
}

// What pip leaves beside the wheel's libraries, and pip.
void Record(FaultTest& t, const std::string& package = "nvidia_cudnn_cu13-9.19.0.56") {
  fs::create_directory(Site(t) + "/" + package + ".dist-info");
  fs::create_directories(Site(t) + "/pip");
}

// The same wheel again.
constexpr char kAgain[] =
    "RUN ~/venv/bin/python -m pip install --force-reinstall --no-deps nvidia-cudnn-cu13==9.19.0.56";

// LD_LIBRARY_PATH with these fakes alone.
std::string PathLine(const std::vector<std::string>& fakes) {
  std::string all;
  for (const std::string& fake : fakes) all += (all.empty() ? "" : ":") + FaultTest::FakeFolder(fake);
  return "ENV LD_LIBRARY_PATH=" + all;
}

void MixSystem(FaultTest& t) {
  t.TakeCudnn();
  t.Take("cudnn_old", "libcudnn_ops.so.9");
}

// A mixed cuDNN in the loader's cache, which no wheel gets to see.
bool UseBrokenSystem(FaultTest& t) {
  t.UseFakes({"libcuda", "nvml"});
  MakeEnvironment(t);
  AddToolkit(t);
  t.TakeAll("cudnn", Wheel(t, "cudnn"));
  AddTorch(t, "rpath");
  const std::string folder = t.gate().Path("system"), cache = t.gate().Path("ld.so.cache");
  t.TakeAll("cudnn", folder);
  t.TakeAll("cudnn_old", folder);
  t.gate().Write("ld.so.conf", folder + "\n");
  if (system(("ldconfig -X -C " + cache + " -f " + t.gate().Path("ld.so.conf") + " 2>/dev/null").c_str()) !=
      0)
    return false;
  const auto words = InMountNamespace("mount --bind " + cache + " /etc/ld.so.cache");
  t.gate().Before(words);
  return !words.empty();
}

void MakeConda(FaultTest& t) {
  t.Set("PYTHONNOUSERSITE", "1");  // what the one who runs the tests has at home
  t.UseFakes({"libcuda", "nvml"});
  const std::string conda = t.gate().Path("conda");
  for (const char* folder : {"/bin", "/conda-meta", "/lib/python3.11/site-packages"})
    fs::create_directories(conda + folder);
  t.gate().Write("conda/bin/python3.11", "");
  fs::create_symlink("python3.11", conda + "/bin/python");
  for (const char* fake : {"cudart13", "nvrtc", "cudnn"}) t.TakeAll(fake, conda + "/lib");
  t.UseSubjects("{\"conda\": \"python:" + conda + "/bin/python\"}");
}

// A program that says where its cuDNN lies.
void MakeProgram(FaultTest& t) {
  t.UseFakes({"libcuda", "nvml", "cudart13", "nvrtc"});
  fs::create_directories(t.gate().Path("app/opt/bin"));
  fs::copy_file(FaultTest::FakeFile("torch_runpath", "libtorch_cuda.so.2"), t.gate().Path("app/opt/bin/run"));
  t.TakeAll("cudnn", t.gate().Path("app/nvidia/cudnn/lib"));
  t.UseSubjects("{\"app\": \"program:" + t.gate().Path("app/opt/bin/run") + "\"}");
}

void UseTwoFolders(FaultTest& t) {
  t.UseFakes({"libcuda", "nvml"});
  for (const char* fake : {"cudart13", "nvrtc"}) t.TakeAll(fake, t.gate().Path("toolkit"));
  t.TakeAll("cudnn", t.gate().Path("dnn"));
  t.UseSubjects("{\"two\": \"path:" + t.gate().Path("dnn") + ":" + t.gate().Path("toolkit") + "\"}");
}

void UseTwelve(FaultTest& t) {
  fs::remove_all(Wheel(t, "cuda_runtime"));
  fs::remove_all(Wheel(t, "cuda_nvrtc"));
  AddToolkit(t, "cudart12", "nvrtc12");
  t.Set("FAKE_CUDNN_CUDART", "12090");
}

std::vector<Fault> SoundSubjects() {
  return Joined({
      Showing("wheels alone", {Sound("wheels_alone", WheelsAlone([](auto&) {}))}),
      Showing("wheel beside a system install",
              {
                  Sound("wheels_beside_a_system_install", WheelsBesideSystem(UseSystemToo)),
                  Sound("environment_that_lives_from_the_system",
                        WheelsBesideSystem([](auto& t) { fs::remove_all(Site(t) + "/nvidia"); })),
                  Sound("framework_that_takes_the_same_version_from_ld_library_path",
                        WheelsBesideSystem([](auto& t) { AddTorch(t, "runpath"); })),
              }),
      Showing("installs that never meet",
              {
                  Sound("wheels_beside_a_broken_system_install_that_they_never_meet", UseBrokenSystem),
                  // Whoever loads it may load all of it.
                  Sound("wheels_without_a_framework_beside_other_parts", WheelsBesideSystem(MixSystem)),
                  Sound("framework_that_loads_every_part_by_its_path", WheelsBesideSystem([](auto& t) {
                          MixSystem(t), AddTorch(t, "rpath", "cudnn_libs = [\"libcudnn_*.so.*[0-9]\"]\n");
                        })),
              }),
      Showing("two CUDA majors",
              {Sound("wheels_of_cuda_12_where_12_or_13_is_promised", WheelsBesideSystem([](auto& t) {
                       UseTwelve(t), t.Promise("image.toolkit", ">=12.0 <14");
                     }))}),
      Showing("conda environment", {Sound("conda_environment", Alone(MakeConda))}),
      Showing("program with a run path", {Sound("program_with_a_run_path", Alone(MakeProgram))}),
      Showing("several folders", {Sound("several_folders", Alone(UseTwoFolders))}),
  });
}

void HalveWheel(FaultTest& t, const std::string& name) {
  const std::string file = Wheel(t, "cudnn") + "/" + name;
  fs::resize_file(file, fs::file_size(file) / 2);
}

void UseSubject(FaultTest& t, const std::string& spec) { t.UseSubjects("{\"mine\": \"" + spec + "\"}"); }

// All libraries of these wheels get an ELF header of the other machine.
void MakeForeign(FaultTest& t, const std::vector<std::string>& packages) {
  for (const std::string& package : packages)
    for (const auto& entry : fs::directory_iterator(Wheel(t, package))) {
      if (entry.is_symlink()) continue;
      std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(18).put(kForeignMachine);
    }
}

std::vector<Fault> ForeignSubjects() {
  return Showing(
      "libraries for another processor",
      {
          Image("wheels_for_another_processor", WheelsAlone([](auto& t) {
                  MakeForeign(t, {"cudnn", "cuda_runtime", "cuda_nvrtc"});
                }),
                "subject-for-other-processor", {"built for ", "/nvidia/cuda_runtime/lib/libcudart.so.13"}),
          Image("cudnn_for_another_processor", WheelsAlone([](auto& t) { MakeForeign(t, {"cudnn"}); }),
                "subject-for-other-processor", {"built for ", "/nvidia/cudnn/lib/libcudnn.so.9"}),
      });
}

std::vector<Fault> MissingSubjects() {
  return Showing("subject missing",
                 {
                     Image("interpreter_missing",
                           WheelsAlone([](auto& t) { UseSubject(t, "python:/nowhere/bin/python"); }),
                           "subject-missing", {"subject mine: /nowhere/bin/python"}),
                     Image("environment_without_its_interpreter",
                           WheelsAlone([](auto& t) { fs::remove(t.gate().Path("base/bin/python3.11")); }),
                           "subject-missing", {"/venv/bin/python", "/base/bin/python3.11"}),
                     Image("program_missing", Alone([](auto& t) { UseSubject(t, "program:/nowhere/run"); }),
                           "subject-missing", {"/nowhere/run"}),
                     Image("one_of_several_folders_missing", Alone([](auto& t) {
                             UseTwoFolders(t),
                                 UseSubject(t, "path:" + t.gate().Path("dnn") + ":/nowhere/lib");
                           }),
                           "subject-missing", {"/nowhere/lib"}),
                 });
}

// Wheels of which pip knows, so that one line fixes them.
std::vector<Fault> RecordedWheels() {
  const std::string ops = "libcudnn_ops.so.9", unloadable = "cudnn-sublibrary-unloadable";
  return Joined({
      Showing("part of cuDNN 9 missing",
              {
                  FixedBy(Image("wheel_that_pip_can_complete", WheelsAlone([ops](auto& t) {
                                  Record(t), fs::remove(Wheel(t, "cudnn") + "/" + ops);
                                }),
                                unloadable, {ops + ": cannot open"}),
                          kAgain),
                  FixedBy(Image("wheel_that_pip_can_complete_beside_the_system",
                                WheelsBesideSystem(
                                    [ops](auto& t) { Record(t), fs::remove(Wheel(t, "cudnn") + "/" + ops); }),
                                "cudnn-mixed-directories", {"/nvidia/cudnn/lib ("}),
                          kAgain),
              }),
      Showing("mixed cuDNN versions",
              {
                  FixedBy(Image("wheel_that_was_partly_replaced", WheelsAlone([](auto& t) {
                                  Record(t), t.TakeAll("cudnn_old", Wheel(t, "cudnn"));
                                }),
                                "cudnn-mixed-versions", {"9.14.0 (", "9.19.0 ("}),
                          kAgain),
              }),
      Showing("truncated file", {FixedBy(Image("wheel_truncated",
                                               WheelsAlone([ops](auto& t) { Record(t), HalveWheel(t, ops); }),
                                               unloadable, {"/nvidia/cudnn/lib/" + ops + " is truncated"}),
                                         kAgain)}),
      Showing("another library under cuDNN's name",
              {FixedBy(Image("part_of_a_wheel_is_another_library", WheelsAlone([](auto& t) {
                               Record(t);
                               fs::copy_file(Wheel(t, "cudnn") + "/libcudnn_cnn.so.9",
                                             Wheel(t, "cudnn") + "/libcudnn_heuristic.so.9",
                                             fs::copy_options::overwrite_existing);
                             }),
                             "cudnn-other-library", {"/libcudnn_heuristic.so.9 is libcudnn_cnn.so.9"}),
                       kAgain)}),
      Showing("cuDNN outside the promise",
              {FixedBy(Image("wheel_outside_the_contract",
                             WheelsAlone([](auto& t) { Record(t), t.Promise("image.cudnn", ">=9.20 <10"); }),
                             "cudnn-outside-contract", {"cuDNN 9.19.0 found, >=9.20 <10 promised"}),
                       "RUN ~/venv/bin/python -m pip install --no-deps 'nvidia-cudnn-cu13>=9.20,<10'")}),
      Showing("headers or metadata of another version",
              {FixedBy(Sound("wheel_over_which_files_were_copied",
                             WheelsAlone([](auto& t) { Record(t, "nvidia_cudnn_cu13-9.20.0.48"); }),
                             "cudnn-package-mismatch"),
                       "RUN ~/venv/bin/python -m pip install --force-reinstall --no-deps "
                       "nvidia-cudnn-cu13==9.20.0.48")}),
  });
}

std::vector<Fault> BrokenSubjects() {
  const std::string ops = "libcudnn_ops.so.9", unloadable = "cudnn-sublibrary-unloadable";
  return Joined({
      Showing("no cuDNN",
              {Image("environment_without_a_cudnn",
                     WheelsAlone([](auto& t) { fs::remove_all(Wheel(t, "cudnn")); }), "cudnn-missing",
                     {"libcudnn.so.9: cannot open", "/venv/bin/python", "/nvidia/cuda_runtime/lib"})}),
      Showing("part of cuDNN 9 missing",
              {
                  Image("wheel_lacks_a_part",
                        WheelsAlone([ops](auto& t) { fs::remove(Wheel(t, "cudnn") + "/" + ops); }),
                        unloadable, {ops + ": cannot open"}),
                  Image("wheel_completed_from_the_system",
                        WheelsBesideSystem([ops](auto& t) { fs::remove(Wheel(t, "cudnn") + "/" + ops); }),
                        "cudnn-mixed-directories", {"/nvidia/cudnn/lib ("}),
              }),
      Showing(
          "unusable file",
          {Image("wheel_is_a_dangling_link", WheelsBesideSystem([](auto& t) {
                   fs::remove(Wheel(t, "cudnn") + "/libcudnn.so.9");
                   fs::create_symlink("nowhere", Wheel(t, "cudnn") + "/libcudnn.so.9");
                 }),
                 "cudnn-missing", {"/nvidia/cudnn/lib/libcudnn.so.9", "nowhere", "/libcudnn.so.9.19.0"})}),
      Showing(
          "cuDNN hidden by LD_LIBRARY_PATH",
          {FixedBy(Image("older_cudnn_in_ld_library_path_hides_the_wheel", WheelsBesideSystem([](auto& t) {
                           AddTorch(t, "runpath"), t.TakeAll("cudnn_new", Wheel(t, "cudnn"));
                         }),
                         "cudnn-overridden-by-older",
                         {"cuDNN 9.19.0 (", "found through LD_LIBRARY_PATH entry ", "hides 9.28.0 in ",
                          "/nvidia/cudnn/lib"}),
                   PathLine({"libcuda", "nvml", "cudart13", "nvrtc", "nccl"}))}),
      Showing("mixed cuDNN versions",
              {
                  FixedBy(Image("parts_of_another_version_in_ld_library_path",
                                WheelsBesideSystem([](auto& t) { MixSystem(t), AddTorch(t, "rpath"); }),
                                "cudnn-mixed-versions", {"LD_LIBRARY_PATH", "/libcudnn_ops.so.9 of 9.14.0"}),
                          PathLine({"libcuda", "nvml", "cudart13", "nvrtc", "nccl"})),
                  Image("parts_of_another_version_for_jax",
                        WheelsBesideSystem([](auto& t) { MixSystem(t), AddJax(t); }), "cudnn-mixed-versions",
                        {"/libcudnn_ops.so.9 of 9.14.0"}),
              }),
      Showing(
          "toolkit outside the promise",
          {Image("wheels_of_cuda_12_where_13_is_promised", WheelsBesideSystem(UseTwelve),
                 "toolkit-outside-contract", {"toolkit 12.8", ">=13.0 <14", "/nvidia/cuda_runtime/lib/"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(SubjectsSound, FaultTableTest, ::testing::ValuesIn(SoundSubjects()), NameOfFault);
INSTANTIATE_TEST_SUITE_P(SubjectsRecorded, FaultTableTest, ::testing::ValuesIn(RecordedWheels()),
                         NameOfFault);
INSTANTIATE_TEST_SUITE_P(SubjectsMissing, FaultTableTest, ::testing::ValuesIn(MissingSubjects()),
                         NameOfFault);
INSTANTIATE_TEST_SUITE_P(SubjectsForeign, FaultTableTest, ::testing::ValuesIn(ForeignSubjects()),
                         NameOfFault);
INSTANTIATE_TEST_SUITE_P(SubjectsBroken, FaultTableTest, ::testing::ValuesIn(BrokenSubjects()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
