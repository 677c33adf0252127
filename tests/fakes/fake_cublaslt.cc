// A cuBLASLt that knows its version and computes products in memory that is the host's, as the fake driver's
// is: all types, transposes, leading dimensions, batches, factors, epilogues and scales that the checks ask
// for. It rounds once, at the end. Built once for each soname, and once without its functions.
//
//   FAKE_CUBLASLT_FAULT  "call:FUNCTION:N:STATUS", see fake_env.h
//                        "wrong:TYPE": one element of D is off by one; TYPE is 32 or 16
//                        "nothing": D is not written
//                        "behind", "input": one element behind D, or one of A, is written as well
//                        "minus-zero": each zero of D has a sign
//                        "tail": the last product of each sum is left out
//                        "transposes": those of A and B change places
//                        "ld": matrices are read as if their leading dimensions were their rows
//                        "stride": each matrix of a batch is read from where the one before it begins
//                        "beta", "alpha": C is not added; the product has alpha twice
//                        "bias", "relu": the bias is the next row's; negative results stay
//                        "tf32": elements of A and B are rounded to TF32
//                        "padding": what lies behind the rows of D is written
//                        "workspace": one byte behind the workspace is written
//                        "more_workspace": algorithms are named that want more than is allowed
//                        "scale": that of A is left out
//                        "saturated": int8 sums end at 127
//                        "races": each third product has one element that is off by one
//   FAKE_CUBLASLT_FAULTY_ALGORITHM  the fault is that of this algorithm alone; "any": of each that is named
//   FAKE_CUBLASLT_ALGORITHMS  how many algorithms there are, 3 unless told
#include <cstddef>

#ifdef FAKE_CUBLASLT_VERSION
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/numeric/data_type.h"
#include "fake_env.h"

#define CALL() FAKE_CALL("FAKE_CUBLASLT_FAULT", int)

using cudnn_ci::DataType;
using cudnn_ci::Load;
using cudnn_ci::SizeOf;
using cudnn_ci::Store;

namespace {

constexpr int kInvalidValue = 7, kNotSupported = 15;
constexpr std::size_t kWorkspace = 4096;

struct Operation {
  int compute, scale;
  std::int32_t trans_a = 0, trans_b = 0, bias_type = -1, scale_mode_a = 0, scale_mode_b = 0;
  std::uint32_t epilogue = 1;
  const unsigned char *bias = nullptr, *a_scale = nullptr, *b_scale = nullptr;
};
struct Layout {
  int type;
  std::uint64_t rows, columns;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};
struct Preference {
  std::uint64_t workspace = 0;
};
struct Algorithm {
  std::uint64_t words[8];  // its number, its workspace
};
struct Result {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

int g_handle;

// Asked for each element, so that the variable is read once.
bool Is(std::string_view fault) {
  static const char* const kText = std::getenv("FAKE_CUBLASLT_FAULT");
  static const std::string_view kKept = kText ? kText : "";
  return fault == kKept;
}

bool TypeOf(int real, DataType* type) {
  switch (real) {
    case 0:
      return *type = DataType::kFloat32, true;
    case 1:
      return *type = DataType::kFloat64, true;
    case 2:
      return *type = DataType::kFloat16, true;
    case 3:
      return *type = DataType::kInt8, true;
    case 10:
      return *type = DataType::kInt32, true;
    case 14:
      return *type = DataType::kBfloat16, true;
    case 28:
      return *type = DataType::kFloat8E4m3, true;
    default:
      return false;
  }
}

// Ten bits behind the point.
double Tf32(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}

// A matrix as it is read: which fault it has depends on who asks.
struct Matrix {
  const unsigned char* at;
  const Layout& layout;
  bool transposed, faulty;
  DataType type;

