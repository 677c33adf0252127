// The comparison, in blocks that are usually settled by one pass over equal bits, and the bounds of
// algorithms that transform their input.
#include "conv/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <sstream>
#include <type_traits>

#include "conv/fill.h"
#include "conv/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kBlock = 1 << 14;    // elements compared at once
constexpr std::int64_t kBlocksAtOnce = 16;  // ... by one thread before it asks for more

// Errors of transform algorithms on data of {-1,0,1}, the largest over every output of several shapes, with
// cuDNN 9.14 and 9.19 on an H200, tensor-op and FMA math alike; measured by this project:
//   FFT, FFT tiling     float32 3e-5, float16 1.4e-5, float64 1e-14 (reductions from 256 on)
//   Winograd 3x3        float32 2.6e-4, float16 and bfloat16 1.1e-4 (reductions from 576 on)
//   Winograd 5x5        0.19, 0.83, 2.7, 5.5 at reductions of 400, 1600, 4800, 12800 in all three: its
//                       transform has a far larger condition number
// The 16-bit types are computed in float32 and rounded once, so they share its row. Errors grow like the root
// of the reduction (they are proportional to the outputs' mean square), except for Winograd 5x5, where sums
// cancel late and the error follows the reduction itself. `margin` covers other GPUs and tile sizes.
enum class Growth { kRoot, kLinear };
struct BoundRow {
  double measured;
  double reduction;  // at which `measured` holds at least
  double margin;
  Growth growth;
};
constexpr BoundRow kFft32 = {3e-5, 256, 4, Growth::kRoot};
constexpr BoundRow kFft64 = {1e-14, 256, 8, Growth::kRoot};
constexpr BoundRow kWinograd3 = {2.6e-4, 576, 4, Growth::kRoot};
constexpr BoundRow kWinograd5 = {0.19, 400, 2, Growth::kLinear};
// No Winograd in float64 was ever offered; float32's error scaled by the ratio of unit roundoffs.
constexpr double kFloat64PerFloat32 = 0x1p-29;

// The kinds of element, each with how it is read. Got is a type that holds every value of it exactly.
struct Float32Kind {
  using Stored = float;
  using Got = float;
  static Got Read(Stored v) { return v; }
};
struct Float64Kind {
  using Stored = double;
  using Got = double;
  static Got Read(Stored v) { return v; }
};
struct Bfloat16Kind {
  using Stored = std::uint16_t;
  using Got = float;
  static Got Read(Stored v) { return DecodeBfloat16(v); }
};
struct Float16Kind {
  using Stored = std::uint16_t;
  using Got = float;
  static Got Read(Stored v) {
    static const std::vector<float> kValues = [] {
      std::vector<float> all(1 << 16);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = DecodeFloat16(static_cast<std::uint16_t>(i));
      return all;
    }();
    return kValues[v];
  }
};

template <class Kind>
typename Kind::Stored EncodeAs(double value) {
  if constexpr (std::is_same_v<Kind, Float16Kind>)
    return EncodeFloat16(value);
  else if constexpr (std::is_same_v<Kind, Bfloat16Kind>)
    return EncodeBfloat16(value);
  else
    return static_cast<typename Kind::Stored>(value);
}

bool IsUnwritten(const void* element, std::size_t size) {
  std::uint16_t words[sizeof(double) / sizeof(std::uint16_t)];
  std::memcpy(words, element, size);
  return std::all_of(words, words + size / sizeof words[0],
                     [](std::uint16_t w) { return w == kUnwrittenWord; });
}

// What is right for each integer that the reference holds.
template <class Kind>
class Expected {
 public:
  using Got = typename Kind::Got;
  Expected(DataType type, int max_abs, double bound) : zero_(max_abs) {
    for (int v = -max_abs; v <= max_abs; ++v) {
      const double target = bound == 0 ? RoundTo(type, v) : v;
      target_.push_back(target);
      bits_.push_back(EncodeAs<Kind>(RoundTo(type, v)));
      low_.push_back(static_cast<Got>(RoundTo(type, v - bound)));
      high_.push_back(static_cast<Got>(RoundTo(type, v + bound)));
    }
  }
  typename Kind::Stored Encoded(int v) const { return bits_[Index(v)]; }
  bool Allows(int v, Got got) const { return got >= low_[Index(v)] && got <= high_[Index(v)]; }
  double Target(int v) const { return target_[Index(v)]; }

 private:
  std::size_t Index(int v) const { return static_cast<std::size_t>(v) + static_cast<std::size_t>(zero_); }
  int zero_;
  std::vector<double> target_;
  std::vector<typename Kind::Stored> bits_;
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
  }
  if (part.first_unwritten >= 0) KeepFirst(part.first_unwritten, &whole->first_unwritten);
  whole->elements += part.elements;
  whole->wrong += part.wrong;
  whole->unwritten += part.unwritten;
  whole->worst_error = std::max(whole->worst_error, part.worst_error);
}

