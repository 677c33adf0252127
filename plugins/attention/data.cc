#include "attention/data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "common/numeric/fill.h"

namespace cudnn_ci {
namespace {

constexpr float kKeyDigit = 16, kQueryDigit = 8, kQueryConstant = 16;
constexpr double kDigitScore = kKeyDigit * kQueryDigit;
constexpr float kPoison =
    96;  // of what does not count; large, and no NaN: 0 * NaN is NaN in right kernels too
constexpr int kMostTies = 4, kTries = 32, kGradients = 3;

using Random = std::mt19937_64;

std::int64_t Below(Random* random, std::int64_t n) {
  return static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(n));
}

bool Fits(DataType type, double value) { return RoundTo(type, value) == value; }

// The keys of one head: which of them share a code, and the code of each group.
class Codes {
 public:
  Codes(std::int64_t keys, std::int64_t head_size, Random* random)
      : dimensions_(Shuffled(head_size, random)) {
    group_of_.reserve(static_cast<std::size_t>(keys));
    std::vector<bool> closed;
    for (std::int64_t j = 0; j < keys; ++j) {
      const std::int64_t group = Choose(j, closed, random);
      if (group == static_cast<std::int64_t>(members_.size())) {
        members_.emplace_back();
        closed.push_back(j == 0 || Below(random, 5) == 0);  // the first key has its code alone
      }
      group_of_.push_back(group);
      members_[static_cast<std::size_t>(group)].push_back(j);
    }
    ChooseDigits(head_size / 2 - 1, random);
  }

  std::size_t digits() const { return sizes_.size(); }
  // The dimension that is 1 in digit `digit` of a key's code.
  std::int64_t Dimension(std::int64_t key, std::size_t digit) const {
    std::int64_t code = code_of_[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(key)])],
                 from = 0;
    for (std::size_t i = 0; i < digit; ++i) {
      code /= sizes_[i];
      from += sizes_[i];
    }
    return dimensions_[static_cast<std::size_t>(from + code % sizes_[digit])];
  }
  std::int64_t constant() const { return dimensions_[static_cast<std::size_t>(used_)]; }
  // The dimensions in which every query is 0.
  std::vector<std::int64_t> Free() const { return {dimensions_.begin() + used_ + 1, dimensions_.end()}; }
  // The keys of a range that have the code of `key`.
  std::vector<std::int64_t> Matching(std::int64_t key, const KeyRange& range) const {
    std::vector<std::int64_t> found;
    for (const std::int64_t j : members_[static_cast<std::size_t>(group_of_[static_cast<std::size_t>(key)])])
      if (j >= range.begin && j < range.end) found.push_back(j);
    return found;
  }

 private:
  static std::vector<std::int64_t> Shuffled(std::int64_t n, Random* random) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    for (std::int64_t i = n - 1; i > 0; --i)
      std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(Below(random, i + 1))]);
    return all;
  }

  // Neighbours share a code as often as keys that are far apart: a mask that is off by one shows.
  std::int64_t Choose(std::int64_t key, const std::vector<bool>& closed, Random* random) const {
    const auto groups = static_cast<std::int64_t>(members_.size());
    const std::int64_t dice = Below(random, 10);
    std::int64_t group = groups;
    if (key > 0 && dice < 3) group = group_of_.back();
    if (key > 0 && dice >= 3 && dice < 6) group = Below(random, groups);
    if (group == groups || closed[static_cast<std::size_t>(group)]) return groups;
    return members_[static_cast<std::size_t>(group)].size() < kMostTies ? group : groups;
  }

  // As few digits as name all groups: each makes the scores larger.
  void ChooseDigits(std::int64_t room, Random* random) {
    const auto groups = static_cast<std::int64_t>(members_.size());
    std::int64_t codes = 0;
    for (std::int64_t n = 1; codes < groups; ++n) {
      if (n > room / 2) throw std::logic_error("more keys than codes");
      sizes_.clear();
      codes = 1;
      for (std::int64_t i = 0; i < n; ++i) {
        sizes_.push_back(room / n + (i < room % n ? 1 : 0));
        codes = std::min(codes * sizes_.back(), std::int64_t{1} << 40);
      }
    }
    used_ = std::accumulate(sizes_.begin(), sizes_.end(), std::int64_t{0});
    // Distinct: a step that has no divisor in common with the number of codes.
    std::int64_t step = 1 + Below(random, codes);
    while (std::gcd(step, codes) != 1) ++step;
    for (std::int64_t g = 0; g < groups; ++g) code_of_.push_back(g * step % codes);
  }

  const std::vector<std::int64_t> dimensions_;
  std::vector<std::int64_t> group_of_, code_of_, sizes_;
  std::vector<std::vector<std::int64_t>> members_;
  std::int64_t used_ = 0;
};

class Maker {
 public:
  Maker(const AttentionProblemSpec& spec, std::uint64_t seed)
      : spec_(spec), shape_(spec.shape), random_(seed) {
    const auto sized = [](const AttentionTensor& tensor) {
      return std::vector<float>(static_cast<std::size_t>(tensor.Count()));
    };
    numbers_ = {sized(spec.Q()),     sized(spec.K()), sized(spec.V()), sized(spec.O()), sized(spec.O()),
                sized(spec.Stats()), sized(spec.Q()), sized(spec.K()), sized(spec.V())};
  }

