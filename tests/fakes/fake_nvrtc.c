/* An NVRTC that compiles nothing: its PTX and SASS are texts with the target and the names of the source's
 * kernels, which is all that the fake driver reads.
 *
 *   FAKE_NVRTC_VERSION  "13.0", or "12.8", by the soname
 *   FAKE_NVRTC_FAULT    "compile": every compilation fails; "compile:KERNEL": that of this kernel's source.
 *                       A compute cache would answer for it unless CUDA_CACHE_DISABLE is 1.
 *                       "no-kernel": the PTX lacks the kernel
 */
#include "fake_env.h"

#ifndef FAKE_NVRTC_DEFAULT
#define FAKE_NVRTC_DEFAULT "13.0"
#endif

struct FakeProgram {
  char source[4096];
  char code[512];
};
typedef struct FakeProgram* nvrtcProgram;

static const int kArchs[] = {75, 80, 86, 89, 90, 100, 103, 110, 120, 121};
enum { kArchCount = sizeof kArchs / sizeof kArchs[0], kCompilation = 6 };

int nvrtcVersion(int* major, int* minor) {
  const char* text = getenv("FAKE_NVRTC_VERSION");
  return sscanf(text ? text : FAKE_NVRTC_DEFAULT, "%d.%d", major, minor) == 2 ? 0 : 1;
}
int nvrtcGetNumSupportedArchs(int* count) {
  *count = kArchCount;
  return 0;
}
int nvrtcGetSupportedArchs(int* archs) {
  memcpy(archs, kArchs, sizeof kArchs);
  return 0;
}
const char* nvrtcGetErrorString(int status) {
  return status == kCompilation ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_OTHER";
}

int nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                       const char* const* texts, const char* const* names) {
  (void)name, (void)headers, (void)texts, (void)names;
  *program = (nvrtcProgram)calloc(1, sizeof **program);
  snprintf((*program)->source, sizeof(*program)->source, "%s", source);
  return 0;
}
int nvrtcDestroyProgram(nvrtcProgram* program) {
  free(*program);
  *program = NULL;
  return 0;
}

int nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  const char* fault = getenv("FAKE_NVRTC_FAULT");
  if (fault && strncmp(fault, "compile", 7) == 0 && FakeIs("CUDA_CACHE_DISABLE", "1") &&
      (fault[7] == '\0' || strstr(program->source, fault + 8)))
    return kCompilation;
  const char* target = "compute_75";
  for (int i = 0; i < count; ++i)
    if (strncmp(options[i], "--gpu-architecture=", 19) == 0) target = options[i] + 19;
  unsigned hash = 5381; /* another source gives other code */
  for (const char* c = program->source; *c; ++c) hash = 33 * hash + (unsigned char)*c;
  char kernel[128] = "none";
  const char* declaration = strstr(program->source, "__global__ void ");
  if (declaration && !FakeIs("FAKE_NVRTC_FAULT", "no-kernel")) sscanf(declaration + 16, "%127[a-z_]", kernel);
  snprintf(program->code, sizeof program->code, "// fake %s of %08x\n.target sm_%s\n.entry %s\n",
           strncmp(target, "sm_", 3) == 0 ? "SASS" : "PTX", hash, strchr(target, '_') + 1, kernel);
  return 0;
}

int nvrtcGetProgramLogSize(nvrtcProgram program, size_t* size) {
  (void)program;
  *size = 1;
  return 0;
}
int nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  (void)program;
  *log = '\0';
  return 0;
}
static int CodeSize(nvrtcProgram program, size_t* size) {
  *size = strlen(program->code) + 1;
  return 0;
}
static int Code(nvrtcProgram program, char* code) {
  strcpy(code, program->code);
  return 0;
}
int nvrtcGetPTXSize(nvrtcProgram program, size_t* size) { return CodeSize(program, size); }
int nvrtcGetPTX(nvrtcProgram program, char* code) { return Code(program, code); }
int nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) { return CodeSize(program, size); }
int nvrtcGetCUBIN(nvrtcProgram program, char* code) { return Code(program, code); }
