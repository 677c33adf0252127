// Random small integers that are the same for the same seed in every process and on every machine, made by
// any number of threads. Knows no operation.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_RANDOM_DATA_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_RANDOM_DATA_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_ci {

// The seed that a text stands for: FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t SeedOf(const std::string& text);

// SplitMix64's output function (Steele, Lea, Flood 2014): random words by their number.
std::uint64_t RandomWord(std::uint64_t seed, std::uint64_t number);

// What a random byte stands for.
using ByteValues = std::array<std::int8_t, 256>;

template <class Function>
ByteValues MakeByteValues(Function value_of) {
  ByteValues values{};
  for (int b = 0; b < 256; ++b) values[static_cast<std::size_t>(b)] = static_cast<std::int8_t>(value_of(b));
  return values;
}

// Every element from a random byte.
void FillByBytes(std::vector<std::int8_t>* data, const ByteValues& values, std::uint64_t seed);

// Each element is -1 or 1 with this probability in all, else 0.
void FillSparse(std::vector<std::int8_t>* data, double density, std::uint64_t seed);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_RANDOM_DATA_H_