// True if all elements have the bits of the rounded reference: the usual case, so it decides the speed.
template <class Kind>
bool SameBits(const Expected<Kind>& expected, const std::int16_t* y, const typename Kind::Stored* got,
              std::int64_t count) {
  // A 16-bit integer is exact in the wide types, so they need no table and the loop vectorises.
  constexpr bool kWide = std::is_floating_point_v<typename Kind::Stored>;
  int different = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (kWide)
      different |= !(static_cast<typename Kind::Stored>(y[i]) == got[i]);
    else
      different |= expected.Encoded(y[i]) ^ got[i];
  }
  return different == 0;
}

// Element by element. `index_of(i)` is element i's index in NCHW order.
template <class Kind, class IndexOf>
void JudgeEach(const Expected<Kind>& expected, const std::int16_t* y, const typename Kind::Stored* got,
               std::int64_t count, IndexOf index_of, Judgement* judgement) {
  for (std::int64_t i = 0; i < count; ++i) {
    const typename Kind::Got value = Kind::Read(got[i]);
    const double error = std::fabs(static_cast<double>(value) - expected.Target(y[i]));
    if (error > judgement->worst_error) judgement->worst_error = error;  // false for NaN
    if (expected.Allows(y[i], value)) continue;
    const std::int64_t index = index_of(i);
    if (IsUnwritten(&got[i], sizeof got[i])) {
      ++judgement->unwritten;
      KeepFirst(index, &judgement->first_unwritten);
      continue;
    }
    ++judgement->wrong;
    if (judgement->first_wrong >= 0 && index > judgement->first_wrong) continue;
    judgement->first_wrong = index;
    judgement->first_expected = expected.Target(y[i]);
    judgement->first_got = static_cast<double>(value);
  }
}

template <class Kind>
class Comparison {
 public:
  using Stored = typename Kind::Stored;
  Comparison(const Reference& reference, DataType type, double bound, const void* output)
      : reference_(reference),
        expected_(type, reference.max_abs, bound),
        exact_(bound == 0),
        got_(static_cast<const Stored*>(output)) {}

  // [begin, end) in NCHW order, which is also the output's.
  void Planar(std::int64_t begin, std::int64_t end, Judgement* judgement) const {
    const std::int16_t* y = reference_.y.data() + begin;
    Block(
        y, got_ + begin, end - begin, [begin](std::int64_t i) { return begin + i; }, judgement);
  }

  // Pixels [begin, end) of image n, all channels: the output has channels innermost.
  void ChannelsLast(std::int64_t n, std::int64_t begin, std::int64_t end, std::vector<std::int16_t>* tile,
                    Judgement* judgement) const {
    const std::int64_t k = reference_.shape.k, pixels = Product(reference_.shape.out);
    const std::int64_t count = end - begin;
    tile->resize(static_cast<std::size_t>(count * k));
    const std::int16_t* plane = reference_.y.data() + n * k * pixels + begin;
    for (std::int64_t channel = 0; channel < k; ++channel, plane += pixels) {
      std::int16_t* to = tile->data() + channel;
      for (std::int64_t i = 0; i < count; ++i) to[i * k] = plane[i];
    }
    const auto index_of = [n, k, pixels, begin](std::int64_t i) {
      return (n * k + i % k) * pixels + begin + i / k;
    };
    Block(tile->data(), got_ + (n * pixels + begin) * k, count * k, index_of, judgement);
  }

 private:
  template <class IndexOf>
  void Block(const std::int16_t* y, const Stored* got, std::int64_t count, IndexOf index_of,
             Judgement* judgement) const {
    judgement->elements += count;
    if (exact_ && SameBits(expected_, y, got, count)) return;
    JudgeEach(expected_, y, got, count, index_of, judgement);
  }

  const Reference& reference_;
  const Expected<Kind> expected_;
  const bool exact_;
  const Stored* got_;
};

template <class Kind>
Judgement JudgeAs(const Reference& reference, DataType type, Layout layout, double bound,
                  const void* output) {
  const Comparison<Kind> comparison(reference, type, bound, output);
  Judgement whole;
  std::mutex mutex;
  if (layout == Layout::kNchw) {
    const std::int64_t count = reference.shape.OutputCount();
    ParallelFor(count, kBlock * kBlocksAtOnce, [&](std::int64_t begin, std::int64_t end) {
      Judgement part;
      for (std::int64_t at = begin; at < end; at += kBlock)
        comparison.Planar(at, std::min(at + kBlock, end), &part);
      const std::lock_guard<std::mutex> lock(mutex);
      Merge(part, &whole);
    });
    return whole;
  }
  const std::int64_t pixels = Product(reference.shape.out);
  const std::int64_t tile = std::clamp<std::int64_t>(kBlock / reference.shape.k, 1, pixels);
  const std::int64_t tiles = (pixels + tile - 1) / tile;
  ParallelFor(reference.shape.n * tiles,
              std::max<std::int64_t>(1, kBlock * kBlocksAtOnce / (tile * reference.shape.k)),
              [&](std::int64_t begin, std::int64_t end) {
                Judgement part;
                std::vector<std::int16_t> scratch;
                for (std::int64_t item = begin; item < end; ++item) {
                  const std::int64_t first = item % tiles * tile;
                  comparison.ChannelsLast(item / tiles, first, std::min(first + tile, pixels), &scratch,
                                          &part);
                }
                const std::lock_guard<std::mutex> lock(mutex);
                Merge(part, &whole);
              });
  return whole;
}

