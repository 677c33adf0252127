// image.symbols through the real harness, on environments of libraries that the test compiles.
#include <stdlib.h>

#include <filesystem>

#include "environments_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ImageSymbolsTest : public EnvironmentsTest {
 protected:
  ImageSymbolsTest() {
    std::filesystem::create_directories(gate().Path("venv/bin"));
    gate().Write("venv/pyvenv.cfg", "home = /nowhere/bin\nversion = 3.11.2\n");
    Compile("venv/bin/python", "int Py_Something; void _start(void) {}", "-pie -fPIE -nostdlib -rdynamic");
    std::filesystem::create_directories(Site("venv") + "/mine");
    gate().Write(InSite("mine/__init__.py"), "from . import _ext\n");
    std::filesystem::create_directories(Site("venv") + "/cutensor_cu13-2.3.1.dist-info");
    gate().Write(InSite("cutensor_cu13-2.3.1.dist-info/RECORD"), "mine/libcutensorMg.so.2,,\n");
    UseSubjects("{\"venv\": \"" + Python("venv") + "\"}");
    Compile(InSite("mine/libcutensorMg.so.2"), "void cutensorInit(void) {}",
            "-shared -fPIC -nostdlib -Wl,-soname,libcutensorMg.so.2");
    MakeExtension("cutensorInit");
  }
  static std::string InSite(const std::string& path) { return "venv/lib/python3.11/site-packages/" + path; }
  void Compile(const std::string& path, const std::string& source, const std::string& options) {
    std::filesystem::create_directories(std::filesystem::path(gate().Path(path)).parent_path());
    gate().Write("source.c", source);
    const std::string command = "cc -w -o " + gate().Path(path) + " " + gate().Path("source.c") +
                                " -Wl,--no-as-needed,--allow-shlib-undefined " + options;
    ASSERT_EQ(system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c): a test's own words
  }
  // An extension module that asks libcutensorMg.so.2 for a function.
  void MakeExtension(const std::string& function, const std::string& options = "") {
    Compile(InSite("mine/_ext.so"),
            "extern int Py_Something; void " + function + "(void); void *PyInit__ext(void) { " + function +
                "(); return &Py_Something; }",
            "-shared -fPIC -nostdlib " + gate().Path(InSite("mine/libcutensorMg.so.2")) +
                " -Wl,--enable-new-dtags,-rpath,'$ORIGIN' " + options);
  }
};

TEST_F(ImageSymbolsTest, ASoundEnvironmentPasses) {
  const CheckOutcome r = Check("image.symbols");
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out << r.gate.err;
  EXPECT_THAT(r.AllSlugs(), ElementsAre());
}

TEST_F(ImageSymbolsTest, AMissingLibraryIsTheImagesFault) {
  std::filesystem::remove(gate().Path(InSite("mine/libcutensorMg.so.2")));
  const CheckOutcome r = Check("image.symbols");
  EXPECT_EQ(r.gate.exit_code, 1);
  EXPECT_THAT(r.Slugs(), ElementsAre("library-missing"));
  EXPECT_EQ(r.Blame(), "image");
  EXPECT_THAT(r.Detail(), AllOf(HasSubstr("mine/_ext.so"), HasSubstr("needs libcutensorMg.so.2"),
                                HasSubstr("cutensor-cu13")));
}

TEST_F(ImageSymbolsTest, AMissingSymbolNamesBothSides) {
  Compile(InSite("mine/libcutensorMg.so.2"), "void cutensorOther(void) {}",
          "-shared -fPIC -nostdlib -Wl,-soname,libcutensorMg.so.2");
  const CheckOutcome r = Check("image.symbols");
  EXPECT_THAT(r.Slugs(), ElementsAre("symbol-missing"));
  EXPECT_THAT(r.Detail(),
              Mentions("mine/_ext.so", "cutensorInit: ", "libcutensorMg.so.2 (cutensor-cu13 2.3.1) "));
}

TEST_F(ImageSymbolsTest, TheCopyInTheLibraryPathThatWins) {
  Compile("libraries/libcutensorMg.so.2", "void cutensorOther(void) {}",
          "-shared -fPIC -nostdlib -Wl,-soname,libcutensorMg.so.2");
  const CheckOutcome r = Check("image.symbols");
  EXPECT_THAT(r.Slugs(), ElementsAre("library-shadowed"));
  EXPECT_THAT(r.Detail(), HasSubstr(libraries() + "/libcutensorMg.so.2"));
}

TEST_F(ImageSymbolsTest, ADamagedLibrary) {
  std::filesystem::resize_file(gate().Path(InSite("mine/libcutensorMg.so.2")), 3000);
  const CheckOutcome r = Check("image.symbols");
  EXPECT_THAT(r.Slugs(), ElementsAre("library-damaged"));
  EXPECT_THAT(r.Detail(), HasSubstr("truncated"));
}

TEST_F(ImageSymbolsTest, AnotherMajor) {
  Compile(InSite("mine/libcutensorMg.so.3"), "void cutensorInit(void) {}",
          "-shared -fPIC -nostdlib -Wl,-soname,libcutensorMg.so.3");
  std::filesystem::remove(gate().Path(InSite("mine/libcutensorMg.so.2")));
  EXPECT_THAT(Check("image.symbols").Slugs(), ElementsAre("library-other-major"));
}

TEST_F(ImageSymbolsTest, WarningsAndNotesPass) {
  // Newer than what LD_LIBRARY_PATH has, and a plugin that nobody loads.
  Compile("libraries/libcutensorMg.so.2", "void cutensorInit(void) {} int other;",
          "-shared -fPIC -nostdlib -Wl,-soname,libcutensorMg.so.2");
  Compile("gone/libmlx5.so.1", "int a;", "-shared -fPIC -nostdlib -Wl,-soname,libmlx5.so.1");
  Compile(InSite("mine/plugin.so"), "int b;", "-shared -fPIC -nostdlib " + gate().Path("gone/libmlx5.so.1"));
  const CheckOutcome r = Check("image.symbols");
  EXPECT_EQ(r.Outcome(), "passed") << r.gate.out << r.gate.err;
  EXPECT_THAT(r.AllSlugs(), ElementsAre("library-two-providers", "library-unused-unresolved"));
}

TEST_F(ImageSymbolsTest, WhatCannotBeJudgedIsSaid) {
  gate().Write("venv/bin/python", "#!/bin/sh\n");
  const CheckOutcome r = Check("image.symbols");
  EXPECT_EQ(r.Outcome(), "passed");
  EXPECT_THAT(r.AllSlugs(), ElementsAre("symbols-undecided"));
}

TEST_F(ImageSymbolsTest, AnEnvironmentWithoutSharedObjectsIsSkipped) {
  std::filesystem::remove_all(Site("venv") + "/mine");
  const CheckOutcome r = Check("image.symbols");
  EXPECT_EQ(r.Skip("kind"), "absent");
}

}  // namespace
}  // namespace cudnn_ci
