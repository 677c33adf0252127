/* A cuBLASLt that knows its version and one product, D = A^T B of float32 or float16, in memory that is the
 * host's, as the fake driver's is. Built once for each soname, and once without its functions.
 *
 *   FAKE_CUBLASLT_FAULT  "call:FUNCTION:N:STATUS", see fake_env.h
 *                        "wrong:TYPE": one element of D is off by one; TYPE is 32 or 16
 *                        "nothing": D is not written
 *                        "behind", "input": one element behind D, or one of A, is written as well
 *                        "minus-zero": each zero of D has a sign
 */
#include <stddef.h>

#ifdef FAKE_CUBLASLT_VERSION
#include <stdint.h>

#include "fake_env.h"

#define CALL() FAKE_CALL("FAKE_CUBLASLT_FAULT", int)

enum { kInvalidValue = 7, kFloat32 = 0, kFloat16 = 2, kCompute32 = 68, kTransA = 3 };

typedef struct {
  int transposed;
} Operation;
typedef struct {
  int type;
  uint64_t rows, columns;
  int64_t ld;
} Layout;

static int handle;

size_t cublasLtGetVersion(void) { return FAKE_CUBLASLT_VERSION; }

const char* cublasLtGetStatusName(int status) {
  return status == 15 ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_OTHER";
}

int cublasLtCreate(void** out) {
  CALL();
  *out = &handle;
  return 0;
}
int cublasLtDestroy(void* which) {
  CALL();
  return which == &handle ? 0 : kInvalidValue;
}

int cublasLtMatmulDescCreate(Operation** out, int compute, int scale) {
  CALL();
  if (compute != kCompute32 || scale != kFloat32) return kInvalidValue;
  *out = (Operation*)calloc(1, sizeof **out);
  return 0;
}
int cublasLtMatmulDescSetAttribute(Operation* operation, int attribute, const void* value, size_t size) {
  CALL();
  if (attribute != kTransA || size != 4) return kInvalidValue;
  operation->transposed = *(const int32_t*)value;
  return 0;
}
int cublasLtMatmulDescDestroy(Operation* operation) {
  CALL();
  free(operation);
  return 0;
}

int cublasLtMatrixLayoutCreate(Layout** out, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  CALL();
  *out = (Layout*)malloc(sizeof **out);
  **out = (Layout){type, rows, columns, ld};
  return 0;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
  CALL();
  free(layout);
  return 0;
}

/* Small integers, of which float16 has all. */
static int Get(const void* at, int type, uint64_t i) {
  if (type == kFloat32) return (int)((const float*)at)[i];
  const uint16_t bits = ((const uint16_t*)at)[i];
  const int exponent = (bits >> 10 & 0x1f) - 15, fraction = (bits & 0x3ff) | 0x400;
  if ((bits & 0x7fff) == 0) return 0;
  const int value = exponent > 10 ? fraction << (exponent - 10) : fraction >> (10 - exponent);
  return bits & 0x8000 ? -value : value;
}
static void Put(void* at, int type, uint64_t i, int value) {
  const int negative = value < 0 || (value == 0 && FakeIs("FAKE_CUBLASLT_FAULT", "minus-zero"));
  const int magnitude = value < 0 ? -value : value;
  if (type == kFloat32) {
    ((float*)at)[i] = negative ? -(float)magnitude : (float)magnitude;
    return;
  }
  int exponent = 0;
  while (magnitude >> exponent > 1) ++exponent;
  const int fraction = exponent > 10 ? magnitude >> (exponent - 10) : magnitude << (10 - exponent);
  const int bits = magnitude == 0 ? 0 : (exponent + 15) << 10 | (fraction & 0x3ff);
  ((uint16_t*)at)[i] = (uint16_t)((negative ? 0x8000 : 0) | bits);
}

int cublasLtMatmul(void* which, const Operation* operation, const void* alpha, void* a, const Layout* la,
                   const void* b, const Layout* lb, const void* beta, const void* c, const Layout* lc,
                   void* d, const Layout* ld, const void* algorithm, void* workspace, size_t workspace_bytes,
                   void* stream) {
  CALL();
  const int type = ld->type;
  if (which != &handle || !operation->transposed || *(const float*)alpha != 1 || *(const float*)beta != 0 ||
      c != d || lc != ld || algorithm || workspace || workspace_bytes || stream ||
      (type != kFloat32 && type != kFloat16) || la->type != type || lb->type != type ||
      la->rows != lb->rows || ld->rows != la->columns || ld->columns != lb->columns)
    return kInvalidValue;
  if (FakeIs("FAKE_CUBLASLT_FAULT", "nothing")) return 0;
  for (uint64_t column = 0; column < ld->columns; ++column)
    for (uint64_t row = 0; row < ld->rows; ++row) {
      int sum = 0;
      for (uint64_t i = 0; i < la->rows; ++i)
        sum += Get(a, type, row * (uint64_t)la->ld + i) * Get(b, type, column * (uint64_t)lb->ld + i);
      Put(d, type, column * (uint64_t)ld->ld + row, sum);
    }
  const uint64_t elements = ld->columns * (uint64_t)ld->ld;
  if (FakeIs("FAKE_CUBLASLT_FAULT", type == kFloat32 ? "wrong:32" : "wrong:16"))
    Put(d, type, elements - 1, Get(d, type, elements - 1) + 1);
  if (FakeIs("FAKE_CUBLASLT_FAULT", "behind")) Put(d, type, elements, 1);
  if (FakeIs("FAKE_CUBLASLT_FAULT", "input")) Put(a, type, 5, Get(a, type, 5) + 1);
  return 0;
}
#else
int fake_cublaslt_without_functions = 1;
#endif
