// The operands of a product, exact data for them, and what is right. Every product of two elements and every
// sum of some of them, in whatever order, is exact in the type that the sums have, and in that of the result,
// in which a split sum may be stored between. Each k of a product counts in some element of D, unless so many
// cannot be summed exactly by all rows and columns together. Must not know CUDA, cuBLASLt or the SDK.
#ifndef CUDNN_CI_PLUGINS_GEMM_MATMUL_DATA_H_
#define CUDNN_CI_PLUGINS_GEMM_MATMUL_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute/judge_elements.h"
#include "compute/operand.h"
#include "compute/reference_data.h"
#include "gemm/matmul_spec.h"

namespace cudnn_ci {

// The places of the inputs; -1: there is none. D is the only output.
struct MatmulInputs {
  int a = 0, b = 1, c = -1, bias = -1, a_scale = -1, b_scale = -1;
};
MatmulInputs InputsOf(const MatmulSpec& spec);
Operands OperandsOf(const MatmulSpec& spec);
// Bytes of host memory that making the data of a product takes.
double BytesOfData(const MatmulSpec& spec);

class MatmulData : public ReferenceData, public std::enable_shared_from_this<MatmulData> {
 public:
  explicit MatmulData(const MatmulSpec& spec);

  // Of D, what is right and how far from it a result may be.
  ElementRule RuleOf(std::int64_t index) const;
  // With the worst element.
  ElementJudgement JudgeAll(const unsigned char* got) const;

  void Encode(std::size_t input, unsigned char* to) const override;
  Judgement Judge(std::size_t output, double bound, const unsigned char* got) const override;
  std::shared_ptr<const void> owner() const override { return shared_from_this(); }

 private:
  double A(std::int64_t batch, std::int64_t row, std::int64_t k) const;
  double B(std::int64_t batch, std::int64_t k, std::int64_t column) const;
  double C(std::int64_t batch, std::int64_t row, std::int64_t column) const;
  double Bias(std::int64_t row) const;
  double Scale(bool of_a, std::int64_t place) const;
  double Sum(std::int64_t batch, std::int64_t row, std::int64_t column) const;
  void ChooseSizes();
  static double Dense(std::uint64_t word, double largest);
  void DrawSparse(std::uint64_t seed, std::int64_t lines, double largest, double others,
                  std::vector<double>* to, std::int64_t line_stride, std::int64_t k_stride) const;
  void DrawA();
  void DrawB();
  void AddUp();
  void EncodeMatrix(bool a, const Operand& operand, unsigned char* to) const;

  const MatmulSpec spec_;
  const Operands operands_;
  // Rows of A, columns of B and matrices of the batch come again after this many.
  const std::int64_t rows_, columns_, batches_;
  double largest_a_ = 0, largest_b_ = 0;
  bool sparse_a_ = false;     // A has zeros, B has none; else the other way
  std::vector<double> a_;     // [batch][k][row]: sums of all rows of a column are added up side by side
  std::vector<double> b_;     // [batch][column][k]
  std::vector<double> sums_;  // [batch][column][row]
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_MATMUL_DATA_H_
