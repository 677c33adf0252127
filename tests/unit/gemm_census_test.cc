// A census of the inputs of every matrix product that a shipped matrix plans: which elements of A and B may
// change without a change of what is expected. A kernel that does not read one of those is taken for right.
#include <gmock/gmock.h>

#include <bitset>
#include <cmath>
#include <map>

#include "common/numeric/fill.h"
#include "gemm/grouped_spec.h"
#include "gemm/matmul_data.h"
#include "gemm/matmul_params.h"
#include "positions.h"
#include "shipped_problems.h"

namespace cudnn_ci {
namespace {

MatmulSpec SpecOf(const nlohmann::json& params) {
  MatmulParams p;
  p.dtype = params.at("dtype");
  p.math = params.value("math", "default");
  p.size = params.at("size");
  p.trans = params.value("trans", "tn");
  p.padding = params.value("padding", 0), p.batch = params.value("batch", 1);
  p.alpha = params.value("alpha", 1.0), p.beta = params.value("beta", 0.0);
  p.epilogue = params.value("epilogue", "none");
  p.scales = params.value("scales", "none");
  return p.Spec();
}

std::vector<MatmulSpec> GroupsOf(const nlohmann::json& params) {
  GroupedSpec spec;
  spec.type = DataTypeFrom(params.at("dtype"));
  spec.tf32 = params.value("math", "default") == "tf32";
  const std::string trans = params.value("trans", "tn");
  spec.transpose_a = trans[0] == 't', spec.transpose_b = trans[1] == 't';
  for (const std::string group : params.at("groups")) EXPECT_EQ(spec.Add(group), "");
  std::vector<MatmulSpec> groups;
  for (const MatmulSpec& group : spec.groups)
    if (!IsEmpty(group)) groups.push_back(group);
  return groups;
}

// A or B as a library is given it.
class OperandBytes {
 public:
  OperandBytes(const MatmulData& data, const MatmulSpec& spec, std::size_t input)
      : type_(spec.type),
        layout_(input == 0 ? spec.A() : spec.B()),
        transposed_(input == 0 ? spec.transpose_a : spec.transpose_b),
        bytes_(OperandsOf(spec).inputs[input].Bytes()) {
    data.Encode(input, bytes_.data());
  }
  double At(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const std::int64_t index =
        transposed_ ? layout_.Index(batch, column, row) : layout_.Index(batch, row, column);
    return Load(type_, bytes_.data() + static_cast<std::size_t>(index) * SizeOf(type_));
  }

