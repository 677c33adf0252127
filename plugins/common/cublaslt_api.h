// cuBLASLt, the toolkit's matrix products, bound at run time: as much of it as one product needs. Prototypes
// and constants by hand (https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api): they are the same from
// CUDA 11 on. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_COMMON_CUBLASLT_API_H_
#define CUDNN_CI_PLUGINS_COMMON_CUBLASLT_API_H_

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

 private:
  using Handle = struct cublasLtContext*;
  using Operation = struct cublasLtMatmulDescOpaque*;
  using Layout = struct cublasLtMatrixLayoutOpaque*;
  void Bind();
  void Require(int status, const char* call) const;
  Operation NewOperation() const;
  Layout NewLayout(GemmType type, std::uint64_t rows, std::uint64_t columns) const;

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
  LateFunction<int(Layout)> layout_destroy_;
  LateFunction<int(Handle, Operation, const void*, const void*, Layout, const void*, Layout, const void*,
                   const void*, Layout, void*, Layout, const void*, void*, std::size_t, void*)>
      multiply_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_CUBLASLT_API_H_
