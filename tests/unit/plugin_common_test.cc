// What the plugins share, on made-up files and texts.
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/path.h"
#include "common/cudart_api.h"
#include "common/cudnn_api.h"
#include "common/driver_api.h"
#include "common/driver_files.h"
#include "common/host_memory.h"
#include "common/library_path_line.h"
#include "common/loaded_libraries.h"
#include "common/loader_path.h"
#include "common/nvml_api.h"
#include "common/nvrtc_api.h"
#include "common/promise.h"
#include "dotted_versions.h"
#include "image/elf/elf_file.h"
#include "mentions.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ScratchTest : public ::testing::Test {
 protected:
  ScratchTest() {
    std::string pattern = ::testing::TempDir() + "cudnn-ci-common-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~ScratchTest() override { std::filesystem::remove_all(directory_); }
  std::string Write(const std::string& name, const std::string& bytes) {
    std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string directory_;
};

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

using ElfFileTest = ScratchTest;

TEST_F(ElfFileTest, WholeLibraryIsLoadable) {
  const ElfFile self("/proc/self/exe");
  EXPECT_TRUE(self.loadable()) << self.error();
  EXPECT_EQ(self.error(), "");
}

TEST_F(ElfFileTest, CutFileIsNamedWithBothSizes) {
  const std::string whole = ReadAll("/proc/self/exe");
  const ElfFile cut(Write("cut.so", whole.substr(0, whole.size() / 2)));
  EXPECT_TRUE(cut.truncated());
  EXPECT_FALSE(cut.loadable());
  EXPECT_THAT(cut.error(),
              Mentions(std::to_string(whole.size() / 2) + " bytes, ", std::to_string(cut.required_size())));
}

TEST_F(ElfFileTest, TextAndEmptyFilesAreNotElf) {
  EXPECT_EQ(ElfFile(Write("empty.so", "")).kind(), ElfFile::Kind::kNotElf);
  EXPECT_EQ(ElfFile(Write("lfs.so", std::string(200, 'v'))).kind(), ElfFile::Kind::kNotElf);
  EXPECT_EQ(ElfFile(directory_ + "/none.so").kind(), ElfFile::Kind::kUnreadable);
  EXPECT_EQ(ElfFile(directory_).kind(), ElfFile::Kind::kUnreadable);
}

TEST_F(ElfFileTest, OtherMachineIsForeign) {
  std::string bytes = ReadAll("/proc/self/exe");
  const uint16_t machine = EM_S390;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  EXPECT_EQ(ElfFile(Write("foreign.so", bytes)).kind(), ElfFile::Kind::kForeign);
}

TEST_F(ElfFileTest, AbsurdHeaderDoesNotCrash) {
  std::string bytes = ReadAll("/proc/self/exe").substr(0, 4096);
  const uint64_t far = ~uint64_t{0} - 100;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_phoff), &far, sizeof far);
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), &far, sizeof far);
  const ElfFile file(Write("absurd.so", bytes));
  EXPECT_FALSE(file.loadable());
  EXPECT_TRUE(file.RunPath().empty());
  EXPECT_FALSE(file.ReadObject("x").has_value());
}

TEST_F(ElfFileTest, SaysWhereItsLibrariesAreLookedFor) {
  for (const std::string path : {CUDNN_CI_RUNPATH_FILE, CUDNN_CI_RPATH_FILE}) {
    const std::string folder = path.substr(0, path.rfind('/'));
    EXPECT_EQ(ElfFile(path).RunPath(), (std::vector<std::string>{folder + "/../near", folder, "/far/away"}))
        << path;
  }
  EXPECT_TRUE(ElfFile(CUDNN_CI_RPATH_FILE).RunPathIsFirst());
  EXPECT_FALSE(ElfFile(CUDNN_CI_RUNPATH_FILE).RunPathIsFirst());
  EXPECT_FALSE(ElfFile("/proc/self/exe").RunPathIsFirst()) << "it has none";
}

