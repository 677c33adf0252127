/* Stands in for CUPTI: tells its one subscriber of launches that a fake package says it makes. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct CallbackData {
  int site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
};
typedef void (*Callback)(void* user, int domain, uint32_t number, const struct CallbackData* data);

enum { kDriverApi = 1, kLaunchKernel = 307, kNames = 600, kInvalid = 1 };
static Callback callback;
static int enabled[kNames];

int cuptiSubscribe(void** subscriber, Callback function, void* user) {
  (void)user;
  callback = function;
  *subscriber = &callback;
  return 0;
}

int cuptiGetCallbackName(int domain, uint32_t number, const char** name) {
  if (domain != kDriverApi || number >= kNames) return kInvalid;
  *name = number == kLaunchKernel ? "cuLaunchKernel" : number == 1 ? "cuLaunchHostFunc" : "cuOther";
  return 0;
}

int cuptiEnableCallback(uint32_t enable, void* subscriber, int domain, uint32_t number) {
  if (subscriber != &callback || domain != kDriverApi || number >= kNames) return kInvalid;
  enabled[number] = enable != 0;
  return 0;
}

/* Not of CUPTI: a launch, when it is begun and when it has returned. */
void FakeLaunch(const char* name) {
  for (int site = 0; site < 2; ++site) {
    const struct CallbackData data = {site, "cuLaunchKernel", NULL, NULL, name};
    if (callback && enabled[kLaunchKernel]) callback(NULL, kDriverApi, kLaunchKernel, &data);
  }
}
