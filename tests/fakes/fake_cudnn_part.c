/* A sub-library of the fake cuDNN: nothing but the object that carries its version, where it has one. Four
 * bytes, as in the real one: a sanitizer would put its red zone behind them. */
#include <stdint.h>

#ifdef __clang__
#define PLAIN __attribute__((no_sanitize("address")))
#else
#define PLAIN
#endif

#ifdef FAKE_PART_SYMBOL
PLAIN const uint32_t FAKE_PART_SYMBOL = FAKE_PART_VERSION;
#else
PLAIN uint32_t fake_cudnn_part_without_version = 1;
#endif

/* What it would open by name stands in its text. */
#ifdef FAKE_PART_OPENS
const char kFakeCudnnPartOpens[] = FAKE_PART_OPENS;
#endif
