// The operands of a grouped call, exact data for them, and what is right: of each group what MatmulData has
// for a batch of that size, one group behind the other. Must not know CUDA, cuBLAS or the SDK.
#ifndef CUDNN_CI_PLUGINS_GEMM_GROUPED_DATA_H_
#define CUDNN_CI_PLUGINS_GEMM_GROUPED_DATA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "compute/judge_elements.h"
#include "compute/operand.h"
#include "compute/reference_data.h"
#include "gemm/grouped_spec.h"
#include "gemm/matmul_data.h"

namespace cudnn_ci {

// A, B and, where a group adds it, C as it is before the call; D, which is C behind it, is the only output.
Operands OperandsOf(const GroupedSpec& spec);

class GroupedData : public ReferenceData,
                    public ReferenceSource,
                    public std::enable_shared_from_this<GroupedData> {
 public:
  explicit GroupedData(const GroupedSpec& spec);

  // With the worst element.
  ElementJudgement JudgeAll(const unsigned char* got) const;

  void Encode(std::size_t input, unsigned char* to) const override;
  Judgement Judge(std::size_t output, double bound, const unsigned char* got) const override;
  std::shared_ptr<const void> owner() const override { return shared_from_this(); }
  std::shared_ptr<const ReferenceData> Get() const override { return shared_from_this(); }
  double MakingBytes() const override { return bytes_; }
  double Growth() const override { return 0; }
  void ForgetOthers() const override {}

 private:
  const DataType type_;
  const std::vector<std::int64_t> a_, b_, d_;  // where groups begin
  std::vector<std::shared_ptr<const MatmulData>> groups_;
  std::vector<bool> reads_c_;
  double bytes_ = 0;  // of host memory that making them takes
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_GEMM_GROUPED_DATA_H_
