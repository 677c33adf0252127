// The outputs of an emulated attention, sound but for one head of queries, as they would lie in memory, and
// what the judge says of them. For tests of faults at random places.
#ifndef CUDNN_CI_TESTS_UNIT_ATTENTION_JUDGED_H_
#define CUDNN_CI_TESTS_UNIT_ATTENTION_JUDGED_H_

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "attention_emulation.h"

namespace cudnn_ci {

using Random = std::mt19937_64;
constexpr std::int64_t kTile = 64;

inline std::int64_t Below(Random* random, std::int64_t n) {
  return static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(n));
}

class JudgedAttention {
 public:
  using Memory = std::vector<std::vector<unsigned char>>;  // of each output operand
  using Values = std::vector<std::vector<double>>;         // of each output, in the order of AttentionTensor

  explicit JudgedAttention(const AttentionProblemSpec& spec)
      : spec_(spec), outputs_(spec.Outputs()), data_(AttentionReference(spec)->Get()) {
    ReadNumbersBack();
    sound_ = All(numbers_);
  }

  const AttentionProblemSpec& spec() const { return spec_; }
  const std::vector<AttentionTensor>& outputs() const { return outputs_; }
  const AttentionNumbers& numbers() const { return numbers_; }
  const Values& sound() const { return sound_; }

  // Of a kernel that has this fault in one head of queries.
  Values With(std::int64_t b, std::int64_t h, const AttentionFault& fault) const {
    return With(b, h, fault, numbers_);
  }
  // Likewise, and that sees other numbers there.
  Values With(std::int64_t b, std::int64_t h, const AttentionFault& fault,
              const AttentionNumbers& seen) const {
    const AttentionEmulation bad(spec_, seen), good(spec_, numbers_);
    Values now = sound_;
    if (spec_.backward) {
      Take(b, h, bad.Backward(b, h, fault), good.Backward(b, h), &now);
    } else {
      Take(b, h, bad.Forward(b, h, fault), {}, &now);
    }
    return now;
  }

