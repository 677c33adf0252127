// The two gradients in integers, by their definitions turned round: each value of dy that is not 0 is
// followed to all that it adds to. Data for the gradients have few of those (recipe.h), which makes that
// quick.
#include <algorithm>
#include <vector>

#include "common/numeric/parallel.h"
#include "conv/reference.h"
#include "conv/reference_rows.h"

namespace cudnn_ci {
namespace {

// Channels of a group from which on they are worth a call; a vector has 32.
constexpr std::int64_t kWorthACall = 16;
// Channels that a thread takes at least, where images and groups alone are not work for all.
constexpr std::int64_t kFewestChannels = 32;
// Places of an image that are turned at once.
constexpr std::int64_t kPlaces = 64;

Element AsElement(std::int8_t value) { return static_cast<Element>(std::int16_t{value}); }

// sum + a * b modulo 2^16. A product of two 16-bit numbers might not fit int.
Element Added(Element sum, Element a, Element b) { return static_cast<Element>(sum + unsigned{a} * b); }

// The taps of one axis that meet an element of x, for one coordinate of dy: [begin, end).
struct Reach {
  std::int64_t first;  // coordinate of x at tap 0
  std::int64_t begin, end;
};

Reach ReachOf(const ConvShape& s, std::size_t axis, std::int64_t out) {
  Reach r;
  r.first = out * s.stride[axis] - s.pad[axis];
  const std::int64_t d = s.dilation[axis];
  r.begin = r.first >= 0 ? 0 : (-r.first + d - 1) / d;
  r.end = r.first >= s.in[axis] ? 0 : std::min(s.kernel[axis], (s.in[axis] - 1 - r.first) / d + 1);
  return r;
}

// Calls body(tap, place) for each tap that output element `pixel` has within x: the tap's number, and the
// place in one channel of x.
template <class Body>
void ForTaps(const ConvShape& s, std::int64_t pixel, Body body) {
  const Reach z = ReachOf(s, 0, pixel / s.out[2] / s.out[1]);
  const Reach y = ReachOf(s, 1, pixel / s.out[2] % s.out[1]);
  const Reach x = ReachOf(s, 2, pixel % s.out[2]);
  for (std::int64_t t = z.begin; t < z.end; ++t)
    for (std::int64_t r = y.begin; r < y.end; ++r)
      for (std::int64_t q = x.begin; q < x.end; ++q) {
        const std::int64_t row = (z.first + t * s.dilation[0]) * s.in[1] + y.first + r * s.dilation[1];
        body((t * s.kernel[1] + r) * s.kernel[2] + q, row * s.in[2] + x.first + q * s.dilation[2]);
      }
}

// to[c] += value * from[c].
void AddChannels(Element value, const Element* from, std::int64_t channels, Element* to) {
  if (channels >= kWorthACall) return AddScaled(value, from, to, channels);
  for (std::int64_t c = 0; c < channels; ++c) to[c] = Added(to[c], value, from[c]);
}

// The filters with a group's channels innermost: [k][tap][channel].
std::vector<Element> ChannelsInnermost(const ConvShape& s, const std::vector<std::int8_t>& w) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup();
  std::vector<Element> turned(w.size());
  ParallelFor(s.k, std::max<std::int64_t>(1, (1 << 16) / (taps * cg)),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k)
                  for (std::int64_t c = 0; c < cg; ++c)
                    for (std::int64_t t = 0; t < taps; ++t)
                      turned[static_cast<std::size_t>((k * taps + t) * cg + c)] =
                          AsElement(w[static_cast<std::size_t>((k * cg + c) * taps + t)]);
              });
  return turned;
}

// The images with all channels innermost: [n][place][channel].
std::vector<Element> ImagesTurned(const ConvShape& s, const std::vector<std::int8_t>& x) {
  const std::int64_t in = Product(s.in), parts = (in + kPlaces - 1) / kPlaces;
  std::vector<Element> turned(x.size());
  ParallelFor(s.n * parts, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t n = item / parts, first = item % parts * kPlaces,
                         stop = std::min(first + kPlaces, in);
      const std::int8_t* image = x.data() + n * s.c * in;
      Element* to = turned.data() + n * s.c * in;
      for (std::int64_t c = 0; c < s.c; ++c)
        for (std::int64_t place = first; place < stop; ++place)
          to[place * s.c + c] = AsElement(image[c * in + place]);
    }
  });
  return turned;
}

// A part of what comes back to an image: some channels of one group.
struct ChannelRange {
  std::int64_t group, begin, count;
};

// What the filters of a group send back to those channels of image n, the channels innermost.
void SumImage(const ConvShape& s, std::int64_t n, const ChannelRange& range, const std::int8_t* dy,
              const std::vector<Element>& w, std::vector<Element>* sums) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup(), pixels = Product(s.out);
  sums->assign(static_cast<std::size_t>(Product(s.in) * range.count), 0);
  for (std::int64_t k = range.group * s.FiltersPerGroup(); k < (range.group + 1) * s.FiltersPerGroup(); ++k) {
    const std::int8_t* plane = dy + (n * s.k + k) * pixels;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      if (plane[pixel] == 0) continue;
      const Element value = AsElement(plane[pixel]);
      ForTaps(s, pixel, [&](std::int64_t tap, std::int64_t place) {
        AddChannels(value, w.data() + (k * taps + tap) * cg + range.begin, range.count,
                    sums->data() + place * range.count);
      });
    }
  }
}

