// cuBLASLt, the toolkit's matrix products, bound at run time: as much of it as products need. Prototypes
// and constants by hand (https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api): they are the same from
// CUDA 11 on. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUBLASLT_API_H_
#define CUDNN_CI_PLUGINS_COMMON_CUBLASLT_API_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/late_function.h"
#include "common/promised_library.h"

namespace cudnn_ci {

// A call of cuBLASLt that failed: "cublasLtMatmul: 15 CUBLAS_STATUS_NOT_SUPPORTED".
class CublasError : public std::runtime_error {
 public:
  CublasError(int status, const std::string& what) : std::runtime_error(what), status_(status) {}
  int status() const { return status_; }
  // Device memory ran out.
  bool IsOutOfMemory() const { return status_ == 3; }  // CUBLAS_STATUS_ALLOC_FAILED

 private:
  int status_;
};

// The type of all three matrices; sums are float32.
enum class GemmType { kFloat32, kFloat16 };

// D (m x n) = A (m x k) by B (k x n), by addresses of device memory. A stands row by row, B and D column by
// column, all without gaps.
struct Gemm {
  GemmType type = GemmType::kFloat32;
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t a = 0, b = 0, d = 0;
};

// A matrix in device memory, column by column. Types are those of library_types.h.
struct LtMatrix {
  int type = 0;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t ld = 0;  // elements from one column to the next
  std::int32_t batch = 1;
  std::int64_t stride = 0;  // elements from one matrix of the batch to the next
};

// D = epilogue(alpha op(A) op(B) + beta C), of which C and D have one layout. Addresses are of device memory.
struct LtProduct {
  int compute = 0, scale = 0;  // cublasComputeType_t, and the type of alpha and beta
  bool transpose_a = false, transpose_b = false;
  LtMatrix a, b, d;
  int epilogue = 1;  // cublasLtEpilogue_t; 1: none
  int bias_type = 0;
  int scale_mode = 0;  // cublasLtMatmulMatrixScale_t of A and B
  const void *bias = nullptr, *a_scale = nullptr, *b_scale = nullptr;  // null: none
};

// A way to compute a product, as the library's heuristics name it.
struct LtAlgorithm {
  std::array<std::uint64_t, 8> opaque{};
  std::size_t workspace_bytes = 0;
  int id = -1, tile = -1, stages = -1, split_k = -1;

  // "algorithm 66, tile 20, stages 5, split-K 1".
  std::string Text() const;
};

// What a call needs beside the product. `alpha` and `beta` are of the product's scale type.
struct LtCall {
  const void *alpha = nullptr, *beta = nullptr;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
  const LtAlgorithm* algorithm = nullptr;  // null: the library asks its own heuristics, as most callers do
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  void* stream = nullptr;
};

// "13.1.0" of what cublasLtGetVersion gives: 130100.
std::string CublasLtVersionText(std::size_t version);

class CublasLtApi {
 public:
  // As LoadPromised. False: load().error says why.
  bool Load(const Promise& promise, const std::vector<std::string>& subject_folders);
  const PromisedLoad& load() const { return load_; }
  std::string path() const { return library_.Path(); }
  // "13.1.0". Throws MissingSymbol where it does not say.
  std::string Version() const;
  // The sonames that Load tries, for messages.
  static std::string Names();

  // One handle, in the current context. Both throw CublasError, or MissingSymbol of a library that lacks a
  // function.
  void Create();
  void Destroy();
  // Enqueues the product with the handle, on the default stream and without a workspace; throws as they do.
  void Multiply(const Gemm& gemm) const;
  // The first so many algorithms for a product that its heuristics name, in their order.
  std::vector<LtAlgorithm> Algorithms(const LtProduct& product, std::size_t workspace_limit, int most) const;
  // Enqueues the product.
  void Multiply(const LtProduct& product, const LtCall& call) const;

 private:
  using Handle = struct cublasLtContext*;
  using Operation = struct cublasLtMatmulDescOpaque*;
  using Layout = struct cublasLtMatrixLayoutOpaque*;
  using Preference = struct cublasLtMatmulPreferenceOpaque*;
  struct HeuristicResult;  // cublasLtMatmulHeuristicResult_t
  class Description;       // of a product, as the library holds it
  void Bind();
  void Require(int status, const char* call) const;
  LtAlgorithm AlgorithmOf(const HeuristicResult& result) const;

  PromisedLoad load_;
  LateLibrary library_;
  Handle handle_ = nullptr;
  LateFunction<std::size_t()> version_;
  LateFunction<const char*(int)> status_name_;
  LateFunction<int(Handle*)> create_;
  LateFunction<int(Handle)> destroy_;
  LateFunction<int(Operation*, int, int)> operation_create_;
  LateFunction<int(Operation, int, const void*, std::size_t)> operation_set_;
  LateFunction<int(Operation)> operation_destroy_;
  LateFunction<int(Layout*, int, std::uint64_t, std::uint64_t, std::int64_t)> layout_create_;
  LateFunction<int(Layout, int, const void*, std::size_t)> layout_set_;
  LateFunction<int(Layout)> layout_destroy_;
  LateFunction<int(Handle, Operation, const void*, const void*, Layout, const void*, Layout, const void*,
                   const void*, Layout, void*, Layout, const void*, void*, std::size_t, void*)>
      multiply_;
  LateFunction<int(Preference*)> preference_create_;
  LateFunction<int(Preference, int, const void*, std::size_t)> preference_set_;
  LateFunction<int(Preference)> preference_destroy_;
  LateFunction<int(Handle, Operation, Layout, Layout, Layout, Layout, Preference, int, HeuristicResult*,
                   int*)>
      heuristic_;
  LateFunction<int(const void*, int, void*, std::size_t, std::size_t*)> algorithm_get_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUBLASLT_API_H_
