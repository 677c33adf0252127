// Which folders of libraries a subject means, and in which order the loader comes upon them.
#include <gmock/gmock.h>

#include "golden_messages.h"
#include "image/contents/package_libraries.h"
#include "image/contents/program_libraries.h"
#include "image/contents/resolve.h"
#include "shipped_knowledge.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SubjectFoldersTest : public SubjectTree {
 protected:
  ResolvedSubject Resolve(const std::string& spec, const Variables& environment = {}) {
    return ResolveSubject({"mine", spec}, environment, PackageNamesOf(ShippedKnowledge()));
  }
  ResolvedSubject ResolvePython(const std::string& prefix) {
    return Resolve("python:" + At(prefix + "/bin/python3"));
  }
  // PyTorch's library, as its wheel has it; its own folders are those of the wheels around it.
  void Torch(const std::string& file) { Copy(file, Site("opt/py") + "/torch/lib/libtorch_cuda.so"); }
  static std::string Nvidia(const std::string& package) {
    return Site("opt/py") + "/nvidia/" + package + "/lib";
  }
};

TEST_F(SubjectFoldersTest, PackagesWithoutAFrameworkAreLoadedByTheirPath) {
  Python("opt/py");
  for (const char* package : {"cudnn", "cublas", "cu13"}) File(Nvidia(package) + "/liba.so.9");
  File(Nvidia("empty") + "/README");
  File(Site("opt/py") + "/stubs/libcuda.so");
  Link("../../stubs", Nvidia("driver"));
  File(Site("opt/py") + "/torch/lib/libtorch.so");
  const ResolvedSubject found = ResolvePython("opt/py");
  EXPECT_THAT(Inside(found.subject.folders),
              ElementsAre(Nvidia("cu13"), Nvidia("cublas"), Nvidia("cudnn"), Site("opt/py") + "/torch/lib"));
  EXPECT_THAT(found.subject.late_folders, IsEmpty());
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.left_out, "");
  EXPECT_TRUE(found.complete);
}

TEST_F(SubjectFoldersTest, FrameworkWithARunpathComesBehindLdLibraryPathInItsOwnOrder) {
  Python("opt/py");
  for (const char* package : {"cudnn", "cublas", "cu13"}) File(Nvidia(package) + "/liba.so.9");
  Torch(CUDNN_CI_FRAMEWORK_RUNPATH);
  const ResolvedSubject found = ResolvePython("opt/py");
  EXPECT_THAT(found.subject.folders, IsEmpty());
  EXPECT_THAT(Inside(found.subject.late_folders),
              ElementsAre(Nvidia("cudnn"), Nvidia("cublas"), Site("opt/py") + "/torch/lib", Nvidia("cu13")));
}

TEST_F(SubjectFoldersTest, FrameworkWithAnRpathComesBefore) {
  Python("opt/py");
  File(Nvidia("cudnn") + "/libcudnn.so.9");
  Torch(CUDNN_CI_FRAMEWORK_RPATH);
  EXPECT_THAT(Inside(ResolvePython("opt/py").subject.folders),
              ElementsAre(Nvidia("cudnn"), Site("opt/py") + "/torch/lib"));
}

TEST_F(SubjectFoldersTest, OfTwoFrameworksTheOneThatCanBeMisledDecides) {
  Python("opt/py");
  File(Nvidia("cudnn") + "/libcudnn.so.9");
  Torch(CUDNN_CI_FRAMEWORK_RPATH);
  Copy(CUDNN_CI_FRAMEWORK_RUNPATH, Site("opt/py") + "/onnxruntime/capi/libonnxruntime_providers_cuda.so");
  EXPECT_THAT(ResolvePython("opt/py").subject.folders, IsEmpty());
}

