// Which files a process gets, and where their symbols are found, on libraries that the test compiles.
#include "image/loader/loader_scope.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>
#include <sstream>

#include "symbols_test.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LoaderScopeTest : public SymbolsTest {
 protected:
  LoaderScope Process(const std::string& library_path = "", const std::string& program = "") {
    files_ = std::make_unique<LoaderFiles>(library_path, false);
    return LoaderScope(files_.get(), program.empty() ? Program("program", "int of_program;") : program);
  }
  // The files that an Open brought, below the test's folder.
  std::vector<std::string> Fresh(const LoaderScope& scope, const OpenedFile& opened) {
    std::vector<std::string> paths;
    for (const int at : opened.fresh) paths.push_back(scope.loaded()[at].file.path.substr(Path("").size()));
    return paths;
  }
  static std::vector<std::string> Names(const std::vector<UnresolvedSymbol>& symbols) {
    std::vector<std::string> names;
    for (const UnresolvedSymbol& symbol : symbols)
      names.push_back(symbol.name + (symbol.version.empty() ? "" : "@" + symbol.version));
    return names;
  }

  std::unique_ptr<LoaderFiles> files_;
};

TEST_F(LoaderScopeTest, BreadthFirstAndEachFileOnce) {
  Library("lib/libc3.so", "int c3;");
  Library("lib/libb1.so", "int b1;", "@/lib/libc3.so");
  Library("lib/libb2.so", "int b2;");
  Library("lib/libroot.so", "int root;",
          "@/lib/libb1.so @/lib/libb2.so -Wl,--disable-new-dtags,-rpath,@/lib");
  LoaderScope scope = Process();
  const OpenedFile opened = scope.Open(Path("lib/libroot.so"));
  // libc3 by the DT_RPATH of what brought the one that asks.
  EXPECT_THAT(Fresh(scope, opened),
              ElementsAre("lib/libroot.so", "lib/libb1.so", "lib/libb2.so", "lib/libc3.so"));
  EXPECT_THAT(scope.Open(Path("lib/libb2.so")).fresh, IsEmpty());
  EXPECT_EQ(scope.Open(Path("lib/none.so")).root, -1);
}

TEST_F(LoaderScopeTest, ARunPathServesTheFileAlone) {
  Library("lib/libdeep.so", "int deep;");
  Library("lib/libmid.so", "int mid;", "@/lib/libdeep.so");
  Library("lib/libroot.so", "int root;", "@/lib/libmid.so -Wl,--enable-new-dtags,-rpath,@/lib");
  LoaderScope scope = Process();
  const OpenedFile opened = scope.Open(Path("lib/libroot.so"));
  ASSERT_THAT(Fresh(scope, opened), ElementsAre("lib/libroot.so", "lib/libmid.so"));
  EXPECT_THAT(scope.loaded()[opened.fresh[1]].missing, ElementsAre("libdeep.so"));
}

// glibc forgets the DT_RPATH of a file with a DT_RUNPATH, for what it brings too.
TEST_F(LoaderScopeTest, ARunPathHidesTheRpathOfItsFile) {
  Library("lib/libdeep.so", "int deep;");
  Library("mid/libmid.so", "int mid;", "@/lib/libdeep.so");
  const std::string root =
      Library("libroot.so", "int root;", "@/mid/libmid.so -Wl,--disable-new-dtags,-rpath,@/lib:@/mid");
  LoaderScope before = Process();
  EXPECT_THAT(before.Open(root).fresh, SizeIs(3));
  // Its soname becomes a DT_RUNPATH.
  std::ostringstream text;
  text << std::ifstream(root, std::ios::binary).rdbuf();
  std::string bytes = text.str();
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof header);
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    for (uint64_t at = segment.p_offset;
         segment.p_type == PT_DYNAMIC && at < segment.p_offset + segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const Elf64_Sxword soname = DT_SONAME, run_path = DT_RUNPATH;
      if (memcmp(bytes.data() + at, &soname, sizeof soname) == 0)
        memcpy(bytes.data() + at, &run_path, sizeof run_path);
    }
  }
  Write("libroot.so", bytes);
  LoaderScope after = Process(Path("mid"));
  const OpenedFile opened = after.Open(root);
  ASSERT_THAT(Fresh(after, opened), ElementsAre("libroot.so", "mid/libmid.so"));
  EXPECT_THAT(after.loaded()[opened.fresh[1]].missing, ElementsAre("libdeep.so"));
}

TEST_F(LoaderScopeTest, RpathThenLibraryPathThenRunPath) {
  for (const char* folder : {"first/", "env/", "then/"}) Library(folder + std::string("liba.so"), "int a;");
  Library("rpath.so", "int r;", "@/first/liba.so -Wl,--disable-new-dtags,-rpath,'$ORIGIN/first'");
  Library("runpath.so", "int r;", "@/then/liba.so -Wl,--enable-new-dtags,-rpath,'${ORIGIN}/then'");
  const auto second = [&](const char* library, const std::string& library_path) {
    LoaderScope scope = Process(library_path);
    return Fresh(scope, scope.Open(Path(library))).at(1);
  };
  EXPECT_EQ(second("rpath.so", Path("env")), "first/liba.so");
  EXPECT_EQ(second("runpath.so", Path("env")), "env/liba.so");
  EXPECT_EQ(second("runpath.so", ""), "then/liba.so");
}

