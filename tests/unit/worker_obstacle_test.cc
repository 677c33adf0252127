// What keeps every worker of an image from running, by its files and by the loader's words.
#include "cli/worker_obstacle.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gnu/libc-version.h>

#include <filesystem>
#include <fstream>

#include "golden_messages.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr char kWorker[] = "/opt/cudnn-ci/libexec/cudnn-ci-worker";

// This test itself with the name of another loader of the same length.
std::string ProgramWithoutLoader(const std::string& folder) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(self)), {});
  constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";
  const size_t at = bytes.find(std::string(kLoader) + '\0');
  if (at == std::string::npos) return "";
  bytes[at + 1] = 'X';
  std::ofstream(folder + "/program", std::ios::binary) << bytes;
  return folder + "/program";
}

std::string DetailWith(const std::vector<std::string>& files, Blame blame = Blame::kImage) {
  const Scratch scratch;
  const std::string program = ProgramWithoutLoader(scratch.path());
  if (program.empty()) return "this test has another loader";
  for (const std::string& file : files) {
    fs::create_directories(fs::path(scratch.path() + file).parent_path());
    std::ofstream(scratch.path() + file) << "x";
  }
  const std::optional<Finding> finding = ObstacleBeforeDiscovery(program, scratch.path());
  if (!finding) return "none";
  EXPECT_EQ(finding->slug, "loader-missing");
  EXPECT_EQ(finding->blame, blame) << finding->detail;
  return finding->detail;
}

TEST(WorkerObstacle, AMissingLoaderIsToldWithTheOnesThatAreThere) {
  GoldenMessages golden("obstacles.txt");
  EXPECT_THAT(golden.Row("none", DetailWith({})), Not(HasSubstr(" has /lib")));
  EXPECT_THAT(golden.Row("musl", DetailWith({"/lib/ld-musl-x86_64.so.1", "/lib/libc.so"})),
              EndsWith(" /lib/ld-musl-x86_64.so.1 (musl, as in Alpine)"));
  EXPECT_THAT(golden.Row("other processors",
                         DetailWith({"/lib64/ld-linux.so.2", "/lib/ld-linux-aarch64.so.1"}, Blame::kHarness)),
              EndsWith(" /lib/ld-linux-aarch64.so.1, /lib64/ld-linux.so.2"));
}

TEST(WorkerObstacle, ALoaderThatIsThereIsNone) { EXPECT_FALSE(ObstacleBeforeDiscovery("/proc/self/exe")); }

// A shared library under the name of glibc's loader, with this SONAME in place of its own.
std::optional<Finding> FindingOfLibrary(const Scratch& scratch, const std::string& soname) {
  const std::string own = "libc.so.6";
  Dl_info libc{};
  if (dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &libc) == 0) return std::nullopt;
  std::ifstream file(libc.dli_fname, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::string name = soname;
  name.resize(own.size());
  for (size_t at = 0; (at = bytes.find(own + std::string(1, 0), at)) != std::string::npos; ++at)
    bytes.replace(at, own.size(), name);
  const std::string path = scratch.path() + "/ld-linux-x86-64.so.2";
  std::ofstream(path, std::ios::binary) << bytes;
  return ForeignLoader(path);
}

TEST(WorkerObstacle, AnotherLoaderUnderTheNameOfGlibcsIsTheImagesFault) {
  const Scratch scratch;
  for (const char* soname : {"libc.so", "libc.mu.1", "ld64-uC.0"}) {
    const std::optional<Finding> finding = FindingOfLibrary(scratch, soname);
    ASSERT_TRUE(finding) << soname;
    EXPECT_EQ(finding->slug, "loader-missing");
    EXPECT_EQ(finding->blame, Blame::kImage);
    EXPECT_THAT(finding->detail, testing::HasSubstr(std::string("has the SONAME ") + soname));
  }
  const std::optional<Finding> nameless = FindingOfLibrary(scratch, "");
  ASSERT_TRUE(nameless);
  EXPECT_THAT(nameless->detail, testing::HasSubstr("has no SONAME"));
  std::ofstream(scratch.path() + "/no-elf") << "x";
  EXPECT_FALSE(ForeignLoader(scratch.path() + "/no-elf"));
  EXPECT_FALSE(ForeignLoader(scratch.path() + "/nosuch"));
}

