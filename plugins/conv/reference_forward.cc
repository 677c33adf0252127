// The forward convolution in integers: it only adds rows.
//
// Some images are laid out side by side, padded, split by the residues of their coordinates modulo the
// strides. Then the input elements that one filter tap meets, over all outputs of those images, are one
// contiguous run in that layout, and a convolution is: for each tap with a weight of 1 add a run, for -1
// subtract one. A run also holds a few results between rows and between images that belong to no output;
// they are dropped. Weights of more than 1 are repeated taps.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/numeric/parallel.h"
#include "conv/reference.h"
#include "conv/reference_rows.h"

namespace cudnn_ci {
namespace {

// Results kept in the first-level cache while all taps are added to them.
constexpr std::int64_t kBlock = 2048;
// Images are taken together until a run is about this long: shorter ones cost more in loops than in sums.
constexpr std::int64_t kGoodRun = 1024;
// Elements of a layout from which on it is no cache's.
constexpr std::int64_t kLarge = std::int64_t{1} << 22;
// Filters and elements that a thread takes at least, where there are enough for all, and sums that it has at
// most.
constexpr std::int64_t kGoodFilters = 8, kGoodPart = 1 << 15, kMostSums = 1 << 21;

// Of one residue of one image.
Axes SplitSize(const ConvShape& s) {
  Axes size{};
  for (std::size_t a = 0; a < 3; ++a) size[a] = (s.Padded(a) + s.stride[a] - 1) / s.stride[a];
  return size;
}

// Where things lie in the split layout of `images` images: channel, residue, image, row, column.
struct Split {
  Split(const ConvShape& s, std::int64_t images_together)
      : shape(s), images(images_together), size(SplitSize(s)) {
    image = Product(size);
    residue = images * image;
    channel = residue * Product(s.stride);
    for (std::int64_t c = 0; c < s.ChannelsPerGroup(); ++c)
      for (std::int64_t t = 0; t < s.kernel[0]; ++t)
        for (std::int64_t r = 0; r < s.kernel[1]; ++r)
          for (std::int64_t q = 0; q < s.kernel[2]; ++q)
            taps.push_back(c * channel + At(t * s.dilation[0], r * s.dilation[1], q * s.dilation[2]));
  }
  // The place of a padded coordinate within its channel, in the first image.
  std::int64_t At(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const Axes& st = shape.stride;
    const std::int64_t which = (z % st[0] * st[1] + y % st[1]) * st[2] + x % st[2];
    return which * residue + (z / st[0] * size[1] + y / st[1]) * size[2] + x / st[2];
  }

