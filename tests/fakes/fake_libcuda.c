/* A CUDA driver without a GPU, for tests on machines that have none. It knows its own devices, memory
 * that is the host's, and how to compute the kernels that the environment checks and the worker's canary
 * launch; any other kernel is refused. Must not know the plugins.
 *
 *   FAKE_CUINIT          what cuInit returns (0)
 *   FAKE_CUINIT_FOR_S    for how many seconds from a process's first call on; afterwards 0 (for ever)
 *   FAKE_CUINIT_MARK     a file that the first call of all processes makes: they count from then on
 *   FAKE_NAME            the name of each device ("NVIDIA Fake N")
 *   FAKE_DRIVER_VERSION  what cuDriverGetVersion gives (13000)
 *   FAKE_STUB            "1": answers 34 to everything, as the toolkit's stub does
 *   FAKE_DEVICE_COUNT    devices of the machine (1); CUDA_VISIBLE_DEVICES selects among them
 *   FAKE_CC              compute capability of each device, "9.0,6.1"; the last one for all further ("9.0")
 *   FAKE_COMPUTE_MODE    compute mode of each device: 0 default, 2 prohibited, 3 exclusive process (0)
 *   FAKE_UUID            last 12 hex digits of device 0's UUID; device N's is N higher
 *   FAKE_PCI             "reverse": device 0 has the highest PCI bus number
 *   FAKE_FREE_MB         free memory of each device, less what this process has allocated (100000)
 *   FAKE_OTHER_TAKES_MS  another process takes memory between any two looks, so many ms from the first look
 * on (0) FAKE_NO_PINNED       any value: no pinned host memory is given FAKE_HOST_LEDGER     a file with a
 * number: what is given of that is added to it, and taken off again FAKE_CUDA_REFUSE_ABOVE_KB  allocations of
 * more KiB are refused (none) FAKE_CONTEXT         what cuDevicePrimaryCtxRetain returns (0) FAKE_CANARY of
 * each device: "wrong": one element of every kernel's output is off by one FAKE_WRONG_KERNEL    the name of a
 * kernel of which one element is off by one FAKE_STALE_KERNEL    the name of a kernel that writes nothing,
 * and to which memory comes with the right result in it, as if from a run before FAKE_OLD_DRIVER      "1":
 * PTX of the fake NVRTC is refused as too new, its SASS is not FAKE_CUDA_MILLISECONDS  what
 * cuEventElapsedTime gives in turn, a digit each ("1") FAKE_INTEGRATED      "1": every device has the host's
 * memory FAKE_COMPUTE_CACHE   a file with the first lines of the PTX that was compiled, which is not compiled
 * again FAKE_JIT             what the compiler of PTX answers where it is asked (0) FAKE_CUDA_FAULT
 * "call:FUNCTION:N:STATUS", see fake_env.h
 *
 * Filling address 0 is accepted and, as on a real device, comes back as an error of every later
 * synchronisation.
 */
#include <cuda.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "fake_env.h"

/* Newer headers name another signature so; the plugins call the function of old. */
#undef cuEventElapsedTime

#define CALL() FAKE_CALL("FAKE_CUDA_FAULT", CUresult)

enum { kMaxDevices = 64 };

static CUuuid UuidOf(int device) {
  CUuuid uuid;
  const char* text = getenv("FAKE_UUID");
  unsigned long long tail = (text ? strtoull(text, NULL, 16) : 0) + (unsigned long long)device;
  memset(&uuid, 0x11, sizeof uuid);
  for (int i = 15; i >= 10; --i, tail >>= 8) uuid.bytes[i] = (char)(tail & 0xff);
  return uuid;
}

static void UuidText(int device, char text[41]) {
  CUuuid uuid = UuidOf(device);
  int at = sprintf(text, "GPU-");
  for (int i = 0; i < 16; ++i)
    at += sprintf(text + at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                  (unsigned char)uuid.bytes[i]);
}

/* The machine's device an entry of CUDA_VISIBLE_DEVICES names, or -1. */
static int DeviceOfEntry(const char* entry, int count) {
  char text[41];
  char* end = NULL;
  long index = strtol(entry, &end, 10);
  if (*entry && *end == '\0') return index >= 0 && index < count ? (int)index : -1;
  for (int i = 0; i < count; ++i) {
    UuidText(i, text);
    if (strncmp(entry, "MIG-", 4) == 0) memcpy(text, "MIG-", 4);
    if (*entry && strncmp(text, entry, strlen(entry)) == 0) return i;
  }
  return -1;
}

