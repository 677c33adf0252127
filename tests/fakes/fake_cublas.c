/* A cuBLAS that needs a function of cuBLASLt, as a real one does: with another cuBLASLt it cannot be loaded.
 */
#include <stddef.h>

size_t cublasLtGetVersion(void);
size_t FakeCublasAsks(void);
size_t FakeCublasAsks(void) { return cublasLtGetVersion(); }
