// What the operations' tensors are called and how large they are.
#include "conv/operation.h"

#include <stdexcept>

namespace cudnn_ci {
namespace {

Tensor Input(const ConvShape& s, const char* name) { return {name, s.n, s.c, s.in}; }
Tensor Output(const ConvShape& s, const char* name) { return {name, s.n, s.k, s.out}; }
Tensor Filter(const ConvShape& s, const char* name) { return {name, s.k, s.ChannelsPerGroup(), s.kernel}; }

// How the coordinates of a result are called: outer, channels, depth, height, width.
struct Letters {
  const char *outer, *channels, *sizes[3];
};

Letters LettersOf(Operation operation) {
  switch (operation) {
    case Operation::kBackwardData:
      return {"n", "c", {"d", "h", "w"}};
    case Operation::kBackwardFilter:
      return {"k", "c", {"t", "r", "s"}};
    case Operation::kForward:
      break;
  }
  return {"n", "k", {"z", "p", "q"}};
}

}  // namespace

std::string OperationName(Operation operation) {
  switch (operation) {
    case Operation::kBackwardData:
      return "backward_data";
    case Operation::kBackwardFilter:
      return "backward_filter";
    case Operation::kForward:
      break;
  }
  return "forward";
}

Operation OperationFrom(const std::string& name) {
  for (const Operation o : {Operation::kForward, Operation::kBackwardData, Operation::kBackwardFilter})
    if (name == OperationName(o)) return o;
  throw std::invalid_argument("unknown operation '" + name + "'");
}

Epilogue EpilogueFrom(const std::string& name) {
  if (name == "none") return {};
  if (name == "bias") return {true, false};
  if (name == "relu") return {false, true};
  if (name == "bias_relu") return {true, true};
  throw std::invalid_argument("unknown epilogue '" + name + "'");
}

DataType BiasTypeOf(DataType inputs) { return SizeOf(inputs) == 1 ? DataType::kFloat32 : inputs; }

Tensor Problem::A() const {
  return operation == Operation::kForward ? Input(shape, "x") : Output(shape, "dy");
}

Tensor Problem::B() const {
  return operation == Operation::kBackwardFilter ? Input(shape, "x") : Filter(shape, "w");
}

Tensor Problem::Y() const {
  switch (operation) {
    case Operation::kBackwardData:
      return Input(shape, "dx");
    case Operation::kBackwardFilter:
      return Filter(shape, "dw");
    case Operation::kForward:
      break;
  }
  return Output(shape, "y");
}

Tensor Problem::Bias() const { return {"bias", epilogue.bias ? 1 : 0, shape.k, {1, 1, 1}}; }

std::int64_t Problem::Reduction() const {
  switch (operation) {
    case Operation::kBackwardData:
      return shape.FiltersPerGroup() * Product(shape.kernel);
    case Operation::kBackwardFilter:
      return shape.n * Product(shape.out);
    case Operation::kForward:
      break;
  }
  return shape.Reduction();
}

std::string Problem::Text() const {
  if (operation != Operation::kForward) return OperationName(operation) + " " + shape.Text();
  return shape.Text() + (epilogue.bias ? " + bias" : "") + (epilogue.relu ? " + relu" : "");
}

std::string Problem::Place(std::int64_t index) const {
  const Tensor y = Y();
  const Letters letters = LettersOf(operation);
  const std::int64_t plane = index / Product(y.sizes);
  std::string place = std::string("(") + letters.outer + "=" + std::to_string(plane / y.channels) + "," +
                      letters.channels + "=" + std::to_string(plane % y.channels);
  std::int64_t below = Product(y.sizes);
  for (std::size_t a = 0; a < 3; ++a) {
    below /= y.sizes[a];
    if (a == 0 && shape.spatial != 3) continue;
    place += std::string(",") + letters.sizes[a] + "=" + std::to_string(index / below % y.sizes[a]);
  }
  return place + ")";
}

}  // namespace cudnn_ci
