// The draws. What is drawn and in which order is a contract: a seed that found something has to find it
// again.
#include "conv/random_draw.h"

#include <initializer_list>
#include <iterator>
#include <vector>

#include "common/numeric/random_data.h"

namespace cudnn_ci {
namespace {

// A row of random numbers.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  // From 0 to count - 1.
  std::int64_t Below(std::int64_t count) {
    return static_cast<std::int64_t>((RandomWord(seed_, next_++) >> 11) % static_cast<std::uint64_t>(count));
  }
  bool OneIn(std::int64_t count) { return Below(count) == 0; }
  template <class T>
  T Of(std::initializer_list<T> values) {
    return *std::next(values.begin(), Below(static_cast<std::int64_t>(values.size())));
  }

 private:
  const std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

// What is drawn has 8 bits, and so a library offers it in few ways.
bool IsEightBit(const std::string& dtype) { return dtype == "int8" || dtype.compare(0, 6, "float8") == 0; }

void DrawKind(Dice* dice, Draw* draw) {
  // The wider types twice as often as those of 8 bits.
  draw->dtype = dice->Of<const char*>({"float32", "float32", "float16", "float16", "bfloat16", "bfloat16",
                                       "float64", "float64", "int8", "float8_e4m3", "float8_e5m2"});
  draw->operation = dice->Of({Operation::kForward, Operation::kBackwardData, Operation::kBackwardFilter});
  draw->api = dice->Of<const char*>({"legacy", "graph"});
  draw->layout = dice->Of<const char*>({"nchw", "nhwc"});
  // Forbids shorter types where that is a question.
  draw->math = dice->OneIn(4) && draw->dtype.compare(0, 5, "float") == 0 ? "fma" : "default";
  if (!IsEightBit(draw->dtype)) return;
  draw->api = "graph", draw->layout = "nhwc", draw->math = "default";
  if (draw->dtype == "int8") draw->operation = Operation::kForward;
}

void DrawChannels(Dice* dice, bool eight_bit, ShapeFields* shape) {
  // 8-bit kernels take channels in fours at least, of each group.
  const std::int64_t unit = eight_bit ? 16 : dice->Of<std::int64_t>({1, 1, 4, 8});
  const std::int64_t per_group = unit * (1 + dice->Below(8)), filters = unit * (1 + dice->Below(8));
  if (!eight_bit && dice->OneIn(6)) {  // depthwise, of up to two filters a channel
    shape->groups = 1 + dice->Below(64);
    shape->x[1] = shape->groups, shape->w[1] = 1;
    shape->w[0] = shape->groups * (1 + dice->Below(2));
    return;
  }
  shape->groups = dice->OneIn(4) ? 2 + dice->Below(3) : 1;
  shape->x[1] = per_group * shape->groups, shape->w[1] = per_group;
  shape->w[0] = filters * shape->groups;
}

// One axis: its size is at least what the filter needs.
void DrawAxis(Dice* dice, bool flat, bool uneven, ShapeFields* shape) {
  const std::int64_t kernel = flat ? 1 : dice->Of<std::int64_t>({1, 1, 3, 3, 3, 5, 7, 2, 4});
  const std::int64_t dilation = flat ? 1 : dice->Of<std::int64_t>({1, 1, 1, 1, 2});
  const std::int64_t reach = (kernel - 1) * dilation + 1;
  const std::int64_t pad = dice->Below(reach / 2 + 1), pad_after = uneven ? dice->Below(reach / 2 + 1) : pad;
  shape->w.push_back(kernel);
  shape->dilation.push_back(dilation);
  shape->pad.push_back(pad);
  shape->pad_after.push_back(pad_after);
  shape->stride.push_back(flat ? 1 : dice->Of<std::int64_t>({1, 1, 1, 2, 2, 3}));
  const std::int64_t least = reach > pad + pad_after ? reach - pad - pad_after : 1;
  shape->x.push_back(flat ? 1 : least + dice->Below(dice->Of<std::int64_t>({4, 16, 48})));
}

ShapeFields DrawShape(Dice* dice, const Draw& draw) {
  ShapeFields shape;
  shape.x = {dice->Of<std::int64_t>({1, 1, 2, 2, 4, 4, 8}), 0}, shape.w = {0, 0};
  DrawChannels(dice, IsEightBit(draw.dtype), &shape);
  const std::int64_t kind = dice->Below(8);  // 0 and 1: three dimensions; 2: one
  const bool uneven = draw.api == "graph" && dice->OneIn(8);
  const int axes = kind < 2 ? 3 : 2;
  for (int axis = 0; axis < axes; ++axis) DrawAxis(dice, kind == 2 && axis == 0, uneven, &shape);
  if (!uneven) shape.pad_after.clear();
  return shape;
}

bool IsSmall(const Problem& problem) {
  for (const Tensor& tensor : {problem.A(), problem.B(), problem.Y()})
    if (tensor.Count() > kMostDrawnElements) return false;
  const ConvShape& s = problem.shape;
  return s.OutputCount() * s.Reduction() <= kMostDrawnProducts;
}

}  // namespace

std::string Draw::Text() const {
  return OperationName(operation) + " " + dtype + " " + layout + ", " + api + " API, " + math + " math, " +
         MakeConvShape(shape).Text();
}

Draw DrawConvolution(std::uint64_t seed, std::uint64_t number) {
  Dice dice(RandomWord(seed, number));
  Draw draw;
  DrawKind(&dice, &draw);
  // A shape that is too large is drawn again: its kind stays, and with it how often each comes up.
  do {
    draw.shape = DrawShape(&dice, draw);
  } while (!FindShapeProblems(draw.shape).empty() || !IsSmall({draw.operation, MakeConvShape(draw.shape)}));
  return draw;
}

}  // namespace cudnn_ci