// What filter k collects over all images: [channel][tap].
void SumFilter(const ConvShape& s, std::int64_t k, const std::int8_t* dy, const std::int8_t* x, Element* dw) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup(), pixels = Product(s.out);
  const std::int64_t in = Product(s.in), first_channel = k / s.FiltersPerGroup() * cg;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int8_t* plane = dy + (n * s.k + k) * pixels;
    const std::int8_t* image = x + (n * s.c + first_channel) * in;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      if (plane[pixel] == 0) continue;
      const Element value = AsElement(plane[pixel]);
      ForTaps(s, pixel, [&](std::int64_t tap, std::int64_t place) {
        for (std::int64_t c = 0; c < cg; ++c) {
          Element& to = dw[c * taps + tap];
          to = Added(to, value, AsElement(image[c * in + place]));
        }
      });
    }
  }
}

// The same from turned images, whose channels lie together: [tap][channel].
void SumFilterTurned(const ConvShape& s, std::int64_t k, const std::int8_t* dy, const std::vector<Element>& x,
                     Element* dw) {
  const std::int64_t cg = s.ChannelsPerGroup(), pixels = Product(s.out);
  const std::int64_t in = Product(s.in), first_channel = k / s.FiltersPerGroup() * cg;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int8_t* plane = dy + (n * s.k + k) * pixels;
    const Element* image = x.data() + n * in * s.c + first_channel;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      if (plane[pixel] == 0) continue;
      const Element value = AsElement(plane[pixel]);
      ForTaps(s, pixel, [&](std::int64_t tap, std::int64_t place) {
        AddChannels(value, image + place * s.c, cg, dw + tap * cg);
      });
    }
  }
}

// Channels that are summed in one go: few images are dealt by their channels, too.
std::int64_t ChannelsTogether(const ConvShape& s) {
  const std::int64_t wanted = 2 * std::int64_t{UsableCpus()} / (s.n * s.groups) + 1;
  const std::int64_t cg = s.ChannelsPerGroup();
  return std::max((cg + wanted - 1) / wanted, std::min(kFewestChannels, cg));
}

// Parts that a group's channels are dealt in.
std::int64_t RangesOfChannels(const ConvShape& s) {
  const std::int64_t width = ChannelsTogether(s);
  return (s.ChannelsPerGroup() + width - 1) / width;
}

// Turning costs a look at every element of x; what it saves grows with the filters and with the places that
// each of them covers beside its few others (recipe.h), and with nothing where a group has hardly a channel.
bool IsWorthTurning(const ConvShape& s) {
  const std::int64_t covered = std::min(kMostCovering, s.n * Product(s.out) / s.k);
  return s.ChannelsPerGroup() >= kWorthACall &&
         s.InputCount() / 16 <= s.FilterCount() * std::max<std::int64_t>(1, 2 * covered / kFewProducts);
}

}  // namespace

std::vector<std::int16_t> ConvolveBackwardData(const ConvShape& s, const std::vector<std::int8_t>& dy,
                                               const std::vector<std::int8_t>& w) {
  const std::int64_t cg = s.ChannelsPerGroup(), in = Product(s.in);
  const std::vector<Element> weights = ChannelsInnermost(s, w);
  std::vector<std::int16_t> dx(static_cast<std::size_t>(s.InputCount()));
  const std::int64_t width = ChannelsTogether(s), ranges = RangesOfChannels(s);
  ParallelFor(s.n * s.groups * ranges, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Element> sums;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t n = item / ranges / s.groups, group = item / ranges % s.groups;
      const std::int64_t first = item % ranges * width, count = std::min(width, cg - first);
      SumImage(s, n, {group, first, count}, dy.data(), weights, &sums);
      std::int16_t* to = dx.data() + (n * s.c + group * cg + first) * in;
      for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t place = 0; place < in; ++place)
          to[c * in + place] = static_cast<std::int16_t>(sums[static_cast<std::size_t>(place * count + c)]);
    }
  });
  return dx;
}

std::vector<std::int16_t> ConvolveBackwardFilter(const ConvShape& s, const std::vector<std::int8_t>& dy,
                                                 const std::vector<std::int8_t>& x) {
  const std::int64_t per_filter = s.Reduction(), cg = s.ChannelsPerGroup(), taps = Product(s.kernel);
  const bool turn = IsWorthTurning(s);
  const std::vector<Element> turned = turn ? ImagesTurned(s, x) : std::vector<Element>();
  std::vector<std::int16_t> dw(static_cast<std::size_t>(s.FilterCount()));
  ParallelFor(s.k, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Element> sums;
    for (std::int64_t k = begin; k < end; ++k) {
      sums.assign(static_cast<std::size_t>(per_filter), 0);
      if (turn)
        SumFilterTurned(s, k, dy.data(), turned, sums.data());
      else
        SumFilter(s, k, dy.data(), x.data(), sums.data());
      // Either order of channels and taps to that of a filter.
      for (std::int64_t i = 0; i < per_filter; ++i) {
        const std::int64_t from = turn ? i % taps * cg + i / taps : i;
        dw[static_cast<std::size_t>(k * per_filter + i)] =
            static_cast<std::int16_t>(sums[static_cast<std::size_t>(from)]);
      }
    }
  });
  return dw;
}

double BackwardDataWorkBytes(const ConvShape& s) {
  const double sums = static_cast<double>(Product(s.in) * ChannelsTogether(s));
  // No more threads than parts: of one image of few channels it is one that sums.
  const auto threads =
      static_cast<double>(std::min<std::int64_t>(UsableCpus(), s.n * s.groups * RangesOfChannels(s)));
  return (static_cast<double>(s.FilterCount()) + threads * sums) * sizeof(Element);
}

double BackwardFilterWorkBytes(const ConvShape& s) {
  const double turned = IsWorthTurning(s) ? static_cast<double>(s.InputCount()) : 0;
  return (turned + UsableCpus() * static_cast<double>(s.Reduction())) * sizeof(Element);
}

}  // namespace cudnn_ci
