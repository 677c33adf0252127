// Environments of Python whose shared objects do not go together, on libraries that the rows compile.
#include <stdlib.h>

#include <filesystem>

#include "fault_machines.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

std::string InSite(const std::string& path) { return "venv/lib/python3.11/site-packages/" + path; }

void Compile(FaultTest& t, const std::string& path, const std::string& source, const std::string& options) {
  fs::create_directories(fs::path(t.gate().Path(path)).parent_path());
  t.gate().Write("source.c", source);
  const std::string command = "cc -w -nostdlib -o " + t.gate().Path(path) + " " + t.gate().Path("source.c") +
                              " -Wl,--no-as-needed,--allow-shlib-undefined " + options;
  EXPECT_EQ(system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c): a test's own words
}

void Library(FaultTest& t, const std::string& path, const std::string& source,
             const std::string& options = "") {
  Compile(t, path, source, "-shared -fPIC -Wl,-soname," + fs::path(path).filename().string() + " " + options);
}

// A package "mine" whose extension module needs libcutensorMg.so.2 of a package beside it.
Make WithExtension(const std::function<void(FaultTest&)>& change) {
  return With("{\"check\": \"image.symbols\"}", [change](FaultTest& t) {
    t.gate().Write("venv/pyvenv.cfg", "home = /nowhere/bin\nversion = 3.11.2\n");
    Compile(t, "venv/bin/python", "void _start(void) {}", "-pie -fPIE -rdynamic");
    fs::create_directories(t.gate().Path(InSite("mine")));
    t.gate().Write(InSite("mine/__init__.py"), "from . import _ext\n");
    fs::create_directories(t.gate().Path(InSite("cutensor_cu13-2.3.1.dist-info")));
    t.gate().Write(InSite("cutensor_cu13-2.3.1.dist-info/RECORD"), "mine/libcutensorMg.so.2,,\n");
    Library(t, InSite("mine/libcutensorMg.so.2"), "void cutensorInit(void) {}");
    Library(t, InSite("mine/_ext.so"),
            "void cutensorInit(void); void *PyInit__ext(void) { cutensorInit(); return 0; }",
            t.gate().Path(InSite("mine/libcutensorMg.so.2")) + " -Wl,--enable-new-dtags,-rpath,'$ORIGIN'");
    t.UseSubjects("{\"venv\": \"python:" + t.gate().Path("venv/bin/python") + "\"}");
    change(t);
  });
}

// The extension asks PyTorch's libc10 for this function; libc10 has another.
Make WithTorchExtension(const std::string& asked) {
  return WithExtension([asked](FaultTest& t) {
    Library(t, InSite("mine/libc10.so"),
            "void _ZN3c104failERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void) {}");
    Library(t, InSite("mine/_ext.so"),
            "void " + asked + "(void); void *PyInit__ext(void) { " + asked + "(); return 0; }",
            t.gate().Path(InSite("mine/libc10.so")) + " -Wl,-rpath,'$ORIGIN'");
  });
}

// ",sha256=...,SIZE" of a file, as RECORD has it.
std::string HashOf(FaultTest& t, const std::string& path) {
  t.gate().Write("hash.py",
                 "import base64, hashlib, sys\ndata = open(sys.argv[1], 'rb').read()\n"
                 "hash = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')\n"
                 "open(sys.argv[2], 'w').write(f',sha256={hash},{len(data)}')\n");
  const std::string command = CUDNN_CI_PYTHON " " + t.gate().Path("hash.py") + " " +
                              t.gate().Path(InSite(path)) + " " + t.gate().Path("hash");
  EXPECT_EQ(system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c): a test's own words
  return t.gate().Read("hash");
}
void Record(FaultTest& t, const std::string& package, const std::string& text) {
  fs::create_directories(t.gate().Path(InSite(package + ".dist-info")));
  t.gate().Write(InSite(package + ".dist-info/RECORD"), text);
}
constexpr char kOther[] = ",sha256=dpLDrTVAu4A8Ags67mbNiIcSMjTqDG5xQ8Ct1z_0Me0,3\n";

// The extension is of "mine-gpu", whose record has a library of CUDA; "mine" has put its own in that place.
Make WithReplacedPackage() {
  return WithExtension([](FaultTest& t) {
    Library(t, InSite("mine/libcublas.so.13"), "int a;");
    Library(t, InSite("mine/_core.so"), "void *PyInit__core(void) { return 0; }");
    Record(t, "mine-1.0", "mine/_core.so" + HashOf(t, "mine/_core.so") + "\n");
    Record(t, "mine_gpu-1.0", std::string("mine/_core.so") + kOther + "mine/libcublas.so.13,,\n");
  });
}

