/* What the fake libraries share: reading their variables, and a fault at a chosen call. C11 and C++. Each
 * library that includes it counts its own calls.
 */
#ifndef CUDNN_CI_TESTS_FAKES_FAKE_ENV_H_
#define CUDNN_CI_TESTS_FAKES_FAKE_ENV_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline long FakeNumber(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text ? atol(text) : otherwise;
}

static inline int FakeIs(const char* name, const char* value) {
  const char* text = getenv(name);
  return text && strcmp(text, value) == 0;
}

/* Item `index` of a list separated by commas, the last one for every index behind it; null: not set. Valid
 * until the next call. */
static inline const char* FakeItem(const char* name, int index) {
  static __thread char item[256];
  const char* text = getenv(name);
  if (!text) return text;
  const char* comma = strchr(text, ',');
  for (; comma && index > 0; --index, comma = strchr(text, ',')) text = comma + 1;
  snprintf(item, sizeof item, "%.*s", (int)strcspn(text, ","), text);
  return item;
}

static inline long FakeItemNumber(const char* name, int index, long otherwise) {
  const char* text = FakeItem(name, index);
  return text ? atol(text) : otherwise;
}

/* The status that a fault asks of this call, 0 for none. The variable holds "call:FUNCTION:N:WHAT": the Nth
 * call of the function in this process, by "N+" each later one too, or each if N is 0; WHAT is the status it
 * answers, or "abort", or "hang". `calls` is the function's own counter. */
static inline int FakeCallFault(const char* variable, const char* function, int* calls) {
  const char* fault = getenv(variable);
  const size_t length = strlen(function);
  const int call = __atomic_add_fetch(calls, 1, __ATOMIC_SEQ_CST);
  if (!fault || strncmp(fault, "call:", 5) != 0) return 0;
  fault += 5;
  if (strncmp(fault, function, length) != 0 || fault[length] != ':') return 0;
  char* what;
  const long wanted = strtol(fault + length + 1, &what, 10);
  const int later = *what == '+';
  if (later) ++what;
  if (*what != ':' || (wanted != 0 && wanted != call && !(later && wanted < call))) return 0;
  ++what;
  if (strcmp(what, "abort") == 0) abort();
  while (strcmp(what, "hang") == 0) sleep(1);
  return atoi(what);
}

/* At the head of a function: answers what a fault asks of it. */
#define FAKE_CALL(variable, type)                                 \
  do {                                                            \
    static int calls;                                             \
    const int status = FakeCallFault(variable, __func__, &calls); \
    if (status) return (type)status;                              \
  } while (0)

#endif /* CUDNN_CI_TESTS_FAKES_FAKE_ENV_H_ */
