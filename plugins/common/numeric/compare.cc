// The comparison, in blocks that are usually settled by one pass over equal bits.
#include "common/numeric/compare.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "common/numeric/element_kinds.h"
#include "common/numeric/fill.h"
#include "common/numeric/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kBlock = 1 << 14;    // elements compared at once
constexpr std::int64_t kBlocksAtOnce = 16;  // ... by one thread before it asks for more
constexpr int kLargestInt8 = 127;

using Integers = TwoScale<std::int16_t>;

// What a number is in memory, whatever it is as a number.
template <class T>
std::array<unsigned char, sizeof(T)> BytesOf(const T& number) {
  return std::bit_cast<std::array<unsigned char, sizeof(T)>>(number);
}

template <class Kind>
bool IsUnwritten(typename Kind::Stored element) {
  const std::uint32_t words[2] = {UnwrittenWord(Kind::kType), UnwrittenWord(Kind::kType)};
  return std::memcmp(BytesOf(element).data(), words, sizeof element) == 0;
}

// What is right for an integer. Those of one scale are few, so that their answers stand in tables.
template <class Kind>
class Rule {
 public:
  using Got = typename Kind::Got;
  using Stored = typename Kind::Stored;
  Rule(const Expected& expected, double bound)
      : bound_(bound), zero_(expected.values.high ? -1 : expected.max_abs) {
    for (int v = -zero_; v <= zero_; ++v) {
      bits_.push_back(Encoded(v));
      low_.push_back(Low(v));
      high_.push_back(High(v));
    }
  }
  bool exact() const { return bound_ == 0; }
  // By the tables.
  Stored EncodedAt(int v) const { return bits_[Index(v)]; }
  bool AllowsAt(int v, Got got) const { return got >= low_[Index(v)] && got <= high_[Index(v)]; }
  // Of any value.
  static Stored Encoded(double v) { return Kind::Encode(RoundTo(Kind::kType, v)); }
  bool Allows(double v, Got got) const { return got >= Low(v) && got <= High(v); }
  double Target(double v) const { return exact() ? RoundTo(Kind::kType, v) : v; }

 private:
  Got Low(double v) const { return static_cast<Got>(RoundTo(Kind::kType, v - bound_)); }
  Got High(double v) const { return static_cast<Got>(RoundTo(Kind::kType, v + bound_)); }
  std::size_t Index(int v) const { return static_cast<std::size_t>(v) + static_cast<std::size_t>(zero_); }
  const double bound_;
  const int zero_;
  std::vector<Stored> bits_;
  std::vector<Got> low_, high_;
};

void KeepFirst(std::int64_t index, std::int64_t* first) {
  if (*first < 0 || index < *first) *first = index;
}

void Merge(const Judgement& part, Judgement* whole) {
  if (part.first_wrong >= 0 && (whole->first_wrong < 0 || part.first_wrong < whole->first_wrong)) {
    whole->first_wrong = part.first_wrong;
    whole->first_expected = part.first_expected;
    whole->first_got = part.first_got;
    whole->first_bits = part.first_bits;
  }
  if (part.first_unwritten >= 0) KeepFirst(part.first_unwritten, &whole->first_unwritten);
  whole->elements += part.elements;
  whole->wrong += part.wrong;
  whole->unwritten += part.unwritten;
  whole->worst_error = std::max(whole->worst_error, part.worst_error);
}

// True if all elements have the bits of the rounded reference: the usual case, so it decides the speed.
template <class Kind>
bool SameBits(const Rule<Kind>& rule, const Integers& y, const typename Kind::Stored* got,
              std::int64_t count) {
  using Stored = typename Kind::Stored;
  // A 16-bit integer is exact in the wide types, so they need no table and the loop vectorises.
  constexpr bool kWide = std::is_floating_point_v<Stored>;
  int different = 0;
  if (y.high) {
    for (std::int64_t i = 0; i < count; ++i) {
      const Stored right = Rule<Kind>::Encoded(y.At(i));
      different |= BytesOf(right) != BytesOf(got[i]);
    }
    return different == 0;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (kWide)
      different |= !(static_cast<Stored>(y.low[i]) == got[i]);
    else
      different |= rule.EncodedAt(y.low[i]) ^ got[i];
  }
  return different == 0;
}

// Element by element. `index_of(i)` is element i's index in the order n, c, sizes.
template <class Kind, class IndexOf>
void JudgeEach(const Rule<Kind>& rule, const Integers& y, const typename Kind::Stored* got,
               std::int64_t count, IndexOf index_of, Judgement* judgement) {
  for (std::int64_t i = 0; i < count; ++i) {
    const typename Kind::Got value = Kind::Read(got[i]);
    const double target = rule.Target(y.At(i));
    const double error = std::fabs(static_cast<double>(value) - target);
    if (error > judgement->worst_error) judgement->worst_error = error;  // false for NaN
    // The fill of a type without NaN may lie within a bound.
    const bool unwritten = IsUnwritten<Kind>(got[i]);
    if (!unwritten && (y.high ? rule.Allows(y.At(i), value) : rule.AllowsAt(y.low[i], value))) continue;
    const std::int64_t index = index_of(i);
    if (unwritten) {
      ++judgement->unwritten;
      KeepFirst(index, &judgement->first_unwritten);
      continue;
    }
    ++judgement->wrong;
    if (judgement->first_wrong >= 0 && index > judgement->first_wrong) continue;
    judgement->first_wrong = index;
    judgement->first_expected = target;
    judgement->first_got = static_cast<double>(value);
    judgement->first_bits = 0;
    std::memcpy(&judgement->first_bits, &got[i], sizeof got[i]);  // little-endian, as all that have GPUs
  }
}

