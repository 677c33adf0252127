// gemm.grouped, from the matrix to the verdict, against a fake cuBLAS that computes real grouped products, or
// errs in them.
#include "shipped_test.h"

namespace cudnn_ci {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Two groups of one size, an empty one of each kind, and one with two products.
constexpr char kGroups[] =
    R"("groups": ["24x18x40 alpha=2", "0x18x40", "24x18x40*0", "24x0x40", "24x18x40*2 alpha=-1 beta=0.5 padding=8"])";

class Grouped : public ShippedTest {
 protected:
  // Of these groups in one type.
  static std::string Entry(const std::string& groups = kGroups,
                           const std::string& rest = R"("dtype": "float32")") {
    return R"("name": "groups", "params": {)" + groups + ", " + rest + "}";
  }
  void ExpectRed(const std::string& fault, const std::string& slug, const std::string& words,
                 const std::string& entry = Entry()) {
    Set("FAKE_CUBLAS_FAULT", fault);
    const CheckOutcome r = Check("gemm.grouped", entry);
    EXPECT_EQ(r.Outcome(), "failed") << fault << ::testing::PrintToString(r);
    EXPECT_THAT(r.Slugs(), ElementsAre(slug)) << fault;
    EXPECT_THAT(r.Detail(),
                AllOf(HasSubstr("cublasGemmGroupedBatchedEx, cuBLAS 13.1.0 (/"), HasSubstr(words)))
        << fault;
    // What is wrong is asked for its kernels.
    const bool named = r.Detail().find("fake_grouped_gemm") != std::string::npos;
    EXPECT_EQ(named, slug == "matmul-wrong-value") << fault;
  }
};

TEST_F(Grouped, HealthyLibraryPassesInEveryTypeAndTranspose) {
  for (
      const char* groups :
      {kGroups, R"("groups": ["17x19x23*3", "1x1x1", "1x33x8", "33x1x8 padding=1", "8x9x1*2 nn beta=1"])",
       R"("groups": ["16x8x0", "24x18x40 tt", "16x8x0 beta=2 padding=3", "0x0x0", "9x9x9 nt alpha=-0.5"])"}) {
    const CheckOutcome r = Check("gemm.grouped", R"("name": "groups", "params": {)" + std::string(groups) +
                                                     R"(}, "axes": {
        "dtype": ["float64", "float32", "float16", "bfloat16"], "trans": ["nn", "tn", "nt", "tt"]})");
    EXPECT_EQ(r.gate.exit_code, 0) << groups << ::testing::PrintToString(r);
    EXPECT_EQ(r.gate.report["totals"]["passed"], r.gate.report["totals"]["planned"]);
    EXPECT_THAT(r.record["id"], HasSubstr("gemm.grouped[dtype=float64,math=default,name=groups,"));
  }
}

TEST_F(Grouped, EveryFaultHasItsFinding) {
  const std::string wrong = "matmul-wrong-value";
  ExpectRed("pointer", wrong, "(group=0,product=0,row=");
  ExpectRed("alpha", wrong, "(group=4,product=0,row=");
  ExpectRed("beta", wrong, "(group=4,product=0,row=");
  ExpectRed("ld", wrong, "(group=4,");
  ExpectRed("trans", wrong, "(group=1,",
            Entry(R"("groups": ["24x24x24", "24x24x24 nt"])", R"("dtype": "float32")"));
  ExpectRed("depth", wrong, "(group=1,",
            Entry(R"("groups": ["24x24x9", "24x24x24"])", R"("dtype": "float16")"));
  ExpectRed("tail", wrong, "first (group=0,product=0,row=");
  ExpectRed("tf32", wrong, "(group=0,");
  ExpectRed("empty", wrong, "padding (group=1,product=0,row=0,column=0)");
  ExpectRed("padding", wrong, "padding (group=4,product=0,row=24,column=0)");
  ExpectRed("behind", "matmul-out-of-bounds-write", "the end",
            Entry(R"("groups": ["24x18x40", "24x18x40"])"));
  ExpectRed("workspace", "matmul-out-of-bounds-write", "workspace");
  ExpectRed("input", "matmul-input-modified", "at byte");
}

