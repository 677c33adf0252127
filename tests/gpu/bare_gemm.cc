// What the gemm plugin is measured against: asks cuBLASLt's heuristics for the same products and runs what
// they name first as often, with nothing around it, and calls cuBLAS for grouped ones. Independent of the
// project's own code on purpose; links cuBLAS directly.
//
// Each line of the cases: matmul DTYPE MATH EPILOGUE SCALES WORKSPACE and a product, or grouped DTYPE MATH,
// how many groups there are, and their products; a product is TRANS M N K PADDING BATCH ALPHA BETA.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bare_cases.h"
#include "bare_device.h"

namespace {

constexpr int kRuns = 4;  // once to verify, three times to measure: as often as the check calls it
constexpr size_t kGroupedWorkspace = size_t{32} << 20;
constexpr int64_t kGroupedAlignment = 16;  // bytes, at which each matrix of a group begins

struct Type {
  cudaDataType_t of_a, of_d;
  cublasComputeType_t compute;
  cudaDataType_t scale;
  size_t bytes_a, bytes_d;
};
const std::map<std::string, Type> kTypes = {
    {"float64", {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, 8, 8}},
    {"float32", {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 4, 4}},
    {"float16", {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 2}},
    {"bfloat16", {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2, 2}},
    {"int8", {CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I, 1, 4}},
    {"float8_e4m3", {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1, 2}}};
const std::map<std::string, cublasLtEpilogue_t> kEpilogues = {
    {"none", CUBLASLT_EPILOGUE_DEFAULT}, {"bias", CUBLASLT_EPILOGUE_BIAS},
    {"relu", CUBLASLT_EPILOGUE_RELU},    {"bias_relu", CUBLASLT_EPILOGUE_RELU_BIAS},
    {"gelu", CUBLASLT_EPILOGUE_GELU},    {"bias_gelu", CUBLASLT_EPILOGUE_GELU_BIAS}};
const std::map<std::string, size_t> kWorkspaces = {
    {"none", 0}, {"small", size_t{64} << 10}, {"all", size_t{64} << 20}};

void Must(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, cublasLtGetStatusName(status));
  std::exit(1);
}

// A matrix in memory, column by column.
struct Matrix {
  int64_t rows, columns, ld, stride;
};

struct Product {
  std::string trans;
  int64_t m, n, k, padding, batch;
  double alpha, beta;
  int64_t alignment = 1;  // in elements

  bool Read(std::istream* in) {
    *in >> trans >> m >> n >> k >> padding >> batch >> alpha >> beta;
    return !in->fail() && trans.size() == 2;
  }
  cublasOperation_t OpA() const { return trans[0] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cublasOperation_t OpB() const { return trans[1] == 't' ? CUBLAS_OP_T : CUBLAS_OP_N; }
  Matrix A() const { return OpA() == CUBLAS_OP_T ? Layout(k, m) : Layout(m, k); }
  Matrix B() const { return OpB() == CUBLAS_OP_T ? Layout(n, k) : Layout(k, n); }
  Matrix D() const { return Layout(m, n); }

 private:
  Matrix Layout(int64_t rows, int64_t columns) const {
    const int64_t ld = std::max<int64_t>(rows, 1) + padding;
    const int64_t elements = ld * (columns + (padding > 0 ? 1 : 0));
    return {rows, columns, ld, (elements + alignment - 1) / alignment * alignment};
  }
};

// What a call takes as alpha or beta.
struct Factor {
  double f64;
  float f32;
  int32_t i32;
  explicit Factor(double value)
      : f64(value), f32(static_cast<float>(value)), i32(static_cast<int32_t>(value)) {}
  const void* As(cudaDataType_t type) const {
    if (type == CUDA_R_64F) return &f64;
    return type == CUDA_R_32I ? static_cast<const void*>(&i32) : &f32;
  }
};

struct Line {
  std::string dtype, math, epilogue, scales, workspace;
  Product product;

  const Type& type() const { return kTypes.at(dtype); }
  cublasComputeType_t compute() const {
    return math == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : type().compute;
  }
  bool Read(std::istream* in) {
    *in >> dtype >> math >> epilogue >> scales >> workspace;
    return product.Read(in) && kTypes.count(dtype) == 1 && kEpilogues.count(epilogue) == 1 &&
           kWorkspaces.count(workspace) == 1;
  }
};

// A product as the library holds it. Made anew for each call, as the check does.
struct Description {
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t a, b, d;

