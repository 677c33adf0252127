/* Binds functions as plugins do, and says what it was given. Run by plant_test with the library of
 * harness/plant preloaded.
 *
 *   plant_probe                  binds and calls cos of libm
 *   plant_probe DRIVER LIBRARY   runs the convolution of this library (plant_forward.c) on the memory of this
 *                                driver (plant_driver.c) */
#include <dlfcn.h>
#include <stdio.h>

typedef int (*Forward)(void* handle, const void* alpha, void* x_descriptor, const void* x, void* w_descriptor,
                       const void* w, void* convolution, int algorithm, void* workspace, size_t bytes,
                       const void* beta, void* y_descriptor, void* y);

/* The first element of the result; what that is, plant_forward.c says. */
static float Run(Forward forward, int algorithm) {
  float y[2] = {-1, -1};
  const int status = forward(NULL, NULL, NULL, NULL, NULL, NULL, NULL, algorithm, NULL, 0, NULL, NULL, y);
  return status == 0 ? y[0] : -2;
}

static int ProbeForward(const char* driver, const char* path) {
  /* As in a plugin's process: the driver is in memory before cuDNN. */
  void *loaded = dlopen(driver, RTLD_NOW), *library = dlopen(path, RTLD_NOW);
  Forward forward = NULL;
  if (!loaded || !library) return 64;
  *(void**)&forward = dlsym(library, "cudnnConvolutionForward");
  /* The second one of the same algorithm: the library has bound its own part by then. */
  const float first = Run(forward, 1), other = Run(forward, 3), again = Run(forward, 1);
  printf("first=%g other=%g again=%g\n", (double)first, (double)other, (double)again);
  return 0;
}

int main(int count, char** arguments) {
  if (count > 2) return ProbeForward(arguments[1], arguments[2]);
  void* library = dlopen("libm.so.6", RTLD_NOW);
  double (*cosine)(double) = NULL;
  if (!library) return 64;
  *(void**)&cosine = dlsym(library, "cos");
  /* Behind this program stands the preloaded library, and the loader behind that. */
  printf("next=%s missing=%s\n", dlsym(RTLD_NEXT, "dlsym") == (void*)dlsym ? "preloaded" : "other",
         dlsym(library, "no_such_function") ? "found" : "null");
  fflush(stdout);
  printf("cos=%g\n", cosine(0));
  return 0;
}
