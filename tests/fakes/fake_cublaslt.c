/* A cuBLASLt that knows its version, for tests. Built once for each soname, and once without its function.
 */
#include <stddef.h>

#ifdef FAKE_CUBLASLT_VERSION
size_t cublasLtGetVersion(void) { return FAKE_CUBLASLT_VERSION; }
#else
int fake_cublaslt_without_functions = 1;
#endif