// What the call adds C to holds C already, so that what is not written may be C's.
TEST_F(Grouped, WhatIsLeftOutIsSeen) {
  const std::string unwritten = "matmul-not-written", two = R"("groups": ["24x18x40", "16x18x40*2"])";
  ExpectRed("skipped", unwritten, "576 of 1008 elements", Entry(two));
  ExpectRed("row", unwritten, "(group=1,product=0,row=15,column=0)", Entry(two));
  ExpectRed("row", unwritten, "36 of 1008 elements", Entry(two));
  ExpectRed("size", unwritten, "288 of 1008 elements", Entry(two));
  ExpectRed("size", unwritten, "first (group=1,product=1,", Entry(two));
  ExpectRed("unscaled", unwritten, "128 of 560 elements", Entry(R"("groups": ["16x8x0", "24x18x40"])"));
  ExpectRed("unscaled", "matmul-wrong-value", "(group=0,product=0,",
            Entry(R"("groups": ["16x8x0 beta=2", "24x18x40"])"));
  ExpectRed("shift", "matmul-wrong-value", "(group=2,",
            Entry(R"("groups": ["24x18x40", "24x0x40", "24x18x40 beta=1"])"));
}

TEST_F(Grouped, SingleProductsAreAskedWhoIsAtFault) {
  Set("FAKE_CUBLAS_FAULT", "tail");
  EXPECT_THAT(Check("gemm.grouped", Entry()).Detail(), ContainsRegex("cublasGemmEx [^;]*is right"));
  Set("FAKE_CUBLAS_FAULT", "everywhere:tail");
  const CheckOutcome r = Check("gemm.grouped", Entry());
  EXPECT_THAT(r.Slugs(), ElementsAre("matmul-wrong-value-unexplained"));
  EXPECT_THAT(r.Detail(), Mentions("wrong: cublasGemmEx"));
}

TEST_F(Grouped, ARaceIsNoRightResult) {
  Set("FAKE_CUBLAS_FAULT", "races");
  EXPECT_THAT(Check("gemm.grouped", Entry()).Slugs(), ElementsAre("matmul-not-repeatable"));
}

TEST_F(Grouped, Tf32IsRightWhereItIsAllowed) {
  Set("FAKE_CUBLAS_FAULT", "tf32");
  EXPECT_EQ(Check("gemm.grouped", Entry(kGroups, R"("dtype": "float32", "math": "tf32")")).Outcome(),
            "passed");
}

TEST_F(Grouped, ALibraryWithoutGroupedProductsIsSkippedAndADamagedOneIsNot) {
  Set("FAKE_CUBLAS_SAYS", "12.4.5");
  CheckOutcome r = Check("gemm.grouped", Entry());
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "version");
  EXPECT_THAT(r.Skip("need"), HasSubstr("cuBLAS 12.5 or later"));
  EXPECT_THAT(r.Skip("seen"), HasSubstr("cuBLAS 12.4.5 (/"));
  Set("FAKE_CUBLAS_SAYS", "12.5.2");
  EXPECT_EQ(Check("gemm.grouped", Entry()).Outcome(), "passed");
  UseFakes({"libcuda", "nvml", "cublas_ungrouped", "cudart13", "nvrtc", "cudnn"});
  r = Check("gemm.grouped", Entry());
  EXPECT_THAT(r.Slugs(), ElementsAre("matmul-failed")) << ::testing::PrintToString(r);
  EXPECT_THAT(r.Detail(), Mentions("symbol cublasGemmGroupedBatchedEx"));
}

TEST_F(Grouped, WhereThereIsNoCublasItIsSkipped) {
  Promise("image.toolkit", ">=12.0 <13");
  for (const char* file : {"libcublasLt.so.12", "libcudart.so.12"}) Take("cudart12", file);
  UseFakes({"libcuda", "nvml", "nvrtc12", "cudnn"});
  const CheckOutcome r = Check("gemm.grouped", Entry());
  EXPECT_EQ(r.Outcome(), "skipped") << ::testing::PrintToString(r);
  EXPECT_EQ(r.Skip("kind"), "absent");
  EXPECT_THAT(r.Skip("need"), HasSubstr("libcublas.so.12, "));
}

