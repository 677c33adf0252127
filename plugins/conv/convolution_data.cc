#include "conv/convolution_data.h"

#include <algorithm>
#include <utility>

#include "common/numeric/encode.h"
#include "conv/bounds.h"
#include "conv/normal.h"
#include "conv/reference.h"

namespace cudnn_ci {
namespace {

// Guards are read back with each look at them.
constexpr std::size_t kWidestGuard = std::size_t{64} << 10;

std::size_t RowBytes(const Tensor& y, DataType type) {
  return std::min(static_cast<std::size_t>(y.sizes[2] * y.channels) * SizeOf(type), kWidestGuard);
}

// A reference in the types and the layout of one case.
class ConvolutionData : public ReferenceData {
 public:
  // The problem that the reference names may have another output type: the cache does not tell them apart.
  ConvolutionData(std::shared_ptr<const Reference> reference, const Operands& operands)
      : reference_(std::move(reference)), operands_(operands) {}

  void Encode(std::size_t input, unsigned char* to) const override {
    const Operand& operand = operands_.inputs[input];
    TwoScale<std::int8_t> values = {reference_->inputs.bias.data()};
    if (input == kA) values = reference_->A();
    if (input == kB) values = reference_->B();
    EncodeData(values, operand.extent, operand.type, operand.layout, to);
  }
  Judgement Judge(std::size_t output, double bound, const unsigned char* got) const override {
    const Operand& operand = operands_.outputs[output];
    return JudgeOutput(*reference_, operand.type, operand.layout, bound, got);
  }
  std::shared_ptr<const void> owner() const override { return reference_; }

 private:
  const std::shared_ptr<const Reference> reference_;
  const Operands operands_;
};

class ConvolutionSource : public ReferenceSource {
 public:
  ConvolutionSource(const Problem& problem, const Operands& operands, const Recipe& recipe)
      : problem_(problem), operands_(operands), recipe_(recipe) {}

  std::shared_ptr<const ReferenceData> Get() const override {
    return std::make_shared<ConvolutionData>(ReferenceOf(problem_, recipe_), operands_);
  }
  double MakingBytes() const override { return cudnn_ci::MakingBytes(problem_, recipe_); }
  double Growth() const override { return ReferenceGrowth(problem_, recipe_); }
  void ForgetOthers() const override { ForgetOtherReferences(problem_, recipe_); }

 private:
  const Problem problem_;
  const Operands operands_;
  const Recipe recipe_;
};

}  // namespace

Operands OperandsOf(const Problem& problem, DataType type, Layout layout) {
  const Tensor a = problem.A(), b = problem.B(), y = problem.Y(), bias = problem.Bias();
  const DataType output = problem.OutputType(type);
  Operands operands;
  operands.inputs = {{a.name, type, a.AsExtent(), layout, kSeedOfA},
                     {b.name, type, b.AsExtent(), layout, kSeedOfB}};
  if (bias.Count() > 0) operands.inputs.push_back({bias.name, BiasTypeOf(type), bias.AsExtent(), layout});
  operands.outputs = {{y.name, output, y.AsExtent(), layout, {}, RowBytes(y, output)}};
  return operands;
}

std::shared_ptr<const ReferenceSource> ReferenceSourceOf(const Problem& problem, const Operands& operands,
                                                         const Recipe& recipe) {
  return std::make_shared<ConvolutionSource>(problem, operands, recipe);
}

}  // namespace cudnn_ci
