// The two gradients in integers, by their definitions turned round: each value of dy that is not 0 is
// followed to all that it adds to. Data for the gradients have few of those (recipe.h), which makes that
// quick.
#include <algorithm>
#include <vector>

#include "common/numeric/parallel.h"
#include "conv/reference.h"

namespace cudnn_ci {
namespace {

using Element = std::uint16_t;  // unsigned: arithmetic modulo 2^16 is defined

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

// The filters with a group's channels innermost: [k][tap][channel].
std::vector<Element> ChannelsInnermost(const ConvShape& s, const std::vector<std::int8_t>& w) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup();
  std::vector<Element> turned(w.size());
  for (std::int64_t k = 0; k < s.k; ++k)
    for (std::int64_t c = 0; c < cg; ++c)
      for (std::int64_t t = 0; t < taps; ++t)
        turned[static_cast<std::size_t>((k * taps + t) * cg + c)] =
            AsElement(w[static_cast<std::size_t>((k * cg + c) * taps + t)]);
  return turned;
}

// What the filters of group `group` send back to image n: sums with the group's channels innermost.
void SumImage(const ConvShape& s, std::int64_t n, std::int64_t group, const std::int8_t* dy,
              const std::vector<Element>& w, std::vector<Element>* sums) {
  const std::int64_t taps = Product(s.kernel), cg = s.ChannelsPerGroup(), pixels = Product(s.out);
  sums->assign(static_cast<std::size_t>(Product(s.in) * cg), 0);
  for (std::int64_t k = group * s.FiltersPerGroup(); k < (group + 1) * s.FiltersPerGroup(); ++k) {
    const std::int8_t* plane = dy + (n * s.k + k) * pixels;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      if (plane[pixel] == 0) continue;
      const Element value = AsElement(plane[pixel]);
      ForTaps(s, pixel, [&](std::int64_t tap, std::int64_t place) {
        Element* to = sums->data() + place * cg;
        const Element* weights = w.data() + (k * taps + tap) * cg;
        for (std::int64_t c = 0; c < cg; ++c) to[c] = Added(to[c], value, weights[c]);
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

}  // namespace

std::vector<std::int16_t> ConvolveBackwardData(const ConvShape& s, const std::vector<std::int8_t>& dy,
                                               const std::vector<std::int8_t>& w) {
  const std::int64_t cg = s.ChannelsPerGroup(), in = Product(s.in);
  const std::vector<Element> weights = ChannelsInnermost(s, w);
  std::vector<std::int16_t> dx(static_cast<std::size_t>(s.InputCount()));
  ParallelFor(s.n * s.groups, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Element> sums;
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t n = item / s.groups, group = item % s.groups;
      SumImage(s, n, group, dy.data(), weights, &sums);
      std::int16_t* to = dx.data() + (n * s.c + group * cg) * in;
      for (std::int64_t c = 0; c < cg; ++c)
        for (std::int64_t place = 0; place < in; ++place)
          to[c * in + place] = static_cast<std::int16_t>(sums[static_cast<std::size_t>(place * cg + c)]);
    }
  });
  return dx;
}

std::vector<std::int16_t> ConvolveBackwardFilter(const ConvShape& s, const std::vector<std::int8_t>& dy,
                                                 const std::vector<std::int8_t>& x) {
  const std::int64_t per_filter = s.Reduction();
  std::vector<std::int16_t> dw(static_cast<std::size_t>(s.FilterCount()));
  ParallelFor(s.k, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Element> sums;
    for (std::int64_t k = begin; k < end; ++k) {
      sums.assign(static_cast<std::size_t>(per_filter), 0);
      SumFilter(s, k, dy.data(), x.data(), sums.data());
      std::transform(sums.begin(), sums.end(), dw.begin() + k * per_filter,
                     [](Element v) { return static_cast<std::int16_t>(v); });
    }
  });
  return dw;
}

}  // namespace cudnn_ci
