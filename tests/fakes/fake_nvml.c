/* NVML without a driver, for tests. Sees all devices of the machine, whatever CUDA_VISIBLE_DEVICES says.
 *
 *   FAKE_NVML_INIT     what nvmlInit_v2 returns (0); 18 is a driver/library mismatch
 *   FAKE_NVML_DRIVER   the driver's version ("580.65.06")
 *   FAKE_DEVICE_COUNT  devices of the machine (1)
 *   FAKE_UUID          as in the fake driver
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long Number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text ? strtol(text, NULL, 10) : otherwise;
}

int nvmlInit_v2(void) { return (int)Number("FAKE_NVML_INIT", 0); }
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
  *count = (unsigned)Number("FAKE_DEVICE_COUNT", 1);
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = (void*)(uintptr_t)(index + 1);
  return index < (unsigned)Number("FAKE_DEVICE_COUNT", 1) ? 0 : 2;
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
