/* A sub-library of the fake cuDNN: nothing but the object that carries its version, where it has one. */
#include <stdint.h>

#ifdef FAKE_PART_SYMBOL
const uint32_t FAKE_PART_SYMBOL = FAKE_PART_VERSION;
#else
const uint32_t fake_cudnn_part_without_version = 1;
#endif