TEST_F(LoaderScopeTest, ASonameThatIsThereSatisfiesWhoAsksLater) {
  Library("one/liba.so", "int a;");
  Library("two/liba.so", "int a, more;");
  Library("asks.so", "extern int more; int *p = &more;", "@/two/liba.so -Wl,-rpath,@/two");
  LoaderScope scope = Process();
  scope.Open(Path("one/liba.so"));
  const OpenedFile opened = scope.Open(Path("asks.so"));
  EXPECT_THAT(Fresh(scope, opened), ElementsAre("asks.so"));
  EXPECT_THAT(Names(scope.Unresolved(opened)), ElementsAre("more"));
  // By path the other one is mapped as well.
  EXPECT_THAT(Fresh(scope, scope.Open(Path("two/liba.so"))), ElementsAre("two/liba.so"));
}

TEST_F(LoaderScopeTest, AForeignFileIsPassedOverAndADamagedOneTaken) {
  const std::string good = Library("good/liba.so", "int a;");
  Library("asks.so", "int p;", "@/good/liba.so");
  std::string bytes(4096, '\0');
  std::ifstream(good, std::ios::binary).read(bytes.data(), 4096);
  bytes[4] = 1;  // 32 bits
  Write("foreign/liba.so", bytes);
  LoaderScope scope = Process(Path("foreign") + ":" + Path("good"));
  EXPECT_THAT(Fresh(scope, scope.Open(Path("asks.so"))), ElementsAre("asks.so", "good/liba.so"));
  Write("damaged/liba.so", "no library");
  LoaderScope other = Process(Path("damaged") + ":" + Path("good"));
  const OpenedFile opened = other.Open(Path("asks.so"));
  ASSERT_THAT(Fresh(other, opened), ElementsAre("asks.so", "damaged/liba.so"));
  EXPECT_NE(other.loaded()[opened.fresh[1]].file.table->problem, "");
}

TEST_F(LoaderScopeTest, SymbolsOfTheProgramAndOfGlobalFilesAndOfNoLocalOne) {
  Library("local.so", "int of_local;");
  Library("global.so", "int of_global;");
  Library("asks.so",
          "extern int of_program, of_local, of_global, of_weak __attribute__((weak)); int *p[] = "
          "{&of_program, &of_local, &of_global, &of_weak};");
  LoaderScope scope = Process();
  scope.Open(Path("local.so"));
  scope.Open(Path("global.so"), true);
  const LoaderScope before = scope;
  const OpenedFile opened = scope.Open(Path("asks.so"));
  EXPECT_THAT(Names(scope.Unresolved(opened)), ElementsAre("of_local"));
  EXPECT_THAT(before.loaded(), SizeIs(3));
}

TEST_F(LoaderScopeTest, WhatFailedIsTakenBack) {
  Library("b.so", "int b;");
  Library("a.so", "extern int c; int *p = &c;", "@/b.so -Wl,-rpath,@");
  LoaderScope scope = Process();
  const OpenedFile opened = scope.Open(Path("a.so"), true);
  scope.TakeBack(opened);
  EXPECT_THAT(scope.loaded(), SizeIs(1));
  Library("asks.so", "extern int b; int *p = &b;");
  EXPECT_THAT(Names(scope.Unresolved(scope.Open(Path("asks.so")))), ElementsAre("b"));
}

TEST_F(LoaderScopeTest, AVersionThatIsMissing) {
  const std::string one = Write("one.map", "V1 { a; };"), two = Write("two.map", "V1 { a; }; V2 { b; };");
  Library("new/libv.so", "int a, b;", "-Wl,--version-script," + two);
  Library("old/libv.so", "int a;", "-Wl,--version-script," + one);
  Library("asks.so", "extern int a, b; int *p[] = {&a, &b};", "@/new/libv.so");
  LoaderScope scope = Process(Path("old"));
  const std::vector<UnresolvedSymbol> unresolved = scope.Unresolved(scope.Open(Path("asks.so")));
  ASSERT_THAT(Names(unresolved), ElementsAre("@V2", "b@V2"));
  EXPECT_EQ(unresolved[0].file, "libv.so");
  LoaderScope sound = Process(Path("new"));
  EXPECT_THAT(sound.Unresolved(sound.Open(Path("asks.so"))), IsEmpty());
}

TEST_F(LoaderScopeTest, ALinkIsTheFileAndAProgramMayBeMissing) {
  Library("liba.so.1", "int a;");
  std::filesystem::create_symlink("liba.so.1", Path("liba.so"));
  LoaderScope scope = Process();
  scope.Open(Path("liba.so"));
  EXPECT_THAT(scope.Open(Path("liba.so.1")).fresh, IsEmpty());
  EXPECT_EQ(Process("", Write("script", "#!/bin/sh")).program().root, -1);
}

TEST_F(LoaderScopeTest, FilesByPattern) {
  Library("env/liba.so.1", "int a;");
  Process(Path("env"));
  EXPECT_THAT(files_->Matching("liba.so.*"), ElementsAre(Path("env/liba.so.1")));
  EXPECT_THAT(files_->Matching("libb.so.*"), IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
