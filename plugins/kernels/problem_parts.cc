#include "kernels/problem_parts.h"

#include <numeric>
#include <utility>

#include "common/numeric/random_data.h"

namespace cudnn_ci {

KernelInput InputOf(const char* name, DataType type, std::vector<std::int64_t> shape,
                    const std::vector<double>& values) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  KernelInput input = {name, NameOf(type), std::move(shape), std::move(strides),
                       std::vector<unsigned char>(values.size() * SizeOf(type))};
  for (std::size_t i = 0; i < values.size(); ++i) Store(type, values[i], &input.bytes[i * SizeOf(type)]);
  return input;
}

std::int64_t Draw(std::uint64_t seed, std::int64_t number, std::int64_t below) {
  return static_cast<std::int64_t>(RandomWord(seed, static_cast<std::uint64_t>(number)) %
                                   static_cast<std::uint64_t>(below));
}

std::vector<std::int64_t> Order(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order(At(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = count - 1; i > 0; --i) std::swap(order[At(i)], order[At(Draw(seed, i, i + 1))]);
  return order;
}

}  // namespace cudnn_ci
