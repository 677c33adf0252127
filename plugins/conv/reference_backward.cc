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

// Elements from which on a run is worth a call; a vector has 32.
constexpr std::int64_t kWorthACall = 8;
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

// Taps of a row that meet neighbours in x: as many as lie together there.
std::int64_t TapsTogether(const ConvShape& s) { return s.dilation[2] == 1 ? s.kernel[2] : 1; }

// What each value of a plane of dy that is not 0 is followed to.
class Follower {
 public:
  explicit Follower(const ConvShape& s) : s_(s), together_(TapsTogether(s)) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::int64_t i = 0; i < s.out[axis]; ++i) reach_[axis].push_back(ReachOf(s, axis, i));
  }

  // Calls body(value, tap, place, count) for the taps within x of each value: `count` taps from number `tap`
  // on, which meet as many places of a channel of x from `place` on.
  template <class Body>
  void ForRuns(const std::int8_t* plane, Body body) const {
    for (const Reach& z : reach_[0])
      for (const Reach& y : reach_[1])
        for (const Reach& x : reach_[2])
          if (const std::int8_t value = *plane++; value != 0) FollowOne(AsElement(value), z, y, x, body);
  }

 private:
  template <class Body>
  void FollowOne(Element value, const Reach& z, const Reach& y, const Reach& x, Body body) const {
    for (std::int64_t t = z.begin; t < z.end; ++t)
      for (std::int64_t r = y.begin; r < y.end; ++r) {
        const std::int64_t row = (z.first + t * s_.dilation[0]) * s_.in[1] + y.first + r * s_.dilation[1];
        for (std::int64_t q = x.begin; q < x.end; q += together_)
          body(value, (t * s_.kernel[1] + r) * s_.kernel[2] + q,
               row * s_.in[2] + x.first + q * s_.dilation[2], std::min(together_, x.end - q));
      }
  }

  const ConvShape& s_;
  const std::int64_t together_;
  std::vector<Reach> reach_[3];
};

// to[i] += value * from[i].
void AddRun(Element value, const Element* from, std::int64_t count, Element* to) {
  if (count >= kWorthACall) return AddScaled(value, from, to, count);
  for (std::int64_t i = 0; i < count; ++i) to[i] = Added(to[i], value, from[i]);
}

// A part of what comes back to an image: some channels of one group.
struct ChannelRange {
  std::int64_t group, begin, count;
};

// The filters with `width` channels of a group innermost: [k][range of channels][tap][channel]. The last
// range may have fewer.
std::vector<Element> ChannelsInnermost(const ConvShape& s, std::int64_t width,
                                       const std::vector<std::int8_t>& w) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup();
  std::vector<Element> turned(w.size());
  ParallelFor(s.k, std::max<std::int64_t>(1, (1 << 16) / (taps * cg)),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k)
                  for (std::int64_t c = 0; c < cg; ++c) {
                    const std::int64_t first = c / width * width, count = std::min(width, cg - first);
                    const std::int8_t* from = w.data() + (k * cg + c) * taps;
                    Element* to = turned.data() + (k * cg + first) * taps + c - first;
                    for (std::int64_t t = 0; t < taps; ++t) to[t * count] = AsElement(from[t]);
                  }
              });
  return turned;
}

// The images with a group's channels innermost: [n][group][place][channel].
std::vector<Element> ImagesTurned(const ConvShape& s, const std::vector<std::int8_t>& x) {
  const std::int64_t in = Product(s.in), parts = (in + kPlaces - 1) / kPlaces, cg = s.ChannelsPerGroup();
  std::vector<Element> turned(x.size());
  ParallelFor(s.n * s.groups * parts, 4, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t group = item / parts, first = item % parts * kPlaces,
                         stop = std::min(first + kPlaces, in);
      const std::int8_t* from = x.data() + group * cg * in;
      Element* to = turned.data() + group * cg * in;
      for (std::int64_t c = 0; c < cg; ++c)
        for (std::int64_t place = first; place < stop; ++place)
          to[place * cg + c] = AsElement(from[c * in + place]);
    }
  });
  return turned;
}

// What the filters of a group send back to those channels of image n, the channels innermost. `w`: with as
// many channels innermost as a range has.
void SumImage(const ConvShape& s, const Follower& follower, std::int64_t n, const ChannelRange& range,
              const std::int8_t* dy, const std::vector<Element>& w, std::vector<Element>* sums) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup(), pixels = Product(s.out);
  sums->assign(static_cast<std::size_t>(Product(s.in) * range.count), 0);
  for (std::int64_t k = range.group * s.FiltersPerGroup(); k < (range.group + 1) * s.FiltersPerGroup(); ++k) {
    const Element* filter = w.data() + (k * cg + range.begin) * taps;
    follower.ForRuns(dy + (n * s.k + k) * pixels, [&](Element value, std::int64_t tap, std::int64_t place,
                                                      std::int64_t count) {
      AddRun(value, filter + tap * range.count, count * range.count, sums->data() + place * range.count);
    });
  }
}

