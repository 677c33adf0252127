// A block of normal numbers that is copied as often as needed, and a comparison that is usually one memcmp.
#include "common/numeric/repeat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "common/numeric/random_data.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kPeriod = NormalData::kPeriod;
constexpr std::uint64_t kSeed = 0x6e6f726d616cu;
constexpr double kTwoPi = 6.283185307179586;

// In (0, 1], of the upper 53 bits, which a double holds.
double Uniform(std::uint64_t number) {
  return (static_cast<double>(RandomWord(kSeed, number) >> 11) + 1) * 0x1p-53;
}

// Box and Muller 1958.
std::vector<unsigned char> MakeBlock(DataType type) {
  const std::size_t size = SizeOf(type);
  std::vector<unsigned char> block(static_cast<std::size_t>(kPeriod) * size);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(kPeriod); ++i) {
    const double value = std::sqrt(-2 * std::log(Uniform(2 * i))) * std::cos(kTwoPi * Uniform(2 * i + 1));
    Store(type, value, block.data() + i * size);
  }
  return block;
}

// Made once for each type of a process: rounding costs more than copying.
const std::vector<unsigned char>& BlockOf(DataType type) {
  static std::mutex mutex;
  static std::map<DataType, std::vector<unsigned char>> blocks;
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<unsigned char>& block = blocks[type];
  if (block.empty()) block = MakeBlock(type);
  return block;
}

const std::vector<double>& ValuesOf(DataType type) {
  static std::mutex mutex;
  static std::map<DataType, std::vector<double>> all;
  const std::vector<unsigned char>& block = BlockOf(type);
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<double>& values = all[type];
  for (std::size_t at = values.empty() ? 0 : block.size(); at < block.size(); at += SizeOf(type))
    values.push_back(Load(type, block.data() + at));
  return values;
}

std::int64_t StartOf(std::uint64_t seed) {
  return static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(kPeriod));
}

std::uint64_t BitsOf(const unsigned char* from, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);  // little-endian, as every machine with these GPUs
  return bits;
}

}  // namespace

void FillNormal(DataType type, std::int64_t count, std::uint64_t seed, unsigned char* out) {
  const std::vector<unsigned char>& block = BlockOf(type);
  const std::size_t size = SizeOf(type);
  std::int64_t at = StartOf(seed);
  while (count > 0) {
    const std::int64_t part = std::min(count, kPeriod - at);
    const std::size_t bytes = static_cast<std::size_t>(part) * size;
    std::memcpy(out, block.data() + static_cast<std::size_t>(at) * size, bytes);
    out += bytes;
    count -= part;
    at = 0;
  }
}

NormalData::NormalData(DataType type, std::uint64_t seed) : values_(ValuesOf(type)), start_(StartOf(seed)) {}

Difference DifferenceOf(const unsigned char* before, const unsigned char* after, const Extent& extent,
                        DataType type, Layout layout, std::optional<std::uint32_t> filled) {
  Difference difference;
  const std::size_t size = SizeOf(type);
  const std::int64_t count = extent.Count(), image = extent.channels * extent.pixels;
  if (std::memcmp(before, after, static_cast<std::size_t>(count) * size) == 0) return difference;
  const std::uint32_t words[2] = {filled.value_or(0), filled.value_or(0)};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * size;
    if (std::memcmp(before + offset, after + offset, size) == 0) continue;
    ++difference.elements;
    const std::int64_t within = i % image;
    const std::int64_t index =
        layout == Layout::kNchw
            ? i
            : i - within + within % extent.channels * extent.pixels + within / extent.channels;
    if (filled && std::memcmp(after + offset, words, size) == 0) {
      const std::int64_t first = difference.first_unwritten;
      difference.first_unwritten = difference.unwritten++ == 0 ? index : std::min(first, index);
    }
    if (difference.first >= 0 && index > difference.first) continue;
    difference.first = index;
    difference.bits_before = BitsOf(before + offset, size);
    difference.bits_after = BitsOf(after + offset, size);
  }
  return difference;
}

std::string BitsText(DataType type, std::uint64_t bits) {
  std::string text;
  for (std::size_t digit = 0; digit < 2 * SizeOf(type); ++digit, bits >>= 4)
    text.insert(text.begin(), "0123456789abcdef"[bits & 15]);
  return "0x" + text;
}

}  // namespace cudnn_ci
