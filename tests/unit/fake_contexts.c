/* A CUDA driver (libcuda.so.1) and runtime (libcudart.so.NN) that have contexts and nothing else, for tests
 * of how the worker looks at them. Every device of the machine has an active primary context.
 *
 *   CONTEXTS_DEVICES  how many devices there are (1)
 *   CONTEXTS_FAIL     "FUNCTION:DEVICE:ERROR": the function answers this on this device (-1: on any)
 *   CONTEXTS_CURRENT  "own": a context that is no primary one is current
 *   CONTEXTS_RUNTIME  what cudaGetLastError returns (0)
 *   CONTEXTS_LOG      a file to which cuInit adds the value of CUDA_CACHE_DISABLE, a line each, and
 *                     cuDevicePrimaryCtxRetain the word "context"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef char* Context; /* &contexts[1 + device]; contexts[0]: no primary one */

static char contexts[65];
static Context current;

static long Number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text ? strtol(text, NULL, 10) : otherwise;
}

static Result Answer(const char* function, int device) {
  char name[64];
  int failing = 0, error = 0;
  const char* text = getenv("CONTEXTS_FAIL");
  if (!text || sscanf(text, "%63[^:]:%d:%d", name, &failing, &error) != 3) return 0;
  return strcmp(name, function) == 0 && (failing == -1 || failing == device) ? error : 0;
}

static void Log(const char* text) {
  const char* path = getenv("CONTEXTS_LOG");
  FILE* file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n", text ? text : "not set");
  fclose(file);
}

Result cuInit(unsigned flags) {
  const char* own = getenv("CONTEXTS_CURRENT");
  Log(getenv("CUDA_CACHE_DISABLE"));
  (void)flags;
  if (own && strcmp(own, "own") == 0) current = &contexts[0];
  return 0;
}
Result cuDeviceGetCount(int* count) {
  *count = (int)Number("CONTEXTS_DEVICES", 1);
  return Answer("cuDeviceGetCount", -1);
}
Result cuCtxGetCurrent(Context* context) {
  *context = current;
  return Answer("cuCtxGetCurrent", -1);
}
Result cuCtxSetCurrent(Context context) {
  current = context;
  return Answer("cuCtxSetCurrent", context ? (int)(context - contexts) - 1 : -2);
}
Result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return Answer("cuDevicePrimaryCtxGetState", device);
}
Result cuDevicePrimaryCtxRetain(Context* context, int device) {
  Log("context");
  *context = &contexts[1 + device];
  return Answer("cuDevicePrimaryCtxRetain", device);
}
Result cuDevicePrimaryCtxRelease_v2(int device) { return Answer("cuDevicePrimaryCtxRelease", device); }
Result cuCtxSynchronize(void) {
  if (current == &contexts[0]) return Answer("own", -1);
  return Answer("cuCtxSynchronize", (int)(current - contexts) - 1);
}
Result cuGetErrorName(Result error, const char** name) {
  *name = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
  return *name ? 0 : 1;
}

int cudaGetLastError(void) { return (int)Number("CONTEXTS_RUNTIME", 0); }
const char* cudaGetErrorString(int error) { return error == 700 ? "an illegal memory access" : "no error"; }