  const ConvShape& shape;
  const std::int64_t images;
  const Axes size;                 // of one residue of one image
  std::int64_t image = 0;          // elements of it
  std::int64_t residue = 0;        // elements of one residue of all images
  std::int64_t channel = 0;        // elements of one channel
  std::vector<std::int64_t> taps;  // where each tap's run begins, from the group's first channel
};

// One channel of one image into the layout; `to` is the channel's place for that image.
void SplitChannel(const Split& split, const std::int8_t* from, std::int8_t* to) {
  const ConvShape& s = split.shape;
  for (std::int64_t z = 0; z < s.in[0]; ++z)
    for (std::int64_t y = 0; y < s.in[1]; ++y, from += s.in[2]) {
      std::int8_t* row = to + split.At(z + s.pad[0], y + s.pad[1], 0);
      // Along the row residues alternate; each is filled in one go.
      for (std::int64_t r = 0; r < s.stride[2]; ++r) {
        const std::int64_t first = ((r - s.pad[2]) % s.stride[2] + s.stride[2]) % s.stride[2];
        std::int8_t* place = row + r * split.residue + (first + s.pad[2]) / s.stride[2];
        for (std::int64_t x = first; x < s.in[2]; x += s.stride[2]) *place++ = from[x];
      }
    }
}

// As SumRows works on.
std::int64_t WholeLanes(std::int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

// Where the run of a row of outputs begins in each tap's.
std::int64_t RunOfRow(const ConvShape& s, const Axes& size, std::int64_t row) {
  return (row / s.out[1] * size[1] + row % s.out[1]) * size[2];
}

// How the work is dealt, in (batch of images, range of filters, part of the rows). Small images each thread
// lays out for itself, as often as it needs them: they stay in its cache. A large one is laid out once, by
// all threads, which then take some of its rows each, since it may be the only one and have a single filter.
struct Deal {
  explicit Deal(const ConvShape& s) : cpus(s.Flops() < 2e6 ? 1 : UsableCpus()) {
    const Axes size = SplitSize(s);
    const std::int64_t together = kGoodRun / Product(size);
    batches = (s.n + together) / (together + 1);
    images = (s.n + batches - 1) / batches;
    batches = (s.n + images - 1) / images;
    batch = s.c * images * Product(size) * Product(s.stride);
    shared = batch >= kLarge && images == 1;
    const std::int64_t wanted = shared ? 4 * cpus : (4 * cpus + batches - 1) / batches;
    ranges = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, s.k / kGoodFilters));
    filters = (s.k + ranges - 1) / ranges;
    if (shared) filters = std::min(filters, kGoodFilters);
    ranges = (s.k + filters - 1) / filters;
    rows = s.out[0] * s.out[1];
    if (shared) {
      const std::int64_t by_work = std::min((wanted + ranges - 1) / ranges, Product(size) / kGoodPart);
      const std::int64_t by_memory = Product(size) * filters / kMostSums + 1;
      parts = std::clamp<std::int64_t>(std::max(by_work, by_memory), 1, rows);
      rows = (rows + parts - 1) / parts;
      parts = (s.out[0] * s.out[1] + rows - 1) / rows;
    }
  }

