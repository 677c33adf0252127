#include "elf_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(BrokenDynamicRules, AllowsGlibcAndOrigin) {
  EXPECT_THAT(
      BrokenDynamicRules(" 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]\n"
                         " 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]\n"
                         " 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN/../lib]\n"
                         " 0x000000000000000c (INIT)               0x1000\n"),
      IsEmpty());
}

TEST(BrokenDynamicRules, RejectsLibrariesAnImageCouldReplace) {
  EXPECT_THAT(
      BrokenDynamicRules(" 0x0000000000000001 (NEEDED)             Shared library: [libstdc++.so.6]\n"
                         " 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]\n"
                         " 0x0000000000000001 (NEEDED)             Shared library: [libcudart.so.12]\n"),
      ElementsAre("needs libstdc++.so.6", "needs libcudart.so.12"));
}

TEST(BrokenDynamicRules, RejectsEachFixedSearchPath) {
  EXPECT_THAT(
      BrokenDynamicRules(" 0x000000000000001d (RUNPATH)            Library runpath: [$ORIGIN:/opt/lib]\n"
                         " 0x000000000000000f (RPATH)              Library rpath: [/usr/local/cuda/lib64]\n"),
      ElementsAre("searches /opt/lib", "searches /usr/local/cuda/lib64"));
}

TEST(ExportedSymbols, AreTheDefinedVisibleOnes) {
  EXPECT_THAT(
      ExportedSymbols("Symbol table '.dynsym' contains 5 entries:\n"
                      "   Num:    Value          Size Type    Bind   Vis      Ndx Name\n"
                      "     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND \n"
                      "     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND malloc@GLIBC_2.2.5 (2)\n"
                      "     2: 0000000000001109    11 FUNC    GLOBAL DEFAULT   12 cudnn_ci_plugin_v1\n"
                      "     3: 0000000000001119    11 FUNC    WEAK   DEFAULT   12 _ZdlPv@@V_1\n"
                      "     4: 0000000000001129    11 FUNC    GLOBAL HIDDEN    12 inside\n"),
      ElementsAre("cudnn_ci_plugin_v1", "_ZdlPv"));
}

TEST(LaterGlibcSymbols, AreThoseOfALaterMinor) {
  const std::string symbols =
      "     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND malloc@GLIBC_2.2.5 (2)\n"
      "     2: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND secure_getenv@GLIBC_2.17 (3)\n"
      "     3: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND arc4random@GLIBC_2.36 (4)\n"
      "     4: 0000000000003010     8 OBJECT  GLOBAL DEFAULT   25 stderr@@GLIBC_2.18 (5)\n";
  EXPECT_THAT(LaterGlibcSymbols(symbols, 17), ElementsAre("arc4random@GLIBC_2.36", "stderr@@GLIBC_2.18"));
  EXPECT_THAT(LaterGlibcSymbols(symbols, 36), ::testing::IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
