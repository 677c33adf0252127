#include "attention/data.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "common/numeric/attention_numbers.h"
#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

// What an output is held to.
struct Rule {
  const std::vector<float>* expected;
  AttentionTensor tensor;
  DataType type;
  bool by_query;    // rows are queries, else keys
  bool statistics;  // held to a bound
};

class Reference : public ReferenceData, public std::enable_shared_from_this<Reference> {
 public:
  explicit Reference(const AttentionProblemSpec& spec)
      : spec_(spec), numbers_(MakeAttentionNumbers(spec, kSeed)) {}

  void Encode(std::size_t input, unsigned char* to) const override {
    const std::vector<AttentionTensor> tensors = spec_.Inputs();
    if (input >= tensors.size()) return EncodeLengths(input - tensors.size(), to);
    const std::vector<float>* const values[] = {&numbers_.q, &numbers_.k,   &numbers_.v,
                                                &numbers_.o, &numbers_.d_o, &numbers_.stats};
    const DataType type = input == kStatsInput ? DataType::kFloat32 : spec_.type;
    const std::size_t bytes = SizeOf(type);
    ForRows(tensors[input], [&](std::int64_t offset, std::int64_t index) {
      EncodeRow(type, values[input]->data() + index, tensors[input].size,
                to + static_cast<std::size_t>(offset) * bytes);
    });
  }

  Judgement Judge(std::size_t output, double, const unsigned char* got) const override {
    const Rule rule = RuleOf(output);
    const std::size_t bytes = SizeOf(rule.type);
    Judgement judgement;
    judgement.elements = rule.tensor.Count();
    std::vector<unsigned char> right(static_cast<std::size_t>(rule.tensor.size) * bytes);
    ForRows(rule.tensor, [&](std::int64_t offset, std::int64_t index) {
      if (!Counts(rule, index)) return;
      const float* const want = rule.expected->data() + index;
      const unsigned char* const row = got + static_cast<std::size_t>(offset) * bytes;
      EncodeRow(rule.type, want, rule.tensor.size, right.data());
      if (std::memcmp(row, right.data(), right.size()) == 0) return;  // the usual case
      for (std::int64_t d = 0; d < rule.tensor.size; ++d)
        JudgeOne(rule, offset + d, want[d], row + static_cast<std::size_t>(d) * bytes, &judgement);
    });
    return judgement;
  }

  std::shared_ptr<const void> owner() const override { return shared_from_this(); }

 private:
  static constexpr std::uint64_t kSeed = 20250;
  static constexpr std::size_t kStatsInput = 5;

  // row(offset, index) for each row: where it begins in memory, and in the order of the numbers.
  template <class Function>
  static void ForRows(const AttentionTensor& tensor, Function row) {
    for (std::int64_t offset = 0; offset < tensor.Count(); offset += tensor.size)
      row(offset, tensor.IndexAt(offset));
  }

  // The numbers are the type's.
  static void EncodeRow(DataType type, const float* from, std::int64_t count, unsigned char* to) {
    if (type == DataType::kFloat32) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof *from);
      return;
    }
    const bool half = type == DataType::kFloat16;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint16_t bits =
          half ? EncodeFloat16(from[i])
               : static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(from[i]) >> 16);
      std::memcpy(to + 2 * i, &bits, sizeof bits);
    }
  }

  static void JudgeOne(const Rule& rule, std::int64_t offset, double want, const unsigned char* at,
                       Judgement* judgement) {
    const std::size_t bytes = SizeOf(rule.type);
    const double have = Load(rule.type, at), error = std::fabs(have - want);
    if (error > judgement->worst_error) judgement->worst_error = error;  // false for NaN
    if (error <= (rule.statistics ? AttentionStatsBound(want) : 0)) return;
    const std::uint32_t fill[2] = {UnwrittenWord(rule.type), UnwrittenWord(rule.type)};
    if (std::memcmp(at, fill, bytes) == 0) {
      if (judgement->unwritten++ == 0) judgement->first_unwritten = offset;
      return;
    }
    if (judgement->wrong++ > 0) return;
    judgement->first_wrong = offset;
    judgement->first_expected = want;
    judgement->first_got = have;
    std::memcpy(&judgement->first_bits, at, bytes);
  }

  Rule RuleOf(std::size_t output) const {
    if (spec_.backward) {
      if (output == kAttentionDq) return {&numbers_.dq, spec_.Q(), spec_.type, true, false};
      if (output == kAttentionDk) return {&numbers_.dk, spec_.K(), spec_.type, false, false};
      return {&numbers_.dv, spec_.V(), spec_.type, false, false};
    }
    if (output == kAttentionO) return {&numbers_.o, spec_.O(), spec_.type, true, false};
    return {&numbers_.stats, spec_.Stats(), DataType::kFloat32, true, true};
  }

  bool Counts(const Rule& rule, std::int64_t index) const {
    if (spec_.shape.mask != AttentionMask::kPadding) return true;
    const std::int64_t row = index / rule.tensor.size;
    const std::int64_t b = row / rule.tensor.length / rule.tensor.heads, s = row % rule.tensor.length;
    return s < (rule.by_query ? spec_.shape.Queries(b) : spec_.shape.Keys(b));
  }

  void EncodeLengths(std::size_t which, unsigned char* to) const {
    const std::vector<std::int32_t>& lengths = which == 0 ? spec_.shape.q_length : spec_.shape.kv_length;
    std::memcpy(to, lengths.data(), lengths.size() * sizeof lengths[0]);
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
    return bytes;
  }
  double Growth() const override { return data_ ? 0 : MakingBytes(); }
  void ForgetOthers() const override {}

 private:
  const AttentionProblemSpec spec_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ReferenceData> data_;
};

Operand OperandOf(const char* name, DataType type, const AttentionTensor& tensor) {
  Operand operand;
  operand.name = name;
  operand.type = type;
  operand.extent = {1, 1, tensor.Count()};
  return operand;
}

}  // namespace

Operands AttentionOperands(const AttentionProblemSpec& spec) {
  static constexpr const char* kInputs[] = {"Q", "K", "V", "O", "dO", "LSE"};
  static constexpr const char* kForward[] = {"O", "LSE"};
  static constexpr const char* kBackward[] = {"dQ", "dK", "dV"};
  Operands operands;
  const std::vector<AttentionTensor> inputs = spec.Inputs(), outputs = spec.Outputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    operands.inputs.push_back(OperandOf(kInputs[i], i == 5 ? DataType::kFloat32 : spec.type, inputs[i]));
    // The backward pass reads results of the forward pass, which random numbers are not.
    if (!spec.backward) operands.inputs.back().seed = i + 1;
  }
  if (spec.shape.mask == AttentionMask::kPadding)
    for (const char* name : {"query lengths", "key lengths"})
      operands.inputs.push_back(OperandOf(name, DataType::kInt32, {spec.shape.batch, 1, 1, 1}));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool statistics = !spec.backward && i == kAttentionStats;
    operands.outputs.push_back(OperandOf(spec.backward ? kBackward[i] : kForward[i],
                                         statistics ? DataType::kFloat32 : spec.type, outputs[i]));
  }
  return operands;
}

double AttentionStatsBound(double expected) {
  constexpr double kRelative = 0x1p-19, kAbsolute = 0x1p-18;
  return std::fabs(expected) * kRelative + kAbsolute;
}

std::shared_ptr<const ReferenceSource> AttentionReference(const AttentionProblemSpec& spec) {
  return std::make_shared<const Source>(spec);
}

}  // namespace cudnn_ci
