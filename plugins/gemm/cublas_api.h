// cuBLAS itself (libcublas), bound at run time: as much of it as grouped products need. Prototypes by hand
// (https://docs.nvidia.com/cuda/cublas/#using-the-cublas-api); they are those of CUDA 11 and later, and
// grouped products those of cuBLAS 12.5 and later. Judges nothing.
#ifndef CUDNN_CI_PLUGINS_GEMM_CUBLAS_API_H_
#define CUDNN_CI_PLUGINS_GEMM_CUBLAS_API_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/late_function.h"
#include "common/promised_library.h"

namespace cudnn_ci {

// What is the same for all groups. Types are those of library_types.h and cublasComputeType_t.
struct CublasTypes {
  int matrix = 0, scale = 0, compute = 0;
};

// What each group has, a number a group, and how many products it has of that.
struct CublasGroups {
  std::vector<int> transpose_a, transpose_b, m, n, k, lda, ldb, ldc, products;  // transposes: 1
  std::vector<double> alpha, beta;
};

// Arrays of the addresses of the matrices of all products, one group behind the other. The arrays lie in
// device memory.
struct CublasPointers {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
};

// As thread-safe as a handle is: one thread at a time. Functions throw CublasError naming call and status, or
// MissingSymbol of a library that lacks the function.
class CublasApi {
 public:
  // As LoadPromised. False: load().error says why.
  bool Load(const Promise& promise, const std::vector<std::string>& subject_folders);
  const PromisedLoad& load() const { return load_; }
  bool loaded() const { return library_.loaded(); }
  std::string path() const { return library_.Path(); }
  // "13.1.0", as cublasGetProperty says.
  std::string Version() const;
  // The sonames that Load tries, for messages.
  static std::string Names();

  // One handle, in the current context; harmless where there is one.
  void Create();
  bool created() const { return handle_ != nullptr; }
  // On which all further calls launch; null: the default one. Workspace as before the first SetWorkspace.
  void SetStream(void* stream);
  // Device memory, aligned to 256 bytes.
  void SetWorkspace(void* memory, std::size_t bytes) const;
  // Enqueues C = alpha op(A) op(B) + beta C for all products of all groups.
  void MultiplyGrouped(const CublasTypes& types, const CublasGroups& groups,
                       const CublasPointers& pointers) const;
  // Enqueues one product as the group has it, by addresses of device memory.
  void MultiplyOne(const CublasTypes& types, const CublasGroups& groups, std::size_t group, const void* a,
                   const void* b, void* c) const;

 private:
  using Handle = struct cublasContext*;
  void Bind();
  void Require(int status, const char* call) const;

  PromisedLoad load_;
  LateLibrary library_;
  Handle handle_ = nullptr;
  LateFunction<int(int, int*)> property_;
  LateFunction<const char*(int)> status_name_;
  LateFunction<int(Handle*)> create_;
  LateFunction<int(Handle, void*)> set_stream_;
  LateFunction<int(Handle, void*, std::size_t)> set_workspace_;
  LateFunction<int(Handle, const int*, const int*, const int*, const int*, const int*, const void*,
                   const void*, int, const int*, const void*, int, const int*, const void*, const void*, int,
                   const int*, int, const int*, int)>
      grouped_;
  LateFunction<int(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                   const void*, void*, int, int, int, int)>
      one_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_CUBLAS_API_H_
