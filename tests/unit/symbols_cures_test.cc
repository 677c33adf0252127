// What is left to do where a package is installed: links, and folders that nobody looks into.
#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "image/baked_versions.h"
#include "image/loader/loader_scope.h"
#include "symbols_judge_fixture.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

class SymbolsCuresTest : public SymbolsJudgeTest {};

// As of PaddlePaddle 2.6.2: its own version file says CUDA and cuDNN, and the names that it opens have no
// number, which no package has.
TEST_F(SymbolsCuresTest, APackageThatSaysItsVersionsGetsThosePackages) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Library(site + "paddle/base/libpaddle.so", "int paddle;");
  Write(site + "paddle/version/__init__.py",
        "major            = '2'\ncuda_version     = '11.8'\ncudnn_version    = '8.6.0'\n");
  Record("paddlepaddle_gpu-2.6.2", {"paddle/base/libpaddle.so"});
  const std::vector<std::string> names = {"libcublas.so.11", "libcublasLt.so.11", "libcudnn.so.8",
                                          "libcurand.so.10", "libcusolver.so.11", "libcusparse.so.11"};
  const std::string folders[] = {"cublas", "cublas", "cudnn", "curand", "cusolver", "cusparse"};
  // The links of libraries in a folder for each, or in one for all.
  const auto links = [&](const std::function<std::string(std::size_t)>& folder_of) {
    std::string words;
    for (std::size_t i = 0; i < names.size(); ++i)
      words +=
          (i == 0 ? "ln -s " : " && ln -s ") + names[i] + " " + folder_of(i) + "/" + LibraryStem(names[i]);
    return words;
  };
  std::string shown;
  for (const std::string name : {"cublas", "cudnn", "curand", "cusolver", "cusparse"})
    shown += Path(site + "nvidia/" + name + "/lib") + " ";
  SymbolJudgement judgement = Judge();
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
  EXPECT_EQ(judgement.faults[0].line,
            "RUN " + Path("venv/bin/python") +
                " -m pip install 'nvidia-cudnn-cu11==8.*' nvidia-cublas-cu11 nvidia-curand-cu11 "
                "nvidia-cusolver-cu11 nvidia-cusparse-cu11 && " +
                links([&](std::size_t i) { return Path(site + "nvidia/" + folders[i] + "/lib"); }) +
                " && printf '%s\\n' " + shown + ">> /etc/ld.so.conf.d/cuda-python.conf && ldconfig");
  // A toolkit without its links for compilers: those alone are wanted.
  for (const std::string& name : names) Library("cuda/" + name, "int a;");
  Library(site + "other/libcublas.so.12", "int a;");
  judgement = Judge(Path("cuda"));
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
  EXPECT_EQ(judgement.faults[0].line, "RUN " + links([&](std::size_t) { return Path("cuda"); }));
  // With its links it is complete; those of another CUDA and cuDNN, which the loader takes, are not the ones.
  for (const std::string& name : names) Library("cuda/" + LibraryStem(name), "int a;", "-Wl,-soname," + name);
  EXPECT_THAT(Judge(Path("cuda")).faults, IsEmpty());
  for (const std::string name : {"libcublas.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libcurand.so.10",
                                 "libcusolver.so.12", "libcusparse.so.12"})
    Library("cuda13/" + LibraryStem(name), "int a;", "-Wl,-soname," + name);
  judgement = Judge(Path("cuda13") + ":" + Path("cuda"));
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
  EXPECT_EQ(judgement.faults[0].line, "ENV LD_LIBRARY_PATH=" + Path("cuda") + ":" + Path("cuda13"));
  std::filesystem::remove_all(Path("cuda"));
  judgement = Judge(Path("cuda13"));
  ASSERT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
  EXPECT_EQ(judgement.faults[0].line, "") << "no line of one instruction comes ahead of the folder";
  EXPECT_EQ(judgement.faults[0].cure.pip, "nvidia-cublas-cu11");
}

// Packages of two CUDAs share a folder: the file for the CUDA that the package says is taken, whatever lies
// before it.
TEST_F(SymbolsCuresTest, OfSeveralFilesInAFolderTheOneForTheCudaIsTaken) {
  const std::string site = kSite;
  Library(site + "paddle/base/libpaddle.so", "int paddle;");
  Write(site + "paddle/__init__.py", "set_flags({\"FLAGS_nvidia_package_dir\": x})\n");
  Write(site + "paddle/version/__init__.py", "cuda_version     = '12.6'\ncudnn_version    = '9.5.1'\n");
  Record("paddlepaddle_gpu-3.0.0", {"paddle/base/libpaddle.so"});
  for (const std::string file :
       {"cublas/lib/libcublas.so.11", "cublas/lib/libcublas.so.12", "cublas/lib/libcublasLt.so.12",
        "cudnn/lib/libcudnn.so.8", "cudnn/lib/libcudnn.so.9", "cufft/lib/libcufft.so.11",
        "curand/lib/libcurand.so.10", "cusparse/lib/libcusparse.so.12", "cusolver/lib/libcusolver.so.11",
        "nccl/lib/libnccl.so.2"})
    Library(site + "nvidia/" + file, "int a;");
  EXPECT_THAT(Judge().faults, IsEmpty());
}

