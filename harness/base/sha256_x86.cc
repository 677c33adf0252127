// SHA-256 by the SHA extensions of x86 (Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2). Every line of the journal is hashed: this is what makes that cost
// next to nothing.
#include "base/sha256_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cudnn_ci {

#if defined(__x86_64__)
namespace {

__attribute__((target("sha,sse4.1"))) void Blocks(const unsigned char* data, size_t blocks,
                                                  Sha256State* state) {
  const auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions want the eight words as a, b, e, f and c, d, g, h, the first in the highest place.
  const __m128i cdab = _mm_shuffle_epi32(load(state->data()), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(load(state->data() + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; blocks > 0; --blocks, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the last sixteen words of the schedule
    for (size_t i = 0; i < 16; ++i) {
      __m128i& next = w[i % 4];
      if (i < 4) {
        next = _mm_shuffle_epi8(load(data + 16 * i), big_endian);
      } else {
        const __m128i last = w[(i + 3) % 4];
        next = _mm_add_epi32(_mm_sha256msg1_epu32(next, w[(i + 1) % 4]),
                             _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
        next = _mm_sha256msg2_epu32(next, last);
      }
      const __m128i sum = _mm_add_epi32(next, load(kSha256Rounds.data() + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  const auto store = [](void* to, __m128i value) { _mm_storeu_si128(static_cast<__m128i*>(to), value); };
  store(state->data(), _mm_blend_epi16(feba, dchg, 0xf0));
  store(state->data() + 4, _mm_alignr_epi8(dchg, feba, 8));
}

bool HasShaExtensions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSsse3AndSse41 = 1u << 9 | 1u << 19, kSha = 1u << 29;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3AndSse41) != kSsse3AndSse41) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0;
}

}  // namespace

Sha256Blocks Sha256BlocksAccelerated() {
  static const bool kHas = HasShaExtensions();
  return kHas ? Blocks : nullptr;
}
#else
Sha256Blocks Sha256BlocksAccelerated() { return nullptr; }
#endif

}  // namespace cudnn_ci
