/* A CUDA runtime that knows its version and one error, for tests. Built once for each soname.
 *
 *   FAKE_CUDART_VERSION     what cudaRuntimeGetVersion gives (13000 or 12080, by the soname)
 *   FAKE_CUDART_STATUS      what cudaRuntimeGetVersion returns (0)
 *   FAKE_CUDART_LAST_ERROR  what cudaGetLastError returns, once (0)
 */
#include "fake_env.h"

int cudaRuntimeGetVersion(int* version) {
  *version = (int)FakeNumber("FAKE_CUDART_VERSION", FAKE_CUDART_DEFAULT);
  return (int)FakeNumber("FAKE_CUDART_STATUS", 0);
}

int cudaGetLastError(void) {
  static int asked;
  return asked++ ? 0 : (int)FakeNumber("FAKE_CUDART_LAST_ERROR", 0);
}

const char* cudaGetErrorString(int error) { return error == 0 ? "no error" : "made up"; }
