/* As much of a driver as the planted wrong number needs. The memory of its device is this process's. */
#include <string.h>

int cuCtxSynchronize(void);
int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes);
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes);

int cuCtxSynchronize(void) { return 0; }

int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  memcpy(to, (const void*)(size_t)from, bytes);
  return 0;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  memcpy((void*)(size_t)to, from, bytes);
  return 0;
}