template <class Kind>
void EncodeTo(const std::vector<std::int8_t>& values, std::int64_t channels, std::int64_t pixels,
              Layout layout, unsigned char* bytes) {
  typename Kind::Stored table[2 * kMaxValue + 1];
  for (int v = -kMaxValue; v <= kMaxValue; ++v) table[v + kMaxValue] = EncodeAs<Kind>(v);
  auto* out = reinterpret_cast<typename Kind::Stored*>(bytes);
  const auto count = static_cast<std::int64_t>(values.size());
  if (layout == Layout::kNchw || channels == 1 || pixels == 1) {
    ParallelFor(count, kBlock * kBlocksAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        out[i] = table[values[static_cast<std::size_t>(i)] + kMaxValue];
    });
    return;
  }
  const std::int64_t outer = count / (channels * pixels);
  const std::int64_t tile = std::clamp<std::int64_t>(kBlock / channels, 1, pixels);
  const std::int64_t tiles = (pixels + tile - 1) / tile;
  ParallelFor(outer * tiles, kBlocksAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t o = item / tiles, first = item % tiles * tile, stop = std::min(first + tile, pixels);
      const std::int8_t* from = values.data() + o * channels * pixels;
      auto* to = out + o * channels * pixels;
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t p = first; p < stop; ++p)
          to[p * channels + c] = table[from[c * pixels + p] + kMaxValue];
    }
  });
}

}  // namespace

double ErrorBound(Arithmetic arithmetic, DataType type, const ConvShape& shape) {
  if (arithmetic == Arithmetic::kExact) return 0;
  const bool small_kernel = *std::max_element(shape.kernel.begin(), shape.kernel.end()) <= 3;
  BoundRow row = type == DataType::kFloat64 ? kFft64 : kFft32;
  if (arithmetic == Arithmetic::kWinograd) {
    row = small_kernel ? kWinograd3 : kWinograd5;
    if (type == DataType::kFloat64) row.measured *= kFloat64PerFloat32;
  }
  const double ratio = std::max(1.0, static_cast<double>(shape.Reduction()) / row.reduction);
  return row.measured * row.margin * (row.growth == Growth::kRoot ? std::sqrt(ratio) : ratio);
}

Judgement JudgeOutput(const Reference& reference, DataType type, Layout layout, double bound,
                      const void* output) {
  switch (type) {
    case DataType::kFloat32:
      return JudgeAs<Float32Kind>(reference, type, layout, bound, output);
    case DataType::kFloat16:
      return JudgeAs<Float16Kind>(reference, type, layout, bound, output);
    case DataType::kBfloat16:
      return JudgeAs<Bfloat16Kind>(reference, type, layout, bound, output);
    case DataType::kFloat64:
      break;
  }
  return JudgeAs<Float64Kind>(reference, type, layout, bound, output);
}

std::string DescribeWrong(const Judgement& j, const ConvShape& shape, double bound) {
  std::ostringstream os;
  os.precision(9);
  os << j.wrong << " of " << j.elements << " elements are wrong; first " << shape.OutputPlace(j.first_wrong)
     << ": expected " << j.first_expected << ", got ";
  if (std::isnan(j.first_got))
    os << "no number";
  else
    os << j.first_got;
  os << "; worst error of a number " << j.worst_error
     << (bound == 0 ? ", and none is allowed" : ", allowed before rounding ");
  if (bound != 0) os << bound;
  return os.str();
}

std::string DescribeUnwritten(const Judgement& j, const ConvShape& shape) {
  return std::to_string(j.unwritten) + " of " + std::to_string(j.elements) +
         " elements were never written; first " + shape.OutputPlace(j.first_unwritten);
}

void EncodeData(const std::vector<std::int8_t>& values, std::int64_t channels, std::int64_t pixels,
                DataType type, Layout layout, unsigned char* out) {
  switch (type) {
    case DataType::kFloat32:
      return EncodeTo<Float32Kind>(values, channels, pixels, layout, out);
    case DataType::kFloat16:
      return EncodeTo<Float16Kind>(values, channels, pixels, layout, out);
    case DataType::kBfloat16:
      return EncodeTo<Bfloat16Kind>(values, channels, pixels, layout, out);
    case DataType::kFloat64:
      return EncodeTo<Float64Kind>(values, channels, pixels, layout, out);
  }
}

}  // namespace cudnn_ci
