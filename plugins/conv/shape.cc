// Decoding and validation of convolution shapes. Knows no library and no check.
#include "conv/shape.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>

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

// The values of a list on the last axes of `Axes`; the axes before them get `neutral`.
Axes OnLastAxes(const List& list, std::size_t axes, std::int64_t neutral) {
  Axes result{neutral, neutral, neutral};
  for (std::size_t i = 0; i < axes; ++i)
    result[3 - axes + i] = list.size() == 1 ? list[0] : list[list.size() - axes + i];
  return result;
}

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();  // of one size

class Problems {
 public:
  // False: the problem was noted.
  bool Require(bool ok, const char* field, const std::string& why) {
    if (!ok) found_.push_back({field, why});
    return ok;
  }
  void RequireValues(const char* field, const List& values, std::int64_t least) {
    const bool fit = std::all_of(values.begin(), values.end(),
                                 [least](std::int64_t v) { return v >= least && v <= kMaxInt; });
    Require(fit, field, "needs values from " + std::to_string(least) + " to 2^31-1");
  }
  // One value for each size of x, or one for all.
  void RequireAxes(const char* field, const List& values, const List& x) {
    Require(values.size() == 1 || values.size() + 2 == x.size(), field,
            "needs one value, or one for each size of x");
  }
  void RequireCount(const char* field, const char* what, const List& factors, std::int64_t most) {
    double count = 1;
    for (const std::int64_t f : factors) count *= static_cast<double>(f);
    Require(count <= static_cast<double>(most), field,
            std::string("gives ") + what + " 2^" +
                std::to_string(std::bit_width(static_cast<std::uint64_t>(most))) + " elements or more");
  }
  bool none() const { return found_.empty(); }
  std::vector<ShapeProblem> Take() { return std::move(found_); }

 private:
  std::vector<ShapeProblem> found_;
};

void RequireLists(const ShapeFields& f, Problems* problems) {
  const auto sizes = std::to_string(f.x.size());
  problems->Require(f.x.size() >= 3 && f.x.size() <= 5, "x",
                    "needs n, c and one to three sizes, but has " + sizes + " values");
  problems->Require(f.w.size() == f.x.size(), "w", "needs as many values as x, which has " + sizes);
  problems->RequireValues("x", f.x, 1);
  problems->RequireValues("w", f.w, 1);
  problems->RequireValues("stride", f.stride, 1);
  problems->RequireValues("dilation", f.dilation, 1);
  problems->RequireValues("pad", f.pad, 0);
  problems->RequireValues("groups", {f.groups}, 1);
  problems->RequireAxes("pad", f.pad, f.x);
  if (!f.pad_after.empty()) {
    problems->RequireValues("pad_after", f.pad_after, 0);
    problems->RequireAxes("pad_after", f.pad_after, f.x);
  }
  problems->RequireAxes("stride", f.stride, f.x);
  problems->RequireAxes("dilation", f.dilation, f.x);
}

void RequireGroups(const ShapeFields& f, Problems* problems) {
  const std::string groups = std::to_string(f.groups) + ", the number of groups";
  problems->Require(f.w[0] % f.groups == 0, "w",
                    "has k=" + std::to_string(f.w[0]) + ", not a multiple of " + groups);
  if (problems->Require(f.x[1] % f.groups == 0, "x",
                        "has c=" + std::to_string(f.x[1]) + ", not a multiple of " + groups))
    problems->Require(f.w[1] == f.x[1] / f.groups, "w",
                      "must have c/groups = " + std::to_string(f.x[1] / f.groups) + " as its second value");
}

std::string AxesText(const Axes& axes, int spatial) { return Joined(List(axes.end() - spatial, axes.end())); }