 private:
  const DataType type_;
  const MatmulLayout layout_;
  const bool transposed_;
  std::vector<unsigned char> bytes_;
};

using Rows = std::bitset<256>;

struct Census {
  std::int64_t elements_of_a = 0, unread_of_a = 0, elements_of_b = 0, unread_of_b = 0, unread_k = 0;
};

// From the operands' bytes, by the definition of a product. Rows, columns and matrices that come again are
// looked at once.
Census CensusOf(const MatmulSpec& spec) {
  const auto data = std::make_shared<const MatmulData>(spec);
  const OperandBytes a(*data, spec, 0), b(*data, spec, 1);
  const std::int64_t rows = std::min<std::int64_t>(spec.m, 251),
                     columns = std::min<std::int64_t>(spec.n, 241);
  Census census;
  for (std::int64_t batch = 0; batch < std::min<std::int64_t>(spec.batch, 5); ++batch) {
    // What a ReLU or GELU leaves nothing of does not show; no element has so large a slope elsewhere.
    std::vector<Rows> shows(static_cast<std::size_t>(columns));
    for (std::int64_t column = 0; column < columns; ++column)
      for (std::int64_t row = 0; row < rows; ++row) {
        const double want = data->RuleOf(spec.D().Index(batch, row, column)).expected;
        shows[static_cast<std::size_t>(column)][static_cast<std::size_t>(row)] =
            (!spec.relu && !spec.gelu) || want > 0;
      }
    for (std::int64_t k = 0; k < spec.k; ++k) {
      Rows in_a, read_a;
      for (std::int64_t row = 0; row < rows; ++row)
        in_a[static_cast<std::size_t>(row)] = a.At(batch, row, k) != 0;
      for (std::int64_t column = 0; column < columns; ++column) {
        const Rows& of_column = shows[static_cast<std::size_t>(column)];
        if (b.At(batch, k, column) != 0) read_a |= of_column;
        census.unread_of_b += (of_column & in_a).none();
      }
      census.elements_of_a += rows, census.elements_of_b += columns;
      census.unread_of_a += rows - static_cast<std::int64_t>(read_a.count());
      census.unread_k += (read_a & in_a).none();
    }
  }
  return census;
}

// Of products that draw the same data one is enough, but where all are asked for.
std::string KeyOf(const MatmulSpec& spec) {
  if (Positions() >= 1000) return spec.Text();
  MatmulSpec plain = spec;
  plain.transpose_a = plain.transpose_b = false;
  plain.padding = 0, plain.alpha = 1, plain.beta = 0, plain.batch = 1;
  return plain.Text();
}

// By the definition, from the bytes that a library is given: of sums so deep that their bound is met, and of
// as few rows and columns.
TEST(GemmDeepSums, AreThoseOfTheBytesAndStayBelowTheirBound) {
  const std::map<DataType, double> exact = {{DataType::kFloat32, 0x1p24},
                                            {DataType::kFloat16, 0x1p11},
                                            {DataType::kBfloat16, 0x1p8},
                                            {DataType::kFloat8E4m3, 0x1p8}};
  for (const auto& [type, largest] : exact)
    for (const char* size : {"14x9x3450", "2x3x4711", "40x1x2492", "1x1x5000", "3x90x777"}) {
      MatmulSpec spec;
      spec.SetSize(size);
      spec.type = type;
      const auto data = std::make_shared<const MatmulData>(spec);
      const OperandBytes a(*data, spec, 0), b(*data, spec, 1);
      for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
          double sum = 0, magnitudes = 0;
          for (std::int64_t k = 0; k < spec.k; ++k) {
            const double product = a.At(0, row, k) * b.At(0, k, column);
            sum += product, magnitudes += std::fabs(product);
          }
          ASSERT_EQ(data->RuleOf(spec.D().Index(0, row, column)).expected, sum) << spec.Text();
          ASSERT_LE(magnitudes, largest) << spec.Text();
        }
    }
}

class GemmCensus : public testing::TestWithParam<const char*> {};

// Of nightly's, a sample; all with CUDNN_CI_POSITIONS.
TEST_P(GemmCensus, EveryElementIsRead) {
  std::map<std::string, MatmulSpec> by_text;
  for (const ShippedProblem& problem : ShippedProblems(GetParam(), "gemm.matmul"))
    if (const MatmulSpec spec = SpecOf(problem.params); true) by_text.emplace(KeyOf(spec), spec);
  for (const ShippedProblem& problem : ShippedProblems(GetParam(), "gemm.grouped"))
    for (const MatmulSpec& spec : GroupsOf(problem.params)) by_text.emplace(KeyOf(spec), spec);
  const auto problems = SampleOf(by_text, GetParam());
  Census all;
  for (const auto& [text, spec] : problems) {
    const Census census = CensusOf(spec);
    EXPECT_EQ(census.unread_k, 0) << text;
    // Of some rows a ReLU leaves no column in which an element counts.
    EXPECT_LE(census.unread_of_a, spec.relu || spec.gelu ? census.elements_of_a / 200 : 0) << text;
    EXPECT_EQ(census.unread_of_b, 0) << text << ", of " << census.elements_of_b;
    all.elements_of_a += census.elements_of_a, all.unread_of_a += census.unread_of_a;
    all.elements_of_b += census.elements_of_b, all.unread_of_b += census.unread_of_b;
    all.unread_k += census.unread_k;
  }
  std::printf("%s: %zu problems; unread: %ld k, %ld of %ld elements of A, %ld of %ld of B\n", GetParam(),
              problems.size(), all.unread_k, all.unread_of_a, all.elements_of_a, all.unread_of_b,
              all.elements_of_b);
}

INSTANTIATE_TEST_SUITE_P(All, GemmCensus, testing::Values("cu13", "nightly"),
                         [](const auto& matrix) { return std::string(matrix.param); });

}  // namespace
}  // namespace cudnn_ci
