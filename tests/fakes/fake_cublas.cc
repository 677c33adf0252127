// A cuBLAS that knows its version and computes products, grouped or one at a time, in memory that is the
// host's, as the fake driver's is. It rounds once, at the end. It needs a function of cuBLASLt, as a real one
// does: with another cuBLASLt it cannot be loaded. Built once for each soname.
//
//   FAKE_CUBLAS_FAULT   "call:FUNCTION:N:STATUS", see fake_env.h; all else is of grouped products alone:
//                       "pointer": the first group has the A of the next product
//                       "alpha", "beta": the last group has alpha of the first; does not add its C
//                       "skipped", "row": the last group is not computed, nor the last row of it
//                       "shift": an empty group has no addresses, so that those behind have others'
//                       "size": the last product of a group is not computed
//                       "ld", "trans", "depth": the last group has lda, transposes or k of the one before it
//                       "tail": the last product of each sum is left out
//                       "unscaled": where k is 0, nothing is done
//                       "empty": an element of the first empty group's C is written
//                       "padding": what lies behind the rows of the last group's C is written
//                       "tf32": elements of A are rounded to TF32
//                       "input", "behind", "workspace": an element of A is changed, one behind the last C or
//                       behind the workspace is written
//                       "races": each third call has one element that is off by one
//                       "everywhere:FAULT": single products have the fault as well
//   FAKE_CUBLAS_SAYS    its version, "12.4.5"
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/numeric/data_type.h"
#include "fake_env.h"

#define CALL() FAKE_CALL("FAKE_CUBLAS_FAULT", int)

using cudnn_ci::DataType;
using cudnn_ci::Load;
using cudnn_ci::SizeOf;
using cudnn_ci::Store;

extern "C" std::size_t cublasLtGetVersion();