// Two packages of NVIDIA's have one path; what is there is that of the one that nobody requires.
Make WithLibraryOfTwoMajors() {
  return WithExtension([](FaultTest& t) {
    const std::string path = "nvidia/nccl/lib/libnccl.so.2";
    Library(t, InSite(path), "int a;");
    Record(t, "nvidia_nccl_cu12-2.27.5", path + kOther);
    Record(t, "nvidia_nccl_cu13-2.28.9", path + HashOf(t, path) + "\n");
    Record(t, "mine-1.0", "");
    t.gate().Write(InSite("mine-1.0.dist-info/METADATA"),
                   "Name: mine\nVersion: 1.0\nRequires-Dist: nvidia-nccl-cu12\n\n");
  });
}

Make WithTorchAudioForAnotherCuda() {
  return WithExtension([](FaultTest& t) {
    for (const std::string package : {"torch", "torchaudio"})
      fs::create_directories(t.gate().Path(InSite(package)));
    t.gate().Write(InSite("torch/__init__.py"), "");
    fs::create_directories(t.gate().Path(InSite("torch/lib")));
    Library(t, InSite("torch/lib/libtorch_global_deps.so"), "int a;");
    t.gate().Write(InSite("torch/version.py"), "__version__ = '2.15.0+cu132'\ncuda = '13.2'\n");
    t.gate().Write(InSite("torchaudio/version.py"), "__version__ = '2.11.0+cu130'\n");
  });
}

// TensorFlow for CUDA 12 opens CUDA's libraries by its own run path, where the runtime alone lies.
Make WithCublasWhereNobodyLooks() {
  return WithExtension([](FaultTest& t) {
    const std::string versions = InSite("tensorflow/python/platform");
    fs::create_directories(t.gate().Path(versions));
    t.gate().Write(versions + "/build_info.py", "build_info = dict([('cuda_version', '12.5.1')])\n");
    Library(t, InSite("tensorflow/libtensorflow_framework.so.2"), "int tf;",
            "-Wl,--enable-new-dtags,-rpath,'$ORIGIN'");
    Library(t, InSite("tensorflow/libcudart.so.12"), "int a;");
    for (const char* name :
         {"libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11", "libcusolver.so.11", "libcusparse.so.12"})
      Library(t, InSite("nvidia/cublas/lib/") + name, "int a;");
  });
}

std::vector<Fault> BrokenImages() {
  return Joined(
      {Showing("library that an extension needs",
               {Image("extension_lacks_cutensor", WithExtension([](FaultTest& t) {
                        fs::remove(t.gate().Path(InSite("mine/libcutensorMg.so.2")));
                      }),
                      "library-missing", {"mine/_ext.so", "libcutensorMg.so.2", "cutensor-cu13"}),
                Image("extension_meets_another_major", WithExtension([](FaultTest& t) {
                        fs::remove(t.gate().Path(InSite("mine/libcutensorMg.so.2")));
                        Library(t, InSite("mine/libcutensorMg.so.3"), "void cutensorInit(void) {}");
                      }),
                      "library-other-major", {"libcutensorMg.so.2", "libcutensorMg.so.3"}),
                Image("extension_meets_half_a_library", WithExtension([](FaultTest& t) {
                        const std::string path = t.gate().Path(InSite("mine/libcutensorMg.so.2"));
                        fs::resize_file(path, fs::file_size(path) / 2);
                      }),
                      "library-damaged", {"libcutensorMg.so.2", "truncated"}),
                Image("cublas_where_nobody_looks", WithCublasWhereNobodyLooks(), "library-missing",
                      {"TensorFlow opens libcublas.so.12, ", "nvidia/cublas/lib"})}),
       Showing("package that replaced another", {Image("package_replaced", WithReplacedPackage(),
                                                       "package-replaced", {"mine 1.0", "mine-gpu 1.0"})}),
       Showing("extension of PyTorch for another CUDA",
               {Image("torchaudio_for_another_cuda", WithTorchAudioForAnotherCuda(), "package-for-other-cuda",
                      {"torchaudio 2.11.0+cu130"})}),
       Showing(
           "symbol that no library has",
           {Image("cutensor_lacks_a_function", WithExtension([](FaultTest& t) {
                    Library(t, InSite("mine/libcutensorMg.so.2"), "void cutensorOther(void) {}");
                  }),
                  "symbol-missing", {"cutensorInit", "cutensor-cu13 2.3.1"}),
            Image("cutensor_of_library_path_lacks_a_function", WithExtension([](FaultTest& t) {
                    Library(t, "libraries/libcutensorMg.so.2", "void cutensorOther(void) {}");
                  }),
                  "library-shadowed", {"libraries/libcutensorMg.so.2", "mine/libcutensorMg.so.2"}),
            Image("extension_for_another_torch", WithTorchExtension("_ZN3c104failEl"), "symbol-missing",
                  {"_ZN3c104failEl", "libc10.so"}),
            Image(
                "extension_of_the_other_cxx_abi", WithTorchExtension("_ZN3c104failERKSs"), "cxx-abi-mismatch",
                {"_ZN3c104failERKSs", "_ZN3c104failERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"}),
            Image("library_lacks_a_version", WithExtension([](FaultTest& t) {
                    t.gate().Write("two.map", "CUTENSOR_1 { cutensorOld; }; CUTENSOR_2 { cutensorInit; };");
                    t.gate().Write("one.map", "CUTENSOR_1 { cutensorOld; };");
                    const std::string path = InSite("mine/libcutensorMg.so.2");
                    Library(t, path, "void cutensorOld(void) {} void cutensorInit(void) {}",
                            "-Wl,--version-script," + t.gate().Path("two.map"));
                    Library(t, InSite("mine/_ext.so"),
                            "void cutensorInit(void); void *PyInit__ext(void) { cutensorInit(); return 0; }",
                            t.gate().Path(path) + " -Wl,-rpath,'$ORIGIN'");
                    Library(t, path, "void cutensorOld(void) {}",
                            "-Wl,--version-script," + t.gate().Path("one.map"));
                  }),
                  "symbol-version-missing", {"version CUTENSOR_2"})})});
}