  double Get(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    if (transposed) std::swap(row, column);
    const std::int64_t ld = faulty && Is("ld") ? static_cast<std::int64_t>(layout.rows) : layout.ld;
    if (faulty && Is("stride") && batch > 0) --batch;
    const std::int64_t index = batch * layout.stride + column * ld + row;
    const double value = Load(type, at + static_cast<std::size_t>(index) * SizeOf(type));
    return faulty && Is("tf32") ? Tf32(value) : value;
  }
};

double Activated(const Operation& operation, double x, bool faulty) {
  if ((operation.epilogue & 2) != 0 && !(faulty && Is("relu"))) return std::max(x, 0.0);
  if ((operation.epilogue & 32) == 0) return x;
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

double Factor(const Operation& operation, const void* factor) {
  if (operation.scale == 1) return *static_cast<const double*>(factor);
  if (operation.scale == 10) return *static_cast<const std::int32_t*>(factor);
  return static_cast<double>(*static_cast<const float*>(factor));
}

double ScaleAt(const unsigned char* scale, int mode, std::int64_t place) {
  return scale ? Load(DataType::kFloat32, scale + (mode == 3 ? place * 4 : 0)) : 1;
}

struct Product {
  const Operation& operation;
  const Matrix a, b;
  const unsigned char* c;
  unsigned char* d;
  const Layout& layout;
  DataType type;
  double alpha, beta;
  std::int64_t k;
  bool faulty;

  double Sum(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t i = 0; i < k - (faulty && Is("tail") ? 1 : 0); ++i)
      sum += a.Get(batch, row, i) * b.Get(batch, i, column);
    if (faulty && Is("saturated") && type == DataType::kInt32) sum = std::clamp(sum, -128.0, 127.0);
    return sum;
  }
  double Right(std::int64_t batch, std::int64_t row, std::int64_t column, std::int64_t index) const {
    const std::int64_t rows = static_cast<std::int64_t>(layout.rows);
    double x = alpha * (faulty && Is("alpha") ? alpha : 1) * Sum(batch, row, column) *
               (faulty && Is("scale") ? 1 : ScaleAt(operation.a_scale, operation.scale_mode_a, row)) *
               ScaleAt(operation.b_scale, operation.scale_mode_b, column);
    if (beta != 0 && !(faulty && Is("beta")))
      x += beta * Load(type, c + static_cast<std::size_t>(index) * SizeOf(type));
    if ((operation.epilogue & 4) != 0)
      x += Load(type,
                operation.bias +
                    static_cast<std::size_t>(faulty && Is("bias") ? (row + 1) % rows : row) * SizeOf(type));
    x = Activated(operation, x, faulty);
    return x == 0 && Is("minus-zero") ? -0.0 : x;
  }
  unsigned char* At(std::int64_t index) const { return d + index * static_cast<std::int64_t>(SizeOf(type)); }
  void Run() const {
    for (std::int64_t batch = 0; batch < layout.batch; ++batch)
      for (std::int64_t column = 0; column < static_cast<std::int64_t>(layout.columns); ++column)
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(layout.rows); ++row) {
          const std::int64_t index = batch * layout.stride + column * layout.ld + row;
          Store(type, Right(batch, row, column, index), At(index));
        }
  }
};

// What a right product is followed by.
void Spoil(const Product& product, unsigned char* a, DataType type_of_a, unsigned char* workspace,
           std::size_t workspace_bytes) {
  const DataType type = product.type;
  const std::int64_t rows = static_cast<std::int64_t>(product.layout.rows),
                     columns = static_cast<std::int64_t>(product.layout.columns);
  const std::int64_t last = (columns - 1) * product.layout.ld + rows - 1;
  const auto off = [&](std::int64_t index) {
    Store(type, Load(type, product.At(index)) + 1, product.At(index));
  };
  static int runs = 0;
  if (Is(type == DataType::kFloat32 ? "wrong:32" : "wrong:16")) off(last);
  if (Is("races") && ++runs % 3 == 2) off(last);
  if (Is("behind")) {
    const std::int64_t whole =
        std::max(product.layout.batch * product.layout.stride, columns * product.layout.ld);
    Store(type, 1, product.At(whole));
  }
  if (Is("padding") && product.layout.ld > rows) Store(type, 1, product.At(rows));
  if (Is("input"))
    Store(type_of_a, Load(type_of_a, a + 5 * SizeOf(type_of_a)) + 1, a + 5 * SizeOf(type_of_a));
  if (Is("workspace") && workspace) workspace[workspace_bytes] = 1;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() {
  return static_cast<std::size_t>(FakeNumber("FAKE_CUBLASLT_SAYS", FAKE_CUBLASLT_VERSION));
}

const char* cublasLtGetStatusName(int status) {
  return status == kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}

int cublasLtCreate(void** out) {
  CALL();
  *out = &g_handle;
  return 0;
}
int cublasLtDestroy(void* which) {
  CALL();
  return which == &g_handle ? 0 : kInvalidValue;
}

int cublasLtMatmulDescCreate(Operation** out, int compute, int scale) {
  CALL();
  const bool known = ((compute == 68 || compute == 77) && scale == 0) || (compute == 70 && scale == 1) ||
                     (compute == 72 && scale == 10);
  if (!known) return kInvalidValue;
  *out = new Operation{compute, scale};
  return 0;
}
int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value, std::size_t size) {
  CALL();
  const auto number = [&] { return *static_cast<const std::int32_t*>(value); };
  const auto pointer = [&] { return *static_cast<const unsigned char* const*>(value); };
  const bool address = attribute == 8 || attribute == 17 || attribute == 18;
  if (size != (address ? 8U : 4U)) return kInvalidValue;
  switch (attribute) {
    case 3:
      operation->trans_a = number();
      break;
    case 4:
      operation->trans_b = number();
      break;
    case 7:
      operation->epilogue = static_cast<std::uint32_t>(number());
      break;
    case 8:
      operation->bias = pointer();
      break;
    case 17:
      operation->a_scale = pointer();
      break;
    case 18:
      operation->b_scale = pointer();
      break;
    case 26:
      operation->bias_type = number();
      break;
    case 31:
      operation->scale_mode_a = number();
      break;
    case 32:
      operation->scale_mode_b = number();
      break;
    default:
      return kInvalidValue;
  }
  return 0;
}
int cublasLtMatmulDescDestroy(Operation* operation) {
  CALL();
  delete operation;
  return 0;
}

int cublasLtMatrixLayoutCreate(Layout** out, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t ld) {
  CALL();
  *out = new Layout{type, rows, columns, ld};
  return 0;
}
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value, std::size_t size) {
  CALL();
  if (attribute == 5 && size == 4) return layout->batch = *static_cast<const std::int32_t*>(value), 0;
  if (attribute == 6 && size == 8) return layout->stride = *static_cast<const std::int64_t*>(value), 0;
  return kInvalidValue;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
  CALL();
  delete layout;
  return 0;
}

