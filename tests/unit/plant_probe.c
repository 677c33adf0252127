/* Binds functions as plugins do, and says what it was given. Run by plant_test with the library of
 * harness/plant preloaded. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
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
