// The binding of cuBLASLt.
#include "common/cublaslt_api.h"

namespace cudnn_ci {
namespace {

const Sonames kSonames = {{13, "libcublasLt.so.13"}, {12, "libcublasLt.so.12"}, {11, "libcublasLt.so.11"}};

// Of cublasLt.h, cublas_api.h and library_types.h.
constexpr int kCompute32F = 68, kReal32F = 0, kReal16F = 2;
constexpr int kOperationTransA = 3;      // an attribute; its value is an int32
constexpr std::int32_t kTransposed = 1;  // CUBLAS_OP_T

int DataType(GemmType type) { return type == GemmType::kFloat16 ? kReal16F : kReal32F; }

}  // namespace

std::string CublasLtApi::Names() { return JoinedSonames(kSonames); }

bool CublasLtApi::Load(const Promise& promise, const std::vector<std::string>& subject_folders) {
  load_ = LoadPromised(kSonames, promise, subject_folders, &library_);
  if (library_.loaded()) Bind();
  return library_.loaded();
}

void CublasLtApi::Bind() {
  version_.Bind(library_, "cublasLtGetVersion");
  status_name_.Bind(library_, "cublasLtGetStatusName");
  create_.Bind(library_, "cublasLtCreate");
  destroy_.Bind(library_, "cublasLtDestroy");
  operation_create_.Bind(library_, "cublasLtMatmulDescCreate");
  operation_set_.Bind(library_, "cublasLtMatmulDescSetAttribute");
  operation_destroy_.Bind(library_, "cublasLtMatmulDescDestroy");
  layout_create_.Bind(library_, "cublasLtMatrixLayoutCreate");
  layout_destroy_.Bind(library_, "cublasLtMatrixLayoutDestroy");
  multiply_.Bind(library_, "cublasLtMatmul");
}

// 120804 and 130100.
std::string CublasLtVersionText(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

std::string CublasLtApi::Version() const { return CublasLtVersionText(version_()); }

void CublasLtApi::Require(int status, const char* call) const {
  if (status == 0) return;
  const char* name = status_name_ ? status_name_(status) : nullptr;
  throw CublasError(
      status, std::string(call) + ": " + std::to_string(status) + (name ? std::string(" ") + name : ""));
}

void CublasLtApi::Create() { Require(create_(&handle_), "cublasLtCreate"); }

void CublasLtApi::Destroy() { Require(destroy_(handle_), "cublasLtDestroy"); }

CublasLtApi::Operation CublasLtApi::NewOperation() const {
  Operation operation = nullptr;
  Require(operation_create_(&operation, kCompute32F, kReal32F), "cublasLtMatmulDescCreate");
  Require(operation_set_(operation, kOperationTransA, &kTransposed, sizeof kTransposed),
          "cublasLtMatmulDescSetAttribute");
  return operation;
}

// Matrices are column by column here: one that stands row by row is its transpose.
CublasLtApi::Layout CublasLtApi::NewLayout(GemmType type, std::uint64_t rows, std::uint64_t columns) const {
  Layout layout = nullptr;
  Require(layout_create_(&layout, DataType(type), rows, columns, static_cast<std::int64_t>(rows)),
          "cublasLtMatrixLayoutCreate");
  return layout;
}

// What a call that fails leaves behind is small, and goes with the process.
void CublasLtApi::Multiply(const Gemm& gemm) const {
  const auto address = [](std::uint64_t device) { return reinterpret_cast<void*>(device); };
  const float alpha = 1, beta = 0;
  Operation operation = NewOperation();
  Layout a = NewLayout(gemm.type, gemm.k, gemm.m), b = NewLayout(gemm.type, gemm.k, gemm.n),
         d = NewLayout(gemm.type, gemm.m, gemm.n);
  // Without an algorithm it asks its own heuristics, as most callers do.
  Require(multiply_(handle_, operation, &alpha, address(gemm.a), a, address(gemm.b), b, &beta,
                    address(gemm.d), d, address(gemm.d), d, nullptr, nullptr, 0, nullptr),
          "cublasLtMatmul");
  for (Layout layout : {a, b, d}) Require(layout_destroy_(layout), "cublasLtMatrixLayoutDestroy");
  Require(operation_destroy_(operation), "cublasLtMatmulDescDestroy");
}

}  // namespace cudnn_ci
