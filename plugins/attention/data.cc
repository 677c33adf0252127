#include "attention/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include "common/numeric/attention_normal.h"
#include "common/numeric/attention_numbers.h"
#include "common/numeric/fill.h"
#include "common/numeric/parallel.h"
#include "compute/judge_elements.h"

namespace cudnn_ci {
namespace {

constexpr std::uint64_t kSeed = 20250;
constexpr double kUnnamed = 112;  // of pages that no table names: large, and no NaN
constexpr std::int64_t kElementsAtOnce = 1 << 14;

AttentionNumbers NumbersOf(const AttentionProblemSpec& spec) {
  return spec.data == AttentionData::kExact ? MakeAttentionNumbers(spec, kSeed)
                                            : MakeNormalAttention(spec, kSeed);
}

// The tensors of one operand.
std::vector<AttentionTensor> PartsOf(const std::vector<AttentionTensor>& tensors, std::size_t operand) {
  std::vector<AttentionTensor> parts;
  for (const AttentionTensor& tensor : tensors)
    if (tensor.operand == operand) parts.push_back(tensor);
  return parts;
}

class Reference : public ReferenceData, public std::enable_shared_from_this<Reference> {
 public:
  explicit Reference(const AttentionProblemSpec& spec) : spec_(spec), numbers_(NumbersOf(spec)) {}

  void Encode(std::size_t input, unsigned char* to) const override {
    const std::vector<AttentionTensor> tensors = spec_.Inputs();
    for (const AttentionTensor& tensor : PartsOf(tensors, input)) {
      const DataType type = spec_.TypeOf(tensor);
      const float* const from = numbers_.Of(tensor.role).data();
      // What no row fills, a right kernel does not read into its result.
      for (std::int64_t i = 0; tensor.page_size > 0 && i < tensor.Places(); ++i)
        Store(type, kUnnamed, to + static_cast<std::size_t>(i) * SizeOf(type));
      ForHeads(tensor, [&](std::int64_t head) {
        tensor.ForRowsOfHead(head, [&](std::int64_t place, std::int64_t index) {
          EncodeRow(type, from + index, tensor.size, to + static_cast<std::size_t>(place) * SizeOf(type));
        });
      });
    }
  }

  Judgement Judge(std::size_t output, double, const unsigned char* got) const override {
    const std::vector<AttentionTensor> parts = PartsOf(spec_.Outputs(), output);
    const bool bounded = std::any_of(parts.begin(), parts.end(), [this](const AttentionTensor& part) {
      return numbers_.allowed.count(part.role) > 0;
    });
    return bounded ? JudgeByBounds(parts, got) : JudgeBits(parts, got);
  }

  std::shared_ptr<const void> owner() const override { return shared_from_this(); }

 private:
  // On all CPUs.
  static void ForHeads(const AttentionTensor& tensor, const std::function<void(std::int64_t)>& of_head) {
    const std::int64_t elements = std::max<std::int64_t>(tensor.length * tensor.size, 1);
    ParallelFor(tensor.batch * tensor.heads, 1 + kElementsAtOnce / elements,
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t head = begin; head < end; ++head) of_head(head);
                });
  }