TEST_F(ElfFileTest, EachWayToBeUselessHasItsOwnWords) {
  std::string bytes = ReadAll("/proc/self/exe");
  EXPECT_THAT(ElfFile(Write("empty.so", "")).error(), Mentions("empty.so", "0 bytes"));
  EXPECT_THAT(ElfFile(Write("lfs.so", "version https://git-lfs.github.com/spec/v1\n")).error(),
              Mentions("lfs.so", "git-lfs"));
  EXPECT_THAT(ElfFile(Write("text.so", std::string(99, 'x'))).error(),
              Mentions("text.so", "99 bytes", "ELF"));
  std::filesystem::create_symlink("gone", directory_ + "/dangling.so");
  EXPECT_THAT(ElfFile(directory_ + "/dangling.so").error(), Mentions("dangling.so", "link to gone"));
  EXPECT_THAT(ElfFile(directory_ + "/none.so").error(),
              Mentions("none.so: " + std::string(strerror(ENOENT))));
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(ElfFile(Write("small.so", bytes)).error(), HasSubstr("is a 32-bit library"));
}

TEST_F(ElfFileTest, TellsWhatItNeeds) {
  EXPECT_THAT(ElfFile("/proc/self/exe").Needed(), ::testing::Contains("libc.so.6"));
  EXPECT_TRUE(ElfFile(Write("text.so", "text")).Needed().empty());
}

TEST_F(ElfFileTest, TellsItsOwnName) {
  LateLibrary library;
  ASSERT_TRUE(library.Open("libstdc++.so.6")) << library.error();
  EXPECT_EQ(ElfFile(library.Path()).Soname(), "libstdc++.so.6");
  EXPECT_EQ(ElfFile("/proc/self/exe").Soname(), "");
  EXPECT_EQ(ElfFile(Write("text.so", "text")).Soname(), "");
}

class LoaderPathTest : public ScratchTest {
 protected:
  LoaderPathTest() { setenv("LD_LIBRARY_PATH", directory_.c_str(), 1); }
  ~LoaderPathTest() override { unsetenv("LD_LIBRARY_PATH"); }
};

TEST_F(LoaderPathTest, LibraryPathComesBeforeRunPathAndCache) {
  std::filesystem::create_directory(directory_ + "/run");
  const std::string bytes = ReadAll("/proc/self/exe");
  const std::string by_run_path = Write("run/libprobe.so.1", bytes);
  EXPECT_EQ(ResolveLibrary("libprobe.so.1", {directory_ + "/run"}), by_run_path);
  const std::string by_variable = Write("libprobe.so.1", bytes);
  EXPECT_EQ(ResolveLibrary("libprobe.so.1", {directory_ + "/run"}), by_variable);
}

TEST_F(LoaderPathTest, FindsWhatTheLoaderFindsInItsCache) {
  LateLibrary library;
  ASSERT_TRUE(library.Open("libstdc++.so.6")) << library.error();
  EXPECT_EQ(RealPath(ResolveLibrary("libstdc++.so.6")), RealPath(library.Path()));
}

TEST_F(LoaderPathTest, PassesOverDanglingLinksAndStopsAtText) {
  std::filesystem::create_symlink(directory_ + "/none", directory_ + "/libm.so.6");
  EXPECT_NE(ResolveLibrary("libm.so.6"), "");
  EXPECT_NE(ResolveLibrary("libm.so.6"), directory_ + "/libm.so.6");
  const std::string text = Write("libz.so.1", "not a library");
  EXPECT_EQ(ResolveLibrary("libz.so.1"), text);
}

TEST_F(LoaderPathTest, SaysWhatItPassesOver) {
  std::filesystem::create_symlink(directory_ + "/none", directory_ + "/libm.so.6");
  std::vector<std::string> passed_over;
  EXPECT_NE(ResolveLibrary("libm.so.6", {}, &passed_over), "");
  ASSERT_FALSE(passed_over.empty());
  EXPECT_THAT(passed_over.front(), Mentions(directory_ + "/libm.so.6", "link"));
}

TEST_F(LoaderPathTest, MappedLibrariesAreThoseOfThisProcess) {
  EXPECT_FALSE(MappedLibraries("libc.so").empty());
  EXPECT_TRUE(MappedLibraries("libnosuch").empty());
}

bool IsLoaded(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library;
}

