// Frameworks that get a cuDNN they cannot use, see no GPU, fail or compute wrong numbers: the fake ones,
// asked by a real Python, on a machine that is otherwise sound.
#include <cstdlib>
#include <filesystem>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

// A Python that has nothing but these packages.
void UsePython(FaultTest& t, const std::string& packages) {
  fs::create_directory(t.gate().Path("bin"));
  t.gate().Write("bin/python3", "#!/bin/sh\nexec " CUDNN_CI_PYTHON " -S \"$@\"\n");
  fs::permissions(t.gate().Path("bin/python3"), fs::perms(0755));
  const char* path = getenv("PATH");
  t.Set("PATH", t.gate().Path("bin") + ":" + (path ? path : ""));
  t.Set("PYTHONPATH", packages);
}

// framework.NAME, asked of a Python that has nothing but the fake frameworks.
Make Framework(const std::string& name, const std::vector<std::pair<std::string, std::string>>& variables) {
  return With(Entry("framework." + name), [variables](FaultTest& t) {
    UsePython(t, CUDNN_CI_SOURCE_DIR "/tests/fakes/frameworks");
    for (const auto& [variable, value] : variables) t.Set(variable, value);
  });
}

// framework.versions, asked of a Python that has the fake CTranslate2, of whose libraries these are on the
// loader's path.
Make Ctranslate2With(const std::vector<std::string>& libraries) {
  // With a driver its CUDA 99 would be judged first.
  return WithoutDriver([libraries](FaultTest& t) {
    t.Also(Entry("framework.versions"));
    const std::string site = t.gate().Path("site");
    fs::create_directories(site + "/ctranslate2.libs");
    fs::create_directories(site + "/ctranslate2-4.6.0.dist-info");
    fs::create_directories(site + "/ctranslate2");
    fs::copy_file(FaultTest::FakeFile("ctranslate2", "libctranslate2.so.4"),
                  site + "/ctranslate2.libs/libctranslate2-1234.so.4.0.0");
    t.gate().Write("site/ctranslate2-4.6.0.dist-info/METADATA",
                   "Metadata-Version: 2.1\nName: ctranslate2\nVersion: 4.6.0\n");
    t.gate().Write("site/ctranslate2/__init__.py", "raise SystemExit\n");
    for (const std::string& library : libraries) t.Take("cuda99", library);
    UsePython(t, site);
  });
}

// framework.versions, asked of a Python in which the package for CPUs has replaced a file of the one for
// GPUs.
Make OnnxruntimeReplaced() {
  return WithoutDriver([](FaultTest& t) {
    t.Also(Entry("framework.versions"));
    const std::string site = t.gate().Path("site");
    for (const char* folder :
         {"onnxruntime/capi", "onnxruntime_gpu-1.22.0.dist-info", "onnxruntime-1.22.0.dist-info"})
      fs::create_directories(site + "/" + folder);
    t.gate().Write("site/onnxruntime/__init__.py", "raise SystemExit\n");
    t.gate().Write("site/onnxruntime/capi/libonnxruntime.so.1", "one");
    const std::string file = "onnxruntime/capi/libonnxruntime.so.1,sha256=";
    t.gate().Write("site/onnxruntime-1.22.0.dist-info/RECORD",
                   file + "dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z_0Me0,3\n");
    t.gate().Write(
        "site/onnxruntime_gpu-1.22.0.dist-info/RECORD",
        file + "P8TM_nRYcOLA2Z9x8w_wZWyN7dQcwdfT03aw2-aF4vM,9\nonnxruntime/capi/libcublas.so.12,,\n");
    t.gate().Write("site/onnxruntime-1.22.0.dist-info/METADATA",
                   "Metadata-Version: 2.1\nName: onnxruntime\nVersion: 1.22.0\n");
    t.gate().Write("site/onnxruntime_gpu-1.22.0.dist-info/METADATA",
                   "Metadata-Version: 2.1\nName: onnxruntime-gpu\nVersion: 1.22.0\n");
    UsePython(t, site);
  });
}

// A wheel of cuDNN beside the fake PyTorch, judged while another cuDNN is on the loader's path. `files`: what
// the framework loads by path ("_ops"), and names that it leaves to the loader.
Make BesideDecoy(const std::vector<std::string>& files) {
  return [files](FaultTest& t) {
    const std::string lib = t.gate().Path("venv/lib/python3.11/site-packages/nvidia/cudnn/lib"),
                      python = t.gate().Path("venv/bin/python3.11");
    t.TakeAll("cudnn_plain", lib);
    fs::create_directories(t.gate().Path("venv/bin"));
    t.gate().Write("venv/bin/python3.11", "#!/bin/sh\nexec " CUDNN_CI_PYTHON " -S \"$@\"\n");
    fs::permissions(python, fs::perms(0755));
    t.gate().Write("venv/pyvenv.cfg", "home = " + t.gate().Path("venv/bin") + "\nversion = 3.11.2\n");
    t.UseSubjects("{\"venv\": \"python:" + python + "\"}");
    t.Set("PYTHONPATH", CUDNN_CI_SOURCE_DIR "/tests/fakes/frameworks");
    std::string all;
    for (const std::string& file : files)
      all += (file.find('.') == std::string::npos ? lib + "/libcudnn" + file + ".so.9" : file) + ":";
    t.Set("FAKE_LIBRARIES", all);
    t.Also(Entry("framework.torch_decoy"));
    return true;
  };
}