TEST_F(SubjectFoldersTest, EnvironmentSeesWheelsOfTheSystemOnlyIfItMay) {
  Python("opt/py");
  File(Nvidia("cudnn") + "/libcudnn.so.9");
  Venv("opt/alone", "opt/py");
  Venv("opt/more", "opt/py", true);
  EXPECT_THAT(Resolve("python:" + At("opt/alone/bin/python")).subject.folders, IsEmpty());
  EXPECT_THAT(Inside(Resolve("python:" + At("opt/more/bin/python")).subject.folders),
              ElementsAre(Nvidia("cudnn")));
}

TEST_F(SubjectFoldersTest, CondaEnvironmentBringsItsLib) {
  Copy(CUDNN_CI_INTERPRETER_RPATH, "opt/conda/bin/python3.11");
  Link("python3.11", "opt/conda/bin/python3");
  File("opt/conda/conda-meta/history");
  File(Site("opt/conda") + "/nvidia/cudnn/lib/libcudnn.so.9");
  File("opt/conda/lib/libcudart.so.13");
  EXPECT_THAT(Inside(ResolvePython("opt/conda").subject.folders),
              ElementsAre(Site("opt/conda") + "/nvidia/cudnn/lib", "opt/conda/lib"));
  // An interpreter that is not found by DT_RPATH does not bring it before LD_LIBRARY_PATH.
  std::filesystem::remove(At("opt/conda/bin/python3.11"));
  Copy(CUDNN_CI_INTERPRETER_RUNPATH, "opt/conda/bin/python3.11");
  const SubjectInfo late = ResolvePython("opt/conda").subject;
  EXPECT_THAT(Inside(late.folders), ElementsAre(Site("opt/conda") + "/nvidia/cudnn/lib"));
  EXPECT_THAT(Inside(late.late_folders), ElementsAre("opt/conda/lib"));
}

TEST_F(SubjectFoldersTest, OneFolderByTwoWaysIsOne) {
  Python("opt/py");
  File(Nvidia("cudnn") + "/libcudnn.so.9");
  Link("cudnn", Site("opt/py") + "/nvidia/alias");
  EXPECT_THAT(ResolvePython("opt/py").subject.folders, SizeIs(1));
}

class ProgramTest : public SubjectFoldersTest {
 protected:
  // A program whose library names another folder. Both ways to say where libraries lie, for each.
  SubjectInfo Program(const char* program, const char* inner) {
    Copy(program, "opt/app/bin/run");
    Copy(inner, "opt/app/lib/libinner.so");
    File("opt/app/vendor/libcudnn.so.9");
    const ResolvedSubject found = Resolve("program:" + At("opt/app/bin/run"));
    EXPECT_EQ(found.problem, "");
    return found.subject;
  }
};

TEST_F(ProgramTest, RunpathsOfItselfAndOfWhatItNeedsComeBehindLdLibraryPath) {
  const SubjectInfo found = Program(CUDNN_CI_PROGRAM_RUNPATH, CUDNN_CI_INNER_RUNPATH);
  EXPECT_THAT(found.folders, IsEmpty());
  EXPECT_THAT(Inside(found.late_folders), ElementsAre("opt/app/lib", "opt/app/vendor"));
}

TEST_F(ProgramTest, RpathsComeBefore) {
  const SubjectInfo found = Program(CUDNN_CI_PROGRAM_RPATH, CUDNN_CI_INNER_RPATH);
  EXPECT_THAT(Inside(found.folders), ElementsAre("opt/app/lib", "opt/app/vendor"));
  EXPECT_THAT(found.late_folders, IsEmpty());
}

TEST_F(ProgramTest, EachFileDecidesForItself) {
  const SubjectInfo found = Program(CUDNN_CI_PROGRAM_RPATH, CUDNN_CI_INNER_RUNPATH);
  EXPECT_THAT(Inside(found.folders), ElementsAre("opt/app/lib"));
  EXPECT_THAT(Inside(found.late_folders), ElementsAre("opt/app/vendor"));
}