// Lists that fit each other. The output's sizes are left out.
ConvShape Read(const ShapeFields& f) {
  const std::size_t axes = f.x.size() - 2;
  ConvShape s;
  s.n = f.x[0], s.c = f.x[1], s.k = f.w[0], s.groups = f.groups;
  s.spatial = axes == 3 ? 3 : 2;
  s.in = OnLastAxes(List(f.x.begin() + 2, f.x.end()), axes, 1);
  s.kernel = OnLastAxes(List(f.w.begin() + 2, f.w.end()), axes, 1);
  s.pad = OnLastAxes(f.pad, axes, 0);
  s.pad_after = f.pad_after.empty() ? s.pad : OnLastAxes(f.pad_after, axes, 0);
  s.stride = OnLastAxes(f.stride, axes, 1);
  s.dilation = OnLastAxes(f.dilation, axes, 1);
  return s;
}

// Sets s->out as far as the kernel fits.
void RequireFit(ConvShape* s, Problems* problems) {
  for (std::size_t a = 0; a < 3; ++a) {
    const std::int64_t padded = s->Padded(a);
    const std::int64_t reach = (s->kernel[a] - 1) * s->dilation[a] + 1;
    problems->Require(reach <= padded, "w",
                      "covers " + std::to_string(reach) + " elements of an axis, but the padded input has " +
                          std::to_string(padded));
    s->out[a] = (padded - reach) / s->stride[a] + 1;
  }
}

// x with its pads is what the reference lays out.
void RequireCounts(const ConvShape& s, std::int64_t most, Problems* problems) {
  problems->RequireCount("x", "x", {s.n, s.c, s.in[0], s.in[1], s.in[2]}, most);
  problems->RequireCount("pad", "the padded x", {s.n, s.c, s.Padded(0), s.Padded(1), s.Padded(2)}, most);
  problems->RequireCount("w", "w", {s.k, s.ChannelsPerGroup(), s.kernel[0], s.kernel[1], s.kernel[2]}, most);
  problems->RequireCount("x", "y", {s.n, s.k, s.out[0], s.out[1], s.out[2]}, most);
}

// Problems of a later kind are looked for only where those before it leave the values a meaning.
ConvShape ReadAndJudge(const ShapeFields& fields, Problems* problems) {
  RequireLists(fields, problems);
  if (problems->none()) RequireGroups(fields, problems);
  if (!problems->none()) return {};
  ConvShape shape = Read(fields);
  RequireFit(&shape, problems);
  if (problems->none()) RequireCounts(shape, fields.most_elements, problems);
  return shape;
}

}  // namespace

std::vector<ShapeProblem> FindShapeProblems(const ShapeFields& fields) {
  Problems problems;
  ReadAndJudge(fields, &problems);
  return problems.Take();
}

ConvShape MakeConvShape(const ShapeFields& f) {
  Problems problems;
  const ConvShape shape = ReadAndJudge(f, &problems);
  if (problems.none()) return shape;
  const ShapeProblem first = problems.Take().front();
  throw std::invalid_argument("shape x=" + Joined(f.x) + " w=" + Joined(f.w) + " pad=" + Joined(f.pad) +
                              " stride=" + Joined(f.stride) + " dilation=" + Joined(f.dilation) +
                              " groups=" + std::to_string(f.groups) + ": " + first.field + " " + first.why);
}

std::string ConvShape::Text() const {
  const auto with_axes = [this](std::int64_t a, std::int64_t b, const Axes& sizes) {
    return std::to_string(a) + "x" + std::to_string(b) + "x" + AxesText(sizes, spatial);
  };
  return "x=" + with_axes(n, c, in) + " w=" + with_axes(k, ChannelsPerGroup(), kernel) +
         " pad=" + AxesText(pad, spatial) +
         (PadsAlike() ? "" : " pad_after=" + AxesText(pad_after, spatial)) +
         " stride=" + AxesText(stride, spatial) + " dilation=" + AxesText(dilation, spatial) +
         " groups=" + std::to_string(groups);
}

}  // namespace cudnn_ci