int cublasLtMatmulPreferenceCreate(Preference** out) {
  CALL();
  *out = new Preference;
  return 0;
}
int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int attribute, const void* value,
                                         std::size_t size) {
  CALL();
  if (attribute != 1 || size != 8) return kInvalidValue;
  preference->workspace = *static_cast<const std::uint64_t*>(value);
  return 0;
}
int cublasLtMatmulPreferenceDestroy(Preference* preference) {
  CALL();
  delete preference;
  return 0;
}

// Its algorithms are 60, 61 and so on; those of odd numbers want a workspace.
int cublasLtMatmulAlgoGetHeuristic(void* which, Operation*, Layout*, Layout*, Layout*, Layout*,
                                   Preference* preference, int most, Result* results, int* count) {
  CALL();
  if (which != &g_handle) return kInvalidValue;
  *count = 0;
  for (long i = 0; i < FakeNumber("FAKE_CUBLASLT_ALGORITHMS", 3) && *count < most; ++i) {
    const std::size_t workspace = i % 2 == 0 ? 0 : kWorkspace;
    if (workspace > preference->workspace && !Is("more_workspace")) continue;
    results[(*count)++] = {{{static_cast<std::uint64_t>(60 + i), workspace}}, workspace, 0, 1, {}};
  }
  return *count > 0 ? 0 : kNotSupported;
}
int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm* algorithm, int attribute, void* out,
                                         std::size_t size, std::size_t* written) {
  CALL();
  if (size != 4 || attribute > 6) return kInvalidValue;
  *static_cast<std::int32_t*>(out) =
      attribute == 0 ? static_cast<std::int32_t>(algorithm->words[0]) : attribute;
  *written = 4;
  return 0;
}

int cublasLtMatmul(void* which, const Operation* operation, const void* alpha, void* a, const Layout* la,
                   const void* b, const Layout* lb, const void* beta, const void* c, const Layout* lc,
                   void* d, const Layout* ld, const Algorithm* algorithm, void* workspace,
                   std::size_t workspace_bytes, void* stream) {
  CALL();
  DataType type_a, type_b, type_d;
  if (which != &g_handle || lc != ld || stream || !TypeOf(la->type, &type_a) || !TypeOf(lb->type, &type_b) ||
      !TypeOf(ld->type, &type_d) || type_a != type_b ||
      (algorithm && workspace_bytes < algorithm->words[1]) || la->batch != ld->batch ||
      lb->batch != ld->batch)
    return kInvalidValue;
  const long only = FakeNumber("FAKE_CUBLASLT_FAULTY_ALGORITHM", -1);
  const bool any = FakeIs("FAKE_CUBLASLT_FAULTY_ALGORITHM", "any");
  const bool faulty =
      only < 0 || (algorithm && (any || algorithm->words[0] == static_cast<std::uint64_t>(only)));
  const bool swapped = faulty && Is("transposes");
  const bool ta = swapped ? operation->trans_b : operation->trans_a,
             tb = swapped ? operation->trans_a : operation->trans_b;
  const std::uint64_t m = operation->trans_a ? la->columns : la->rows,
                      k = operation->trans_a ? la->rows : la->columns;
  const std::uint64_t n = operation->trans_b ? lb->rows : lb->columns;
  if (m != ld->rows || n != ld->columns || k != (operation->trans_b ? lb->columns : lb->rows))
    return kInvalidValue;
  if (faulty && Is("nothing")) return 0;
  const Product product = {*operation,
                           {static_cast<const unsigned char*>(a), *la, ta, faulty, type_a},
                           {static_cast<const unsigned char*>(b), *lb, tb, faulty, type_b},
                           static_cast<const unsigned char*>(c),
                           static_cast<unsigned char*>(d),
                           *ld,
                           type_d,
                           Factor(*operation, alpha),
                           Factor(*operation, beta),
                           static_cast<std::int64_t>(k),
                           faulty};
  product.Run();
  if (faulty)
    Spoil(product, static_cast<unsigned char*>(a), type_a, static_cast<unsigned char*>(workspace),
          workspace_bytes);
  return 0;
}

}  // extern "C"
#else
extern "C" {
extern int fake_cublaslt_without_functions;
int fake_cublaslt_without_functions = 1;
}
#endif