/* The visible devices: the list ends at the first entry that names none. */
static int Visible(int devices[kMaxDevices]) {
  int count = (int)FakeNumber("FAKE_DEVICE_COUNT", 1), n = 0;
  const char* list = getenv("CUDA_VISIBLE_DEVICES");
  if (!list) {
    for (; n < count && n < kMaxDevices; ++n) devices[n] = n;
    return n;
  }
  char copy[4096];
  snprintf(copy, sizeof copy, "%s", list);
  char* save = NULL;
  for (char* entry = strtok_r(copy, ",", &save); entry && n < kMaxDevices;
       entry = strtok_r(NULL, ",", &save)) {
    int device = DeviceOfEntry(entry, count);
    if (device < 0) break;
    devices[n++] = device;
  }
  return n;
}

static int MachineDevice(CUdevice ordinal) {
  int devices[kMaxDevices];
  return ordinal >= 0 && ordinal < Visible(devices) ? devices[ordinal] : -1;
}

static time_t FirstCall(void) {
  static time_t first;
  const char* mark = getenv("FAKE_CUINIT_MARK");
  struct stat made;
  if (!first) first = time(NULL);
  if (!mark) return first;
  close(open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  return stat(mark, &made) == 0 ? made.st_mtime : first;
}

CUresult cuInit(unsigned flags) {
  int devices[kMaxDevices];
  (void)flags;
  if (FakeIs("FAKE_STUB", "1")) return CUDA_ERROR_STUB_LIBRARY;
  if (FakeNumber("FAKE_CUINIT", 0) && time(NULL) - FirstCall() < FakeNumber("FAKE_CUINIT_FOR_S", 1000))
    return (CUresult)FakeNumber("FAKE_CUINIT", 0);
  return getenv("CUDA_VISIBLE_DEVICES") && Visible(devices) == 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (FakeIs("FAKE_STUB", "1")) return CUDA_ERROR_STUB_LIBRARY;
  *version = (int)FakeNumber("FAKE_DRIVER_VERSION", 13000);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  int devices[kMaxDevices];
  *count = Visible(devices);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return MachineDevice(ordinal) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  if (MachineDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (FakeItem("FAKE_NAME", MachineDevice(device)))
    snprintf(name, (size_t)size, "%s", FakeItem("FAKE_NAME", MachineDevice(device)));
  else
    snprintf(name, (size_t)size, "NVIDIA Fake %d", MachineDevice(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  if (MachineDevice(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  *uuid = UuidOf(MachineDevice(device));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  int major = 9, minor = 0;
  const int index = MachineDevice(device);
  if (index < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (FakeItem("FAKE_CC", index)) sscanf(FakeItem("FAKE_CC", index), "%d.%d", &major, &minor);
  *value = 0;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
    *value = (int)FakeItemNumber("FAKE_COMPUTE_MODE", index, 0);
  if (attribute == CU_DEVICE_ATTRIBUTE_INTEGRATED) *value = (int)FakeNumber("FAKE_INTEGRATED", 0);
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = major;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = minor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  *bytes = (size_t)128 << 30;
  return MachineDevice(device) < 0 ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  int index = MachineDevice(device), count = (int)FakeNumber("FAKE_DEVICE_COUNT", 1);
  if (index < 0) return CUDA_ERROR_INVALID_DEVICE;
  snprintf(text, (size_t)size, "0000:%02X:00.0",
           16 + (FakeIs("FAKE_PCI", "reverse") ? count - 1 - index : index));
  return CUDA_SUCCESS;
}

/* A primary context lives while somebody retains it; a thread keeps it as its current one beyond that. */
enum { kMostDevices = 16 };
static _Thread_local CUcontext current_context;
static int retained[kMostDevices];

static int IsDestroyed(CUcontext context) { return context && !retained[(uintptr_t)context - 1]; }

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const CUresult answer = (CUresult)FakeNumber("FAKE_CONTEXT", 0);
  if (answer != CUDA_SUCCESS) return answer;
  if (device < 0 || device >= kMostDevices) return CUDA_ERROR_INVALID_DEVICE;
  *context = (CUcontext)(uintptr_t)(device + 1);
  ++retained[device];
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (retained[device] == 0) return CUDA_ERROR_INVALID_CONTEXT;
  --retained[device];
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = retained[device] > 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current_context = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current_context;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (!FakeNumber("FAKE_CTX_DEVICE", 0)) return CUDA_ERROR_NOT_SUPPORTED;
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT;
  *device = (CUdevice)((uintptr_t)current_context - 1);
  return CUDA_SUCCESS;
}
static CUresult sticky_error, left_error;

/* For the fake cuDNN: the next synchronisation answers this, and those behind it do not. */
void FakeCudaLeaveError(int error);
void FakeCudaLeaveError(int error) { left_error = (CUresult)error; }

CUresult cuStreamQuery(CUstream stream) {
  (void)stream;
  CALL();
  return current_context ? sticky_error : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxSynchronize(void) {
  CALL();
  const CUresult left = left_error;
  left_error = CUDA_SUCCESS;
  if (left != CUDA_SUCCESS) return left;
  if (IsDestroyed(current_context)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return current_context ? sticky_error : CUDA_ERROR_INVALID_CONTEXT;
}

static size_t allocated; /* bytes of this process, on whichever device */
static const uint32_t kStaleWord = 0x5A17A1E5;

// 2 MiB for each look within FAKE_OTHER_TAKES_MS milliseconds of the first one.
static size_t TakenByAnother(void) {
  static struct timespec first;
  static size_t looks;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (looks == 0) first = now;
  const long since = (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000;
  const long lasts = FakeNumber("FAKE_OTHER_TAKES_MS", 0);
  if (lasts > 0 && since <= lasts) ++looks;
  return looks * ((size_t)2 << 20);
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  CALL();
  const int device = current_context ? MachineDevice((CUdevice)(uintptr_t)current_context - 1) : 0;
  const size_t unused = (size_t)FakeItemNumber("FAKE_FREE_MB", device, 100000) << 20;
  const size_t taken = allocated + TakenByAnother();
  *total = (size_t)128 << 30;
  *free_bytes = unused > taken ? unused - taken : 0;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  CALL();
  size_t free_bytes = 0, total = 0;
  cuMemGetInfo_v2(&free_bytes, &total);
  const long most = FakeNumber("FAKE_CUDA_REFUSE_ABOVE_KB", 0);
  const int refused = bytes > free_bytes || (most > 0 && bytes >> 10 > (size_t)most);
  void* p = refused ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);
  *pointer = (CUdeviceptr)(uintptr_t)p;
  if (!p) return CUDA_ERROR_OUT_OF_MEMORY;
  __atomic_add_fetch(&allocated, malloc_usable_size(p), __ATOMIC_SEQ_CST);
  if (getenv("FAKE_STALE_KERNEL"))
    for (size_t i = 0; i < bytes / 4; ++i) ((uint32_t*)p)[i] = kStaleWord;
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  CALL();
  __atomic_sub_fetch(&allocated, malloc_usable_size((void*)(uintptr_t)pointer), __ATOMIC_SEQ_CST);
  free((void*)(uintptr_t)pointer);
  return CUDA_SUCCESS;
}
static void TellLedger(long bytes) {
  const char* path = getenv("FAKE_HOST_LEDGER");
  if (!path) return;
  char text[32] = {0};
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) abort();
  const int length = snprintf(text, sizeof text, "%015ld\n", atol(text) + bytes);
  if (pwrite(file, text, (size_t)length, 0) != length) abort();
  close(file);
}
CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  CALL();
  *pointer = getenv("FAKE_NO_PINNED") ? NULL : malloc(bytes);
  if (*pointer) TellLedger((long)malloc_usable_size(*pointer));
  return *pointer ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFreeHost(void* pointer) {
  CALL();
  TellLedger(-(long)malloc_usable_size(pointer));
  free(pointer);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  CALL();
  memcpy((void*)(uintptr_t)to, from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  (void)stream;
  CALL();
  memcpy((void*)(uintptr_t)to, from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  (void)stream;
  CALL();
  if (copy->WidthInBytes > copy->srcPitch || copy->WidthInBytes > copy->dstPitch)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t row = 0; row < copy->Height; ++row)
    memcpy((char*)(uintptr_t)copy->dstDevice + row * copy->dstPitch,
           (const char*)(uintptr_t)copy->srcDevice + row * copy->srcPitch, copy->WidthInBytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  CALL();
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  CALL();
  if (to == 0) {
    sticky_error = CUDA_ERROR_ILLEGAL_ADDRESS;
    return CUDA_SUCCESS;
  }
  memset((void*)(uintptr_t)to, value, count);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  CALL();
  for (size_t i = 0; i < count; ++i) ((unsigned*)(uintptr_t)to)[i] = value;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  (void)flags;
  CALL();
  *event = (CUevent)(uintptr_t)8;
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  (void)event, (void)stream;
  CALL();
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  (void)event;
  CALL();
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* ms, CUevent start, CUevent stop) {
  (void)start, (void)stop;
  CALL();
  static unsigned calls = 0;
  const char* times = getenv("FAKE_CUDA_MILLISECONDS");  // of one digit each, in turn
  *ms = times && *times ? (float)(times[calls++ % strlen(times)] - '0') : 1;
  return CUDA_SUCCESS;
}

/* A module is its image; a function is one of these kernels. */
enum Kernel { kNone, kCanary, kFill, kWorkerCanary };

/* What the driver's compiler, or its cache of what that has compiled, says of some PTX. */
static CUresult Compiled(const char* ptx) {
  const char* path = getenv("FAKE_COMPUTE_CACHE");
  const size_t length = strcspn(ptx, "\n");
  char line[256];
  FILE* cache = path ? fopen(path, "a+") : NULL;
  int known = 0;
  while (cache && fgets(line, sizeof line, cache))
    known = known || (strncmp(line, ptx, length) == 0 && line[length] == '\n');
  const CUresult result = known ? CUDA_SUCCESS : (CUresult)FakeNumber("FAKE_JIT", 0);
  if (cache && !known && result == CUDA_SUCCESS) fprintf(cache, "%.*s\n", (int)length, ptx);
  if (cache) fclose(cache);
  return result;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  CALL();
  *module = (CUmodule)(uintptr_t)image;
  if (FakeIs("FAKE_OLD_DRIVER", "1") && strncmp((const char*)image, "// fake PTX", 11) == 0)
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
  if (!strstr((const char*)image, ".target sm_")) return CUDA_ERROR_INVALID_IMAGE;
  return strncmp((const char*)image, "// fake PTX", 11) == 0 ? Compiled((const char*)image) : CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  (void)module;
  return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  enum Kernel kernel = kNone;
  /* The driver plugin's canary takes a count; the worker's, of the same name, does not. */
  if (strcmp(name, "cudnn_ci_canary") == 0)
    kernel = strstr((const char*)(uintptr_t)module, "[count]") ? kCanary : kWorkerCanary;
  if (strcmp(name, "cudnn_ci_fill") == 0) kernel = kFill;
  *function = (CUfunction)(uintptr_t)kernel;
  return kernel == kNone ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
static const char* NameOf(enum Kernel kernel) {
  return kernel == kFill ? "cudnn_ci_fill" : kernel == kCanary ? "cudnn_ci_canary" : "worker";
}
static uint32_t Element(enum Kernel kernel, uint32_t i, uint32_t seed) {
  if (kernel == kCanary) return i * 2654435761u ^ seed;
  if (kernel == kWorkerCanary) return i * 2654435761u + seed;
  return (i * 2246822519u + seed) ^ (i >> 3);
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** arguments, void** extra) {
  enum Kernel kernel = (enum Kernel)(uintptr_t)function;
  uint32_t* out = (uint32_t*)(uintptr_t) * (CUdeviceptr*)arguments[0];
  uint32_t threads = gx * bx;
  uint32_t count = kernel == kWorkerCanary ? threads : *(uint32_t*)arguments[1];
  uint32_t seed = *(uint32_t*)arguments[kernel == kWorkerCanary ? 1 : 2];
  (void)shared, (void)stream, (void)extra, (void)gy, (void)gz, (void)by, (void)bz;
  CALL();
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT;
  const int stale = FakeIs("FAKE_STALE_KERNEL", NameOf(kernel));
  for (uint32_t i = 0; i < count && i < threads; ++i)
    if (!stale || out[i] == kStaleWord) out[i] = Element(kernel, i, seed);
  const char* canary = FakeItem("FAKE_CANARY", MachineDevice((CUdevice)(uintptr_t)current_context - 1));
  if ((canary && strcmp(canary, "wrong") == 0) || FakeIs("FAKE_WRONG_KERNEL", NameOf(kernel)))
    out[count / 2] += 1;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE" : NULL;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
/* Real stubs crash here; ours does too, so that a caller who asks is found. */
CUresult cuGetErrorString(CUresult error, const char** text) {
  if (error == CUDA_ERROR_STUB_LIBRARY) abort();
  *text = error == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device is detected" : NULL;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* NVRTC 13 asks for it while it looks for its cache, and crashes where it does not exist. */
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  (void)id;
  *table = NULL;
  return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult Unsupported(void) { return CUDA_ERROR_NOT_SUPPORTED; }

/* The runtime asks for everything through this one; what it may have is what reports the driver's state. */
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  (void)version, (void)flags;
  *function = (void*)(uintptr_t)Unsupported;
  if (strcmp(symbol, "cuInit") == 0) *function = (void*)(uintptr_t)cuInit;
  if (strcmp(symbol, "cuDriverGetVersion") == 0) *function = (void*)(uintptr_t)cuDriverGetVersion;
  if (strcmp(symbol, "cuDeviceGetCount") == 0) *function = (void*)(uintptr_t)cuDeviceGetCount;
  if (strncmp(symbol, "cuGetProcAddress", 16) == 0) *function = (void*)(uintptr_t)cuGetProcAddress_v2;
  if (status) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}