  Description(const Line& line, const void* bias, const void* scale_a, const void* scale_b) {
    const Type& type = line.type();
    Must(cublasLtMatmulDescCreate(&operation, line.compute(), type.scale), "operation");
    a = New(type.of_a, line.product.A(), line.product.batch);
    b = New(type.of_a, line.product.B(), line.product.batch);
    d = New(type.of_d, line.product.D(), line.product.batch);
    if (line.product.OpA() == CUBLAS_OP_T) Set(CUBLASLT_MATMUL_DESC_TRANSA, line.product.OpA());
    if (line.product.OpB() == CUBLAS_OP_T) Set(CUBLASLT_MATMUL_DESC_TRANSB, line.product.OpB());
    const cublasLtEpilogue_t epilogue = kEpilogues.at(line.epilogue);
    if (epilogue != CUBLASLT_EPILOGUE_DEFAULT) Set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (bias) {
      Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
      Set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type.of_d);
    }
    if (line.scales == "row") {
      const cublasLtMatmulMatrixScale_t rows = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
      Set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, rows);
      Set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, rows);
    }
    if (scale_a) Set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_a);
    if (scale_b) Set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale_b);
  }
  ~Description() {
    for (cublasLtMatrixLayout_t layout : {a, b, d}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(operation);
  }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;

 private:
  template <class T>
  void Set(cublasLtMatmulDescAttributes_t attribute, const T& value) const {
    Must(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value), "attribute");
  }
  static cublasLtMatrixLayout_t New(cudaDataType_t type, const Matrix& matrix, int64_t batch) {
    cublasLtMatrixLayout_t layout;
    Must(cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(matrix.rows),
                                    static_cast<uint64_t>(matrix.columns), matrix.ld),
         "layout");
    if (batch == 1) return layout;
    const auto count = static_cast<int32_t>(batch);
    Must(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
         "batch");
    Must(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &matrix.stride,
                                          sizeof matrix.stride),
         "stride");
    return layout;
  }
};

std::vector<cublasLtMatmulHeuristicResult_t> Algorithms(cublasLtHandle_t handle, const Line& line) {
  static const float kAny = 1;
  const void* const scale = line.scales == "none" ? nullptr : &kAny;
  const Description description(line, nullptr, scale, scale);
  cublasLtMatmulPreference_t preference;
  Must(cublasLtMatmulPreferenceCreate(&preference), "preference");
  const size_t limit = kWorkspaces.at(line.workspace);
  Must(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit,
                                            sizeof limit),
       "limit");
  std::vector<cublasLtMatmulHeuristicResult_t> results(4);
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, description.operation, description.a, description.b,
                                     description.d, description.d, preference, 4, results.data(), &count);
  Must(cublasLtMatmulPreferenceDestroy(preference), "preference");
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  Must(status, "heuristics");
  results.resize(static_cast<size_t>(count));
  results.erase(std::remove_if(results.begin(), results.end(),
                               [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; }),
                results.end());
  return results;
}

bool Multiply(cublasLtHandle_t handle, const Line& line) {
  const std::vector<cublasLtMatmulHeuristicResult_t> algorithms = Algorithms(handle, line);
  if (algorithms.empty()) return false;
  const cublasLtMatmulHeuristicResult_t& first = algorithms.front();
  const Type& type = line.type();
  const Product& p = line.product;
  const auto bytes = [&p](const Matrix& matrix, size_t element) {
    return element * static_cast<size_t>(p.batch * matrix.stride);
  };
  const auto scales = [&line](int64_t rows) {
    return sizeof(float) * static_cast<size_t>(line.scales == "row" ? rows : line.scales == "tensor" ? 1 : 0);
  };
  const bool has_bias = line.epilogue.compare(0, 4, "bias") == 0;
  const Buffer a(bytes(p.A(), type.bytes_a)), b(bytes(p.B(), type.bytes_a)), d(bytes(p.D(), type.bytes_d)),
      c(p.beta != 0 ? d.bytes : 0), bias(has_bias ? type.bytes_d * static_cast<size_t>(p.m) : 0),
      scale_a(scales(p.m)), scale_b(scales(p.n)), workspace(first.workspaceSize);
  const Buffer* const inputs[] = {&a, &b, &c, &bias, &scale_a, &scale_b};
  size_t most = d.bytes;
  for (const Buffer* input : inputs) most = std::max(most, input->bytes);
  std::vector<char> host(most, 0);
  for (const Buffer* input : inputs)
    if (input->bytes > 0) input->Upload(host.data());
  d.Fill(0xff);
  const Factor alpha(p.alpha), beta(p.beta);
  const auto pointer = [](const Buffer& buffer) { return buffer.bytes > 0 ? buffer.get() : nullptr; };
  for (int i = 0; i < kRuns; ++i) {
    const Description description(line, pointer(bias), pointer(scale_a), pointer(scale_b));
    Must(cublasLtMatmul(handle, description.operation, alpha.As(type.scale), a.get(), description.a, b.get(),
                        description.b, beta.As(type.scale), c.bytes > 0 ? c.get() : d.get(), description.d,
                        d.get(), description.d, &first.algo, workspace.get(), first.workspaceSize, nullptr),
         "cublasLtMatmul");
  }
  Cuda(cuCtxSynchronize(), "synchronize");
  d.Download(host.data());
  for (const Buffer* input : inputs)
    if (input->bytes > 0) input->Download(host.data());
  return true;
}

// The matrices of all products of all groups of one operand, one behind the other.
struct Stack {
  std::vector<size_t> starts;  // bytes, of each product
  size_t bytes = 0;