// Loads it and gives it back at once, as cuDNN does with NVRTC for each graph.
void LoadForAMoment(const std::string& path, const std::function<void()>& meanwhile) {
  void* const library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  meanwhile();
  dlclose(library);
}

TEST_F(LoaderPathTest, LibrariesThatAreKeptStayWhenTheirUserClosesThem) {
  const std::string brief = directory_ + "/libbrief.so", kept = directory_ + "/libkept.so";
  for (const std::string& path : {brief, kept}) std::filesystem::copy_file(CUDNN_CI_RUNPATH_FILE, path);
  KeepLibrariesLoaded();
  const unsigned long long before = LibrariesLoadedSoFar();
  LoadForAMoment(brief, [] {});
  EXPECT_FALSE(IsLoaded(brief)) << "nobody has kept it";
  EXPECT_EQ(LibrariesLoadedSoFar(), before + 1);
  LoadForAMoment(kept, [] { KeepLibrariesLoaded(); });
  EXPECT_TRUE(IsLoaded(kept));
  LoadForAMoment(kept, [] {});
  EXPECT_EQ(LibrariesLoadedSoFar(), before + 2) << "it was loaded again";
}

// The bytes of a library's code that count as this process's memory, by /proc/self/smaps.
int ResidentCode(const std::string& path) {
  std::istringstream lines(ReadAll("/proc/self/smaps"));
  bool of_library = false;
  int kilobytes = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find('-') < line.find(' '))
      of_library = line.ends_with(path) && line.find(" r-xp ") != std::string::npos;
    if (of_library && line.rfind("Rss:", 0) == 0) kilobytes += std::atoi(line.c_str() + 4);
  }
  return kilobytes << 10;
}

TEST_F(LoaderPathTest, PagesOfANewLibraryAreGivenBackAndReadAgain) {
  const std::string path = directory_ + "/libnew.so";
  std::filesystem::copy_file(CUDNN_CI_FAKE_CUBLASLT, path);
  const NewLibraries fresh;
  void* const library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  const auto version = reinterpret_cast<size_t (*)()>(dlsym(library, "cublasLtGetVersion"));
  ASSERT_TRUE(version);
  const size_t number = version();
  const int before = ResidentCode(path);
  fresh.GiveBackPages();
  EXPECT_LT(ResidentCode(path), before);
  EXPECT_EQ(version(), number);
  const int again = ResidentCode(path);
  EXPECT_GT(again, 0);
  NewLibraries().GiveBackPages();
  EXPECT_EQ(ResidentCode(path), again) << "it is not new any more";
  dlclose(library);
}

TEST_F(LoaderPathTest, FileOfAFolderLiesThereOrIsALinkThere) {
  namespace fs = std::filesystem;
  for (const char* folder : {"/cache", "/site", "/other"}) fs::create_directory(directory_ + folder);
  const std::string file = Write("cache/libx.so", ""), link = directory_ + "/site/libx.so";
  fs::create_symlink(file, link);
  fs::create_directory_symlink("site", directory_ + "/linked");
  EXPECT_TRUE(LiesIn(file, directory_ + "/cache"));
  EXPECT_TRUE(LiesIn(file, directory_)) << "below it";
  EXPECT_FALSE(LiesIn(file, directory_ + "/cach"));
  EXPECT_TRUE(LiesInAny(link, {directory_ + "/other", directory_ + "/site"}));
  EXPECT_TRUE(LiesInAny(link, {directory_ + "/linked"}));
  EXPECT_FALSE(LiesInAny(link, {directory_ + "/other"}));
  EXPECT_FALSE(LiesInAny(link, {}));
}

TEST_F(LoaderPathTest, MajorsInFoldersOfOnesOwnComeFirst) {
  using ::testing::ElementsAre;
  const auto soname = [](int major) { return "libown.so." + std::to_string(major); };
  Write("libown.so.8", ReadAll("/proc/self/exe"));
  EXPECT_THAT(OwnFirst({9, 8, 7}, {directory_}, soname), ElementsAre(8, 9, 7));
  EXPECT_THAT(OwnFirst({9, 8, 7}, {"/nowhere"}, soname), ElementsAre(9, 8, 7));
  EXPECT_THAT(OwnFirst({9, 8, 7}, {}, soname), ElementsAre(9, 8, 7));
}

