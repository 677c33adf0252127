// The impossible shapes, and the judge of the one that is only large.
#include "conv/refusals.h"

#include <array>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace cudnn_ci {
namespace {

constexpr std::int64_t kFarElements = std::int64_t{1} << 31;

// A tall batch of small images: each stride of x still fits the ints of the legacy API. One pixel of an image
// is read, so that the results are few.
ConvShape ShapeOfManyElements() {
  ConvShape s;
  s.n = 36864, s.c = 64, s.k = 8;
  s.in = {1, 32, 32}, s.kernel = {1, 1, 1}, s.out = {1, 1, 1};
  s.stride = {1, 32, 32}, s.dilation = {1, 1, 1};
  return s;
}

// The possible one without a pad.
ConvShape Unpadded() {
  ConvShape s = PossibleShape();
  s.pad = s.pad_after = {0, 0, 0};
  s.out = {1, 6, 6};
  return s;
}

}  // namespace

ConvShape PossibleShape() { return MakeConvShape({{2, 16, 8, 8}, {16, 16, 3, 3}, {1}, {1}, {1}, 1}); }

Refusal RefusalOf(const std::string& what, Operation operation) {
  using Kind = Refusal::Kind;
  ConvShape s = Unpadded();
  if (what == "zero_dimension") {
    s.in[1] = 0, s.out[1] = 1;
    return {Kind::kShape, {operation, s}, "x has height 0, and y has one row"};
  }
  if (what == "kernel_too_large") {
    s.kernel = {1, 11, 11}, s.out = {1, 1, 1};
    return {Kind::kShape, {operation, s}, "a filter of 11x11 for an input of 8x8 without padding"};
  }
  if (what == "channel_mismatch") {
    s.c = 17, s.groups = 2;
    return {Kind::kShape, {operation, s}, "17 channels for filters of 8 in 2 groups"};
  }
  if (what == "group_mismatch") {
    s.k = 15, s.groups = 4;
    return {Kind::kShape, {operation, s}, "15 filters in 4 groups"};
  }
  if (what == "too_many_elements")
    return {Kind::kElements, {operation, ShapeOfManyElements()}, "x has more than 2^31 elements"};
  s = PossibleShape();
  if (what == "misaligned_pointer")
    return {Kind::kPointer, {operation, s}, "a pointer one element off the declared alignment of 16 bytes"};
  if (what == "small_workspace")
    return {Kind::kWorkspace, {operation, s}, "less workspace than the library asked for"};
  throw std::invalid_argument("nothing is called '" + what + "' that has to be refused");
}

std::int64_t FirstFarImage(const ConvShape& shape) {
  const std::int64_t image = shape.c * Product(shape.in);
  return (kFarElements + image - 1) / image;
}

std::uint32_t WordOf(DataType type, double value) {
  std::array<unsigned char, 4> bytes{};
  for (std::size_t at = 0; at < bytes.size(); at += SizeOf(type)) Store(type, value, bytes.data() + at);
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

std::string DescribeWrongFarResults(const ConvShape& shape, DataType type, const unsigned char* y) {
  const std::int64_t far = FirstFarImage(shape);
  std::int64_t wrong = 0;
  std::ostringstream first;
  for (std::int64_t i = 0; i < shape.OutputCount(); ++i) {
    const std::int64_t image = i / shape.k;
    const double expected = static_cast<double>(shape.Reduction() * (image < far ? 1 : 2));
    const double got = Load(type, y + i * static_cast<std::int64_t>(SizeOf(type)));
    if (got == expected) continue;  // a NaN, which was there before, is no result
    if (wrong++ == 0)
      first << ", first (n=" << image << ",k=" << i % shape.k << "): expected " << expected << ", got "
            << got;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(shape.OutputCount()) + " results are wrong" +
         first.str();
}

}  // namespace cudnn_ci