namespace {

constexpr int kInvalidValue = 7, kNotSupported = 15;

int g_handle;
void* g_stream = nullptr;
unsigned char* g_workspace = nullptr;
std::size_t g_workspace_bytes = 0;

bool Is(std::string_view fault, bool single = false) {
  static const char* const text = std::getenv("FAKE_CUBLAS_FAULT");
  static const std::string_view kept = text ? text : "";
  constexpr std::string_view kEverywhere = "everywhere:";
  const bool everywhere = kept.substr(0, kEverywhere.size()) == kEverywhere;
  if (everywhere) return fault == kept.substr(kEverywhere.size());
  return !single && fault == kept;
}

template <class Function>
Function* OfDriver(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver ? reinterpret_cast<Function*>(dlsym(driver, name)) : nullptr;
}

// Whether the call is recorded, which computes nothing then.
bool Recorded() {
  auto* const recording = OfDriver<int(const void*)>("FakeCudaRecording");
  if (!recording || !g_stream || recording(g_stream) == 0) return false;
  OfDriver<void(void*, const char*)>("FakeCudaRecord")(g_stream, "fake_grouped_gemm");
  return true;
}

bool TypesFit(int real, int compute, DataType* type) {
  const bool wide = compute == 70;
  switch (real) {
    case 0:
      return *type = DataType::kFloat32, compute == 68 || compute == 69 || compute == 77;
    case 1:
      return *type = DataType::kFloat64, wide;
    case 2:
      return *type = DataType::kFloat16, compute == 68;
    case 14:
      return *type = DataType::kBfloat16, compute == 68;
    default:
      return false;
  }
}

double Tf32(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

double Factor(DataType type, const void* factors, int place) {
  if (type == DataType::kFloat64) return static_cast<const double*>(factors)[place];
  return static_cast<double>(static_cast<const float*>(factors)[place]);
}

struct Group {
  int ta, tb, m, n, k, lda, ldb, ldc;
  double alpha, beta;

  bool IsValid() const {
    const auto most = [](int x) { return std::max(1, x); };
    return ta >= 0 && ta <= 2 && tb >= 0 && tb <= 2 && m >= 0 && n >= 0 && k >= 0 &&
           lda >= most(ta ? k : m) && ldb >= most(tb ? n : k) && ldc >= most(m);
  }
  bool IsEmpty() const { return m == 0 || n == 0 || k == 0; }
};

struct Product {
  DataType type;
  const unsigned char *a, *b;
  unsigned char* c;
  bool single = false;

  double At(const unsigned char* matrix, std::int64_t index) const {
    return Load(type, matrix + static_cast<std::size_t>(index) * SizeOf(type));
  }
  void Put(std::int64_t index, double value) const {
    Store(type, value, c + static_cast<std::size_t>(index) * SizeOf(type));
  }
  void Run(const Group& g, int rows) const {
    const std::int64_t lda = g.lda, ldb = g.ldb;
    for (int column = 0; column < g.n; ++column)
      for (int row = 0; row < rows; ++row) {
        double sum = 0;
        for (int i = 0; i < g.k - (Is("tail", single) ? 1 : 0); ++i) {
          const double x = At(a, g.ta ? row * lda + i : i * lda + row);
          sum += (Is("tf32", single) ? Tf32(x) : x) * At(b, g.tb ? i * ldb + column : column * ldb + i);
        }
        const std::int64_t index = std::int64_t{column} * g.ldc + row;
        double x = g.alpha * sum;
        if (g.beta != 0) x += g.beta * At(c, index);
        Put(index, x);
      }
  }
};

struct Arrays {
  const int *ta, *tb, *m, *n, *k, *lda, *ldb, *ldc, *sizes;
  const void *alpha, *beta;
  int groups;
  DataType type;

  Group At(int i) const {
    return {ta[i],
            tb[i],
            m[i],
            n[i],
            k[i],
            lda[i],
            ldb[i],
            ldc[i],
            Factor(type, alpha, i),
            Factor(type, beta, i)};
  }
  int LastFull() const {
    int last = 0;
    for (int i = 0; i < groups; ++i)
      if (sizes[i] > 0 && !At(i).IsEmpty()) last = i;
    return last;
  }
  int Before(int group) const {
    for (int i = group - 1; i >= 0; --i)
      if (sizes[i] > 0 && !At(i).IsEmpty()) return i;
    return group;
  }
  // As the faulty library takes it.
  Group Taken(int i) const {
    Group g = At(i);
    if (i != LastFull()) return g;
    const Group before = At(Before(i));
    if (Is("alpha")) g.alpha = before.alpha;
    if (Is("beta")) g.beta = 0;
    if (Is("ld")) g.lda = before.lda;
    if (Is("trans")) g.ta = before.ta, g.tb = before.tb;
    if (Is("depth")) g.k = std::min(g.k, before.k);
    return g;
  }
};

// What a right call is followed by.
void Spoil(const Arrays& arrays, const void* const* a, void* const* c, int products, const int* starts) {
  static int calls = 0;
  const int last = arrays.LastFull();
  const Group g = arrays.At(last);
  const Product of = {arrays.type, nullptr, nullptr, static_cast<unsigned char*>(c[starts[last]])};
  if (Is("races") && ++calls % 3 == 2) of.Put(0, of.At(of.c, 0) + 1);
  if (Is("padding") && g.ldc > g.m) of.Put(g.m, 1);
  if (Is("workspace")) g_workspace[g_workspace_bytes] = 1;
  if (Is("input")) {
    const Product first = {arrays.type, nullptr, nullptr,
                           static_cast<unsigned char*>(const_cast<void*>(a[starts[last]]))};
    first.Put(0, first.At(first.c, 0) + 1);
  }
  if (Is("behind")) {
    // Matrices of the last group are aligned to 16 bytes.
    const Group end = arrays.At(arrays.groups - 1);
    const std::int64_t step = 16 / static_cast<std::int64_t>(SizeOf(arrays.type));
    const Product at = {arrays.type, nullptr, nullptr, static_cast<unsigned char*>(c[products - 1])};
    at.Put((std::int64_t{end.n} * end.ldc + step - 1) / step * step, 1);
  }
  for (int i = 0; Is("empty") && i < arrays.groups; ++i) {
    if (arrays.sizes[i] == 0 || !arrays.At(i).IsEmpty()) continue;
    const Product empty = {arrays.type, nullptr, nullptr, static_cast<unsigned char*>(c[starts[i]])};
    return empty.Put(0, 1);
  }
}

void RunGroup(const Arrays& arrays, int i, const void* const* a, const void* const* b, void* const* c,
              int first, int products) {
  const Group g = arrays.Taken(i);
  const bool last = i == arrays.LastFull();
  if (last && Is("skipped")) return;
  if (g.k == 0 && Is("unscaled")) return;
  const int count = arrays.sizes[i] - (Is("size") && arrays.sizes[i] > 1 ? 1 : 0);
  for (int p = first; p < first + count; ++p) {
    const int of_a = Is("pointer") && first == 0 ? (p + 1) % products : p;
    Product{arrays.type, static_cast<const unsigned char*>(a[of_a]), static_cast<const unsigned char*>(b[p]),
            static_cast<unsigned char*>(c[p])}
        .Run(g, last && Is("row") ? g.m - 1 : g.m);
  }
}

}  // namespace

extern "C" {

// With another cuBLASLt there is no such function.
std::size_t FakeCublasAsks() { return cublasLtGetVersion(); }

int cublasGetProperty(int part, int* value) {
  CALL();
  const char* text = std::getenv("FAKE_CUBLAS_SAYS");
  int numbers[3] = {FAKE_CUBLAS_MAJOR, 1, 0};
  if (text) std::sscanf(text, "%d.%d.%d", &numbers[0], &numbers[1], &numbers[2]);
  if (part < 0 || part > 2) return kInvalidValue;
  *value = numbers[part];
  return 0;
}

const char* cublasGetStatusName(int status) {
  return status == kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}

int cublasCreate_v2(void** handle) {
  CALL();
  *handle = &g_handle;
  return 0;
}

// As a real one does, it forgets the workspace.
int cublasSetStream_v2(void* handle, void* stream) {
  CALL();
  g_stream = stream, g_workspace = nullptr, g_workspace_bytes = 0;
  return handle == &g_handle ? 0 : kInvalidValue;
}

int cublasSetWorkspace_v2(void* handle, void* workspace, std::size_t bytes) {
  CALL();
  g_workspace = static_cast<unsigned char*>(workspace), g_workspace_bytes = bytes;
  return handle == &g_handle && reinterpret_cast<std::uintptr_t>(workspace) % 256 == 0 ? 0 : kInvalidValue;
}

int cublasGemmEx(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                 int type_a, int lda, const void* b, int type_b, int ldb, const void* beta, void* c,
                 int type_c, int ldc, int compute, int algorithm) {
  CALL();
  DataType type;
  if (handle != &g_handle || !TypesFit(type_a, compute, &type) || type_a != type_b || type_a != type_c ||
      algorithm != -1)
    return kNotSupported;
  const Group g = {ta, tb, m, n, k, lda, ldb, ldc, Factor(type, alpha, 0), Factor(type, beta, 0)};
  if (!g.IsValid()) return kInvalidValue;
  Product{type, static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b),
          static_cast<unsigned char*>(c), true}
      .Run(g, m);
  return 0;
}

#ifndef FAKE_CUBLAS_WITHOUT_GROUPS
int cublasGemmGroupedBatchedEx(void* handle, const int* ta, const int* tb, const int* m, const int* n,
                               const int* k, const void* alpha, const void* const* a, int type_a,
                               const int* lda, const void* const* b, int type_b, const int* ldb,
                               const void* beta, void* const* c, int type_c, const int* ldc, int groups,
                               const int* sizes, int compute) {
  CALL();
  DataType type;
  if (!TypesFit(type_a, compute, &type) || type_a != type_b || type_a != type_c) return kNotSupported;
  if (handle != &g_handle || !g_workspace || groups < 0) return kInvalidValue;
  const Arrays arrays = {ta, tb, m, n, k, lda, ldb, ldc, sizes, alpha, beta, groups, type};
  int starts[1024];
  int products = 0;
  for (int i = 0; i < groups; ++i) {
    if (!arrays.At(i).IsValid() || sizes[i] < 0) return kInvalidValue;
    starts[i] = products;
    products += sizes[i];
  }
  if (Recorded()) return 0;
  int shift = 0;
  for (int i = 0; i < groups; ++i) {
    if (Is("shift") && arrays.At(i).IsEmpty()) shift += sizes[i];
    RunGroup(arrays, i, a, b, c, std::max(0, starts[i] - shift), products);
  }
  Spoil(arrays, a, c, products, starts);
  return 0;
}
#endif

}  // extern "C"