std::vector<Fault> OddImages() {
  return Joined({
      Showing("package without its other part",
              {Image("transformer_engine_without_its_other_part", WithExtension([](FaultTest& t) {
                       const std::string lib = "transformer_engine/wheel_lib/libtransformer_engine.so";
                       fs::create_directories(t.gate().Path(InSite("transformer_engine/common")));
                       t.gate().Write(InSite("transformer_engine/common/__init__.py"),
                                      "_, lib = _load_cuda_library(\"curand\")\n");
                       t.TakeAll("cudnn", t.gate().Path(InSite("nvidia/cudnn/lib")));
                       for (const char* fake : {"cudart13", "nvrtc"})
                         t.TakeAll(fake, t.gate().Path(InSite("nvidia/cu13/lib")));
                       Library(t, InSite("nvidia/cu13/lib/libcurand.so.10"), "int a;");
                       Library(t, InSite(lib), "int b;",
                               t.gate().Path(InSite("nvidia/cu13/lib/libcudart.so.13")));
                       Record(t, "transformer_engine_cu13-2.20.2", lib + ",,\n");
                     }),
                     "package-part-missing", {"transformer-engine"})}),
      Showing("library of two CUDA majors in one folder",
              {Sound("nccl_of_two_majors", WithLibraryOfTwoMajors(), "packages-overlap")}),
      Showing("library copied over a package's",
              {Sound("cublas_of_another_size", WithExtension([](FaultTest& t) {
                       const std::string path = "nvidia/cublas/lib/libcublas.so.13";
                       Library(t, InSite(path), "int a;");
                       Record(t, "nvidia_cublas-13.1.0.3", path + kOther);
                     }),
                     "package-library-changed")}),
      Showing("two copies of a library",
              {Sound("cutensor_of_library_path_hides_another", WithExtension([](FaultTest& t) {
                       Library(t, "libraries/libcutensorMg.so.2", "void cutensorInit(void) {} int other;");
                     }),
                     "library-two-providers")}),
      Showing("plugin that lacks a library", {Sound("plugin_lacks_a_library", WithExtension([](FaultTest& t) {
                                                      Library(t, "gone/libmlx5.so.1", "int a;");
                                                      Library(t, InSite("mine/transport.so"), "int b;",
                                                              t.gate().Path("gone/libmlx5.so.1"));
                                                    }),
                                                    "library-unused-unresolved")}),
      Showing("interpreter that is not a program",
              {Sound("interpreter_is_a_script",
                     WithExtension([](FaultTest& t) { t.gate().Write("venv/bin/python", "#!/bin/sh\n"); }),
                     "symbols-undecided")}),
  });
}

INSTANTIATE_TEST_SUITE_P(ImageSymbolsBroken, FaultTableTest, ::testing::ValuesIn(BrokenImages()),
                         NameOfFault);
INSTANTIATE_TEST_SUITE_P(ImageSymbolsOdd, FaultTableTest, ::testing::ValuesIn(OddImages()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