TEST_F(Grouped, WhatIsNotOfferedIsSkippedAndWhatFailsIsNamed) {
  Set("FAKE_CUBLAS_FAULT", "call:cublasGemmGroupedBatchedEx:0:15");
  CheckOutcome r = Check("gemm.grouped", Entry());
  EXPECT_EQ(r.Skip("kind"), "unsupported") << ::testing::PrintToString(r);
  EXPECT_THAT(r.Skip("seen"), HasSubstr("cublasGemmGroupedBatchedEx: 15 CUBLAS_STATUS_NOT_SUPPORTED"));
  for (const char* call : {"cublasGemmGroupedBatchedEx", "cublasSetWorkspace_v2", "cublasCreate_v2"}) {
    Set("FAKE_CUBLAS_FAULT", std::string("call:") + call + ":0:13");
    r = Check("gemm.grouped", Entry());
    EXPECT_THAT(r.Slugs(), ElementsAre("matmul-failed")) << call;
    EXPECT_THAT(r.Detail(), HasSubstr(": 13 CUBLAS_STATUS_OTHER")) << call;
  }
  Set("FAKE_CUBLAS_FAULT", "");
  for (const char* call : {"cuMemcpy2DAsync", "cuMemcpyHtoDAsync"}) {
    Set("FAKE_CUDA_FAULT", std::string("call:") + call + "_v2:0:1");
    r = Check("gemm.grouped", Entry());
    EXPECT_THAT(r.Slugs(), ElementsAre("matmul-failed")) << call;
    EXPECT_THAT(r.Detail(), HasSubstr(std::string(call) + ": 1 CUDA_ERROR_INVALID_VALUE")) << call;
  }
}

// Of what runs in one process each names its own library.
TEST_F(Grouped, ProductsOfBothLibrariesShareAProcess) {
  const std::string product =
      R"({"check": "gemm.matmul", "params": {"dtype": "float32", "size": "24x18x40"}})";
  const std::string grouped = R"({"check": "gemm.grouped", )" + Entry() + "}";
  const GateResult good = Run(grouped + ", " + product);
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  Set("FAKE_CUBLASLT_FAULT", "tail");
  Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", "60");
  const GateResult bad = Run(grouped + ", " + product);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("algorithm 60"), HasSubstr("cuBLASLt 13.1.0")));
}

TEST_F(Grouped, AKnownFaultIsNamedWithTheReleaseToTake) {
  Set("FAKE_CUBLAS_FAULT", "tail");
  Set("FAKE_CUBLAS_SAYS", "13.2.1");
  EXPECT_THAT(Check("gemm.grouped", Entry()).Detail(),
              Mentions("known: wrong", "cuBLAS from 13.2.0", "fixed in 13.3.0", "TransformerEngine/pull/2765",
                       "cuBLAS 13.3.0 or later"));
  EXPECT_THAT(Check("gemm.grouped", Entry(R"("groups": ["24x18x40"])")).Detail(), Not(HasSubstr("known:")));
  Set("FAKE_CUBLAS_SAYS", "13.7.0");
  EXPECT_THAT(Check("gemm.grouped", Entry()).Detail(), Not(HasSubstr("known:"))) << "this GPU is a 9.0";
  Set("FAKE_CC", "10.3");
  EXPECT_THAT(Check("gemm.grouped", Entry()).Detail(), HasSubstr("TransformerEngine/issues/3475"));
}

TEST_F(Grouped, ParametersThatMakeNoSenseAreRefused) {
  const std::string type = R"("dtype": "float16")";
  const auto refused = [this](const std::string& groups, const std::string& rest, const std::string& words) {
    const GateResult r =
        Run(R"({"check": "gemm.grouped", )" + Entry("\"groups\": [" + groups + "]", rest) + "}");
    EXPECT_EQ(r.exit_code, 2) << groups << r.out << r.err;
    EXPECT_THAT(r.out + r.err, Mentions(words)) << groups;
    return r.out + r.err;
  };
  // One group that is wrong by itself is named.
  const auto named = [&](const std::string& group, const std::string& words) {
    EXPECT_THAT(refused('"' + group + '"', type, words), Mentions('"' + group + "\" "));
  };
  for (const char* group :
       {"", "24x18", "24x18x8x1", "-1x2x3", "24x18x8 tx", "24x18x8 gamma=2", "x", "24X18X8"})
    named(group, "17x19x23");
  named("65537x1x1", "65536");
  named("8x8x8*1025", "0 to 1024");
  named("8x8x8*", "0 to 1024");
  refused(R"("8x8x8*600", "8x8x8*600")", type, "1024 products");
  named("8x8x8 alpha=3", "alpha=3, ");
  named("8x8x8 beta=1.5", "beta=1.5, ");
  named("8x8x8 alpha=0", "alpha of 0");
  named("8x8x8 padding=4097", "0 to 4096");
  refused(R"("8192x8192x1")", type, "67108864 elements");
  refused(R"("0x8x8", "8x8x8*0")", type, "empty groups");
  refused("", type, "empty groups");
  refused(R"("8x8x8")", R"("dtype": "float16", "math": "tf32")", "\"math\"");
}

}  // namespace
}  // namespace cudnn_ci
