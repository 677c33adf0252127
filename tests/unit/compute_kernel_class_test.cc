// What is concluded from the names of kernels.
#include "compute/kernel_class.h"

#include <gtest/gtest.h>

#include "conv/kernel_arithmetic.h"

namespace cudnn_ci {
namespace {

using Names = std::vector<std::string>;

TEST(KernelClassTest, IsTheOneThatTheNameSays) {
  for (const auto& [name, is] :
       {std::pair<const char*, KernelClass>{"cudnn::winograd_nonfused::winogradForwardData9x9_5x5<float>",
                                            KernelClass::kWinograd},
        {"maxwell_scudnn_winograd_128x128_ldg1_ldg4_tile148n_nt", KernelClass::kWinograd},
        {"fft2d_r2c_32x32<float, false>", KernelClass::kFft},
        {"regular_fft_pad<0, 1, 256>", KernelClass::kFft},
        {"implicit_convolve_sgemm<float, float, 128, 5, 5, 3>", KernelClass::kFma},
        {"ampere_scudnn_128x64_relu_small_nn_v1", KernelClass::kFma},
        {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma",
         KernelClass::kFma},
        {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckcrs_nchw", KernelClass::kTf32},
        {"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x16", KernelClass::kTf32},
        {"cutlass_tensorop_s1688fprop_optimized_tf32_128x128_16x4", KernelClass::kTf32},
        {"cutlass_tensorop_s16816fprop_optimized_f16_256x128_32x3", KernelClass::kTensorCore},
        {"cutlass_tensorop_h16816gemm_256x128_32x3_nn_align8", KernelClass::kHalfSums},
        {"volta_h884cudnn_256x128_ldg8_relu_exp_small_nhwc2nchw_tn_v1", KernelClass::kHalfSums},
        {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckcrs", KernelClass::kHalfSums},
        {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckcrs", KernelClass::kTensorCore},
        {"cudnn::ops::nchwToNhwcKernel<float, float, float>", KernelClass::kHelper},
        {"a_kernel_of_tomorrow", KernelClass::kUnknown},
        {"diffts<ptrdiff_t>", KernelClass::kUnknown},
        {"", KernelClass::kUnknown}})
    EXPECT_EQ(ClassOfKernel(name), is) << name;
}

TEST(KernelClassTest, OfSeveralTheLeastExactIsTheRuns) {
  const std::string fma = "implicit_convolve_sgemm", helper = "nchwToNhwcKernel<float>",
                    other = "split_k_reduce";
  EXPECT_EQ(ClassOfKernels({}), KernelClass::kUnknown) << "nobody knows";
  EXPECT_EQ(ClassOfKernels({helper, fma, helper}), KernelClass::kFma);
  EXPECT_EQ(ClassOfKernels({fma, other}), KernelClass::kUnknown);
  EXPECT_EQ(ClassOfKernels({fma, "cutlass_tensorop_tf32_x"}), KernelClass::kTf32);
  EXPECT_EQ(ClassOfKernels({"winogradForwardFilter4x4", fma, "winogradForwardOutput4x4"}),
            KernelClass::kWinograd);
}

TEST(KernelClassTest, ANameMakesATransformAndNeverAnExactOne) {
  const Names winograd = {"winogradForwardData4x4"}, fft = {"fft1d_r2c_16"},
              fma = {"implicit_convolve_sgemm"};
  EXPECT_EQ(ArithmeticByKernels(Arithmetic::kExact, winograd), Arithmetic::kWinograd);
  EXPECT_EQ(ArithmeticByKernels(Arithmetic::kExact, fft), Arithmetic::kFft);
  for (const Names& names : {Names{}, fma, Names{"cutlass_tensorop_tf32_x"}, Names{"unknown"}})
    EXPECT_EQ(ArithmeticByKernels(Arithmetic::kExact, names), Arithmetic::kExact);
  for (const Names& names : {Names{}, fma, winograd, fft}) {
    EXPECT_EQ(ArithmeticByKernels(Arithmetic::kFft, names), Arithmetic::kFft);
    EXPECT_EQ(ArithmeticByKernels(Arithmetic::kWinograd, names), Arithmetic::kWinograd);
  }
}

TEST(KernelClassTest, TextNamesSomeAndTheClass) {
  EXPECT_EQ(KernelsText({}), "");
  EXPECT_EQ(KernelsText({}, "; "), "");
  EXPECT_EQ(KernelsText({"implicit_convolve_sgemm"}),
            "kernel implicit_convolve_sgemm: float32 multiply-adds");
  EXPECT_EQ(KernelsText({"one", "two"}, "; "), "; kernels one, two");
  EXPECT_EQ(KernelsText({"a", "b", "c", "d", "e", "winograd"}), "kernels a, b, c, d and 2 more: Winograd");
}

}  // namespace
}  // namespace cudnn_ci