  Memory InMemory(const Values& values) const {
    Memory memory;
    for (const Operand& operand : AttentionOperands(spec_).outputs)
      memory.emplace_back(static_cast<std::size_t>(operand.extent.Count()) * SizeOf(operand.type));
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const DataType type = spec_.TypeOf(outputs_[o]);
      outputs_[o].ForRows([&](std::int64_t place, std::int64_t index) {
        for (std::int64_t d = 0; d < outputs_[o].size; ++d)
          Store(type, values[o][static_cast<std::size_t>(index + d)], At(&memory, o, place + d));
      });
    }
    return memory;
  }
  // The element of an output at a place of its operand.
  unsigned char* At(Memory* memory, std::size_t output, std::int64_t place) const {
    return (*memory)[outputs_[output].operand].data() +
           static_cast<std::size_t>(place) * SizeOf(spec_.TypeOf(outputs_[output]));
  }
  std::size_t RowBytes(std::size_t output) const {
    return static_cast<std::size_t>(outputs_[output].size) * SizeOf(spec_.TypeOf(outputs_[output]));
  }

  bool AllRight(const Memory& memory) const {
    bool right = true;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const Judgement judgement = data_->Judge(i, 0, memory[i].data());
      right &= judgement.AllMatch();
    }
    return right;
  }
  Judgement Judge(std::size_t operand, const Memory& memory) const {
    return data_->Judge(operand, 0, memory[operand].data());
  }
  // An input operand as a kernel finds it.
  std::vector<float> InputMemory(std::size_t operand) const {
    const Operand of = AttentionOperands(spec_).inputs[operand];
    std::vector<unsigned char> bytes(of.Bytes());
    data_->Encode(operand, bytes.data());
    std::vector<float> memory;
    for (std::size_t at = 0; at < bytes.size(); at += SizeOf(of.type))
      memory.push_back(static_cast<float>(Load(of.type, bytes.data() + at)));
    return memory;
  }
  bool SoundIsRight() const { return AllRight(InMemory(sound_)); }

 private:
  // The numbers behind the reference, from the inputs that it encodes.
  void ReadNumbersBack() {
    std::vector<float>* const into[] = {&numbers_.q,   &numbers_.k,     &numbers_.v,   &numbers_.o,
                                        &numbers_.d_o, &numbers_.stats, &numbers_.bias};
    const std::vector<AttentionTensor> inputs = spec_.Inputs();
    const std::vector<Operand> operands = AttentionOperands(spec_).inputs;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      std::vector<unsigned char> bytes(operands[i].Bytes());
      data_->Encode(i, bytes.data());
      for (const AttentionTensor& tensor : inputs) {
        if (tensor.operand != i) continue;
        std::vector<float>& numbers = tensor.role < AttentionRole::kDescaleQ
                                          ? *into[static_cast<std::size_t>(tensor.role)]
                                          : numbers_.others[tensor.role];
        numbers.assign(static_cast<std::size_t>(tensor.Count()), 0);
        const DataType type = spec_.TypeOf(tensor);
        tensor.ForRows([&](std::int64_t place, std::int64_t index) {
          for (std::int64_t d = 0; d < tensor.size; ++d)
            numbers[static_cast<std::size_t>(index + d)] = static_cast<float>(
                Load(type, bytes.data() + static_cast<std::size_t>(place + d) * SizeOf(type)));
        });
      }
    }
  }

  Values All(const AttentionNumbers& numbers) const {
    Values all;
    for (const AttentionTensor& tensor : outputs_) all.emplace_back(static_cast<std::size_t>(tensor.Count()));
    const AttentionEmulation emulation(spec_, numbers);
    for (std::int64_t b = 0; b < spec_.shape.batch; ++b)
      for (std::int64_t h = 0; h < spec_.shape.q_heads; ++h)
        Take(b, h, spec_.backward ? emulation.Backward(b, h) : emulation.Forward(b, h), {}, &all);
    return all;
  }

  // Puts what one head of queries has alone, and adds to what it shares its part less another.
  void Take(std::int64_t b, std::int64_t h, const AttentionEmulation::Outputs& part,
            const AttentionEmulation::Outputs& less, Values* whole) const {
    const AttentionShape& s = spec_.shape;
    const std::int64_t q_head = b * s.q_heads + h, kv_head = b * s.kv_heads + h / s.Group(),
                       bias_head = b % s.BiasBatch() * s.BiasHeads() + h % s.BiasHeads();
    if (!spec_.backward) {
      Put(part.o, q_head, &(*whole)[0]);
      if (spec_.statistics) Put(part.stats, q_head, &(*whole)[1]);
      if (!spec_.Scaled()) return;
      double &amax_s = (*whole)[whole->size() - 2][0], &amax_o = (*whole)[whole->size() - 1][0];
      amax_s = std::max(amax_s, part.amax_s), amax_o = std::max(amax_o, part.amax_o);
      return;
    }
    Put(part.dq, q_head, &(*whole)[0]);
    Add(part.dk, less.dk, kv_head, &(*whole)[1]);
    Add(part.dv, less.dv, kv_head, &(*whole)[2]);
    if (spec_.bias_gradient) Add(part.d_bias, less.d_bias, bias_head, &(*whole)[3]);
    if (!spec_.Scaled()) return;
    const AttentionRole scales[] = {AttentionRole::kScaleDq, AttentionRole::kScaleDk,
                                    AttentionRole::kScaleDv};
    for (std::size_t i = 0; i < 3; ++i) (*whole)[3 + i][0] = Largest((*whole)[i]) / numbers_.Of(scales[i])[0];
    (*whole)[6][0] = std::max((*whole)[6][0], part.amax_dp);
  }
  static double Largest(const std::vector<double>& values) {
    double most = 0;
    for (const double value : values) most = std::max(most, std::fabs(value));
    return most;
  }
  static void Put(const std::vector<double>& part, std::int64_t head, std::vector<double>* whole) {
    std::copy(part.begin(), part.end(), whole->begin() + head * static_cast<std::int64_t>(part.size()));
  }
  static void Add(const std::vector<double>& part, const std::vector<double>& less, std::int64_t head,
                  std::vector<double>* whole) {
    const std::size_t size = less.empty() ? part.size() : less.size(), at = static_cast<std::size_t>(head);
    for (std::size_t i = 0; i < size; ++i) (*whole)[at * size + i] += part[i] - (less.empty() ? 0 : less[i]);
  }

  const AttentionProblemSpec spec_;
  const std::vector<AttentionTensor> outputs_;
  const std::shared_ptr<const ReferenceData> data_;
  AttentionNumbers numbers_;
  Values sound_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_UNIT_ATTENTION_JUDGED_H_