  AttentionNumbers Make() {
    for (std::int64_t b = 0; b < shape_.batch; ++b)
      for (std::int64_t g = 0; g < shape_.kv_heads; ++g) MakeHead(b, g);
    return std::move(numbers_);
  }

 private:
  float* Row(std::vector<float>* tensor, std::int64_t head, std::int64_t length, std::int64_t s,
             std::int64_t size) const {
    return tensor->data() + (head * length + s) * size;
  }
  float* KeyRow(std::vector<float>* tensor, std::int64_t key) const {
    return Row(tensor, kv_head_, shape_.keys, key, shape_.head_size);
  }
  float* ValueRow(std::vector<float>* tensor, std::int64_t key) const {
    return Row(tensor, kv_head_, shape_.keys, key, shape_.v_head_size);
  }

  void MakeHead(std::int64_t b, std::int64_t g) {
    kv_head_ = b * shape_.kv_heads + g;
    const Codes codes(shape_.keys, shape_.head_size, &random_);
    for (std::int64_t j = 0; j < shape_.keys; ++j) MakeKey(codes, j, j < shape_.Keys(b));
    for (std::int64_t h = g * shape_.Group(); h < (g + 1) * shape_.Group(); ++h) {
      partial_dk_.assign(static_cast<std::size_t>(shape_.keys * shape_.head_size), 0);
      partial_dv_.assign(static_cast<std::size_t>(shape_.keys * shape_.v_head_size), 0);
      for (std::int64_t i = 0; i < shape_.queries; ++i) MakeQuery(codes, b, b * shape_.q_heads + h, i);
    }
  }

  void MakeKey(const Codes& codes, std::int64_t j, bool counts) {
    float* k = KeyRow(&numbers_.k, j);
    float* v = ValueRow(&numbers_.v, j);
    for (std::int64_t d = 0; d < shape_.v_head_size; ++d)
      v[d] = counts ? static_cast<float>(Below(&random_, 3) - 1) : kPoison;
    for (const std::int64_t d : codes.Free()) k[d] = static_cast<float>(Below(&random_, 5) - 2);
    const double constant =
        (ScoreOf(spec_.logits) - kDigitScore * static_cast<double>(codes.digits())) / kQueryConstant;
    k[codes.constant()] = counts ? static_cast<float>(constant) : kPoison;
    for (std::size_t i = 0; i < codes.digits(); ++i) k[codes.Dimension(j, i)] = kKeyDigit;
  }