  // The numbers are the type's.
  static void EncodeRow(DataType type, const float* from, std::int64_t count, unsigned char* to) {
    if (type == DataType::kFloat32) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof *from);
      return;
    }
    const bool half = type == DataType::kFloat16;
    for (std::int64_t i = 0; i < count; ++i) {
      if (type == DataType::kInt32) {
        Store(type, from[i], to + 4 * i);
        continue;
      }
      if (type == DataType::kFloat8E4m3) {
        to[i] = EncodeFloat8E4m3(from[i]);
        continue;
      }
      const std::uint16_t bits = half ? EncodeFloat16(from[i]) : EncodeBfloat16(from[i]);
      std::memcpy(to + 2 * i, &bits, sizeof bits);
    }
  }

  static void JudgeOne(DataType type, std::int64_t place, double want, const unsigned char* at,
                       Judgement* judgement) {
    const std::size_t bytes = SizeOf(type);
    const double have = Load(type, at), error = std::fabs(have - want);
    if (error > judgement->worst_error) judgement->worst_error = error;  // false for NaN
    if (error <= 0) return;
    const std::uint32_t fill[2] = {UnwrittenWord(type), UnwrittenWord(type)};
    if (std::memcmp(at, fill, bytes) == 0) {
      if (judgement->unwritten++ == 0) judgement->first_unwritten = place;
      return;
    }
    if (judgement->wrong++ > 0) return;
    judgement->first_wrong = place;
    judgement->first_expected = want;
    judgement->first_got = have;
    std::memcpy(&judgement->first_bits, at, bytes);
  }

  struct Row {
    std::int64_t place, index;  // in memory, in the numbers
  };

  // Of one head, those with other bits than they should have.
  std::vector<Row> DifferingRows(const AttentionTensor& part, std::int64_t head,
                                 const unsigned char* got) const {
    const DataType type = spec_.TypeOf(part);
    const float* const expected = numbers_.Of(part.role).data();
    std::vector<unsigned char> right(static_cast<std::size_t>(part.size) * SizeOf(type));
    std::vector<Row> differing;
    part.ForRowsOfHead(head, [&](std::int64_t place, std::int64_t index) {
      if (!Counts(part, index)) return;
      EncodeRow(type, expected + index, part.size, right.data());
      const unsigned char* const row = got + static_cast<std::size_t>(place) * SizeOf(type);
      if (std::memcmp(row, right.data(), right.size()) != 0) differing.push_back({place, index});
    });
    return differing;
  }

  Judgement JudgeBits(const std::vector<AttentionTensor>& parts, const unsigned char* got) const {
    Judgement judgement;
    for (const AttentionTensor& part : parts) {
      const DataType type = spec_.TypeOf(part);
      const std::vector<float>& expected = numbers_.Of(part.role);
      judgement.elements += part.Places();
      std::vector<std::vector<Row>> differing(static_cast<std::size_t>(part.batch * part.heads));
      ForHeads(part, [&](std::int64_t head) {
        differing[static_cast<std::size_t>(head)] = DifferingRows(part, head, got);
      });
      for (const std::vector<Row>& rows : differing)
        for (const Row& row : rows)
          for (std::int64_t d = 0; d < part.size; ++d)
            JudgeOne(type, row.place + d, expected[static_cast<std::size_t>(row.index + d)],
                     got + static_cast<std::size_t>(row.place + d) * SizeOf(type), &judgement);
    }
    return judgement;
  }

  Judgement JudgeByBounds(const std::vector<AttentionTensor>& parts, const unsigned char* got) const {
    std::int64_t count = 0;
    for (const AttentionTensor& part : parts) count += part.Places();
    return JudgeElements(
        spec_.TypeOf(parts.front()), count, [&](std::int64_t place) { return RuleAt(parts, place); }, got);
  }

  ElementRule RuleAt(const std::vector<AttentionTensor>& parts, std::int64_t place) const {
    ElementRule rule;
    for (const AttentionTensor& part : parts) {
      const std::int64_t index = part.IndexAt(place);
      if (index < 0) continue;
      const auto at = static_cast<std::size_t>(index);
      rule = {numbers_.Of(part.role)[at], numbers_.allowed.at(part.role)[at]};
      rule.ignored = !Counts(part, index);
    }
    return rule;
  }

  bool Counts(const AttentionTensor& tensor, std::int64_t index) const {
    if (!HasLengths(spec_.shape.mask)) return true;
    const std::int64_t row = index / tensor.size;
    const std::int64_t b = row / tensor.length / tensor.heads, s = row % tensor.length;
    return s < (IsByKey(tensor.role) ? spec_.shape.Keys(b) : spec_.shape.Queries(b));
  }

  const AttentionProblemSpec spec_;
  const AttentionNumbers numbers_;
};

class Source : public ReferenceSource {
 public:
  explicit Source(AttentionProblemSpec spec) : spec_(std::move(spec)) {}

  std::shared_ptr<const ReferenceData> Get() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!data_) data_ = std::make_shared<const Reference>(spec_);
    return data_;
  }
  double MakingBytes() const override {
    double bytes = 0;
    for (const AttentionTensor& tensor : {spec_.Q(), spec_.K(), spec_.V(), spec_.O()})
      bytes += 2.5 * sizeof(float) * static_cast<double>(tensor.Count());
    // The bias, its gradient and what is allowed of that; and as much of normal data, for all.
    if (HasBias(spec_.shape.mask)) bytes += 3 * sizeof(float) * static_cast<double>(spec_.Bias().Count());
    return spec_.data == AttentionData::kExact ? bytes : 3 * bytes;
  }
  double Growth() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return data_ ? 0 : MakingBytes();
  }
  void ForgetOthers() const override {}

 private:
  const AttentionProblemSpec spec_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ReferenceData> data_;
};

// Tensors that are parts of one operand are behind one another.
std::vector<Operand> OperandsOf(const AttentionProblemSpec& spec,
                                const std::vector<AttentionTensor>& tensors) {
  std::vector<Operand> operands;
  for (const AttentionTensor& tensor : tensors) {
    if (tensor.operand == operands.size()) operands.emplace_back();
    Operand& operand = operands.back();
    operand.name += std::string(operand.name.empty() ? "" : "+") + Name(tensor.role);
    operand.type = spec.TypeOf(tensor);
    operand.extent = {1, 1, operand.extent.Count() + tensor.Places()};
  }
  return operands;
}

}  // namespace

Operands AttentionOperands(const AttentionProblemSpec& spec) {
  Operands operands = {OperandsOf(spec, spec.Inputs()), OperandsOf(spec, spec.Outputs())};
  // The backward pass reads results of the forward pass, which random numbers are not; a bias hides keys, and
  // scales are no numbers of any size.
  for (const AttentionTensor& tensor : spec.Inputs())
    if (!spec.backward && tensor.role <= AttentionRole::kV)
      operands.inputs[tensor.operand].seed = tensor.operand + 1;
  return operands;
}

std::string AttentionPlace(const AttentionProblemSpec& spec, std::size_t output, std::int64_t place) {
  const std::vector<AttentionTensor> parts = PartsOf(spec.Outputs(), output);
  for (const AttentionTensor& part : parts)
    if (part.IndexAt(place) >= 0)
      return (parts.size() > 1 ? std::string(Name(part.role)) + " " : "") + part.Place(place);
  return std::to_string(place);
}

std::shared_ptr<const ReferenceSource> AttentionReference(const AttentionProblemSpec& spec) {
  return std::make_shared<const Source>(spec);
}

}  // namespace cudnn_ci
