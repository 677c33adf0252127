// SHA-256's work on whole blocks of 64 bytes: for every processor, and by the instructions that some of them
// have. Private to base; shown for its test.
#ifndef CUDNN_CI_BASE_SHA256_BLOCKS_H_
#define CUDNN_CI_BASE_SHA256_BLOCKS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cudnn_ci {

using Sha256State = std::array<uint32_t, 8>;
using Sha256Blocks = void (*)(const unsigned char* data, size_t blocks, Sha256State* state);

extern const std::array<uint32_t, 64> kSha256Rounds;  // FIPS 180-4, 4.2.2
void Sha256BlocksAnywhere(const unsigned char* data, size_t blocks, Sha256State* state);
// By SHA-NI; null where the processor has none.
Sha256Blocks Sha256BlocksAccelerated();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_SHA256_BLOCKS_H_
