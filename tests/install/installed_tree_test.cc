// Installs the build into a fresh folder and judges every ELF file there by the image's standards: it may
// need nothing but glibc, and a plugin exports its one symbol. Of the environment:
//   CUDNN_CI_TEST_TREE         an installed tree to judge instead, such as an unpacked archive of ci/bundle
//   CUDNN_CI_TEST_GLIBC_MINOR  no ELF file there may need a later glibc than 2.MINOR
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "elf_rules.h"
#include "install/command.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

bool IsElf(const fs::path& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string(magic, sizeof magic) ==
         "\x7f"
         "ELF";
}

class InstalledTree : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* tree = getenv("CUDNN_CI_TEST_TREE")) {
      prefix_ = tree;
    } else {
      std::string folder = (fs::temp_directory_path() / "cudnn-ci-install-XXXXXX").string();
      ASSERT_NE(mkdtemp(folder.data()), nullptr);
      prefix_ = installed_ = folder;
      const CommandResult result = RunCommand(Quoted(CUDNN_CI_CMAKE) + " --install " +
                                              Quoted(CUDNN_CI_BUILD_DIR) + " --prefix " + Quoted(prefix_));
      ASSERT_EQ(result.status, 0) << result.output;
    }
    for (const auto& entry : fs::recursive_directory_iterator(prefix_)) {
      if (entry.is_regular_file() && !entry.is_symlink() && IsElf(entry.path()))
        elf_files_.push_back(entry.path());
    }
  }

  void TearDown() override {
    std::error_code ignored;
    if (!installed_.empty()) fs::remove_all(installed_, ignored);
  }

  std::string ReadElf(const std::string& options, const fs::path& file) {
    const CommandResult result = RunCommand(Quoted(CUDNN_CI_READELF) + " " + options + " " + Quoted(file));
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output;
  }

  fs::path prefix_, installed_;  // the tree; the same if it is this test's own
  std::vector<fs::path> elf_files_;
};

TEST_F(InstalledTree, HoldsHarnessWorkerPluginsAndSdk) {
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "bin/cudnn-ci"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "bin/cudnn-ci-run"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "libexec/cudnn-ci-worker"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "libexec/cudnn-ci-plant.so"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "libexec/cudnn-ci-present"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "plugins/conv.cci.so"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "matrices/base.json"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "knowledge/findings/cudnn.json"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "share/man/man1/cudnn-ci.1"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "include/cudnn_ci/plugin.h"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "lib/cmake/CudnnCi/CudnnCiConfig.cmake"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "lib/cmake/CudnnCi/plugin.map"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "share/doc/cudnn-ci/harness/docs/a-check-in-ten-minutes.md"));
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "share/doc/cudnn-ci/examples/team/CMakeLists.txt"));
}

std::string TextOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The packages that CMake looks for in every build, not only in one with tests.
std::vector<std::string> LinkedPackages(const std::string& cmake) {
  std::vector<std::string> packages;
  std::istringstream lines(cmake.substr(0, cmake.find("if(CUDNN_CI_BUILD_TESTS)")));
  const std::string call = "find_package(";
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line.rfind(call, 0) != 0) continue;
    const std::string package = line.substr(call.size(), line.find_first_of(" )", call.size()) - call.size());
    if (package != "Threads") packages.push_back(package);  // the C library's own
  }
  return packages;
}

TEST_F(InstalledTree, CarriesTheNoticesOfWhatIsLinkedIn) {
  const std::string notices = TextOf(prefix_ / "share/doc/cudnn-ci/THIRD_PARTY_NOTICES");
  std::vector<std::string> libraries =
      LinkedPackages(TextOf(fs::path(CUDNN_CI_SOURCE_DIR) / "harness/sdk/cmake/CudnnCiDependencies.cmake"));
  EXPECT_THAT(libraries, ::testing::IsSupersetOf({"nlohmann_json", "CLI11", "Boost"}));
  for (const char* other :
       {"tinyxml2", "GCC's runtime libraries", "GNU C Library", "LLVM's runtime libraries", "musl"})
    libraries.push_back(other);
  for (const std::string& library : libraries) {
    // A section: the name, underlined.
    const std::string head = "\n" + library + "\n" + std::string(library.size(), '-') + "\n";
    EXPECT_NE(notices.find(head), std::string::npos) << "no notice of " << library;
  }
  for (const char* document : {"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "harness/DESIGN.md"})
    EXPECT_TRUE(fs::is_regular_file(prefix_ / "share/doc/cudnn-ci" / document)) << document;
}

// The relative links of a page's Markdown that lead nowhere.
std::vector<std::string> DeadLinks(const fs::path& page) {
  std::vector<std::string> dead;
  const std::string text = TextOf(page);
  const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
    const std::string target = (*at)[1];
    if (target.find("://") == std::string::npos && !fs::exists(page.parent_path() / target))
      dead.push_back(page.string() + ": " + target);
  }
  return dead;
}

TEST_F(InstalledTree, EveryLinkOfItsDocumentsLeadsSomewhere) {
  int pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator(prefix_)) {
    if (entry.path().extension() != ".md") continue;
    ++pages;
    EXPECT_THAT(DeadLinks(entry.path()), ::testing::IsEmpty());
  }
  EXPECT_GE(pages, 10);
  EXPECT_TRUE(fs::is_regular_file(prefix_ / "README.md")) << "what a reader opens first";
}

