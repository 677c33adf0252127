// What shows that folders use a GPU, and what of CUDA they ask the loader for.
#include "image/contents/gpu_use.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "shipped_knowledge.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

class GpuUseTest : public SubjectTree {
 protected:
  GpuUse Use() const { return FindGpuUse({At("packages")}, cuda_); }

  const CudaLibraries cuda_ = PackageNamesOf(ShippedKnowledge()).cuda;
};

TEST_F(GpuUseTest, ALibraryOfCudaShowsItByItsName) {
  File("packages/nvidia/cublas/lib/libcublas.so.12");
  const GpuUse use = Use();
  EXPECT_EQ(use.example, At("packages/nvidia/cublas/lib/libcublas.so.12"));
  EXPECT_EQ(use.cuda, "12");
  EXPECT_FALSE(use.asks_for_cudnn || use.asks_for_runtime);
  EXPECT_TRUE(use.complete);
  EXPECT_TRUE(HoldsGpuUse(At("packages"), cuda_));
}

// All of a toolkit's own, so that none of them passes for something else that uses a GPU.
TEST_F(GpuUseTest, AToolkitsLibrariesAreCudas) {
  for (const char* library :
       {"libcublasLt.so.12", "libcudnn_ops.so.9", "libnvblas.so.12", "libnppig.so.12", "libcusolverMg.so.11"})
    EXPECT_TRUE(cuda_.Has(library)) << library;
  for (const char* library : {"libcuda.so.1", "libc.so.6", "libcudart_static.a"})
    EXPECT_FALSE(cuda_.Has(library)) << library;
  EXPECT_TRUE(IsToolkitLibrary("libnvrtc.so.13"));
  EXPECT_FALSE(IsToolkitLibrary("libcublas.so.13")) << "CTranslate2 asks for it, and for no runtime";
}

// Which names are CUDA's is knowledge, to which a file can add.
TEST_F(GpuUseTest, ALibraryOfARowShowsItByItsName) {
  File("packages/acme/lib/libacme_ops.so.3");
  EXPECT_EQ(Use().example, "");
  EXPECT_NE(FindGpuUse({At("packages")}, CudaLibraries({"libacme.so"})).example, "");
}

TEST_F(GpuUseTest, WhatNvccLinkedShowsItByItsDeviceCode) {
  Copy(CUDNN_CI_DEVICE_CODE, "packages/xgboost/lib/libxgboost.so");
  const GpuUse use = Use();
  EXPECT_EQ(use.example, At("packages/xgboost/lib/libxgboost.so"));
  EXPECT_EQ(use.cuda, "");
  EXPECT_FALSE(use.asks_for_cudnn || use.asks_for_runtime);
}

TEST_F(GpuUseTest, WhatNeedsALibraryAsksForIt) {
  Copy(CUDNN_CI_NEEDS_LIBCUDART, "packages/a/a.cpython-311-x86_64-linux-gnu.so");
  EXPECT_TRUE(Use().asks_for_runtime);
  EXPECT_FALSE(Use().asks_for_cudnn);
  EXPECT_EQ(Use().cuda, "12");
  Copy(CUDNN_CI_NEEDS_LIBCUDNN, "packages/b/b.so");
  EXPECT_TRUE(Use().asks_for_cudnn);
}

TEST_F(GpuUseTest, WhatNeedsTheDriverUsesAGpuAndTheDriverItselfIsTheHosts) {
  File("packages/libcuda.so.1");
  File("packages/libnvidia-ml.so.1");
  EXPECT_EQ(Use().example, "");
  Copy(CUDNN_CI_NEEDS_LIBCUDA, "packages/a.so");
  EXPECT_EQ(Use().example, At("packages/a.so"));
}

TEST_F(GpuUseTest, TwoMajorsTellNone) {
  File("packages/libcudart.so.12");
  File("packages/libcublas.so.13");
  EXPECT_EQ(Use().cuda, "");
}

// open3d brings an extension of PyTorch, which it does not require.
TEST_F(GpuUseTest, AnExtensionOfAFrameworkThatIsNotThereAsksForNothing) {
  Copy(CUDNN_CI_NEEDS_LIBTORCH, "packages/open3d/open3d_torch_ops.so");
  EXPECT_FALSE(Use().asks_for_runtime);
  File("packages/torch/lib/libtorch.so");
  EXPECT_TRUE(Use().asks_for_runtime);
}

TEST_F(GpuUseTest, LibrariesAreFoundAtEachDepthAndOnceWhereAFolderHasTwoNames) {
  std::vector<std::string> expected;
  for (const char* folder : {"", "a/", "a/b/", "a/b/c/", "a/b/c/d/"})
    expected.push_back(File("packages/" + std::string(folder) + "lib.so"));
  for (const char* link : {"packages/link", "packages/a/link", "packages/a/b/link"})
    Link(At("packages/a"), link);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(LibrariesBelow(At("packages")), expected);
}

TEST_F(GpuUseTest, WhatIsNoLibraryShowsNothing) {
  File("packages/libcudart.txt");
  File("packages/libcudart_static.a");
  File("packages/libcurl.so.4");
  File("packages/empty.so");
  Copy(CUDNN_CI_DEVICE_CODE, "packages/a.bin");
  EXPECT_EQ(Use(), GpuUse());
  EXPECT_FALSE(HoldsGpuUse(At("packages"), cuda_));
  EXPECT_FALSE(HoldsGpuUse(At("nowhere"), cuda_));
}

}  // namespace
}  // namespace cudnn_ci
