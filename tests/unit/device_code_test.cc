// What device code a file holds, of files made byte by byte.
#include "image/device_code/device_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "fatbin_maker.h"
#include "image/device_code/device_code_cover.h"
#include "image/device_code/ptx_text.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

DeviceCode Read(const std::string& bytes, const std::string& name = "libx.so") {
  return ReadDeviceCode(ByteSource(bytes), name);
}
std::string Held(const std::string& bytes, const std::string& name = "libx.so") {
  return Describe(Read(bytes, name).code);
}

TEST(DeviceCode, ALibraryHoldsWhatItsFatbinsHold) {
  const std::string library = made::Library(
      {{made::Sass(80), made::Sass(90, 0x100011), made::PtxEntry(90, 8, 7)}, {made::Sass(100, 0x1200011)}});
  const DeviceCode code = Read(library);
  EXPECT_EQ(code.kind, DeviceCode::Kind::kLibrary);
  EXPECT_TRUE(code.has_sections);
  EXPECT_THAT(code.problem, IsEmpty());
  EXPECT_EQ(Describe(code.code), "SASS 80 90a 100f, PTX 90 (8.7)");
  EXPECT_FALSE(code.unlinked.HoldCode());
}

TEST(DeviceCode, VersionsOfPtxOfOneTargetAreARange) {
  EXPECT_EQ(Held(made::Library(
                {{made::PtxEntry(90, 8, 7)}, {made::PtxEntry(90, 8, 0)}, {made::PtxEntry(90, 9, 0)}})),
            "PTX 90 (8.0 to 9.0)");
}

TEST(DeviceCode, AModuleWithoutAKernelIsNoCode) {
  made::Entry empty = made::Sass(75);
  empty.body = made::EmptyCubin();
  made::Entry ptx = made::PtxEntry(90, 8, 7);
  ptx.body = made::Ptx("8.7", "sm_90", false);
  const DeviceCode code = Read(made::Library({{empty, ptx}}));
  EXPECT_TRUE(code.has_sections);
  EXPECT_FALSE(code.code.HoldCode());
  EXPECT_EQ(code.code.sass.at({75, CodeVariant::kGeneric}).count, 1);
  // One with a kernel behind one without.
  EXPECT_EQ(Held(made::Library({{empty}, {made::Sass(75)}})), "SASS 75");
}

TEST(DeviceCode, CompressedModulesAreUnpackedToSeeWhetherTheyHoldCode) {
  for (const bool zstd : {false, true}) {
    for (const bool kernel : {false, true}) {
      const std::string cubin = kernel ? made::Cubin() : made::EmptyCubin();
      made::Entry entry = made::Sass(80, 0x11 | (zstd ? 0x8000 : 0x2000));
      entry.body = zstd ? made::Zstd(cubin) : made::Lz4(cubin);
      entry.unpacked = cubin.size();
      EXPECT_EQ(Held(made::Library({{entry}})), kernel ? "SASS 80" : "no code") << zstd;
    }
  }
}

TEST(DeviceCode, WhatCannotBeUnpackedCountsAsCode) {
  made::Entry entry = made::Sass(80, 0x8011);
  entry.body = "no zstd at all";
  entry.unpacked = 500;
  EXPECT_EQ(Held(made::Library({{entry}})), "SASS 80");
  entry.flags = 0x2011;
  EXPECT_EQ(Held(made::Library({{entry}})), "SASS 80");
  made::Entry ptx = made::PtxEntry(90, 8, 7);
  ptx.flags |= 0x8000;
  ptx.unpacked = 500;
  EXPECT_EQ(Held(made::Library({{ptx}})), "PTX 90 (8.7)");
  entry.unpacked = std::uint64_t{1} << 60;  // more than is unpacked
  EXPECT_EQ(Held(made::Library({{entry}})), "SASS 80");
}

TEST(DeviceCode, IntermediateCodeIsCounted) {
  made::Entry entry = made::Sass(80);
  entry.kind = 8;
  EXPECT_EQ(Held(made::Library({{entry}})), "intermediate code");
}

TEST(DeviceCode, RelocatableCodeIsForALinker) {
  const std::string relocatable = made::Fatbin({made::Sass(80)});
  const DeviceCode library = Read(made::Elf(ET_DYN, EM_X86_64, {{"__nv_relfatbin", relocatable}}));
  EXPECT_FALSE(library.code.HoldCode());
  EXPECT_EQ(Describe(library.unlinked), "SASS 80");
  const DeviceCode object = Read(made::Elf(ET_REL, EM_X86_64, {{"__nv_relfatbin", relocatable}}), "x.o");
  EXPECT_EQ(object.kind, DeviceCode::Kind::kObject);
}

TEST(DeviceCode, MembersOfAnArchiveAreReadTogether) {
  const std::string first =
      made::Elf(ET_REL, EM_X86_64, {{"__nv_relfatbin", made::Fatbin({made::Sass(80)})}});
  const std::string second = made::Elf(ET_REL, EM_AARCH64, {{".nv_fatbin", made::Fatbin({made::Sass(90)})}});
  const DeviceCode code =
      Read(made::Archive({{"odd.txt", "odd"}, {"a.o", first}, {"b.o", second}}), "libx.a");
  EXPECT_EQ(code.kind, DeviceCode::Kind::kObject);
  EXPECT_THAT(code.problem, IsEmpty());
  EXPECT_EQ(Describe(code.unlinked), "SASS 80");
  EXPECT_EQ(Describe(code.code), "SASS 90");
  EXPECT_THAT(Read(made::Archive({{"a.o", first}}).substr(0, 300)).problem, HasSubstr("cut off"));
  EXPECT_THAT(Read("!<thin>\n").problem, HasSubstr("other files"));
}

