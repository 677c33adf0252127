// The binding of cuBLASLt.
#include "common/cublaslt_api.h"

#include <utility>

namespace cudnn_ci {
namespace {

const Sonames kSonames = {{13, "libcublasLt.so.13"}, {12, "libcublasLt.so.12"}, {11, "libcublasLt.so.11"}};

// Of cublasLt.h, cublas_api.h and library_types.h.
constexpr int kCompute32F = 68, kReal32F = 0, kReal16F = 2;
constexpr std::int32_t kTransposed = 1;  // CUBLAS_OP_T
constexpr int kDefaultEpilogue = 1;
// Attributes of an operation, a layout, a preference and an algorithm.
enum OperationAttribute {
  kTransA = 3,
  kTransB = 4,
  kEpilogue = 7,
  kBiasPointer = 8,
  kScalePointerA = 17,
  kScalePointerB = 18,
  kBiasType = 26,
  kScaleModeA = 31,
  kScaleModeB = 32
};
enum LayoutAttribute { kBatchCount = 5, kBatchStride = 6 };
constexpr int kMaxWorkspaceBytes = 1;
enum AlgorithmAttribute { kId = 0, kTile = 1, kSplitK = 2, kStages = 6 };

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
  layout_set_.Bind(library_, "cublasLtMatrixLayoutSetAttribute");
  layout_destroy_.Bind(library_, "cublasLtMatrixLayoutDestroy");
  multiply_.Bind(library_, "cublasLtMatmul");
  preference_create_.Bind(library_, "cublasLtMatmulPreferenceCreate");
  preference_set_.Bind(library_, "cublasLtMatmulPreferenceSetAttribute");
  preference_destroy_.Bind(library_, "cublasLtMatmulPreferenceDestroy");
  heuristic_.Bind(library_, "cublasLtMatmulAlgoGetHeuristic");
  algorithm_get_.Bind(library_, "cublasLtMatmulAlgoConfigGetAttribute");
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

struct CublasLtApi::HeuristicResult {
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// What a call that fails leaves behind is small, and goes with the process.
class CublasLtApi::Description {
 public:
  Description(const CublasLtApi& api, const LtProduct& product) : api_(api) {
    api_.Require(api_.operation_create_(&operation, product.compute, product.scale),
                 "cublasLtMatmulDescCreate");
    a = NewLayout(product.a), b = NewLayout(product.b), d = NewLayout(product.d);
    if (product.transpose_a) Set(kTransA, kTransposed);
    if (product.transpose_b) Set(kTransB, kTransposed);
    if (product.epilogue != kDefaultEpilogue) Set(kEpilogue, static_cast<std::uint32_t>(product.epilogue));
    if (product.bias) {
      Set(kBiasPointer, product.bias);
      Set(kBiasType, static_cast<std::int32_t>(product.bias_type));
    }
    if (product.scale_mode != 0) {
      Set(kScaleModeA, static_cast<std::int32_t>(product.scale_mode));
      Set(kScaleModeB, static_cast<std::int32_t>(product.scale_mode));
    }
    if (product.a_scale) Set(kScalePointerA, product.a_scale);
    if (product.b_scale) Set(kScalePointerB, product.b_scale);
  }
  void Destroy() {
    for (Layout layout : {a, b, d}) api_.Require(api_.layout_destroy_(layout), "cublasLtMatrixLayoutDestroy");
    api_.Require(api_.operation_destroy_(operation), "cublasLtMatmulDescDestroy");
  }

  Operation operation = nullptr;
  Layout a = nullptr, b = nullptr, d = nullptr;