Discovery Broken(const std::vector<std::string>& words, bool silent = true) {
  Discovery discovery;
  for (const std::string& said : words) {
    BrokenPlugin broken;
    broken.stem = "plugin";
    broken.reason = "exit status 127 while it was loaded and described (it printed: " + said + ")";
    broken.printed = said;
    broken.silent = silent;
    discovery.catalog.broken.push_back(broken);
  }
  return discovery;
}

TEST(WorkerObstacle, TheLoadersWordsAreTheImagesFault) {
  const std::string old = std::string(kWorker) +
                          ": /lib64/libc.so.6: version `GLIBC_2.17' not found (required by " + kWorker + ")";
  const std::optional<Finding> finding = ObstacleOf(Broken({old, old}), kWorker);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->slug, "libc-unfit");
  EXPECT_EQ(finding->blame, Blame::kImage);
  EXPECT_EQ(finding->detail,
            "the image's loader says of cudnn-ci-worker: /lib64/libc.so.6: version `GLIBC_2.17' "
            "not found (required by " +
                std::string(kWorker) + ")");
}

TEST(WorkerObstacle, TheWordsOfOtherLoadersAreKnown) {
  const std::string worker = kWorker;
  for (const auto& [words, of] : std::vector<std::pair<std::string, std::string>>{
           {"Error loading shared library libm.so.6: No such file or directory (needed by " + worker + ")",
            "(of musl)"},
           {"Error relocating " + worker + ": renameat2: symbol not found", "(of musl)"},
           {"/lib/ld-musl-x86_64.so.1: " + worker + ": Not a valid dynamic program", "(of musl)"},
           {"CANNOT LINK EXECUTABLE \"" + worker + "\": library \"libm.so.6\" not found", "(of bionic)"},
           {"Could not start dynamically linked executable: " + worker, "(of no C"},
           {worker + ": can't load library 'libm.so.6'", "loader says"}}) {
    const std::optional<Finding> finding = ObstacleOf(Broken({words, words}), kWorker);
    ASSERT_TRUE(finding) << words;
    EXPECT_EQ(finding->slug, "libc-unfit");
    EXPECT_EQ(finding->blame, Blame::kImage);
    EXPECT_THAT(finding->detail, testing::HasSubstr(of));
  }
  EXPECT_FALSE(ObstacleOf(Broken({"Error relocating /lib/other.so: x: symbol not found"}), kWorker));
  EXPECT_FALSE(ObstacleOf(Broken({"a plugin says: Error relocating " + worker}), kWorker));
}

// One that was built on a newer machine asks for what no image has to have.
TEST(WorkerObstacle, AWorkerThatAsksForTooMuchIsTheHarnesss) {
  for (const char* version : {"`GLIBC_2.34'", "`GLIBCXX_3.4.30'"}) {
    const std::optional<Finding> finding =
        ObstacleOf(Broken({std::string(kWorker) + ": version " + version + " not found"}), kWorker);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->blame, Blame::kHarness) << version;
  }
}

TEST(WorkerObstacle, WhatIsNotTheLoadersForAllIsNone) {
  const std::string words =
      std::string(kWorker) + ": error while loading shared libraries: libm.so.6: no such file";
  EXPECT_TRUE(ObstacleOf(Broken({words}), kWorker));
  EXPECT_FALSE(ObstacleOf(Broken({words, "hello"}), kWorker));
  EXPECT_FALSE(ObstacleOf(Broken({words}, false), kWorker));
  EXPECT_FALSE(ObstacleOf(Broken({}), kWorker));
  Discovery one_works = Broken({words});
  one_works.catalog.plugins.emplace_back();
  EXPECT_FALSE(ObstacleOf(one_works, kWorker));
}

}  // namespace
}  // namespace cudnn_ci
