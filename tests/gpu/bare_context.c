/* What the diagnosis is measured against: one process that makes a context on the first GPU and ends.
 * Independent of the project's own code on purpose. Prints the milliseconds of cuInit and of the context;
 * exit 1 where a call fails. Built by tests/gpu/run: gcc -O2 bare_context.c -o bare_context -ldl */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

int main(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  int (*init)(unsigned) = NULL;
  int (*retain)(void**, int) = NULL;
  void* context = NULL;
  if (!library) return 1;
  *(void**)&init = dlsym(library, "cuInit");
  *(void**)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  if (!init || !retain) return 1;
  const double start = Now();
  if (init(0) != 0) return 1;
  const double initialised = Now();
  if (retain(&context, 0) != 0) return 1;
  printf("cuInit %.0f ms, context %.0f ms\n", initialised - start, Now() - initialised);
  return 0;
}