 private:
  template <class T>
  void Set(int attribute, const T& value) {
    api_.Require(api_.operation_set_(operation, attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute");
  }
  Layout NewLayout(const LtMatrix& matrix) const {
    Layout layout = nullptr;
    api_.Require(api_.layout_create_(&layout, matrix.type, matrix.rows, matrix.columns, matrix.ld),
                 "cublasLtMatrixLayoutCreate");
    if (matrix.batch == 1) return layout;
    const char* const call = "cublasLtMatrixLayoutSetAttribute";
    api_.Require(api_.layout_set_(layout, kBatchCount, &matrix.batch, sizeof matrix.batch), call);
    api_.Require(api_.layout_set_(layout, kBatchStride, &matrix.stride, sizeof matrix.stride), call);
    return layout;
  }
  const CublasLtApi& api_;
};

std::string LtAlgorithm::Text() const {
  return "algorithm " + std::to_string(id) + ", tile " + std::to_string(tile) + ", stages " +
         std::to_string(stages) + ", split-K " + std::to_string(split_k);
}

// What an algorithm does not tell stays -1.
LtAlgorithm CublasLtApi::AlgorithmOf(const HeuristicResult& result) const {
  LtAlgorithm algorithm;
  algorithm.opaque = result.algorithm;
  algorithm.workspace_bytes = result.workspace_bytes;
  for (const auto& [attribute, value] : {std::pair<int, int*>{kId, &algorithm.id},
                                         {kTile, &algorithm.tile},
                                         {kStages, &algorithm.stages},
                                         {kSplitK, &algorithm.split_k}}) {
    std::size_t written = 0;
    std::int32_t got = -1;
    if (algorithm_get_(algorithm.opaque.data(), attribute, &got, sizeof got, &written) == 0) *value = got;
  }
  return algorithm;
}

std::vector<LtAlgorithm> CublasLtApi::Algorithms(const LtProduct& product, std::size_t workspace_limit,
                                                 int most) const {
  Description description(*this, product);
  Preference preference = nullptr;
  Require(preference_create_(&preference), "cublasLtMatmulPreferenceCreate");
  const auto limit = static_cast<std::uint64_t>(workspace_limit);
  Require(preference_set_(preference, kMaxWorkspaceBytes, &limit, sizeof limit),
          "cublasLtMatmulPreferenceSetAttribute");
  std::vector<HeuristicResult> results(static_cast<std::size_t>(most));
  int count = 0;
  Require(heuristic_(handle_, description.operation, description.a, description.b, description.d,
                     description.d, preference, most, results.data(), &count),
          "cublasLtMatmulAlgoGetHeuristic");
  Require(preference_destroy_(preference), "cublasLtMatmulPreferenceDestroy");
  description.Destroy();
  std::vector<LtAlgorithm> algorithms;
  for (int i = 0; i < count; ++i)
    if (const HeuristicResult& result = results[static_cast<std::size_t>(i)]; result.state == 0)
      algorithms.push_back(AlgorithmOf(result));
  return algorithms;
}

void CublasLtApi::Multiply(const LtProduct& product, const LtCall& call) const {
  Description description(*this, product);
  Require(multiply_(handle_, description.operation, call.alpha, call.a, description.a, call.b, description.b,
                    call.beta, call.c, description.d, call.d, description.d,
                    call.algorithm ? call.algorithm->opaque.data() : nullptr, call.workspace,
                    call.workspace_bytes, call.stream),
          "cublasLtMatmul");
  description.Destroy();
}

// Matrices are column by column here: one that stands row by row is its transpose.
void CublasLtApi::Multiply(const Gemm& gemm) const {
  const auto address = [](std::uint64_t device) { return reinterpret_cast<void*>(device); };
  const auto matrix = [&gemm](std::uint64_t rows, std::uint64_t columns) {
    return LtMatrix{DataType(gemm.type), rows, columns, static_cast<std::int64_t>(rows)};
  };
  LtProduct product;
  product.compute = kCompute32F, product.scale = kReal32F, product.transpose_a = true;
  product.a = matrix(gemm.k, gemm.m), product.b = matrix(gemm.k, gemm.n), product.d = matrix(gemm.m, gemm.n);
  const float alpha = 1, beta = 0;
  LtCall call;
  call.alpha = &alpha, call.beta = &beta;
  call.a = address(gemm.a), call.b = address(gemm.b), call.c = address(gemm.d), call.d = address(gemm.d);
  Multiply(product, call);
}

}  // namespace cudnn_ci
