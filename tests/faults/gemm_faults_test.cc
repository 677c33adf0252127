// Matrix products that fail, return wrong numbers or write elsewhere, on a machine that is otherwise sound.
#include "fault_machines.h"

namespace cudnn_ci {
namespace {

// One product, where the first algorithm of the fake cuBLASLt has this fault, or every one.
Make Product(const std::string& fault, bool of_all = false) {
  return With(Entry("gemm.matmul", R"("params": {"dtype": "float64", "size": "24x18x40"})"),
              [fault, of_all](FaultTest& t) {
                t.Set("FAKE_CUBLASLT_FAULT", fault);
                // toolkit.gemm names no algorithm.
                t.Set("FAKE_CUBLASLT_FAULTY_ALGORITHM", of_all ? "any" : "60");
              });
}

// A grouped call, one group of which is empty, where the fake cuBLAS has this fault.
Make Grouped(const std::string& fault) {
  return With(Entry("gemm.grouped", R"("name": "groups", "params": {"dtype": "float32",
                    "groups": ["24x18x40", "24x0x40", "24x18x40 beta=1"]})"),
              [fault](FaultTest& t) { t.Set("FAKE_CUBLAS_FAULT", fault); });
}

std::vector<Fault> Products() {
  return Joined({
      Showing("wrong matrix product",
              {Image("product_without_its_tail", Product("tail"), "matmul-wrong-value", {"algorithm 60"}),
               Image("product_not_written", Product("nothing"), "matmul-not-written", {"432 of 432"}),
               Image("grouped_product_behind_an_empty_one", Grouped("shift"), "matmul-wrong-value",
                     {"(group=2,", "cublasGemmEx"}),
               Image("grouped_product_left_out", Grouped("row"), "matmul-wrong-value",
                     {"18 of 864", "(group=2,product=0,row=23,column=0)"})}),
      Showing("matrix product that every algorithm has wrong", {Fault{"product_wrong_by_every_algorithm",
                                                                      Product("tail", true),
                                                                      "matmul-wrong-value-unexplained",
                                                                      "undetermined",
                                                                      6,
                                                                      {"2 of 2"}}}),
      Showing(
          "matrix product that writes elsewhere",
          {Image("product_writes_behind_d", Product("behind"), "matmul-out-of-bounds-write", {"end of D"}),
           Image("product_changes_a", Product("input"), "matmul-input-modified", {"A changed"})}),
      Showing("matrix product that fails",
              {Image("heuristics_failed", Product("call:cublasLtMatmulPreferenceCreate:0:14"),
                     "matmul-failed", {"cublasLtMatmulPreferenceCreate: 14"})}),
      Showing("matrix products that change",
              {Runner("product_that_varies", Product("races"), "matmul-not-repeatable", {"1 of 432"})}),
  });
}

INSTANTIATE_TEST_SUITE_P(Gemm, FaultTableTest, ::testing::ValuesIn(Products()), NameOfFault);

}  // namespace
}  // namespace cudnn_ci
