// The forward convolution in integers: it only adds rows.
//
// Some images are laid out side by side, padded, split by the residues of their coordinates modulo the
// strides. Then the input elements that one filter tap meets, over all outputs of those images, are one
// contiguous run in that layout, and a convolution is: for each tap with a weight of 1 add a run, for -1
// subtract one. A run also holds a few results between rows and between images that belong to no output;
// they are dropped. Weights of more than 1 are repeated taps.
#include <algorithm>
#include <cstdlib>
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
    run = (images - 1) * image + ((s.out[0] - 1) * size[1] + s.out[1] - 1) * size[2] + s.out[2];
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
  std::int64_t run = 0;            // elements of the run that a tap meets
  std::vector<std::int64_t> taps;  // where each tap's run begins, from the group's first channel
};

// One channel of one image into the layout; `to` is the channel's place for that image.
void SplitChannel(const Split& split, const std::int8_t* from, Element* to) {
  const ConvShape& s = split.shape;
  for (std::int64_t z = 0; z < s.in[0]; ++z)
    for (std::int64_t y = 0; y < s.in[1]; ++y, from += s.in[2]) {
      Element* row = to + split.At(z + s.pad[0], y + s.pad[1], 0);
      // Along the row residues alternate; each is filled in one go.
      for (std::int64_t r = 0; r < s.stride[2]; ++r) {
        const std::int64_t first = ((r - s.pad[2]) % s.stride[2] + s.stride[2]) % s.stride[2];
        Element* place = row + r * split.residue + (first + s.pad[2]) / s.stride[2];
        for (std::int64_t x = first; x < s.in[2]; x += s.stride[2])
          *place++ = static_cast<Element>(std::int16_t{from[x]});
      }
    }
}

// What one thread works with.
struct Scratch {
  std::vector<Element> source;  // channels of some images, then a run of zeros
  std::vector<Element> sums;
  // Where the runs to add and to subtract for one filter begin, padded with runs of zeros.
  std::vector<std::int64_t> add, subtract;
};

// Images [n_begin, n_end), channels [c_begin, c_end).
void SplitImages(const Split& split, const std::int8_t* x, std::int64_t n_begin, std::int64_t n_end,
                 std::int64_t c_begin, std::int64_t c_end, std::vector<Element>* out) {
  const ConvShape& s = split.shape;
  out->assign(static_cast<std::size_t>((c_end - c_begin) * split.channel + split.run), 0);
  for (std::int64_t n = n_begin; n < n_end; ++n)
    for (std::int64_t c = c_begin; c < c_end; ++c)
      SplitChannel(split, x + (n * s.c + c) * Product(s.in),
                   out->data() + (c - c_begin) * split.channel + (n - n_begin) * split.image);
}

// Sorts the taps of a filter by sign. `base` is where its first channel begins, `zeros` where zeros do.
void CollectTaps(const Split& split, const std::int8_t* filter, std::int64_t base, std::int64_t zeros,
                 Scratch* scratch) {
  const std::size_t count = split.taps.size();
  for (auto* list : {&scratch->add, &scratch->subtract}) list->resize(kMaxValue * count + kRowsAtOnce);
  std::size_t added = 0, subtracted = 0;
  int heaviest = 0;
  for (std::size_t i = 0; i < count; ++i) heaviest = std::max(heaviest, std::abs(int{filter[i]}));
  // Without a branch on the weight: it is random, so every other guess would be wrong.
  for (int weight = 1; weight <= heaviest; ++weight)
    for (std::size_t i = 0; i < count; ++i) {
      scratch->add[added] = scratch->subtract[subtracted] = base + split.taps[i];
      added += filter[i] >= weight;
      subtracted += filter[i] <= -weight;
    }
  while (added % kRowsAtOnce != 0) scratch->add[added++] = zeros;
  while (subtracted % kRowsAtOnce != 0) scratch->subtract[subtracted++] = zeros;
  scratch->add.resize(added);
  scratch->subtract.resize(subtracted);
}

void SumTaps(const Split& split, Scratch* scratch) {
  scratch->sums.assign(static_cast<std::size_t>(split.run), 0);
  for (std::int64_t at = 0; at < split.run; at += kBlock) {
    const std::int64_t count = std::min(kBlock, split.run - at);
    const Element* source = scratch->source.data() + at;
    AddRows(source, scratch->add, scratch->sums.data() + at, count);
    SubtractRows(source, scratch->subtract, scratch->sums.data() + at, count);
  }
}