  void Add(const Matrix& matrix, int64_t products, size_t element) {
    for (int64_t i = 0; i < products; ++i, bytes += element * static_cast<size_t>(matrix.stride))
      starts.push_back(bytes);
  }
  void Addresses(const Buffer& memory, std::vector<CUdeviceptr>* to) const {
    for (const size_t start : starts) to->push_back(memory.p + start);
  }
};

struct Groups {
  std::string dtype, math;
  std::vector<Product> groups;
  std::vector<cublasOperation_t> op_a, op_b;
  std::vector<int> m, n, k, lda, ldb, ldc, products;
  std::vector<double> alpha, beta;
  std::vector<float> alpha_f, beta_f;
  Stack a, b, c;

  const Type& type() const { return kTypes.at(dtype); }
  bool Read(std::istream* in) {
    size_t count = 0;
    *in >> dtype >> math >> count;
    if (in->fail() || count > 256 || kTypes.count(dtype) == 0) return false;
    groups.resize(count);
    for (Product& group : groups) {
      if (!group.Read(in)) return false;
      group.alignment = kGroupedAlignment / static_cast<int64_t>(type().bytes_a);
      Add(group);
    }
    return true;
  }

 private:
  void Add(const Product& p) {
    const auto number = [](int64_t value) { return static_cast<int>(value); };
    op_a.push_back(p.OpA()), op_b.push_back(p.OpB());
    m.push_back(number(p.m)), n.push_back(number(p.n)), k.push_back(number(p.k));
    lda.push_back(number(p.A().ld)), ldb.push_back(number(p.B().ld)), ldc.push_back(number(p.D().ld));
    products.push_back(number(p.batch));
    alpha.push_back(p.alpha), beta.push_back(p.beta);
    alpha_f.push_back(static_cast<float>(p.alpha)), beta_f.push_back(static_cast<float>(p.beta));
    a.Add(p.A(), p.batch, type().bytes_a), b.Add(p.B(), p.batch, type().bytes_a),
        c.Add(p.D(), p.batch, type().bytes_a);
  }
};

bool MultiplyGroups(cublasHandle_t handle, const Groups& g) {
  const Type& type = g.type();
  const Buffer a(g.a.bytes), b(g.b.bytes), c(g.c.bytes), workspace(kGroupedWorkspace);
  std::vector<CUdeviceptr> addresses;
  g.a.Addresses(a, &addresses), g.b.Addresses(b, &addresses), g.c.Addresses(c, &addresses);
  const Buffer pointers(addresses.size() * sizeof(CUdeviceptr));
  std::vector<char> host(std::max({a.bytes, b.bytes, c.bytes}), 0);
  for (const Buffer* input : {&a, &b, &c}) input->Upload(host.data());
  const bool wide = type.scale == CUDA_R_64F;
  const void* const alpha = wide ? static_cast<const void*>(g.alpha.data()) : g.alpha_f.data();
  const void* const beta = wide ? static_cast<const void*>(g.beta.data()) : g.beta_f.data();
  const size_t each = g.a.starts.size() * sizeof(CUdeviceptr);
  auto* const at = static_cast<unsigned char*>(pointers.get());
  const auto array = [](unsigned char* place) { return reinterpret_cast<const void* const*>(place); };
  for (int i = 0; i < kRuns; ++i) {
    pointers.Upload(addresses.data());
    Must(cublasSetWorkspace(handle, workspace.get(), kGroupedWorkspace), "cublasSetWorkspace");
    const cublasStatus_t status = cublasGemmGroupedBatchedEx(
        handle, g.op_a.data(), g.op_b.data(), g.m.data(), g.n.data(), g.k.data(), alpha, array(at), type.of_a,
        g.lda.data(), array(at + each), type.of_a, g.ldb.data(), beta,
        reinterpret_cast<void* const*>(at + 2 * each), type.of_a, g.ldc.data(),
        static_cast<int>(g.groups.size()), g.products.data(),
        g.math == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : type.compute);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return false;
    Must(status, "cublasGemmGroupedBatchedEx");
  }
  Cuda(cuCtxSynchronize(), "synchronize");
  for (const Buffer* buffer : {&c, &a, &b}) buffer->Download(host.data());
  return true;
}

// False: a line that is none.
bool Run(const std::string& text, cublasLtHandle_t lt, cublasHandle_t* cublas, bool* supported) {
  std::istringstream in(text);
  std::string check;
  in >> check;
  if (check == "matmul") {
    Line line;
    if (!line.Read(&in)) return false;
    *supported = Multiply(lt, line);
    return true;
  }
  Groups groups;
  if (check != "grouped" || !groups.Read(&in)) return false;
  if (!*cublas) Must(cublasCreate(cublas), "cublasCreate");
  *supported = MultiplyGroups(*cublas, groups);
  return true;
}

}  // namespace

BareCases RunCases(const char* path) {
  cublasLtHandle_t lt;
  Must(cublasLtCreate(&lt), "cublasLtCreate");
  cublasHandle_t cublas = nullptr;
  return RunLines(
      path, [&](const std::string& text, bool* supported) { return Run(text, lt, &cublas, supported); });
}
