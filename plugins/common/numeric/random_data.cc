// Filling in ranges, each of which begins with a random word of its own.
#include "common/numeric/random_data.h"

#include <algorithm>

#include "common/numeric/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kGrain = 1 << 18;  // elements; a multiple of 8, the values of one random word

}  // namespace

std::uint64_t SeedOf(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char ch : text) h = (h ^ static_cast<unsigned char>(ch)) * 0x100000001b3u;
  return h;
}

std::uint64_t RandomWord(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void FillByBytes(std::vector<std::int8_t>* data, const ByteValues& values, std::uint64_t seed) {
  const auto count = static_cast<std::int64_t>(data->size());
  std::int8_t* const to = data->data();
  ParallelFor(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += 8) {
      std::uint64_t word = RandomWord(seed, static_cast<std::uint64_t>(i / 8));
      const std::int64_t stop = std::min(i + 8, end);
      for (std::int64_t j = i; j < stop; ++j, word >>= 8) to[j] = values[word & 255];
    }
  });
}

void FillSparse(std::vector<std::int8_t>* data, double density, std::uint64_t seed) {
  // Of the upper 53 bits of a word, which a double holds; the lowest bit is the sign.
  const auto threshold = static_cast<std::uint64_t>(std::clamp(density, 0.0, 1.0) * 0x1p53);
  std::int8_t* const to = data->data();
  ParallelFor(static_cast<std::int64_t>(data->size()), kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t word = RandomWord(seed, static_cast<std::uint64_t>(i));
      const int sign = 2 * static_cast<int>(word & 1) - 1;
      to[i] = static_cast<std::int8_t>(sign * (word >> 11 < threshold));
    }
  });
}

}  // namespace cudnn_ci