TEST(DeviceCode, FilesOfDeviceCodeAlone) {
  EXPECT_EQ(Held(made::Fatbin({made::Sass(80), made::PtxEntry(80, 7, 4)}), "x.fatbin"),
            "SASS 80, PTX 80 (7.4)");
  EXPECT_EQ(Held(made::Ptx("8.8", "sm_100f"), "x.ptx"), "PTX 100f (8.8)");
  EXPECT_EQ(Held(made::Ptx("8.8", "sm_90"), "x.txt"), "no code");
  EXPECT_EQ(Held(made::Cubin(), "x.cubin"), "SASS 80");
  const made::Sections kernel = {{".text.k", "code"}};
  // The flag of architectures alone: of the old ABI in the header, of the new one in .nv.compat.
  EXPECT_EQ(Held(made::Cubin(kernel, 0x0000005A, 7)), "SASS 90");
  EXPECT_EQ(Held(made::Cubin(kernel, 0x0000085A, 7)), "SASS 90a");
  const made::Sections alone = {{".text.k", "code"},
                                {".nv.compat", std::string("\x04\x0b\x04\0abcd\x02\x09\x01\0", 12)}};
  EXPECT_EQ(Held(made::Cubin(alone, 0x06005A04)), "SASS 90a");
  const made::Sections not_alone = {{".text.k", "code"}, {".nv.compat", std::string("\x02\x09\0\0", 4)}};
  EXPECT_EQ(Held(made::Cubin(not_alone, 0x06005A04)), "SASS 90");
}

TEST(DeviceCode, DamageIsSaid) {
  const std::string whole = made::Library({{made::Sass(80)}});
  const auto problem = [](const std::string& section) {
    return Read(made::Elf(ET_DYN, EM_X86_64, {{".nv_fatbin", section}})).problem;
  };
  const std::string fatbin = made::Fatbin({made::Sass(80)});
  EXPECT_THAT(problem(fatbin), IsEmpty());
  EXPECT_THAT(problem(fatbin + std::string(600, '\0') + fatbin), IsEmpty());  // padding
  EXPECT_THAT(problem(fatbin + std::string(100000, '\0') + fatbin), HasSubstr("between"));
  EXPECT_THAT(problem(fatbin.substr(0, 100)), Mentions("a fatbin", "past"));
  EXPECT_THAT(problem(fatbin + "garbage that is none"), HasSubstr("between"));
  std::string version = fatbin;
  version[4] = 2;
  EXPECT_THAT(problem(version), HasSubstr("version"));
  std::string entry = fatbin;
  entry[16 + 4] = 8;  // the header of the entry is too short
  EXPECT_THAT(problem(entry), Mentions("an entry", "past"));
  std::string size = fatbin;
  size[16 + 8 + 7] = '\x7f';  // 2^62 bytes and more
  EXPECT_THAT(problem(size), Mentions("an entry", "past"));
  EXPECT_THAT(Read(whole.substr(0, whole.size() - 10)).problem, HasSubstr("section headers"));
}

TEST(DeviceCode, WithoutSectionHeadersItIsSaid) {
  std::string library = made::Library({{made::Sass(80)}});
  Elf64_Ehdr header;
  memcpy(&header, library.data(), sizeof header);
  header.e_shoff = 0, header.e_shnum = 0;
  library.replace(0, sizeof header, made::Bytes(header));
  EXPECT_THAT(Read(library).problem, HasSubstr("section headers"));
}

TEST(DeviceCode, OtherFilesHoldNone) {
  for (const std::string& bytes : {std::string(), std::string("text"),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(7, '\0')}) {
    const DeviceCode code = Read(bytes);
    EXPECT_EQ(code.kind, DeviceCode::Kind::kNone);
    EXPECT_FALSE(code.has_sections);
  }
}

TEST(DeviceCode, AFifoIsNotWaitedFor) {
  char pattern[] = "/tmp/cudnn-ci-device-code-XXXXXX";
  const std::string folder = mkdtemp(pattern);
  ASSERT_EQ(mkfifo((folder + "/libx.so").c_str(), 0600), 0);
  EXPECT_THAT(ReadDeviceCode(folder + "/libx.so").problem, Not(IsEmpty()));
  std::ofstream(folder + "/liby.so", std::ios::binary) << made::Library({{made::Sass(86)}});
  EXPECT_EQ(Describe(ReadDeviceCode(folder + "/liby.so").code), "SASS 86");
  unlink((folder + "/libx.so").c_str());
  unlink((folder + "/liby.so").c_str());
  rmdir(folder.c_str());
}

TEST(PtxText, DirectivesInCommentsAreNone) {
  const PtxHead head =
      ReadPtxHead("// .version 1.0\n/* .target sm_10 */ .version 8.7 // x\n.target sm_90a, debug\n");
  EXPECT_TRUE(head.found);
  EXPECT_EQ(head.major, 8);
  EXPECT_EQ(head.minor, 7);
  EXPECT_EQ(head.architecture, 90);
  EXPECT_EQ(head.variant, CodeVariant::kArchitecture);
  for (const char* text :
       {"", ".version 8.7", ".target sm_90", ".version x\n.target sm_90\n", ".version 8\n.target sm_90\n",
        ".version 8.7\n.target texmode_independent\n", "/* .version 8.7\n.target sm_90\n"})
    EXPECT_FALSE(ReadPtxHead(text).found) << text;
}

}  // namespace
}  // namespace cudnn_ci
