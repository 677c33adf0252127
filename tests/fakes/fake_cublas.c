/* A cuBLAS that needs a function of cuBLASLt, as a real one does: with another cuBLASLt it cannot be loaded.
 */
#include <stddef.h>

size_t cublasLtGetVersion(void);
size_t fake_cublas_asks(void);
size_t fake_cublas_asks(void) { return cublasLtGetVersion(); }