TEST(LibraryPathWordsTest, TellWhatTheImageHasFromWhatWasAdded) {
  const char* const own = getenv("LD_LIBRARY_PATH");
  const std::string saved = own == nullptr ? "" : own;
  const auto words = [](const char* value, const std::vector<std::string>& folders) {
    setenv("LD_LIBRARY_PATH", value, 1);
    return LibraryPathWords(folders);
  };
  EXPECT_EQ(words("/mine", {}), "LD_LIBRARY_PATH='/mine'");
  EXPECT_THAT(words("/a:/b", {"/a", "/b"}), AllOf(StartsWith("LD_LIBRARY_PATH=''"), EndsWith(" '/a:/b'")));
  EXPECT_THAT(words("/a:/mine:/b", {"/a", "/b"}),
              AllOf(StartsWith("LD_LIBRARY_PATH='/mine'"), EndsWith(" '/a:/b'")));
  EXPECT_EQ(words("/mine", {"/a"}), "LD_LIBRARY_PATH='/mine'") << "a process without them";
  if (own == nullptr)
    unsetenv("LD_LIBRARY_PATH");
  else
    setenv("LD_LIBRARY_PATH", saved.c_str(), 1);
}

TEST(UsersLibraryPathTest, IsWhatStandsBetweenTheSubjectsFolders) {
  const std::vector<std::string> folders = {"/a", "/b"};
  for (const char* value : {"/a:/b:/mine:/yours", "/a:/mine:/yours:/b", "/mine:/yours:/a:/b"})
    EXPECT_EQ(UsersLibraryPath(value, folders), "/mine:/yours") << value;
  EXPECT_EQ(UsersLibraryPath("/a:/b", folders), "");
  EXPECT_EQ(UsersLibraryPath("/mine", {}), "/mine");
  EXPECT_EQ(UsersLibraryPath("", {}), "");
  EXPECT_EQ(UsersLibraryPath("/mine:/b", folders), "/mine:/b") << "not as the harness writes it";
}

TEST_F(LoaderPathTest, TruncatedLibraryIsRefusedInsteadOfMapped) {
  const std::string whole = ReadAll("/proc/self/exe");
  Write("libcut.so.1", whole.substr(0, whole.size() - 4096));
  LateLibrary library;
  std::string error;
  EXPECT_FALSE(LoadChecked("libcut.so.1", &library, &error));
  EXPECT_THAT(error, HasSubstr("is truncated"));
  EXPECT_FALSE(LoadChecked("libnosuch.so.1", &library, &error));
  EXPECT_TRUE(IsNotFound("libnosuch.so.1", error)) << error;
  EXPECT_FALSE(IsNotFound("libother.so.1", error)) << "a missing dependency is not a missing library";
}

TEST_F(LoaderPathTest, ABindingSaysInTheLoadersWordsWhatItCannotLoad) {
  const std::string whole = ReadAll("/proc/self/exe");
  Write("libnvidia-ml.so.1", whole.substr(0, whole.size() - 4096));
  NvmlApi nvml;
  EXPECT_FALSE(nvml.Load());
  EXPECT_THAT(nvml.error(), HasSubstr(directory_ + "/libnvidia-ml.so.1 is truncated"));
  EXPECT_FALSE(nvml.library_loaded());
  CudnnApi cudnn;
  const std::string path = Write("libcudnn.so.9", "no library");
  EXPECT_FALSE(cudnn.LoadFile(path));
  EXPECT_THAT(cudnn.error(), Mentions(path + ": "));
}

TEST(DriverFiles, ModuleVersionIsReadFromBothKindsOfModule) {
  EXPECT_EQ(
      ParseModuleVersion("NVRM version: NVIDIA UNIX x86_64 Kernel Module  525.60.13  Wed Nov 30 06:39:21 "
                         "UTC 2022\nGCC version:  gcc version 11.3.0\n"),
      "525.60.13");
  EXPECT_EQ(ParseModuleVersion("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release "
                               "Build  (dvs-builder@U22)\nGCC version: 12.2.0\n"),
            "580.159.04");
  EXPECT_EQ(ParseModuleVersion("470.82\n"), "470.82");
  EXPECT_EQ(ParseModuleVersion(""), "");
  EXPECT_EQ(ParseModuleVersion("no version here\nGCC version: 12.2.0"), "");
}

