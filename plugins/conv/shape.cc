// Decoding and validation of convolution shapes. Knows no library and no check.
#include "conv/shape.h"

#include <limits>
#include <stdexcept>

namespace cudnn_ci {
namespace {

using List = std::vector<std::int64_t>;

std::string Joined(const List& values) {
  std::string out;
  for (const std::int64_t v : values) {
    if (!out.empty()) out += 'x';
    out += std::to_string(v);
  }
  return out.empty() ? "(empty)" : out;
}

// Refuses a shape with its own lists in the text: the name in the matrix is in the case id already.
class Refusal {
 public:
  Refusal(const List& x, const List& w, const List& pad, const List& stride, const List& dilation,
          std::int64_t groups)
      : shape_("shape x=" + Joined(x) + " w=" + Joined(w) + " pad=" + Joined(pad) + " stride=" +
               Joined(stride) + " dilation=" + Joined(dilation) + " groups=" + std::to_string(groups)) {}
  void Unless(bool ok, const std::string& what) const {
    if (!ok) throw std::invalid_argument(shape_ + ": " + what);
  }

 private:
  std::string shape_;
};

// The values of a list on the last axes of `Axes`; the axes before them get `neutral`.
Axes OnLastAxes(const List& list, std::size_t axes, std::int64_t neutral) {
  Axes result{neutral, neutral, neutral};
  for (std::size_t i = 0; i < axes; ++i)
    result[3 - axes + i] = list.size() == 1 ? list[0] : list[list.size() - axes + i];
  return result;
}

void CheckLists(const Refusal& refuse, const List& x, const List& w, const List& pad, const List& stride,
                const List& dilation, std::int64_t groups) {
  refuse.Unless(x.size() >= 3 && x.size() <= 5,
                "x needs n,c and one to three sizes, has " + std::to_string(x.size()) + " values");
  refuse.Unless(w.size() == x.size(), "w needs as many values as x");
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();  // cuDNN's descriptors hold int
  for (const List* list : {&x, &w, &stride, &dilation})
    for (const std::int64_t v : *list) refuse.Unless(v >= 1 && v <= kMax, "values must be from 1 to 2^31-1");
  for (const std::int64_t v : pad) refuse.Unless(v >= 0 && v <= kMax, "pad must be from 0 to 2^31-1");
  for (const List* list : {&pad, &stride, &dilation})
    refuse.Unless(list->size() == 1 || list->size() == x.size() - 2,
                  "pad, stride and dilation take one value or one per size of x");
  refuse.Unless(groups >= 1 && groups <= kMax, "groups must be from 1 to 2^31-1");
  refuse.Unless(x[1] % groups == 0, "c=" + std::to_string(x[1]) + " is no multiple of groups");
  refuse.Unless(w[0] % groups == 0, "k=" + std::to_string(w[0]) + " is no multiple of groups");
  refuse.Unless(w[1] == x[1] / groups,
                "w's second value must be c/groups = " + std::to_string(x[1] / groups));
}

// Elements are counted in int64 and addressed in bytes; no card holds more.
void CheckCount(const Refusal& refuse, const char* what, const List& factors) {
  double count = 1;
  for (const std::int64_t f : factors) count *= static_cast<double>(f);
  refuse.Unless(count <= 1e12, std::string(what) + " has more than 10^12 elements");
}

std::string AxesText(const Axes& axes, int spatial) { return Joined(List(axes.end() - spatial, axes.end())); }

}  // namespace

ConvShape MakeConvShape(const List& x, const List& w, const List& pad, const List& stride,
                        const List& dilation, std::int64_t groups) {
  const Refusal refuse(x, w, pad, stride, dilation, groups);
  CheckLists(refuse, x, w, pad, stride, dilation, groups);
  const std::size_t axes = x.size() - 2;
  ConvShape s;
  s.n = x[0], s.c = x[1], s.k = w[0], s.groups = groups;
  s.spatial = axes == 3 ? 3 : 2;
  s.in = OnLastAxes(List(x.begin() + 2, x.end()), axes, 1);
  s.kernel = OnLastAxes(List(w.begin() + 2, w.end()), axes, 1);
  s.pad = OnLastAxes(pad, axes, 0);
  s.stride = OnLastAxes(stride, axes, 1);
  s.dilation = OnLastAxes(dilation, axes, 1);
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t padded = s.in[a] + 2 * s.pad[a];
    const std::int64_t reach = (s.kernel[a] - 1) * s.dilation[a] + 1;
    refuse.Unless(reach <= padded, "the kernel reaches over " + std::to_string(reach) +
                                       " elements of an axis whose padded input has " +
                                       std::to_string(padded));
    s.out[a] = (padded - reach) / s.stride[a] + 1;
  }
  CheckCount(refuse, "x", {s.n, s.c, s.in[0] + 2 * s.pad[0], s.in[1] + 2 * s.pad[1], s.in[2] + 2 * s.pad[2]});
  CheckCount(refuse, "w", {s.k, s.ChannelsPerGroup(), s.kernel[0], s.kernel[1], s.kernel[2]});
  CheckCount(refuse, "y", {s.n, s.k, s.out[0], s.out[1], s.out[2]});
  return s;
}

std::string ConvShape::Text() const {
  const auto with_axes = [this](std::int64_t a, std::int64_t b, const Axes& sizes) {
    return std::to_string(a) + "x" + std::to_string(b) + "x" + AxesText(sizes, spatial);
  };
  return "x=" + with_axes(n, c, in) + " w=" + with_axes(k, ChannelsPerGroup(), kernel) +
         " pad=" + AxesText(pad, spatial) + " stride=" + AxesText(stride, spatial) +
         " dilation=" + AxesText(dilation, spatial) + " groups=" + std::to_string(groups);
}

std::string ConvShape::OutputPlace(std::int64_t index) const {
  const std::int64_t q = index % out[2], p = index / out[2] % out[1];
  const std::int64_t z = index / out[2] / out[1] % out[0];
  const std::int64_t plane = index / Product(out);
  return "(n=" + std::to_string(plane / k) + ",k=" + std::to_string(plane % k) +
         (spatial == 3 ? ",z=" + std::to_string(z) : "") + ",p=" + std::to_string(p) +
         ",q=" + std::to_string(q) + ")";
}

}  // namespace cudnn_ci
