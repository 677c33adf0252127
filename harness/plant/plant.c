/* Faults for `cudnn-ci self-test`, preloaded into the processes of a run that must notice one. It stands
 * before the loader's dlsym, by which plugins bind CUDA and cuDNN, and hands out another function in the
 * place of one: neither worker nor plugins know of it.
 *
 * CUDNN_CI_PLANT is "FAULT FUNCTION MARK":
 *   crash  FUNCTION stores through a null pointer
 *   hang   FUNCTION never returns
 *   wrong  FUNCTION, which is cudnnConvolutionForward, does its work; then the first element of its output, a
 *          float, is 1 too large on the device; in the algorithm that is asked for first, as a library errs
 * MARK is a file to which a byte is appended each time the fault has really struck. Without the variable, and
 * for every other function, all is as without this library. C99, and nothing that glibc 2.17 lacks. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSuccess = 0 }; /* CUDA_SUCCESS and CUDNN_STATUS_SUCCESS */

/* The rest of `text` after `word` and a blank; null if it does not begin with them. */
static const char* AfterWord(const char* text, const char* word) {
  const size_t size = strlen(word);
  return text && strncmp(text, word, size) == 0 && text[size] == ' ' ? text + size + 1 : NULL;
}

static void Mark(void) {
  const char* order = getenv("CUDNN_CI_PLANT");
  const char* path = order ? strrchr(order, ' ') : NULL;
  const int fd = path ? open(path + 1, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (fd < 0) return;
  const ssize_t written = write(fd, "!", 1);
  (void)written; /* Without the byte the fault counts as never planted. */
  close(fd);
}

/* The loader's own, under the names it has had: from glibc 2.34 on in libc, before that in libdl, on 64-bit
 * Arm since 2.17. */
static void* RealDlsym(void) {
  static const char* const kVersions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
  for (size_t i = 0; i < sizeof kVersions / sizeof *kVersions; ++i) {
    void* found = dlvsym(RTLD_NEXT, "dlsym", kVersions[i]);
    if (found) return found;
  }
  abort();
}

typedef void* (*Dlsym)(void*, const char*);

static void Crash(void) {
  int* volatile nowhere = NULL;
  Mark();
  *(volatile int*)nowhere = 1; /* NOLINT: a null pointer is what it is for */
}

static void Hang(void) {
  Mark();
  for (;;) pause();
}

/* Adds 1 to the float at an address of the device, when all work of the context is done. */
static int AddOne(void* device) {
  const Dlsym find = (Dlsym)RealDlsym();
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!driver) return 0;
  int (*synchronize)(void);
  int (*download)(void*, unsigned long long, size_t);
  int (*upload)(unsigned long long, const void*, size_t);
  *(void**)&synchronize = find(driver, "cuCtxSynchronize");
  *(void**)&download = find(driver, "cuMemcpyDtoH_v2");
  *(void**)&upload = find(driver, "cuMemcpyHtoD_v2");
  const unsigned long long address = (unsigned long long)(size_t)device;
  float value = 0;
  if (!synchronize || !download || !upload || synchronize() != kSuccess) return 0;
  if (download(&value, address, sizeof value) != kSuccess) return 0;
  value += 1;
  return upload(address, &value, sizeof value) == kSuccess;
}

typedef int (*Forward)(void* handle, const void* alpha, void* x_descriptor, const void* x, void* w_descriptor,
                       const void* w, void* convolution, int algorithm, void* workspace, size_t bytes,
                       const void* beta, void* y_descriptor, void* y);
static Forward real_forward;

static int WrongForward(void* handle, const void* alpha, void* x_descriptor, const void* x,
                        void* w_descriptor, const void* w, void* convolution, int algorithm, void* workspace,
                        size_t bytes, const void* beta, void* y_descriptor, void* y) {
  static int planted = -1, inside = 0;
  if (planted < 0) planted = algorithm;
  /* cuDNN's main library binds the function of the same name in another one by dlsym, too, at its first call.
   */
  const int outermost = !inside;
  inside = 1;
  const int status = real_forward(handle, alpha, x_descriptor, x, w_descriptor, w, convolution, algorithm,
                                  workspace, bytes, beta, y_descriptor, y);
  if (!outermost) return status;
  inside = 0;
  if (status == kSuccess && algorithm == planted && AddOne(y)) Mark();
  return status;
}

/* What replaces `real`, which is `symbol`. */
static void* Replacement(const char* symbol, void* real) {
  const char* order = getenv("CUDNN_CI_PLANT");
  if (!real) return NULL;
  if (AfterWord(AfterWord(order, "crash"), symbol)) return (void*)Crash;
  if (AfterWord(AfterWord(order, "hang"), symbol)) return (void*)Hang;
  if (!AfterWord(AfterWord(order, "wrong"), symbol)) return real;
  real_forward = (Forward)real;
  return (void*)WrongForward;
}

/* Whoever asks for the next definition, or the default one, is known to the loader by where its call returns
 * to: such a call must stay the last thing that is done here. */
__attribute__((visibility("default"))) void* dlsym(void* restrict handle, const char* restrict symbol) {
  const Dlsym real = (Dlsym)RealDlsym();
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) return real(handle, symbol);
  return Replacement(symbol, real(handle, symbol));
}