  const int cpus;
  bool shared = false;                   // a batch is laid out once; it is one image then
  std::int64_t batches = 0, images = 0;  // how many batches, of so many images each
  std::int64_t batch = 0;                // elements of the layout of one
  std::int64_t ranges = 0, filters = 0;  // of each batch so many ranges, of so many filters each
  std::int64_t parts = 1, rows = 0;      // of each range so many parts, of so many rows of outputs each
};

// The operands of one convolution.
struct Operands {
  const std::int8_t *x, *w;
  std::int16_t* y;
};

// One channel of the images from `n` on; `to` is where it begins in their layout.
void SplitImages(const Split& split, const std::int8_t* x, std::int64_t n, std::int64_t c, std::int8_t* to) {
  const ConvShape& s = split.shape;
  std::fill_n(to, split.channel, std::int8_t{0});
  for (std::int64_t i = 0; i < split.images && n + i < s.n; ++i)
    SplitChannel(split, x + ((n + i) * s.c + c) * Product(s.in), to + i * split.image);
}

// Where the runs to add and to subtract for one filter begin, from its group's first channel.
struct Taps {
  std::vector<std::int64_t> add, subtract;
};

// Sorts the taps of a filter by sign.
void CollectTaps(const Split& split, const std::int8_t* filter, Taps* taps) {
  const std::size_t count = split.taps.size();
  // One more than there can be: each is written before it is known whether it counts.
  for (auto* list : {&taps->add, &taps->subtract}) list->resize(kMaxValue * count + 1);
  std::size_t added = 0, subtracted = 0;
  int heaviest = 0;
  for (std::size_t i = 0; i < count; ++i) heaviest = std::max(heaviest, std::abs(int{filter[i]}));
  // Without a branch on the weight: it is random, so every other guess would be wrong.
  for (int weight = 1; weight <= heaviest; ++weight)
    for (std::size_t i = 0; i < count; ++i) {
      taps->add[added] = taps->subtract[subtracted] = split.taps[i];
      added += filter[i] >= weight;
      subtracted += filter[i] <= -weight;
    }
  taps->add.resize(added);
  taps->subtract.resize(subtracted);
}

// What one thread works with: channels of its own images; the taps and sums of each filter of a range.
struct Scratch {
  std::vector<std::int8_t> source;
  std::vector<Taps> taps;
  std::vector<Element> sums;
};

// Some outputs: filters [k, k_end) and rows [row, row_end) of the batch whose first image is n.
struct Part {
  std::int64_t n, k, k_end, row, row_end;
  // The channels of these filters, the end excluded.
  std::int64_t Channel(const ConvShape& s) const { return k / s.FiltersPerGroup() * s.ChannelsPerGroup(); }
  std::int64_t ChannelEnd(const ConvShape& s) const {
    return ((k_end - 1) / s.FiltersPerGroup() + 1) * s.ChannelsPerGroup();
  }
};

// The part's outputs of one image and filter, of whose sums the first is its first row's.
void TakeOutputs(const Split& split, const Part& part, const Element* sums, std::int16_t* y) {
  const Axes& out = split.shape.out;
  std::int64_t p = part.row % out[1];
  for (std::int64_t row = part.row; row < part.row_end; ++row) {
    for (std::int64_t q = 0; q < out[2]; ++q) y[row * out[2] + q] = static_cast<std::int16_t>(sums[q]);
    p = p + 1 < out[1] ? p + 1 : 0;
    sums += p > 0 ? split.size[2] : (split.size[1] - out[1] + 1) * split.size[2];
  }
}

// `channels`: the layout of the part's images from its first channel on.
void ConvolvePart(const Split& split, const Operands& of, const Part& part, const std::int8_t* channels,
                  Scratch* scratch) {
  const ConvShape& s = split.shape;
  const std::int64_t begin = RunOfRow(s, split.size, part.row);
  const std::int64_t length =
      RunOfRow(s, split.size, part.row_end - 1) + s.out[2] - begin + (split.images - 1) * split.image;
  const std::int64_t filters = part.k_end - part.k;
  scratch->taps.resize(std::max(scratch->taps.size(), static_cast<std::size_t>(filters)));
  const std::int64_t whole = WholeLanes(length);
  scratch->sums.resize(static_cast<std::size_t>(filters * whole));
  const auto taps_of = [&](std::int64_t i) { return &scratch->taps[static_cast<std::size_t>(i)]; };
  for (std::int64_t i = 0; i < filters; ++i)
    CollectTaps(split, of.w + (part.k + i) * s.Reduction(), taps_of(i));
  // All filters of a block before the next one: what they read stays in the cache.
  for (std::int64_t at = 0; at < length; at += kBlock)
    for (std::int64_t i = 0; i < filters; ++i) {
      const std::int64_t channel =
          (part.k + i) / s.FiltersPerGroup() * s.ChannelsPerGroup() - part.Channel(s);
      const Taps* taps = taps_of(i);
      SumRows(channels + channel * split.channel + begin + at, taps->add, taps->subtract,
              scratch->sums.data() + i * whole + at, std::min(kBlock, length - at));
    }
  for (std::int64_t i = 0; i < filters; ++i)
    for (std::int64_t image = 0; image < split.images && part.n + image < s.n; ++image)
      TakeOutputs(split, part, scratch->sums.data() + i * whole + image * split.image,
                  of.y + ((part.n + image) * s.k + part.k + i) * Product(s.out));
}

// The same where the thread lays out the images itself.
void ConvolveOwn(const Split& split, const Operands& of, const Part& part, Scratch* scratch) {
  const std::int64_t c = part.Channel(split.shape), count = part.ChannelEnd(split.shape) - c;
  scratch->source.resize(static_cast<std::size_t>(count * split.channel + kLanes));
  for (std::int64_t i = 0; i < count; ++i)
    SplitImages(split, of.x, part.n, c + i, scratch->source.data() + i * split.channel);
  for (Part one = part; one.k < part.k_end; ++one.k) {
    one.k_end = one.k + 1;
    const std::int64_t channel = one.Channel(split.shape) - c;
    ConvolvePart(split, of, one, scratch->source.data() + channel * split.channel, scratch);
  }
}

// All images where each thread lays out its own; else image n alone, from its layout.
void ConvolveParts(const Split& split, const Operands& of, const Deal& deal, std::int64_t n,
                   const std::int8_t* layout) {
  const ConvShape& s = split.shape;
  const std::int64_t items = (layout ? 1 : deal.batches) * deal.ranges * deal.parts;
  ParallelFor(
      items, std::max<std::int64_t>(1, items / (8 * deal.cpus)),
      [&](std::int64_t begin, std::int64_t end) {
        Scratch scratch;
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t row = item % deal.parts * deal.rows;
          const std::int64_t k = item / deal.parts % deal.ranges * deal.filters;
          const Part part = {n + item / deal.parts / deal.ranges * deal.images, k,
                             std::min(k + deal.filters, s.k), row,
                             std::min(row + deal.rows, s.out[0] * s.out[1])};
          if (!layout)
            ConvolveOwn(split, of, part, &scratch);
          else
            ConvolvePart(split, of, part, layout + part.Channel(s) * split.channel, &scratch);
        }
      },
      deal.cpus);
}

}  // namespace