// As of CuPy 12 from pip: nothing leads its extension modules into the folders of NVIDIA's packages.
TEST_F(SymbolsCuresTest, APackageWhoseFolderNobodyLooksIntoIsNoCureAlone) {
  const std::string site = kSite, runtime = Path(site + "nvidia/cuda_runtime/lib");
  Write(site + "pip/__init__.py", "");
  Write(site + "cupy_backends/cuda/libs/__init__.py", "");
  Library("gone/libcudart.so.12", "int a;");
  Package("cupy", "from ._core import core\n");
  Package("cupy/_core");
  Record("cupy_cuda12x-12.3.0", {"cupy/_core/core.so"});
  const std::string python = Path("venv/bin/python"),
                    pip = "RUN " + python + " -m pip install nvidia-cuda-runtime-cu12",
                    shown = " && printf '%s\\n' " + runtime +
                            " >> /etc/ld.so.conf.d/cuda-python.conf && ldconfig";
  const auto judged = [&](const std::string& options = "", const std::string& library_path = "") {
    Extension("cupy/_core/core.so", "", "@/gone/libcudart.so.12 " + options);
    const SymbolJudgement judgement = Judge(library_path);
    EXPECT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
    return judgement.faults.empty() ? SymbolFault() : judgement.faults[0];
  };
  EXPECT_EQ(judged().line, pip + shown);
  EXPECT_EQ(judged().cure.pip, "nvidia-cuda-runtime-cu12");
  EXPECT_THAT(judged().cure.folders, ElementsAre(runtime));
  EXPECT_EQ(judged("-Wl,-rpath,'$ORIGIN/../../nvidia/cuda_runtime/lib'").line, pip) << "its run path has it";
  EXPECT_EQ(judged("", runtime).line, pip) << "the image's LD_LIBRARY_PATH has it";
  Write(site + "cupy_cuda12x-12.3.0.dist-info/METADATA", "Requires-Dist: cuda-pathfinder>=1.3\n");
  EXPECT_EQ(judged().line, pip) << "it searches the environment's packages";
  std::filesystem::remove(Path(site + "cupy_cuda12x-12.3.0.dist-info/METADATA"));
  Library(site + "nvidia/cuda_runtime/lib/libcudart.so.12", "int a;");
  Record("nvidia_cuda_runtime_cu12-12.9.79", {"nvidia/cuda_runtime/lib/libcudart.so.12"});
  EXPECT_EQ(judged().line, "ENV LD_LIBRARY_PATH=" + runtime);
  EXPECT_EQ(judged("", "/mine").line, "ENV LD_LIBRARY_PATH=" + runtime + ":/mine");
}

// As of ollama: libcudart.so.12.0 beside the program, whose name the loader does not ask for.
TEST_F(SymbolsCuresTest, AProgramOfNoPackageGetsNoLineOfPips) {
  Library("gone/libcudart.so.12", "int a;");
  const std::string program = Program("app/server", "", "-Wl,-rpath,'$ORIGIN' @/gone/libcudart.so.12");
  const auto judged = [&] {
    const SymbolJudgement judgement = Judge("", "program:" + program);
    EXPECT_THAT(Kinds(judgement), ElementsAre(Kind::kMissingLibrary));
    return judgement.faults.empty() ? SymbolFault() : judgement.faults[0];
  };
  EXPECT_EQ(judged().line, "");
  EXPECT_EQ(judged().cure.pip, "");
  EXPECT_THAT(judged().cure.links, IsEmpty());
  Library("app/libcudart.so.12.0", "int a;", "-Wl,-soname,libcudart.so.12");
  EXPECT_EQ(judged().line, "RUN ln -s libcudart.so.12.0 " + Path("app/libcudart.so.12"));
}