// What filter k collects over all images: [channel][tap].
void SumFilter(const ConvShape& s, const Follower& follower, std::int64_t k, const std::int8_t* dy,
               const std::int8_t* x, Element* dw) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup(), pixels = Product(s.out);
  const std::int64_t in = Product(s.in), first_channel = k / s.FiltersPerGroup() * cg;
  for (std::int64_t n = 0; n < s.n; ++n) {
    const std::int8_t* image = x + (n * s.c + first_channel) * in;
    follower.ForRuns(dy + (n * s.k + k) * pixels,
                     [&](Element value, std::int64_t tap, std::int64_t place, std::int64_t count) {
                       for (std::int64_t c = 0; c < cg; ++c)
                         for (std::int64_t i = 0; i < count; ++i) {
                           Element& to = dw[c * taps + tap + i];
                           to = Added(to, value, AsElement(image[c * in + place + i]));
                         }
                     });
  }
}

// The same from turned images, whose channels lie together: [tap][channel].
void SumFilterTurned(const ConvShape& s, const Follower& follower, std::int64_t k, const std::int8_t* dy,
                     const std::vector<Element>& x, Element* dw) {
  const std::int64_t cg = s.ChannelsPerGroup(), pixels = Product(s.out), in = Product(s.in);
  const std::int64_t group = k / s.FiltersPerGroup();
  for (std::int64_t n = 0; n < s.n; ++n) {
    const Element* image = x.data() + (n * s.groups + group) * in * cg;
    follower.ForRuns(dy + (n * s.k + k) * pixels,
                     [&](Element value, std::int64_t tap, std::int64_t place, std::int64_t count) {
                       AddRun(value, image + place * cg, count * cg, dw + tap * cg);
                     });
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
// each of them covers beside its few others (recipe.h), and with nothing where hardly anything lies together.
bool IsWorthTurning(const ConvShape& s) {
  const std::int64_t covered = std::min(kMostCovering, s.n * Product(s.out) / s.k);
  return s.ChannelsPerGroup() * TapsTogether(s) >= kWorthACall &&
         s.InputCount() / 16 <= s.FilterCount() * std::max<std::int64_t>(1, 2 * covered / kFewProducts);
}

// Sums with `count` channels innermost to one channel after the other, of `places` each.
void TurnBack(const std::vector<Element>& sums, std::int64_t places, std::int64_t count, std::int16_t* to) {
  for (std::int64_t first = 0; first < places; first += kPlaces)
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t place = first; place < std::min(first + kPlaces, places); ++place)
        to[c * places + place] = static_cast<std::int16_t>(sums[static_cast<std::size_t>(place * count + c)]);
}

}  // namespace

std::vector<std::int16_t> ConvolveBackwardData(const ConvShape& s, const std::vector<std::int8_t>& dy,
                                               const std::vector<std::int8_t>& w) {
  const std::int64_t cg = s.ChannelsPerGroup(), in = Product(s.in);
  const std::int64_t width = ChannelsTogether(s), ranges = RangesOfChannels(s);
  const std::vector<Element> weights = ChannelsInnermost(s, width, w);
  const Follower follower(s);
  std::vector<std::int16_t> dx(static_cast<std::size_t>(s.InputCount()));
  ParallelFor(s.n * s.groups * ranges, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Element> sums;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t n = item / ranges / s.groups, group = item / ranges % s.groups;
      const std::int64_t first = item % ranges * width, count = std::min(width, cg - first);
      SumImage(s, follower, n, {group, first, count}, dy.data(), weights, &sums);
      TurnBack(sums, in, count, dx.data() + (n * s.c + group * cg + first) * in);
    }
  });
  return dx;
}

std::vector<std::int16_t> ConvolveBackwardFilter(const ConvShape& s, const std::vector<std::int8_t>& dy,
                                                 const std::vector<std::int8_t>& x) {
  const std::int64_t per_filter = s.Reduction(), cg = s.ChannelsPerGroup(), taps = Product(s.kernel);
  const bool turn = IsWorthTurning(s);
  const Follower follower(s);
  const std::vector<Element> turned = turn ? ImagesTurned(s, x) : std::vector<Element>();
  std::vector<std::int16_t> dw(static_cast<std::size_t>(s.FilterCount()));
  ParallelFor(s.k, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Element> sums;
    for (std::int64_t k = begin; k < end; ++k) {
      sums.assign(static_cast<std::size_t>(per_filter), 0);
      if (turn)
        SumFilterTurned(s, follower, k, dy.data(), turned, sums.data());
      else
        SumFilter(s, follower, k, dy.data(), x.data(), sums.data());
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
