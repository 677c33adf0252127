/* NVML without a driver, for tests. Sees all devices of the machine, whatever CUDA_VISIBLE_DEVICES says.
 *
 *   FAKE_NVML_INIT     what nvmlInit_v2 returns (0); 18 is a driver/library mismatch
 *   FAKE_NVML_DRIVER   the driver's version ("580.65.06")
 *   FAKE_DEVICE_COUNT  devices of the machine (1)
 *   FAKE_UUID          as in the fake driver
 *   FAKE_FREE_MB       free memory of each device, as in the fake driver
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
  *device = (void*)(uintptr_t)(index + 1);
  return index < (unsigned)FakeNumber("FAKE_DEVICE_COUNT", 1) ? 0 : 2;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  snprintf(text, size, "NVIDIA Fake %d", (int)(uintptr_t)device - 1);
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