// As of Transformer Engine: its library needs NCCL, which it does not search for as it does for the others.
TEST_F(SymbolsCuresTest, APackageThatWorksBehindAnotherImportAlone) {
  const std::string site = kSite;
  Write(site + "transformer_engine/common/__init__.py", "_, lib = _load_cuda_library(\"curand\")\n");
  for (const std::string name :
       {"cudnn/lib/libcudnn.so.9", "cu13/lib/libnvrtc.so.13", "cu13/lib/libcurand.so.10",
        "cu13/lib/libcudart.so.13", "nccl/lib/libnccl.so.2"})
    Library(site + "nvidia/" + name, "int a;");
  Library(site + "transformer_engine/wheel_lib/libtransformer_engine.so", "int b;",
          "@/" + site + "nvidia/cu13/lib/libcudart.so.13 @/" + site + "nvidia/nccl/lib/libnccl.so.2");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kMissingLibrary), "libnccl.so.2");
  MakeTorch();
  Library(site + "torch/lib/libtorch_global_deps.so", "int deps;",
          "@/" + site + "nvidia/nccl/lib/libnccl.so.2 -Wl,-rpath,'$ORIGIN/../../nvidia/nccl/lib'");
  EXPECT_EQ(LibraryOfOnly(Judge(), Kind::kAfterImport), "libnccl.so.2");
}

// As of transformer-engine-cu13 alone.
TEST_F(SymbolsCuresTest, APackageThatWantsItsOtherPartOfTheSameVersion) {
  const std::string site = kSite;
  Write(site + "pip/__init__.py", "");
  Write(site + "transformer_engine/common/__init__.py", "_, lib = _load_cuda_library(\"curand\")\n");
  for (const std::string name : {"cudnn/lib/libcudnn.so.9", "cu13/lib/libnvrtc.so.13",
                                 "cu13/lib/libcurand.so.10", "cu13/lib/libcudart.so.13"})
    Library(site + "nvidia/" + name, "int a;");
  Library(site + "transformer_engine/wheel_lib/libtransformer_engine.so", "int b;",
          "@/" + site + "nvidia/cu13/lib/libcudart.so.13");
  EXPECT_THAT(Judge().faults, IsEmpty()) << "from its sources";
  Record("transformer_engine_cu13-2.20.2", {"transformer_engine/wheel_lib/libtransformer_engine.so"});
  const auto line = [&] {
    const SymbolJudgement judgement = Judge();
    EXPECT_THAT(Kinds(judgement), ElementsAre(Kind::kPartMissing));
    return judgement.faults.empty() ? "" : judgement.faults[0].line;
  };
  const std::string wanted =
      "RUN " + Path("venv/bin/python") + " -m pip install 'transformer-engine[core_cu13]==2.20.2'";
  EXPECT_EQ(line(), wanted);
  Record("transformer_engine-2.20.1", {});
  EXPECT_EQ(line(), wanted) << "of another version";
  std::filesystem::remove_all(Path(site + "transformer_engine-2.20.1.dist-info"));
  Record("transformer_engine-2.20.2", {});
  EXPECT_THAT(Judge().faults, IsEmpty());
}

// As of DeepEP: NVSHMEM's device library of 3.4.5 in it, and the host library of 3.6.5 beside it.
TEST_F(SymbolsCuresTest, AReleaseThatIsCompiledInDoesNotFitTheOneThatIsTaken) {
  const std::string site = kSite, host = "nvidia/nvshmem/lib/libnvshmem_host.so.3";
  Library(site + host, "int a;");
  const auto differing = [&](const std::string& inside, const std::string& taken) {
    Library(site + "deep_ep/_ep.so",
            "static const int version[3] __asm__(\"_ZL27nvshmemi_device_lib_version\") = {" + inside +
                "}; const int *f(void) { return version; }",
            "@/" + site + host + " -Wl,-rpath,'$ORIGIN/../nvidia/nvshmem/lib'");
    Record("nvidia_nvshmem_cu13-" + taken, {host});
    LoaderFiles files("", false);
    auto found = BakedVersionsThatDiffer(FilesOfSubject("python:" + Path("venv/bin/python"), {}, ""),
                                         KnownEntry, &files);
    std::filesystem::remove_all(Path(site + "nvidia_nvshmem_cu13-" + taken + ".dist-info"));
    return found;
  };
  EXPECT_THAT(differing("3, 4, 5", "3.4.5"), IsEmpty());
  EXPECT_THAT(differing("3, 6, 5", "3.7.2"), IsEmpty()) << "a newer host library serves it";
  using Why = BakedDifference::Why;
  const auto is = [&](const std::string& inside, Why why) {
    return ElementsAre(FieldsAre(Path(site + "deep_ep/_ep.so"), "", "NVSHMEM's device library", inside,
                                 Path(site + host), "3.6.5", why, "3.5.19"));
  };
  EXPECT_THAT(differing("3, 4, 5", "3.6.5"), is("3.4.5", Why::kFromBeforeAChange));
  EXPECT_THAT(differing("3, 7, 2", "3.6.5"), is("3.7.2", Why::kNewerMinor));
  EXPECT_THAT(differing("2, 11, 0", "3.6.5"), is("2.11.0", Why::kOtherMajor));
}

}  // namespace
}  // namespace cudnn_ci
