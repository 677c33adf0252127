#include "toolkit/product.h"

#include <cstring>
#include <sstream>

#include "common/numeric/data_type.h"

namespace cudnn_ci {
namespace {

// Multiples of 8, so that every library has a kernel for it, and of nothing much larger: tiles are cut at the
// edges. No sum is above 2048, up to which float16 has every integer.
constexpr std::size_t kM = 136, kN = 72, kK = 264;
constexpr int kLargest = 2;
static_assert(kK * kLargest * kLargest <= 2048);
constexpr std::size_t kGuardBytes = 4096;  // a multiple of every alignment that is asked for
constexpr unsigned char kNoNumber = 0xFF;  // a NaN in either type
constexpr std::uint16_t kHalfSign = 0x8000;
constexpr std::uint32_t kFloatSign = 0x80000000;

// splitmix64 (https://prng.di.unimi.it/splitmix64.c).
std::uint64_t Next(std::uint64_t* state) {
  std::uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

std::vector<int> Draw(std::size_t count, std::uint64_t* state) {
  std::vector<int> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<int>(Next(state) % (2 * kLargest + 1)) - kLargest);
  return values;
}

template <class Bits>
Bits BitsAt(const std::vector<unsigned char>& memory, std::size_t at) {
  Bits bits = 0;
  std::memcpy(&bits, memory.data() + at, sizeof bits);
  return bits;
}

}  // namespace

Product::Product(GemmType type, std::uint64_t seed) : type_(type) {
  const std::vector<int> a = Draw(kM * kK, &seed), b = Draw(kK * kN, &seed);
  before_.assign(kGuardBytes, kNoNumber);
  a_ = Add(a.size());
  b_ = Add(b.size());
  d_ = Add(kM * kN);
  for (std::size_t i = 0; i < a.size(); ++i) Put(&before_, a_ + i * ElementBytes(), a[i]);
  for (std::size_t i = 0; i < b.size(); ++i) Put(&before_, b_ + i * ElementBytes(), b[i]);
  right_ = before_;
  for (std::size_t column = 0; column < kN; ++column)
    for (std::size_t row = 0; row < kM; ++row) {
      int sum = 0;
      for (std::size_t i = 0; i < kK; ++i) sum += a[row * kK + i] * b[column * kK + i];
      Put(&right_, d_ + (column * kM + row) * ElementBytes(), sum);
    }
}

// Room for a matrix with a guard zone behind it; returns where it begins.
std::size_t Product::Add(std::size_t elements) {
  const std::size_t begin = before_.size(), end = begin + elements * ElementBytes();
  before_.resize((end + 2 * kGuardBytes - 1) / kGuardBytes * kGuardBytes, kNoNumber);
  return begin;
}

void Product::Put(std::vector<unsigned char>* memory, std::size_t at, int value) const {
  const auto real = static_cast<float>(value);
  const std::uint16_t half = EncodeFloat16(value);
  if (type_ == GemmType::kFloat16)
    std::memcpy(memory->data() + at, &half, sizeof half);
  else
    std::memcpy(memory->data() + at, &real, sizeof real);
}

Gemm Product::At(std::uint64_t base) const { return {type_, kM, kN, kK, base + a_, base + b_, base + d_}; }

// Bit for bit, but that a zero may have a sign.
bool Product::IsRight(const std::vector<unsigned char>& after, std::size_t at) const {
  if (std::memcmp(after.data() + at, right_.data() + at, ElementBytes()) == 0) return true;
  if (type_ == GemmType::kFloat16)
    return BitsAt<std::uint16_t>(right_, at) == 0 && BitsAt<std::uint16_t>(after, at) == kHalfSign;
  return BitsAt<std::uint32_t>(right_, at) == 0 && BitsAt<std::uint32_t>(after, at) == kFloatSign;
}

std::string Product::ValueText(const std::vector<unsigned char>& memory, std::size_t at) const {
  std::ostringstream text;
  if (type_ == GemmType::kFloat16)
    text << DecodeFloat16(BitsAt<std::uint16_t>(memory, at));
  else
    text << BitsAt<float>(memory, at);
  return text.str();
}

std::string Product::Problem(const std::vector<unsigned char>& after) const {
  const std::size_t end = d_ + kM * kN * ElementBytes();
  for (std::size_t i = 0; i < after.size(); ++i)
    if ((i < d_ || i >= end) && after[i] != right_[i])
      return i >= a_ && i < d_ && before_[i] != kNoNumber ? "it changed its inputs"
                                                          : "it wrote outside its output";
  std::size_t wrong = 0, first = 0;
  for (std::size_t at = end; at > d_; at -= ElementBytes())
    if (!IsRight(after, at - ElementBytes())) {
      ++wrong;
      first = at - ElementBytes();
    }
  if (wrong == 0) return "";
  const std::size_t element = (first - d_) / ElementBytes();
  return std::to_string(wrong) + " of " + std::to_string(kM * kN) + " elements are wrong; first at row " +
         std::to_string(element % kM) + ", column " + std::to_string(element / kM) + ": got " +
         ValueText(after, first) + ", expected " + ValueText(right_, first);
}

}  // namespace cudnn_ci