  // The keys that a query matches: as many as a power of two. The last and the first one that it sees are
  // looked at most, since there masks and tiles end.
  std::vector<std::int64_t> ChooseKeys(const Codes& codes, const KeyRange& range) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const std::int64_t dice = Below(&random_, 10);
      std::int64_t key = range.begin + Below(&random_, range.Count());
      if (dice < 4) key = range.end - 1;
      if (dice == 4 || (dice < 8 && dice > 4 && range.begin > 0)) key = range.begin;
      std::vector<std::int64_t> keys = codes.Matching(key, range);
      if (keys.size() != 3) return keys;
    }
    for (std::int64_t key = range.begin; key < range.end; ++key)
      if (std::vector<std::int64_t> keys = codes.Matching(key, range); keys.size() != 3) return keys;
    throw std::logic_error("three keys with one code, and no other");
  }

  void MakeQuery(const Codes& codes, std::int64_t b, std::int64_t q_head, std::int64_t i) {
    float* q = Row(&numbers_.q, q_head, shape_.queries, i, shape_.head_size);
    float* o = Row(&numbers_.o, q_head, shape_.queries, i, shape_.v_head_size);
    float* d_o = Row(&numbers_.d_o, q_head, shape_.queries, i, shape_.v_head_size);
    q[codes.constant()] = kQueryConstant;
    const KeyRange range = shape_.Visible(b, i);
    if (range.Count() == 0) {
      std::fill(d_o, d_o + shape_.v_head_size, kPoison);
      std::fill(o, o + shape_.v_head_size, 1.0F);
      return;
    }
    const std::vector<std::int64_t> keys = ChooseKeys(codes, range);
    for (std::size_t digit = 0; digit < codes.digits(); ++digit)
      q[codes.Dimension(keys[0], digit)] = kQueryDigit;
    const auto ties = static_cast<float>(keys.size());
    for (const std::int64_t j : keys) {
      const float* v = ValueRow(&numbers_.v, j);
      for (std::int64_t d = 0; d < shape_.v_head_size; ++d) o[d] += v[d] / ties;
    }
    numbers_.stats[static_cast<std::size_t>(q_head * shape_.queries + i)] =
        static_cast<float>(ScoreOf(spec_.logits) + std::log(static_cast<double>(ties)));
    MakeGradients(codes, keys, q_head, i);
  }

  // Three entries of +-1, or none where a sum would need more digits than the type has.
  void MakeGradients(const Codes& codes, const std::vector<std::int64_t>& keys, std::int64_t q_head,
                     std::int64_t i) {
    std::array<std::int64_t, kGradients> at{};
    std::array<float, kGradients> sign{};
    for (int n = 0; n < kGradients; ++n) {
      const std::int64_t part = shape_.v_head_size / kGradients;
      at[static_cast<std::size_t>(n)] = n * part + Below(&random_, part);
      sign[static_cast<std::size_t>(n)] = Below(&random_, 2) == 0 ? -1.0F : 1.0F;
    }
    std::vector<float> ds;
    for (const std::int64_t j : keys) {
      float dp = 0;
      for (std::size_t n = 0; n < kGradients; ++n) dp += sign[n] * ValueRow(&numbers_.v, j)[at[n]];
      ds.push_back(dp);
    }
    const auto ties = static_cast<float>(keys.size());
    const float mean = std::accumulate(ds.begin(), ds.end(), 0.0F) / ties;
    for (float& s : ds) s = (s - mean) / ties;

    const float* q = Row(&numbers_.q, q_head, shape_.queries, i, shape_.head_size);
    std::vector<std::int64_t> where = {codes.constant()};
    for (std::size_t digit = 0; digit < codes.digits(); ++digit)
      where.push_back(codes.Dimension(keys[0], digit));
    const auto add = [&](float factor) {
      bool fits = true;
      for (std::size_t n = 0; n < keys.size(); ++n) {
        for (const std::int64_t d : where)
          fits &= AddTo(KeyRow(&numbers_.dk, keys[n]), &partial_dk_, keys[n], shape_.head_size, d,
                        factor * ds[n] * q[d]);
        for (std::size_t m = 0; m < kGradients; ++m)
          fits &= AddTo(ValueRow(&numbers_.dv, keys[n]), &partial_dv_, keys[n], shape_.v_head_size, at[m],
                        factor * sign[m] / ties);
      }
      return fits;
    };
    float* dq = Row(&numbers_.dq, q_head, shape_.queries, i, shape_.head_size);
    for (std::size_t n = 0; n < keys.size(); ++n)
      for (std::int64_t d = 0; d < shape_.head_size; ++d) dq[d] += ds[n] * KeyRow(&numbers_.k, keys[n])[d];
    bool fits = add(1);
    for (std::int64_t d = 0; d < shape_.head_size; ++d) fits &= Fits(spec_.type, dq[d]);
    if (!fits) {
      add(-1);
      std::fill(dq, dq + shape_.head_size, 0.0F);
      return;
    }
    float* d_o = Row(&numbers_.d_o, q_head, shape_.queries, i, shape_.v_head_size);
    for (std::size_t n = 0; n < kGradients; ++n) d_o[at[n]] = sign[n];
  }

  // Both the sum of one head of queries and that of all that share the keys: kernels may round the first.
  bool AddTo(float* whole, std::vector<float>* partial, std::int64_t key, std::int64_t size, std::int64_t d,
             float value) const {
    float& part = (*partial)[static_cast<std::size_t>(key * size + d)];
    part += value;
    whole[d] += value;
    return Fits(spec_.type, part) && Fits(spec_.type, whole[d]);
  }

  const AttentionProblemSpec& spec_;
  const AttentionShape& shape_;
  Random random_;
  AttentionNumbers numbers_;
  std::int64_t kv_head_ = 0;
  std::vector<float> partial_dk_, partial_dv_;  // of the keys of one head, by one head of queries
};

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

AttentionLogits AttentionLogitsFrom(const std::string& name) {
  if (name == "ordinary") return AttentionLogits::kOrdinary;
  if (name == "far_negative") return AttentionLogits::kFarNegative;
  if (name == "far_positive") return AttentionLogits::kFarPositive;
  throw std::invalid_argument("no logits: " + name);
}

double ScoreOf(AttentionLogits logits) {
  if (logits == AttentionLogits::kFarNegative) return -256;
  return logits == AttentionLogits::kFarPositive ? 1024 : 32;
}

std::vector<AttentionTensor> AttentionProblemSpec::Inputs() const {
  std::vector<AttentionTensor> inputs = {Q(), K(), V()};
  if (backward) inputs.insert(inputs.end(), {O(), O(), Stats()});
  return inputs;
}

std::vector<AttentionTensor> AttentionProblemSpec::Outputs() const {
  if (backward) return {Q(), K(), V()};
  if (statistics) return {O(), Stats()};
  return {O()};
}

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

AttentionNumbers MakeAttentionNumbers(const AttentionProblemSpec& spec, std::uint64_t seed) {
  if (const std::vector<AttentionShapeProblem> problems = ProblemsOf(spec.shape); !problems.empty())
    throw std::logic_error(problems.front().field + " " + problems.front().why);
  return Maker(spec, seed).Make();
}

double AttentionStatsBound(double expected) {
  constexpr double kRelative = 0x1p-19, kAbsolute = 0x1p-18;
  return std::fabs(expected) * kRelative + kAbsolute;
}

std::shared_ptr<const ReferenceSource> AttentionReference(const AttentionProblemSpec& spec) {
  return std::make_shared<const Source>(spec);
}

}  // namespace cudnn_ci