// The outputs of one image and filter from its sums.
void TakeOutputs(const Split& split, const Element* sums, std::int16_t* y) {
  const Axes& out = split.shape.out;
  for (std::int64_t z = 0; z < out[0]; ++z)
    for (std::int64_t p = 0; p < out[1]; ++p) {
      const Element* row = sums + (z * split.size[1] + p) * split.size[2];
      for (std::int64_t q = 0; q < out[2]; ++q) *y++ = static_cast<std::int16_t>(row[q]);
    }
}

// How the work is dealt, in (images, range of filters): as many ranges as keep the CPUs busy, but several
// filters each, since every range lays out its images anew.
struct Deal {
  explicit Deal(const ConvShape& s) : cpus(s.Flops() < 2e6 ? 1 : UsableCpus()) {
    const std::int64_t together = kGoodRun / Product(SplitSize(s));
    batches = (s.n + together) / (together + 1);
    images = (s.n + batches - 1) / batches;
    const std::int64_t most = std::max<std::int64_t>(1, s.k / 8);
    const std::int64_t wanted = std::clamp<std::int64_t>((4 * cpus + batches - 1) / batches, 1, most);
    filters = (s.k + wanted - 1) / wanted;
    ranges = (s.k + filters - 1) / filters;
  }

  const int cpus;
  std::int64_t batches = 0, images = 0;  // how many batches, of so many images each
  std::int64_t ranges = 0, filters = 0;  // how many ranges, of so many filters each
};

// The operands of one convolution.
struct Operands {
  const std::int8_t *x, *w;
  std::int16_t* y;
};

// Images [n_begin, n_end), filters [k_begin, k_end).
void ConvolvePart(const Split& split, const Operands& of, std::int64_t n_begin, std::int64_t n_end,
                  std::int64_t k_begin, std::int64_t k_end, Scratch* scratch) {
  const ConvShape& s = split.shape;
  const std::int64_t c_begin = k_begin / s.FiltersPerGroup() * s.ChannelsPerGroup();
  const std::int64_t c_end = ((k_end - 1) / s.FiltersPerGroup() + 1) * s.ChannelsPerGroup();
  SplitImages(split, of.x, n_begin, n_end, c_begin, c_end, &scratch->source);
  for (std::int64_t k = k_begin; k < k_end; ++k) {
    const std::int64_t first_channel = k / s.FiltersPerGroup() * s.ChannelsPerGroup() - c_begin;
    CollectTaps(split, of.w + k * s.Reduction(), first_channel * split.channel,
                (c_end - c_begin) * split.channel, scratch);
    SumTaps(split, scratch);
    for (std::int64_t n = n_begin; n < n_end; ++n)
      TakeOutputs(split, scratch->sums.data() + (n - n_begin) * split.image,
                  of.y + (n * s.k + k) * Product(s.out));
  }
}

}  // namespace

std::vector<std::int16_t> ConvolveForward(const ConvShape& s, const std::vector<std::int8_t>& x,
                                          const std::vector<std::int8_t>& w) {
  std::vector<std::int16_t> y(static_cast<std::size_t>(s.OutputCount()));
  const Operands of = {x.data(), w.data(), y.data()};
  const Deal deal(s);
  const Split split(s, deal.images);
  const std::int64_t items = deal.batches * deal.ranges;
  ParallelFor(
      items, std::max<std::int64_t>(1, items / (8 * deal.cpus)),
      [&](std::int64_t begin, std::int64_t end) {
        Scratch scratch;
        for (std::int64_t item = begin; item < end; ++item) {
          const std::int64_t n = item / deal.ranges * deal.images, k = item % deal.ranges * deal.filters;
          if (n >= s.n) continue;
          ConvolvePart(split, of, n, std::min(n + deal.images, s.n), k, std::min(k + deal.filters, s.k),
                       &scratch);
        }
      },
      deal.cpus);
  return y;
}

double ForwardWorkBytes(const ConvShape& s) {
  const Deal deal(s);
  const std::int64_t threads = std::min<std::int64_t>(deal.cpus, deal.batches * deal.ranges);
  // Of so many groups a range may have filters, wherever it begins.
  const std::int64_t groups =
      std::min(s.groups, (deal.filters + s.FiltersPerGroup() - 2) / s.FiltersPerGroup() + 1);
  const std::int64_t residue = deal.images * Product(SplitSize(s));
  const std::int64_t source = groups * s.ChannelsPerGroup() * residue * Product(s.stride);
  // Behind the source a run of zeros, and the sums of another.
  return static_cast<double>(threads) * static_cast<double>(source + 2 * residue) * sizeof(Element);
}

}  // namespace cudnn_ci