TEST(SourceTree, EveryLinkOfItsDocumentsLeadsSomewhere) {
  const fs::path source = CUDNN_CI_SOURCE_DIR;
  std::vector<fs::path> pages = {source / "README.md", source / "CONTRIBUTING.md", source / "SECURITY.md",
                                 source / "CHANGELOG.md", source / "matrices/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(source / "harness"))
    if (entry.path().extension() == ".md" && entry.path().filename() != "installed.md")
      pages.push_back(entry.path());  // installed.md is the installed tree's
  for (const fs::path& page : pages) EXPECT_THAT(DeadLinks(page), ::testing::IsEmpty());
}

TEST_F(InstalledTree, NeedsNothingButGlibc) {
  if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "a sanitized build needs the sanitizers' libraries";
  ASSERT_GE(elf_files_.size(), 3u) << "harness, worker and a plugin";
  for (const fs::path& file : elf_files_) {
    if (file == prefix_ / "bin/cudnn-ci") continue;  // needs not even that
    const std::string dynamic = ReadElf("-dW", file);
    EXPECT_NE(dynamic.find("(NEEDED)"), std::string::npos) << file << ": no dynamic section seen";
    EXPECT_THAT(BrokenDynamicRules(dynamic), ::testing::IsEmpty()) << file;
  }
}

TEST_F(InstalledTree, NeedsNoLaterGlibcThanPromised) {
  const char* minor = getenv("CUDNN_CI_TEST_GLIBC_MINOR");
  if (minor == nullptr) GTEST_SKIP() << "what is built for this machine needs this machine's";
  for (const fs::path& file : elf_files_)
    EXPECT_THAT(LaterGlibcSymbols(ReadElf("--dyn-syms -W", file), atoi(minor)), ::testing::IsEmpty()) << file;
}

// Nothing of the image is loaded into the harness: no interpreter, so no LD_PRELOAD, and no library.
TEST_F(InstalledTree, TheHarnessIsStatic) {
  if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "a sanitized build needs the sanitizers' libraries";
  const std::string headers = ReadElf("-lW", prefix_ / "bin/cudnn-ci");
  EXPECT_NE(headers.find("LOAD"), std::string::npos) << headers;
  EXPECT_EQ(headers.find("INTERP"), std::string::npos) << headers;
  EXPECT_EQ(ReadElf("-dW", prefix_ / "bin/cudnn-ci").find("(NEEDED)"), std::string::npos);
}

TEST_F(InstalledTree, ItsProgramsAreLoadedAnywhere) {
  if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "clang links a sanitized build where it is to be loaded";
  for (const char* program : {"bin/cudnn-ci", "libexec/cudnn-ci-worker"})
    EXPECT_NE(ReadElf("-hW", prefix_ / program).find("DYN (Position-Independent"), std::string::npos)
        << program;
}

TEST_F(InstalledTree, ShipsNoLibraryAnImageCouldProvide) {
  for (const auto& entry : fs::recursive_directory_iterator(prefix_)) {
    const std::string name = entry.path().filename();
    const bool library = name.find(".so") != std::string::npos;
    const bool plugin = name.size() > 7 && name.substr(name.size() - 7) == ".cci.so";
    EXPECT_TRUE(!library || plugin || name.rfind("cudnn-ci-", 0) == 0) << entry.path();
  }
}

// A library that a plugin loads must not find our C++ runtime in place of the image's.
TEST_F(InstalledTree, TheWorkerExportsNothingOfItsLibraries) {
  if (CUDNN_CI_SANITIZED) GTEST_SKIP() << "the plugins need the sanitizers' symbols";
  const std::string symbols = ReadElf("--dyn-syms -W", prefix_ / "libexec/cudnn-ci-worker");
  EXPECT_NE(symbols.find("@GLIBC_"), std::string::npos) << symbols;
  // What libc shares with every executable, by a copy there.
  EXPECT_THAT(ExportedSymbols(symbols), ::testing::Each(::testing::AnyOf("stderr", "stdout", "environ")));
}

// In a spoiled process it stands before the loader's dlsym, and before nothing else.
TEST_F(InstalledTree, WhatIsPreloadedExportsDlsymAlone) {
  const std::string symbols = ReadElf("--dyn-syms -W", prefix_ / "libexec/cudnn-ci-plant.so");
  EXPECT_THAT(ExportedSymbols(symbols), ::testing::ElementsAre("dlsym"));
}

TEST_F(InstalledTree, PluginsExportTheirOneSymbol) {
  int plugins = 0;
  for (const fs::path& file : elf_files_) {
    if (file.parent_path() != prefix_ / "plugins") continue;
    ++plugins;
    EXPECT_THAT(ExportedSymbols(ReadElf("--dyn-syms -W", file)), ::testing::ElementsAre("cudnn_ci_plugin_v1"))
        << file;
  }
  EXPECT_GE(plugins, 1);
}

}  // namespace
}  // namespace cudnn_ci
