// What frameworks that leave it to the loader need of CUDA's libraries, read from files of tests/fakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "framework/needs.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::IsEmpty;

const CudaLibraries kCuda({"libcublas.so", "libcublasLt.so", "libcudart.so", "libcudnn.so", "libcufft.so",
                           "libnvrtc.so", "libcurand.so", "libcusparse.so", "libcusolver.so"});

class FrameworkNeeds : public testing::Test {
 protected:
  FrameworkNeeds() { unsetenv("LD_LIBRARY_PATH"); }

  // A copy of a fake's file at a place of the scratch folder.
  std::string Put(const std::string& fake, const std::string& file, const std::string& place) const {
    fs::create_directories(fs::path(scratch_.File(place)).parent_path());
    fs::copy_file(fs::canonical(std::string(CUDNN_CI_FAKES "/") + fake + "/" + file), scratch_.File(place));
    return scratch_.File(place);
  }
  std::string PutProvider(const std::string& kind) const {
    return Put("provider_" + kind, "libonnxruntime_providers_cuda.so.1", "site/onnxruntime/capi/provider.so");
  }
  // Both libraries that it needs.
  std::string PutCuda(const std::string& folder) const {
    Put("cuda99", "libcublas.so.99", folder + "/libcublas.so.99");
    Put("cuda99", "libcudnn.so.99", folder + "/libcudnn.so.99");
    return scratch_.File(folder);
  }

  const Scratch scratch_;
};

TEST_F(FrameworkNeeds, ThatNobodyHasAreMissing) {
  const Needs needs = NeedsOf(kCuda, PutProvider("plain"), {}, "", {scratch_.path()});
  EXPECT_THAT(needs.names, ElementsAre("libcublas.so.99", "libcudnn.so.99"));
  EXPECT_THAT(needs.missing, ElementsAre("libcublas.so.99", "libcudnn.so.99"));
  EXPECT_THAT(needs.lacking, IsEmpty()) << "it links them";
  EXPECT_THAT(needs.hidden, IsEmpty());
  EXPECT_EQ(CudaMajorOfLibraries(needs.names), 99);
}

TEST_F(FrameworkNeeds, ThatPackagesAloneHaveAreHiddenFromTheLoader) {
  const std::string folder = PutCuda("site/nvidia/cu99/lib"), empty = scratch_.File("site");
  const Needs needs = NeedsOf(kCuda, PutProvider("plain"), {}, "", {empty, folder});
  EXPECT_THAT(needs.hidden, ElementsAre("libcublas.so.99", "libcudnn.so.99"));
  EXPECT_THAT(needs.folders, ElementsAre(folder));
  EXPECT_THAT(needs.missing, IsEmpty());
  fs::remove(folder + "/libcudnn.so.99");
  EXPECT_THAT(NeedsOf(kCuda, scratch_.File("site/onnxruntime/capi/provider.so"), {}, "", {folder}).missing,
              ElementsAre("libcudnn.so.99"));
}

TEST_F(FrameworkNeeds, ThatTheLoaderFindsAreNeither) {
  setenv("LD_LIBRARY_PATH", PutCuda("opt").c_str(), 1);
  const Needs needs = NeedsOf(kCuda, PutProvider("plain"), {}, "", {});
  EXPECT_THAT(needs.missing, IsEmpty());
  EXPECT_THAT(needs.hidden, IsEmpty());
}

TEST_F(FrameworkNeeds, AreFoundByARunPathOfEitherKind) {
  PutCuda("site/nvidia/cuda/lib");
  for (const char* kind : {"runpath", "rpath"}) {
    const std::string provider = PutProvider(kind);
    EXPECT_THAT(NeedsOf(kCuda, provider, {}, "", {}).missing, IsEmpty()) << kind;
    fs::remove(provider);
  }
}

// The DT_RPATH of the interpreter, as a conda environment's has it, is for all that has no DT_RUNPATH.
// As auditwheel leaves it: the extension's run path leads to the folder, the libraries in it have none.
TEST_F(FrameworkNeeds, ThatAWheelHasPutBesideTheLibraryAreFound) {
  const std::string beside = PutCuda("site/onnxruntime/capi");
  const Needs needs = NeedsOf(kCuda, PutProvider("plain"), {"libcublas.so.99"}, "", {});
  EXPECT_THAT(needs.missing, ElementsAre("libcublas.so.99"))
      << "what it opens by name is not looked for there";
  fs::remove(beside + "/libcudnn.so.99");
  EXPECT_THAT(NeedsOf(kCuda, beside + "/provider.so", {}, "", {}).missing, ElementsAre("libcudnn.so.99"));
}

TEST_F(FrameworkNeeds, AreFoundByTheInterpretersRunPathIfItComesFirst) {
  PutCuda("nvidia/cuda/lib");
  const std::string first = Put("provider_rpath", "libonnxruntime_providers_cuda.so.1", "env/bin/python");
  const std::string behind = Put("provider_runpath", "libonnxruntime_providers_cuda.so.1", "env/bin/other");
  const std::string plain = PutProvider("plain");
  EXPECT_THAT(NeedsOf(kCuda, plain, {}, first, {}).missing, IsEmpty());
  EXPECT_THAT(NeedsOf(kCuda, plain, {}, behind, {}).missing, testing::SizeIs(2)) << "a DT_RUNPATH is its own";
  fs::remove(plain);
  EXPECT_THAT(NeedsOf(kCuda, PutProvider("runpath"), {}, first, {}).missing, testing::SizeIs(2));
}