TEST(DriverFiles, LibraryVersionComesFromTheFileName) {
  EXPECT_EQ(VersionOfLibraryFile("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"), "580.95.05");
  EXPECT_EQ(VersionOfLibraryFile("/usr/lib/wsl/lib/libcuda.so.1"), "");
  EXPECT_EQ(VersionOfLibraryFile("/usr/lib/wsl/lib/libcuda.so.1.1"), "");
  EXPECT_EQ(VersionOfLibraryFile("/usr/local/cuda/lib64/stubs/libcuda.so"), "");
}

TEST(DriverFiles, CompatDirectoriesAreRecognised) {
  EXPECT_TRUE(IsCompatPath("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05"));
  EXPECT_TRUE(IsCompatPath("/opt/conda/cuda-compat/libcuda.so.580.95.05"));
  EXPECT_FALSE(IsCompatPath("/usr/lib/compatible/libcuda.so.580.95.05"));
  EXPECT_FALSE(IsCompatPath("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"));
}

TEST(DriverFiles, LibrariesOfTheDriverAreKnownByName) {
  for (const char* name : {"libcuda.so.1", "libcuda.so", "libnvidia-ptxjitcompiler.so.1"})
    EXPECT_TRUE(IsDriverLibrary(name)) << name;
  for (const char* name : {"libcudart.so.13", "libcudnn.so.9", "libnvrtc.so.13", "libcuda", "libnvidia-"})
    EXPECT_FALSE(IsDriverLibrary(name)) << name;
}

TEST(DriverFiles, FirstBadEntryOfVisibleDevicesIsNamed) {
  const std::vector<std::string> uuids = {"GPU-aa11", "GPU-aa22", "GPU-bb33"};
  EXPECT_EQ(FirstBadVisibleDevice("0,2", uuids), "");
  EXPECT_EQ(FirstBadVisibleDevice("0,7,1", uuids), "7");
  EXPECT_EQ(FirstBadVisibleDevice("-1", uuids), "-1");
  EXPECT_EQ(FirstBadVisibleDevice("1,1", uuids), "1");
  EXPECT_EQ(FirstBadVisibleDevice("GPU-bb", uuids), "");
  EXPECT_EQ(FirstBadVisibleDevice("GPU-aa", uuids), "GPU-aa") << "an ambiguous prefix names no GPU";
  EXPECT_EQ(FirstBadVisibleDevice("NoDevFiles", uuids), "NoDevFiles");
}

TEST(DriverApi, ErrorsAreDescribedWithoutADriver) {
  EXPECT_EQ(Describe(CUDA_ERROR_NO_DEVICE), "100 CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected");
  EXPECT_EQ(Describe(static_cast<CUresult>(12345)), "CUresult 12345");
}

TEST(DriverApi, CallBeforeLoadThrowsInsteadOfCrashing) {
  const DriverApi api;
  EXPECT_THROW(api.Init(0), MissingSymbol);
}

TEST(PromiseTest, MeansTheMajorsOfWhichItHoldsAVersion) {
  const auto means = [](const std::string& range, int major) {
    return Promise{Within, range}.OfMajor(major);
  };
  for (const char* range :
       {"", ">=12.0 <13", ">12.7 <=12.8", "12.8", "12.8.93", ">12.99", ">=11.8 <=12.0", "<13"})
    EXPECT_TRUE(means(range, 12)) << range;
  for (const char* range : {">=13.0 <14", "<12", "11.8", ">=13", ">=11.0 <12.0"})
    EXPECT_FALSE(means(range, 12)) << range;
}

TEST(PromiseTest, PromisedMajorsComeFirstAndKeepTheirOrder) {
  using ::testing::ElementsAre;
  EXPECT_THAT(PromisedFirst({Within, "<13"}, {13, 12, 11}), ElementsAre(12, 11, 13));
  EXPECT_THAT(PromisedFirst({Within, ""}, {13, 12, 11}), ElementsAre(13, 12, 11));
}