TEST_F(ProgramTest, OriginIsWhereTheFileReallyLies) {
  Program(CUDNN_CI_PROGRAM_RUNPATH, CUDNN_CI_INNER_RUNPATH);
  Link(At("opt/app/bin/run"), "usr/bin/run");
  EXPECT_THAT(Inside(Resolve("program:" + At("usr/bin/run")).subject.late_folders),
              ElementsAre("opt/app/lib", "opt/app/vendor"));
}

TEST_F(ProgramTest, WhatLdLibraryPathHidesIsNotFollowed) {
  Program(CUDNN_CI_PROGRAM_RUNPATH, CUDNN_CI_INNER_RUNPATH);
  Copy(CUDNN_CI_INNER_RUNPATH, "srv/other/lib/libinner.so");
  File("srv/other/vendor/libx.so");
  const Variables environment = {{"LD_LIBRARY_PATH", At("srv/other/lib")}};
  EXPECT_THAT(Inside(Resolve("program:" + At("opt/app/bin/run"), environment).subject.late_folders),
              ElementsAre("opt/app/lib", "srv/other/vendor"));
}

TEST_F(ProgramTest, WhatIsNoProgramIsNamed) {
  GoldenMessages golden("image_files.txt", {{At(""), "FOLDER/"}, {root_, "FOLDER"}});
  EXPECT_THAT(golden.Row("no file", Resolve("program:" + At("none")).problem),
              ::testing::AllOf(HasSubstr(" mine: "), HasSubstr(At("none") + ": " + strerror(ENOENT))));
  EXPECT_THAT(golden.Row("a script", Resolve("program:" + File("script", "#!/bin/sh\n")).problem),
              HasSubstr("ELF"));
  EXPECT_THAT(golden.Row("a folder", Resolve("program:" + root_).problem), HasSubstr("regular"));
}

TEST_F(SubjectFoldersTest, EveryFolderOfAPathHasALibrary) {
  File("a/libx.so.1");
  File("b/README");
  const std::string a = At("a"), b = At("b"), none = At("none");
  const ResolvedSubject good = Resolve("path:" + a);
  EXPECT_EQ(good.problem, "");
  EXPECT_THAT(good.subject.folders, ElementsAre(a));
  const ResolvedSubject bad = Resolve("path:" + a + ":" + b + ":" + none);
  EXPECT_EQ(bad.problem,
            "subject mine: " + b + " holds no shared library; " + none + ": No such file or directory");
  EXPECT_THAT(bad.subject.folders, ElementsAre(a, b, none)) << "the loader decides what it makes of them";
  EXPECT_THAT(Resolve("loader").subject.folders, IsEmpty());
}

TEST_F(SubjectFoldersTest, WhatCannotBeSearchedIsSaid) {
  Python("opt/py");
  File(Site("opt/py") + "/nvidia/a:b/lib/libx.so");
  File(Nvidia("cudnn") + "/libcudnn.so.9");
  const ResolvedSubject odd = ResolvePython("opt/py");
  EXPECT_THAT(Inside(odd.subject.folders), ElementsAre(Nvidia("cudnn")));
  EXPECT_THAT(Inside({odd.left_out}), ElementsAre(Site("opt/py") + "/nvidia/a:b/lib"));
  for (size_t i = 0; i <= kMaxSubjectFolders; ++i) File(Nvidia("p" + std::to_string(i)) + "/libx.so");
  EXPECT_THAT(ResolvePython("opt/py").subject.folders, SizeIs(kMaxSubjectFolders - 1)) << "one has a colon";
  std::string deep = "opt";
  for (int i = 0; i < 15; ++i) deep += "/" + std::string(200, 'd');
  std::string all = "path:";
  for (int i = 0; i < 8; ++i) all += (i > 0 ? ":" : "") + At(deep + std::to_string(i));
  EXPECT_LT(Resolve(all).subject.folders.size(), 8u) << "what does not fit into a message";
}

}  // namespace
}  // namespace cudnn_ci
