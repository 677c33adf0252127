// gemm.matmul, from the matrix to the verdict, against a fake cuBLASLt that computes real products, or errs
// in them.
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Gemm : public ShippedTest {
 protected:
  static std::string Params(const std::string& dtype, const std::string& rest = "",
                            const std::string& size = "24x18x40") {
    return R"("params": {"dtype": ")" + dtype + R"(", "size": ")" + size + "\"" +
           (rest.empty() ? "" : ", " + rest) + "}";
  }
  void ExpectRed(const std::string& fault, const std::string& params, const std::string& slug,
                 const std::string& words = "") {
    Set("FAKE_CUBLASLT_FAULT", fault);
    Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "60");
    const CheckOutcome r = Check("gemm.matmul", params);
    EXPECT_EQ(r.Outcome(), "failed") << fault << params << ::testing::PrintToString(r);
    EXPECT_THAT(r.Slugs(), ElementsAre(slug)) << fault << params;
    EXPECT_THAT(r.Detail(), AllOf(HasSubstr("algorithm 60, tile 1, stages 6, split-K 2, cuBLASLt 13.1.0 (/"),
                                  HasSubstr(words)))
        << fault;
  }
};

TEST_F(Gemm, HealthyLibraryPassesInEveryTypeTransposeAndSize) {
  const CheckOutcome r = Check("gemm.matmul", R"("axes": {
      "dtype": ["float64", "float32", "float16", "bfloat16", "int8", "float8_e4m3"],
      "trans": ["nn", "tn", "nt", "tt"], "size": ["1x1x1", "17x19x23", "1x33x8", "33x1x8", "8x9x1"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
  EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
}

TEST_F(Gemm, PaddingBatchesFactorsEpiloguesAndScalesPass) {
  for (const char* axes : {R"("padding": [0, 1, 8], "batch": [1, 3], "trans": ["nn", "tt"])",
                           R"("alpha": [-1.0, 2.0, 0.5], "beta": [0.0, 1.0, -0.5])",
                           R"("epilogue": ["bias", "relu", "bias_relu", "gelu", "bias_gelu"])",
                           R"("workspace": ["none", "small", "all"])"}) {
    const CheckOutcome r = Check(
        "gemm.matmul",
        R"("params": {"size": "24x18x40"}, "axes": {"dtype": ["float64", "float32", "float16", "bfloat16"], )" +
            std::string(axes) + "}");
    EXPECT_EQ(r.gate.exit_code, 0) << axes << ::testing::PrintToString(r);
  }
  const CheckOutcome r = Check(
      "gemm.matmul",
      R"("params": {"size": "32x48x64", "dtype": "float8_e4m3"}, "axes": {"scales": ["none", "tensor", "row"]})");
  EXPECT_EQ(r.gate.exit_code, 0) << ::testing::PrintToString(r);
}

TEST_F(Gemm, EveryAlgorithmIsJudgedAndTheOneThatErrsIsNamed) {
  CheckOutcome r = Check("gemm.matmul", Params("float16", R"("algo": "every")"));
  EXPECT_EQ(r.Outcome(), "passed") << ::testing::PrintToString(r);
  Set("FAKE_CUBLASLT_FAULT", "tail");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "61");
  r = Check("gemm.matmul", Params("float16", R"("algo": "every")"));
  EXPECT_THAT(r.Slugs(), ElementsAre("matmul-wrong-value"));
  EXPECT_THAT(r.Detail(),
              AllOf(HasSubstr("algorithm 61, tile 1"), HasSubstr("algorithm 60"), HasSubstr("is right")));
  EXPECT_EQ(Check("gemm.matmul", Params("float16")).Outcome(), "passed") << "the first is another";
}

TEST_F(Gemm, EveryFaultHasItsFinding) {
  const std::string wrong = "matmul-wrong-value";
  ExpectRed("tail", Params("float32"), wrong, "first (row=");
  ExpectRed("transposes", Params("float16", R"("trans": "nt")", "24x24x24"), wrong);
  ExpectRed("ld", Params("float32", R"("padding": 3)"), wrong);
  ExpectRed("stride", Params("float16", R"("batch": 3)"), wrong, "(batch=1,row=");
  ExpectRed("beta", Params("float32", R"("beta": 1.0)"), wrong);
  ExpectRed("alpha", Params("float64", R"("alpha": 2.0)"), wrong);
  ExpectRed("bias", Params("float16", R"("epilogue": "bias")"), wrong);
  ExpectRed("relu", Params("float32", R"("epilogue": "bias_relu")"), wrong);
  ExpectRed("tf32", Params("float32"), wrong);
  ExpectRed("padding", Params("float32", R"("padding": 3)"), wrong, "padding (row=24,column=0)");
  ExpectRed("scale", Params("float8_e4m3", R"("scales": "row")", "32x48x64"), wrong);
  ExpectRed("saturated", Params("int8"), wrong);
  ExpectRed("wrong:32", Params("float32"), wrong, "(row=23,column=17)");
  ExpectRed("nothing", Params("float32"), "matmul-not-written", "432 of 432");
  ExpectRed("behind", Params("float32"), "matmul-out-of-bounds-write");
  ExpectRed("input", Params("float32"), "matmul-input-modified", "at byte");
}

TEST_F(Gemm, AWorkspaceThatIsOverrunIsSeen) {
  Set("FAKE_CUBLASLT_FAULT", "workspace");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "61");
  EXPECT_THAT(Check("gemm.matmul", Params("float32", R"("algo": "every")")).Slugs(),
              ElementsAre("matmul-out-of-bounds-write"));
}