TEST(JudgedCudart, KeepsThePromiseElseIsThePromisedOneThatIsBroken) {
  const std::vector<CudartLibrary> found = {{13, "libcudart.so.13", "/13", "13.0", ""},
                                            {12, "libcudart.so.12", "/12", "", "broken"},
                                            {11, "", "/11", "11.8", ""}};
  const auto judged = [&found](const std::string& range) {
    return JudgedCudart(found, {Within, range})->major;
  };
  EXPECT_EQ(judged(""), 13);
  EXPECT_EQ(judged(">=13 <14"), 13);
  EXPECT_EQ(judged("<12"), 11);
  EXPECT_EQ(judged(">=12 <13"), 12);
  EXPECT_EQ(judged(">=14"), 13) << "none keeps it: the newest is named";
  std::vector<CudartLibrary> owned = found;
  owned[2].own = true;
  EXPECT_EQ(JudgedCudart(owned, {Within, ">=13 <14"})->major, 11)
      << "what the subject does not use keeps nothing";
  EXPECT_EQ(JudgedCudart({}, {}), nullptr);
}

TEST(PromisedSonamesTest, AreThoseOfThePromisedMajors) {
  using ::testing::ElementsAre;
  EXPECT_THAT(PromisedCudartSonames({Within, ""}),
              ElementsAre("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"));
  EXPECT_THAT(PromisedCudartSonames({Within, ">=11.8 <12"}), ElementsAre("libcudart.so.11.0"));
  EXPECT_THAT(NvrtcApi::PromisedSonames({Within, ">=11.8 <13"}),
              ElementsAre("libnvrtc.so.12", "libnvrtc.so.11.2"));
}

TEST(CudaVersion, IsWrittenAsTheToolkitWritesIt) {
  EXPECT_EQ(CudaVersionText(13000), "13.0");
  EXPECT_EQ(CudaVersionText(12080), "12.8");
}

class HostMemoryTest : public ScratchTest {
 protected:
  void Put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = directory_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
};

TEST_F(HostMemoryTest, WhatACheckMayTakeIsLessThanWhatIsFree) {
  constexpr double kMiB = 1 << 20;
  EXPECT_FALSE(LookAtHostMemory(directory_)) << "nobody says";
  Put("/proc/meminfo", "MemAvailable:    8388608 kB\n");
  Put("/proc/self/cgroup", "0::/pod\n");
  ASSERT_TRUE(LookAtHostMemory(directory_));
  EXPECT_EQ(LookAtHostMemory(directory_)->bytes, (8192 - 16) * kMiB);
  EXPECT_EQ(LookAtHostMemory(directory_)->limit, "no cgroup limit");
  Put("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
  Put("/sys/fs/cgroup/pod/memory.current", "209715200\n");
  EXPECT_EQ(LookAtHostMemory(directory_)->bytes, (1024 - 200 - 64) * kMiB);
  EXPECT_EQ(LookAtHostMemory(directory_)->limit, "cgroup limit 1024 MiB");
  Put("/sys/fs/cgroup/pod/memory.current", "1073000000\n");
  EXPECT_EQ(LookAtHostMemory(directory_)->bytes, 0);
}

TEST_F(HostMemoryTest, WhoSharesTheHostTakesNoMoreThanItsShareAndNoMoreThanThereIs) {
  constexpr double kMiB = 1 << 20;
  Put("/proc/meminfo", "MemAvailable:    8388608 kB\n");
  Put("/proc/self/cgroup", "0::/pod\n");
  LimitHostMemory(1000 * kMiB);
  EXPECT_EQ(LookAtHostMemory(directory_)->bytes, 1000 * kMiB);
  EXPECT_EQ(LookAtHostMemory(directory_)->limit, "a share of the host's; no cgroup limit");
  LimitHostMemory(10000 * kMiB);
  EXPECT_EQ(LookAtHostMemory(directory_)->bytes, (8192 - 16) * kMiB);
  LimitHostMemory(0);
  EXPECT_EQ(LookAtHostMemory(directory_)->limit, "no cgroup limit");
}

}  // namespace
}  // namespace cudnn_ci