std::vector<std::int16_t> ConvolveForward(const ConvShape& s, const std::vector<std::int8_t>& x,
                                          const std::vector<std::int8_t>& w) {
  std::vector<std::int16_t> y(static_cast<std::size_t>(s.OutputCount()));
  const Operands of = {x.data(), w.data(), y.data()};
  const Deal deal(s);
  const Split split(s, deal.images);
  if (!deal.shared) {
    ConvolveParts(split, of, deal, 0, nullptr);
    return y;
  }
  // Left to the threads to write first: it may have gigabytes, whose pages take longer than the sums.
  const std::unique_ptr<std::int8_t[]> layout(new std::int8_t[static_cast<std::size_t>(deal.batch + kLanes)]);
  std::fill_n(layout.get() + deal.batch, kLanes, std::int8_t{0});
  for (std::int64_t n = 0; n < s.n; ++n) {
    ParallelFor(
        s.c, std::max<std::int64_t>(1, s.c / (8 * deal.cpus)),
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t c = begin; c < end; ++c)
            SplitImages(split, of.x, n, c, layout.get() + c * split.channel);
        },
        deal.cpus);
    ConvolveParts(split, of, deal, n, layout.get());
  }
  return y;
}

double ForwardWorkBytes(const ConvShape& s) {
  const Deal deal(s);
  const Axes size = SplitSize(s);
  const std::int64_t items = (deal.shared ? 1 : deal.batches) * deal.ranges * deal.parts;
  const std::int64_t threads = std::min<std::int64_t>(deal.cpus, items);
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < s.out[0] * s.out[1]; row += deal.rows) {
    const std::int64_t last = std::min(row + deal.rows, s.out[0] * s.out[1]) - 1;
    longest = std::max(longest, RunOfRow(s, size, last) + s.out[2] - RunOfRow(s, size, row));
  }
  const std::int64_t sums =
      (deal.shared ? deal.filters : 1) * WholeLanes(longest + (deal.images - 1) * Product(size));
  // Of so many groups a range may have filters, wherever it begins.
  const std::int64_t groups =
      std::min(s.groups, (deal.filters + s.FiltersPerGroup() - 2) / s.FiltersPerGroup() + 1);
  const std::int64_t own = deal.shared ? 0 : deal.batch / s.groups * groups + kLanes;
  const std::int64_t layout = deal.shared ? deal.batch + kLanes : 0;
  return static_cast<double>(layout) +
         static_cast<double>(threads) * static_cast<double>(own + sums * std::int64_t{sizeof(Element)});
}

}  // namespace cudnn_ci