std::vector<Fault> Frameworks() {
  const std::string main = FaultTest::FakeFile("cudnn_plain", "libcudnn.so.9"),
                    graph = FaultTest::FakeFile("cudnn_plain", "libcudnn_graph.so.9"),
                    old = FaultTest::FakeFile("cudnn_old", "libcudnn_ops.so.9");
  return Joined({
      Showing("framework's cuDNN too old",
              {
                  Image("torch_with_an_older_cudnn", Framework("torch", {{"FAKE_LOADED_CUDNN", "9.14.0"}}),
                        "framework-cudnn-unfit", {"loads 9.14.0: cuDNN 9.14.0 is older"}),
                  Image("torch_with_another_major", Framework("torch", {{"FAKE_LOADED_CUDNN", "8.9.7"}}),
                        "framework-cudnn-unfit", {"loads 8.9.7", "cuDNN 9.19.0"}),
              }),
      Showing(
          "framework cannot use cuDNN",
          {
              Image("tensorflow_finds_no_algorithm", Framework("tensorflow", {{"FAKE_FRAMEWORK", "raise"}}),
                    "framework-failed", {"\"convolution, default\""}),
              Image("jax_finds_no_algorithm", Framework("jax", {{"FAKE_FRAMEWORK", "raise"}}),
                    "framework-failed", {"\"convolution, default\""}),
              Image("onnxruntime_cannot_be_imported",
                    Framework("onnxruntime", {{"FAKE_FRAMEWORK", "import"}}), "framework-import-failed",
                    {"libcudnn.so.9: cannot open"}),
          }),
      Showing("framework computes on the CPU",
              {
                  Image("torch_sees_no_gpu", Framework("torch", {{"FAKE_FRAMEWORK", "no-gpu"}}),
                        "framework-no-gpu", {"NVIDIA driver"}),
                  Image("tensorflow_without_cuda", Framework("tensorflow", {{"FAKE_FRAMEWORK", "cpu"}}),
                        "framework-no-gpu", {"TensorFlow 9.9.9", "CUDA"}),
              }),
      Showing("ONNX Runtime without its libraries",
              {Sound("onnxruntime_that_must_be_preloaded",
                     Framework("onnxruntime", {{"FAKE_FRAMEWORK", "preload"}}), "framework-needs-preload")}),
      Showing("framework that replaced another",
              {Image("onnxruntime_over_onnxruntime_gpu", OnnxruntimeReplaced(), "framework-replaced",
                     {"onnxruntime 1.22.0 has", "of onnxruntime-gpu 1.22.0"})}),
      Showing("framework without its libraries",
              {Image("ctranslate2_without_cublas", Ctranslate2With({"libcudnn.so.99"}),
                     "framework-libraries-missing", {"needs libcublas.so.99, found neither"})}),
      Showing("CTranslate2 without cuDNN",
              {Sound("ctranslate2_without_cudnn", Ctranslate2With({"libcublas.so.99"}),
                     "framework-cudnn-absent")}),
      Showing("cuDNN that another one displaces",
              {
                  Image("torch_that_asks_for_cudnn_by_name", BesideDecoy({"libcudnn.so.9"}),
                        "framework-decoy-taken", {"loads libcudnn.so.9 from it"}),
                  Image("torch_whose_cudnn_opens_a_part_by_name", BesideDecoy({"", "libcudnn_ops.so.9"}),
                        "framework-decoy-taken", {"libcudnn_ops.so.9", "/nvidia/cudnn/lib/libcudnn.so.9"}),
              }),
      Showing("installs that never meet", {Sound("torch_that_loads_every_part_by_its_path",
                                                 BesideDecoy({"_graph", "_ops", "", "libcudnn_ops.so.9"}))}),
      Showing("framework for another CUDA major",
              {Image("torch_for_cuda_12",
                     Framework("torch", {{"FAKE_BUILT_CUDA", "12.8"}, {"FAKE_LIBRARIES", main}}),
                     "framework-cuda-mismatch", {"CUDA 12.8", "CUDA 13", "/libcudnn.so.9.19.0"})}),
      Showing("mixed cuDNN versions",
              {Image("torch_with_two_versions",
                     Framework("torch", {{"FAKE_LIBRARIES", main + ":" + graph + ":" + old}}),
                     "framework-cudnn-mixed", {"9.14.0"})}),
      Showing("wrong numbers",
              {Image("torch_computes_wrong", Framework("torch", {{"FAKE_FRAMEWORK", "wrong-y"}}),
                     "framework-wrong-result", {"[1] is "})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Frameworks, FaultTableTest, ::testing::ValuesIn(Frameworks()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