TEST_F(FrameworkNeeds, ThatAreOpenedByNameStandInTheFile) {
  const std::string library = Put("ctranslate2", "libctranslate2.so.4", "libctranslate2.so.4");
  const std::vector<std::string> names = CudaLibrariesNamedIn(kCuda, library);
  EXPECT_THAT(names, ElementsAre("libcublas.so.99", "libcudnn.so.99"));
  const Needs needs = NeedsOf(kCuda, library, names, "", {}, true);
  EXPECT_THAT(needs.names, ElementsAre("libcublas.so.99", "libcudnn.so.99"));
  EXPECT_THAT(needs.missing, ElementsAre("libcublas.so.99"));
  EXPECT_THAT(needs.lacking, ElementsAre("libcudnn.so.99"));
  EXPECT_THAT(NeedsOf(kCuda, library, {}, "", {}).names, IsEmpty());
}

// cuDNN alone may be absent, and only where it is not linked and opened late.
TEST_F(FrameworkNeeds, ThatAreLinkedAreNeverMerelyLacking) {
  const std::string provider = PutProvider("plain");
  const std::vector<std::string> names = {"libcudnn_ops.so.99", "libcudart.so.99"};
  const Needs needs = NeedsOf(kCuda, provider, names, "", {}, true);
  EXPECT_THAT(needs.missing, ElementsAre("libcublas.so.99", "libcudnn.so.99", "libcudart.so.99"));
  EXPECT_THAT(needs.lacking, ElementsAre("libcudnn_ops.so.99"));
  const Needs at_once = NeedsOf(kCuda, provider, names, "", {});
  EXPECT_THAT(at_once.missing, testing::Contains("libcudnn_ops.so.99")) << "it is not opened late";
  EXPECT_THAT(at_once.lacking, IsEmpty());
}

// Of several majors one is enough, be it one that a package has.
TEST_F(FrameworkNeeds, OfAlternativesOneIsEnough) {
  const std::string library = Put("ctranslate2", "libctranslate2.so.4", "libctranslate2.so.4"),
                    folder = PutCuda("opt");
  const std::vector<std::string> names = {"libcublas.so.98", "libcublas.so.99", "libcudnn.so.98"};
  const Needs nowhere = NeedsOf(kCuda, library, names, "", {}, true);
  EXPECT_THAT(nowhere.missing, ElementsAre("libcublas.so.98 or libcublas.so.99"));
  EXPECT_THAT(nowhere.lacking, ElementsAre("libcudnn.so.98"));
  const Needs hidden = NeedsOf(kCuda, library, names, "", {folder}, true);
  EXPECT_THAT(hidden.hidden, ElementsAre("libcublas.so.99"));
  EXPECT_THAT(hidden.missing, IsEmpty());
  EXPECT_THAT(hidden.lacking, ElementsAre("libcudnn.so.98"));
  setenv("LD_LIBRARY_PATH", folder.c_str(), 1);
  const Needs found = NeedsOf(kCuda, library, names, "", {}, true);
  EXPECT_THAT(found.missing, IsEmpty());
  EXPECT_THAT(found.lacking, ElementsAre("libcudnn.so.98"));
  EXPECT_THAT(found.hidden, IsEmpty());
  EXPECT_THAT(found.names, testing::SizeIs(3));
}

// Wherever a name stands: the file is read in parts.
TEST_F(FrameworkNeeds, NamesAreFoundAcrossTheBordersOfParts) {
  const size_t part = size_t{1} << 20;
  for (const size_t at : {size_t{0}, part - 20, part - 15, part - 1, part, 2 * part - 3}) {
    std::string bytes(2 * part + 100, 'x');
    bytes.replace(at, 16, std::string("libcublas.so.42") + '\0');
    EXPECT_THAT(CudaLibrariesNamedIn(kCuda, scratch_.Write("names", bytes)), ElementsAre("libcublas.so.42"))
        << at;
  }
  EXPECT_THAT(CudaLibrariesNamedIn(kCuda, scratch_.Write("names", "libcublas.so.42")), IsEmpty())
      << "it has no end";
  EXPECT_THAT(CudaLibrariesNamedIn(kCuda, scratch_.File("none")), IsEmpty());
}

TEST(FrameworkLibraries, OfTheDriverOrOfNobodyAreNotCudas) {
  EXPECT_TRUE(kCuda.Has("libcublasLt.so.12"));
  EXPECT_TRUE(kCuda.Has("libcudnn_ops.so.9"));
  EXPECT_FALSE(kCuda.Has("libcuda.so.1"));
  EXPECT_FALSE(kCuda.Has("libc.so.6"));
  EXPECT_FALSE(kCuda.Has("libcudart_static.a"));
  EXPECT_EQ(CudaMajorOfLibraries({"libcudnn.so.9", "libcufft.so.11", "libcudart.so.11.0"}), 11);
  EXPECT_EQ(CudaMajorOfLibraries({"libcudnn.so.9"}), 0);
  EXPECT_TRUE(IsCudnnLibrary("libcudnn.so.9"));
  EXPECT_TRUE(IsCudnnLibrary("libcudnn_ops.so.9"));
  EXPECT_FALSE(IsCudnnLibrary("libcublas.so.12"));
  EXPECT_FALSE(IsCudnnLibrary("libcudnn_static.a"));
}

}  // namespace
}  // namespace cudnn_ci