template <class Kind>
class Comparison {
 public:
  using Stored = typename Kind::Stored;
  Comparison(const Expected& expected, const Extent& extent, double bound, const void* output)
      : y_(expected.values),
        extent_(extent),
        rule_(expected, bound),
        got_(static_cast<const Stored*>(output)) {}

  // [begin, end) in the order n, c, sizes, which is also the output's.
  void Planar(std::int64_t begin, std::int64_t end, Judgement* judgement) const {
    const Integers y = {y_.low + begin, y_.high ? y_.high + begin : nullptr, y_.shift};
    Block(
        y, got_ + begin, end - begin, [begin](std::int64_t i) { return begin + i; }, judgement);
  }

  // Pixels [begin, end) of image n, all channels: the output has channels innermost.
  void ChannelsLast(std::int64_t n, std::int64_t begin, std::int64_t end, std::vector<std::int16_t>* tiles,
                    Judgement* judgement) const {
    const std::int64_t k = extent_.channels, pixels = extent_.pixels, count = (end - begin) * k;
    tiles->resize(static_cast<std::size_t>(2 * count));
    const Integers y = {tiles->data(), y_.high ? tiles->data() + count : nullptr, y_.shift};
    const std::int64_t from = n * k * pixels + begin;
    Transpose(y_.low + from, end - begin, tiles->data());
    if (y_.high) Transpose(y_.high + from, end - begin, tiles->data() + count);
    const auto index_of = [n, k, pixels, begin](std::int64_t i) {
      return (n * k + i % k) * pixels + begin + i / k;
    };
    Block(y, got_ + (n * pixels + begin) * k, count, index_of, judgement);
  }

 private:
  // `count` pixels of every channel, from `from` on, to channels innermost.
  void Transpose(const std::int16_t* from, std::int64_t count, std::int16_t* to) const {
    for (std::int64_t channel = 0; channel < extent_.channels; ++channel, from += extent_.pixels)
      for (std::int64_t i = 0; i < count; ++i) to[i * extent_.channels + channel] = from[i];
  }
  template <class IndexOf>
  void Block(const Integers& y, const Stored* got, std::int64_t count, IndexOf index_of,
             Judgement* judgement) const {
    judgement->elements += count;
    if (rule_.exact() && SameBits(rule_, y, got, count)) return;
    JudgeEach(rule_, y, got, count, index_of, judgement);
  }

  const Integers y_;
  const Extent extent_;
  const Rule<Kind> rule_;
  const Stored* got_;
};

template <class Kind>
Judgement JudgeAs(const Expected& expected, const Extent& extent, Layout layout, double bound,
                  const void* output) {
  const Comparison<Kind> comparison(expected, extent, bound, output);
  Judgement whole;
  std::mutex mutex;
  if (layout == Layout::kNchw) {
    ParallelFor(extent.Count(), kBlock * kBlocksAtOnce, [&](std::int64_t begin, std::int64_t end) {
      Judgement part;
      for (std::int64_t at = begin; at < end; at += kBlock)
        comparison.Planar(at, std::min(at + kBlock, end), &part);
      const std::lock_guard<std::mutex> lock(mutex);
      Merge(part, &whole);
    });
    return whole;
  }
  const std::int64_t tile = std::clamp<std::int64_t>(kBlock / extent.channels, 1, extent.pixels);
  const std::int64_t tiles = (extent.pixels + tile - 1) / tile;
  ParallelFor(extent.outer * tiles,
              std::max<std::int64_t>(1, kBlock * kBlocksAtOnce / (tile * extent.channels)),
              [&](std::int64_t begin, std::int64_t end) {
                Judgement part;
                std::vector<std::int16_t> scratch;
                for (std::int64_t item = begin; item < end; ++item) {
                  const std::int64_t first = item % tiles * tile;
                  comparison.ChannelsLast(item / tiles, first, std::min(first + tile, extent.pixels),
                                          &scratch, &part);
                }
                const std::lock_guard<std::mutex> lock(mutex);
                Merge(part, &whole);
              });
  return whole;
}

}  // namespace

Judgement JudgeOutput(const Expected& expected, const Extent& extent, DataType type, Layout layout,
                      double bound, const void* output) {
  if (type == DataType::kInt8 && (expected.values.high || expected.max_abs > kLargestInt8))
    throw std::logic_error("a right int8 might be taken for one that was never written");
  return WithKind(
      type, [&](auto kind) { return JudgeAs<decltype(kind)>(expected, extent, layout, bound, output); });
}

}  // namespace cudnn_ci
