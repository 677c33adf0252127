/* NVML without a driver, for tests. Sees all devices of the machine, whatever CUDA_VISIBLE_DEVICES says.
 *
 *   FAKE_NVML_INIT     what nvmlInit_v2 returns (0); 18 is a driver/library mismatch
 *   FAKE_NVML_DRIVER   the driver's version ("580.65.06")
 *   FAKE_DEVICE_COUNT  devices of the machine (1)
 *   FAKE_NAME          the name of each device, as in the fake driver
 *   FAKE_UUID          as in the fake driver
 *   FAKE_FREE_MB       free memory of each device, as in the fake driver
 *   FAKE_PERSISTENCE   persistence mode of each device (1)
 *   FAKE_BRAND         nvmlBrandType_t of each device (2, tesla; 15 is geforcertx)
 *   FAKE_MIG           MIG mode of each device (0); FAKE_MIG_PENDING after the next reset (as FAKE_MIG);
 *                      FAKE_MIG_INSTANCES how many instances each has (0)
 *   FAKE_ECC           uncorrected memory errors of each device (0)
 *   FAKE_REPAIR        of each device: 1 pages to retire, 2 rows to remap, 3 a row that could not be (0)
 *   FAKE_SLOWED        nvmlClocksEventReasons of each device (0)
 *   FAKE_NVLINKS       NVLinks of each device (0); FAKE_NVLINKS_DOWN how many of them are down (0)
 *   FAKE_FABRIC        nvmlGpuFabricState_t of each device (0); FAKE_FABRIC_STATUS nvmlReturn_t beside it (0)
 *   FAKE_RECOVERY      nvmlDeviceGpuRecoveryAction_t of each device (0)
 *   FAKE_HANDLE        what nvmlDeviceGetHandleByIndex returns of each device (0)
 *   FAKE_PROCESSES     "PID:MIB,PID:MIB": who computes on every device; MIB -1: not told (nobody)
 */
#include <stdint.h>

#include "fake_env.h"

int nvmlInit_v2(void) { return (int)FakeNumber("FAKE_NVML_INIT", 0); }
int nvmlShutdown(void) { return 0; }
const char* nvmlErrorString(int status) {
  return status == 18 ? "Driver/library version mismatch" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  const char* version = getenv("FAKE_NVML_DRIVER");
  snprintf(text, size, "%s", version ? version : "580.65.06");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = (unsigned)FakeNumber("FAKE_DEVICE_COUNT", 1);
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  const long handle = FakeItemNumber("FAKE_HANDLE", (int)index, 0);
  *device = (void*)(uintptr_t)(index + 1);
  if (handle != 0) return (int)handle;
  return index < (unsigned)FakeNumber("FAKE_DEVICE_COUNT", 1) ? 0 : 2;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  const int index = (int)(uintptr_t)device - 1;
  const char* name = FakeItem("FAKE_NAME", index);
  if (name)
    snprintf(text, size, "%s", name);
  else
    snprintf(text, size, "NVIDIA Fake %d", index);
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  const char* base = getenv("FAKE_UUID");
  unsigned long long tail = (base ? strtoull(base, NULL, 16) : 0) + (uintptr_t)device - 1;
  snprintf(text, size, "GPU-11111111-1111-1111-1111-%012llx", tail & 0xffffffffffffull);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long memory[3]) {
  memory[0] = 128ull << 30;
  memory[1] = (unsigned long long)FakeItemNumber("FAKE_FREE_MB", (int)(uintptr_t)device - 1, 100000) << 20;
  memory[2] = memory[0] - memory[1];
  return 0;
}

static int IndexOf(void* device) { return (int)(uintptr_t)device - 1; }

int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
  *mode = (int)FakeItemNumber("FAKE_PERSISTENCE", IndexOf(device), 1);
  return 0;
}
int nvmlDeviceGetBrand(void* device, unsigned* brand) {
  *brand = (unsigned)FakeItemNumber("FAKE_BRAND", IndexOf(device), 2);
  return 0;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  *current = (unsigned)FakeItemNumber("FAKE_MIG", IndexOf(device), 0);
  *pending = (unsigned)FakeItemNumber("FAKE_MIG_PENDING", IndexOf(device), (long)*current);
  return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  (void)device;
  *count = 7;
  return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance) {
  *instance = device;
  return (long)index < FakeItemNumber("FAKE_MIG_INSTANCES", IndexOf(device), 0) ? 0 : 6;
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
  if (type != 1 || counter != 0) return 3;
  *count = (unsigned long long)FakeItemNumber("FAKE_ECC", IndexOf(device), 0);
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = (unsigned long long)FakeItemNumber("FAKE_SLOWED", IndexOf(device), 0);
  return 0;
}
int nvmlDeviceGetRetiredPagesPendingStatus(void* device, int* pending) {
  *pending = FakeItemNumber("FAKE_REPAIR", IndexOf(device), 0) == 1;
  return 0;
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  *corrected = *uncorrected = 0;
  *pending = FakeItemNumber("FAKE_REPAIR", IndexOf(device), 0) == 2;
  *failed = FakeItemNumber("FAKE_REPAIR", IndexOf(device), 0) == 3;
  return 0;
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  const long links = FakeItemNumber("FAKE_NVLINKS", IndexOf(device), 0);
  if (links == 0) return 3;
  *active = (long)link >= FakeItemNumber("FAKE_NVLINKS_DOWN", IndexOf(device), 0);
  return (long)link < links ? 0 : 2;
}
struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique, state;
};
int nvmlDeviceGetGpuFabricInfo(void* device, struct FabricInfo* info) {
  info->state = (unsigned)FakeItemNumber("FAKE_FABRIC", IndexOf(device), 0);
  info->status = (int)FakeItemNumber("FAKE_FABRIC_STATUS", IndexOf(device), 0);
  return 0;
}
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  unsigned long long value;
};
int nvmlDeviceGetFieldValues(void* device, int count, struct FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].status = values[i].field == 230 ? 0 : 3;
    values[i].value = (unsigned long long)FakeItemNumber("FAKE_RECOVERY", IndexOf(device), 0);
  }
  return 0;
}
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct Process* processes) {
  const char* text = getenv("FAKE_PROCESSES");
  unsigned room = *count;
  (void)device;
  *count = 0;
  while (text && *text && *count < room) {
    long pid = 0, mib = 0;
    if (sscanf(text, "%ld:%ld", &pid, &mib) != 2) return 999;
    struct Process p = {(unsigned)pid, mib < 0 ? ~0ull : (unsigned long long)mib << 20, 0, 0};
    processes[(*count)++] = p;
    text = strchr(text, ',');
    if (text) ++text;
  }
  return 0;
}
