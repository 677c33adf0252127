#include "gemm/grouped_data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kC = 2;  // behind A and B

}  // namespace

Operands OperandsOf(const GroupedSpec& spec) {
  const std::vector<std::int64_t> d = spec.Starts(&MatmulSpec::D);
  Operands operands;
  operands.inputs = OperandsOf(spec.groups.front()).inputs;
  operands.inputs.resize(kC);
  operands.inputs[0].extent = {1, 1, spec.Starts(&MatmulSpec::A).back()};
  operands.inputs[1].extent = {1, 1, spec.Starts(&MatmulSpec::B).back()};
  Operand result = {"D", spec.type, {1, 1, d.back()}};
  for (const MatmulSpec& group : spec.groups) {
    const Operands own = OperandsOf(group);
    result.guard = std::max(result.guard, own.outputs[0].guard);
    if (own.inputs.size() <= kC || operands.inputs.size() > kC) continue;
    operands.inputs.push_back(own.inputs[kC]);
    operands.inputs[kC].extent = result.extent;
  }
  result.padding = [groups = spec.groups, d](std::int64_t index) {
    const GroupedPlace at = PlaceIn(d, index);
    return MatmulSpec::PlaceOf(groups[at.group].D(), at.index).padding;
  };
  operands.outputs = {std::move(result)};
  return operands;
}

GroupedData::GroupedData(const GroupedSpec& spec)
    : type_(spec.type),
      a_(spec.Starts(&MatmulSpec::A)),
      b_(spec.Starts(&MatmulSpec::B)),
      d_(spec.Starts(&MatmulSpec::D)) {
  for (const MatmulSpec& group : spec.groups) {
    groups_.push_back(std::make_shared<const MatmulData>(group));
    reads_c_.push_back(group.beta != 0);
    bytes_ += BytesOfData(group);
  }
}

ElementJudgement GroupedData::JudgeAll(const unsigned char* got) const {
  return JudgeElements(
      type_, d_.back(),
      [this](std::int64_t index) {
        const GroupedPlace at = PlaceIn(d_, index);
        return groups_[at.group]->RuleOf(at.index);
      },
      got);
}

Judgement GroupedData::Judge(std::size_t, double, const unsigned char* got) const { return JudgeAll(got); }

// The C of a group that does not add it is all NaN.
void GroupedData::Encode(std::size_t input, unsigned char* to) const {
  const std::vector<std::int64_t>& starts = input == 0 ? a_ : input == 1 ? b_ : d_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    unsigned char* const own = to + static_cast<std::size_t>(starts[i]) * SizeOf(type_);
    if (input < kC || reads_c_[i])
      groups_[i]->Encode(input, own);
    else
      std::memset(own, kNanByte, static_cast<std::size_t>(starts[i + 1] - starts[i]) * SizeOf(type_));
  }
}

}  // namespace cudnn_ci
