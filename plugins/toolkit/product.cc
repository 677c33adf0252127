#include "toolkit/product.h"

#include <algorithm>
#include <sstream>

#include "common/numeric/encode.h"
#include "common/numeric/random_data.h"

namespace cudnn_ci {
namespace {

// Multiples of 8, so that every library has a kernel for it, and of nothing much larger: tiles are cut at the
// edges. No sum is above 2048, up to which float16 has every integer.
constexpr std::int64_t kM = 136, kN = 72, kK = 264;
constexpr int kLargest = 2;
static_assert(kK * kLargest * kLargest <= 2048);

// Random words from number `from` on.
std::vector<std::int8_t> Draw(std::int64_t count, std::uint64_t seed, std::int64_t from) {
  std::vector<std::int8_t> values;
  for (std::int64_t i = from; i < from + count; ++i)
    values.push_back(static_cast<std::int8_t>(
        static_cast<int>(RandomWord(seed, static_cast<std::uint64_t>(i)) % (2 * kLargest + 1)) - kLargest));
  return values;
}

}  // namespace

Product::Product(GemmType type, std::uint64_t seed)
    : gemm_type_(type),
      type_(type == GemmType::kFloat16 ? DataType::kFloat16 : DataType::kFloat32),
      a_(Draw(kM * kK, seed, 0)),
      b_(Draw(kK * kN, seed, kM * kK)) {
  operands_.inputs = {{"A", type_, {1, 1, kM * kK}}, {"B", type_, {1, 1, kK * kN}}};
  operands_.outputs = {{"D", type_, {1, 1, kM * kN}}};
  for (std::int64_t column = 0; column < kN; ++column)
    for (std::int64_t row = 0; row < kM; ++row) {
      int sum = 0;
      for (std::int64_t i = 0; i < kK; ++i)
        sum += a_[static_cast<std::size_t>(row * kK + i)] * b_[static_cast<std::size_t>(column * kK + i)];
      d_.push_back(static_cast<std::int16_t>(sum));
    }
}

Gemm Product::On(const VariantPack& pack) const {
  const auto address = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  return {gemm_type_, kM, kN, kK, address(pack.inputs[0]), address(pack.inputs[1]), address(pack.outputs[0])};
}

void Product::Encode(std::size_t input, unsigned char* to) const {
  const Operand& operand = operands_.inputs[input];
  EncodeData({input == 0 ? a_.data() : b_.data()}, operand.extent, type_, operand.layout, to);
}

Judgement Product::Judge(std::size_t output, double bound, const unsigned char* got) const {
  const Operand& operand = operands_.outputs[output];
  return JudgeOutput({{d_.data()}, kK * kLargest * kLargest}, operand.extent, type_, operand.layout, bound,
                     got);
}

std::string Product::WrongElements(const unsigned char* got) const {
  const Judgement judgement = Judge(0, 0, got);
  if (judgement.AllMatch()) return "";
  std::int64_t first = judgement.first_wrong;
  if (first < 0 || (judgement.first_unwritten >= 0 && judgement.first_unwritten < first))
    first = judgement.first_unwritten;
  std::ostringstream text;
  text << judgement.wrong + judgement.unwritten << " of " << judgement.elements
       << " elements are wrong; first at row " << first % kM << ", column " << first / kM << ": got "
       << Load(type_, got + static_cast<std::size_t>(first) * SizeOf(type_)) << ", expected "
       << d_[static_cast<std::size_t>(first)];
  return text.str();
}

}  // namespace cudnn_ci