TEST_F(Gemm, ARaceIsNoRightResult) {
  Set("FAKE_CUBLASLT_FAULT", "races");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "60");
  const CheckOutcome r = Check("gemm.matmul", Params("float32"));
  EXPECT_EQ(r.Outcome(), "failed");
  EXPECT_THAT(r.Slugs(), ElementsAre("matmul-not-repeatable"));
}

TEST_F(Gemm, Tf32IsRightWhereItIsAllowed) {
  Set("FAKE_CUBLASLT_FAULT", "tf32");
  EXPECT_EQ(Check("gemm.matmul", Params("float32", R"("math": "tf32")")).Outcome(), "passed");
}

TEST_F(Gemm, AWorkspaceIsNotLargerThanItMayBe) {
  const CheckOutcome none =
      Check("gemm.matmul", Params("float32", R"("algo": "every", "workspace": "none")"));
  EXPECT_EQ(none.Measured("choices_passed"), 2) << ::testing::PrintToString(none);
  const CheckOutcome all = Check("gemm.matmul", Params("float32", R"("algo": "every")"));
  EXPECT_EQ(all.Measured("choices_passed"), 3);
}

TEST_F(Gemm, AnAlgorithmThatWantsMoreWorkspaceThanItMayIsRed) {
  Set("FAKE_CUBLASLT_FAULT", "more_workspace");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "any");
  const CheckOutcome every =
      Check("gemm.matmul", Params("float32", R"("algo": "every", "workspace": "none")"));
  EXPECT_THAT(every.Slugs(), ElementsAre("matmul-workspace-understated")) << ::testing::PrintToString(every);
  EXPECT_THAT(every.Detail(), Mentions("0 bytes", "workspace", "cuBLASLt 13.1.0"));
  EXPECT_EQ(Check("gemm.matmul", Params("float32", R"("algo": "every")")).Outcome(), "passed");
}

TEST_F(Gemm, WhatIsNotOfferedIsSkippedAndWhatFailsIsNamed) {
  Set("FAKE_CUBLASLT_ALGORITHMS", "0");
  CheckOutcome r = Check("gemm.matmul", Params("float16"));
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "unsupported");
  EXPECT_THAT(r.Skip("seen"), HasSubstr("cublasLtMatmulAlgoGetHeuristic: 15 CUBLAS_STATUS_NOT_SUPPORTED"));
  Set("FAKE_CUBLASLT_ALGORITHMS", "3");
  Set("FAKE_CUBLASLT_FAULT", "call:cublasLtMatmulPreferenceCreate:0:13");
  r = Check("gemm.matmul", Params("float16"));
  EXPECT_THAT(r.Slugs(), ElementsAre("matmul-failed"));
  EXPECT_THAT(r.Detail(), HasSubstr("cublasLtMatmulPreferenceCreate: 13 CUBLAS_STATUS_OTHER"));
}

TEST_F(Gemm, AKnownFaultIsNamedWithTheReleaseToTake) {
  Set("FAKE_CUBLASLT_ALGORITHMS", "7");
  Set("FAKE_CUBLASLT_FAULT", "tail");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "66");
  Set("FAKE_CUBLASLT_SAYS", "120804");
  const std::string every = Params("float16", R"("algo": "every")");
  EXPECT_THAT(Check("gemm.matmul", every).Detail(),
              Mentions("known: wrong", "cuBLAS from 12.8.0", "fixed in 12.9.2", "pytorch/issues/178333",
                       "cuBLAS 12.9.2 or later"));
  Set("FAKE_CUBLASLT_SAYS", "120902");
  EXPECT_THAT(Check("gemm.matmul", every).Detail(),
              AllOf(HasSubstr("algorithm 66"), Not(HasSubstr("known:"))));
  Set("FAKE_CUBLASLT_SAYS", "120804");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "65");
  EXPECT_THAT(Check("gemm.matmul", every).Detail(),
              AllOf(HasSubstr("algorithm 65"), Not(HasSubstr("known:"))));
}

TEST_F(Gemm, ParametersThatMakeNoSenseAreRefused) {
  for (const char* params :
       {R"("dtype": "float16", "size": "24x18")", R"("dtype": "float16", "size": "0x1x1")",
        R"("dtype": "float16", "size": "1x1x1x1")", R"("dtype": "float16", "size": "8x8x8", "math": "tf32")",
        R"("dtype": "float16", "size": "2147483647x2147483647x1")",
        R"("dtype": "float16", "size": "8192x8192x1", "batch": 65536)",
        R"("dtype": "float16", "size": "2147483647x1x1", "padding": 4096, "batch": 65536)",
        R"("dtype": "float16", "size": "1x1x2147483647")",
        R"("dtype": "float16", "size": "251x241x262144", "batch": 5)",
        R"("dtype": "float16", "size": "8x8x8", "alpha": 3.0)",
        R"("dtype": "float16", "size": "8x8x8", "alpha": 0.0)",
        R"("dtype": "int8", "size": "8x8x8", "epilogue": "bias")",
        R"("dtype": "float16", "size": "8x8x8", "scales": "row")",
        R"("dtype": "float8_e4m3", "size": "8x8x8", "scales": "row", "beta": 1.0)"}) {
    const GateResult r = Run(Entry("gemm.matmul", "\"params\": {" + std::string(params) + "}"));
    EXPECT_EQ(r.exit_code, 2) << params << r.out << r.err;
  }
}

}  // namespace
}  // namespace cudnn_ci
