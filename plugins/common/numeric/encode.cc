// Encoding by a table of the few values there are, spread over the CPUs.
#include "common/numeric/encode.h"

#include <algorithm>

#include "common/numeric/element_kinds.h"
#include "common/numeric/parallel.h"

namespace cudnn_ci {
namespace {

constexpr std::int64_t kBlock = 1 << 14;    // elements encoded at once
constexpr std::int64_t kBlocksAtOnce = 16;  // ... by one thread before it asks for more
constexpr int kValues = 2 * kMaxValue + 1;

template <class Kind>
struct Table {
  explicit Table(int shift) {
    const std::int8_t ones[kValues] = {-3, -2, -1, 0, 1, 2, 3};
    static_assert(kMaxValue == 3);
    for (int high = 0; high < kValues; ++high)
      for (int low = 0; low < kValues; ++low) {
        const TwoScale<std::int8_t> one = {&ones[low], &ones[high], shift};
        encoded[high * kValues + low] = Kind::Encode(RoundTo(Kind::kType, one.At(0)));
      }
  }
  typename Kind::Stored At(const TwoScale<std::int8_t>& values, std::int64_t i) const {
    const int high = values.high ? values.high[i] : 0;
    return encoded[(high + kMaxValue) * kValues + values.low[i] + kMaxValue];
  }
  typename Kind::Stored encoded[kValues * kValues];
};

template <class Kind>
void EncodeTo(const TwoScale<std::int8_t>& values, const Extent& extent, Layout layout,
              typename Kind::Stored* out) {
  const Table<Kind> table(values.shift);
  const std::int64_t channels = extent.channels, pixels = extent.pixels;
  if (layout == Layout::kNchw || channels == 1 || pixels == 1) {
    ParallelFor(extent.Count(), kBlock * kBlocksAtOnce, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) out[i] = table.At(values, i);
    });
    return;
  }
  const std::int64_t tile = std::clamp<std::int64_t>(kBlock / channels, 1, pixels);
  const std::int64_t tiles = (pixels + tile - 1) / tile;
  ParallelFor(extent.outer * tiles, kBlocksAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t o = item / tiles, first = item % tiles * tile, stop = std::min(first + tile, pixels);
      const std::int64_t image = o * channels * pixels;
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t p = first; p < stop; ++p)
          out[image + p * channels + c] = table.At(values, image + c * pixels + p);
    }
  });
}

}  // namespace

void EncodeData(const TwoScale<std::int8_t>& values, const Extent& extent, DataType type, Layout layout,
                unsigned char* out) {
  WithKind(type, [&](auto kind) {
    using Kind = decltype(kind);
    EncodeTo<Kind>(values, extent, layout, reinterpret_cast<typename Kind::Stored*>(out));
  });
}

}  // namespace cudnn_ci
