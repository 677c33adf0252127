/* A cuDNN of two libraries: the main one exports what programs call, and binds the function of the same name
 * in the other one by dlsym, at its first call. PLANT_INNER is the file of that one; without it this is it.
 * Its result is 5. */
#include <dlfcn.h>
#include <stddef.h>

typedef int (*Forward)(void* handle, const void* alpha, void* x_descriptor, const void* x, void* w_descriptor,
                       const void* w, void* convolution, int algorithm, void* workspace, size_t bytes,
                       const void* beta, void* y_descriptor, void* y);

int cudnnConvolutionForward(void* handle, const void* alpha, void* x_descriptor, const void* x,
                            void* w_descriptor, const void* w, void* convolution, int algorithm,
                            void* workspace, size_t bytes, const void* beta, void* y_descriptor, void* y);

int cudnnConvolutionForward(void* handle, const void* alpha, void* x_descriptor, const void* x,
                            void* w_descriptor, const void* w, void* convolution, int algorithm,
                            void* workspace, size_t bytes, const void* beta, void* y_descriptor, void* y) {
#ifdef PLANT_INNER
  static Forward inner;
  if (!inner) {
    void* library = dlopen(PLANT_INNER, RTLD_NOW);
    if (!library) return 1;
    *(void**)&inner = dlsym(library, "cudnnConvolutionForward");
  }
  return inner ? inner(handle, alpha, x_descriptor, x, w_descriptor, w, convolution, algorithm, workspace,
                       bytes, beta, y_descriptor, y)
               : 1;
#else
  (void)handle, (void)alpha, (void)x_descriptor, (void)x, (void)w_descriptor, (void)w, (void)convolution;
  (void)algorithm, (void)workspace, (void)bytes, (void)beta, (void)y_descriptor;
  *(float*)y = 5;
  return 0;
#endif
}
