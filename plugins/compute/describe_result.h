// Judgements of outputs as the sentences of a finding. Knows no operation and no CUDA.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_DESCRIBE_RESULT_H_
#define CUDNN_CI_PLUGINS_COMPUTE_DESCRIBE_RESULT_H_

#include <string>

#include "common/numeric/compare.h"
#include "common/numeric/repeat.h"
#include "compute/operand.h"

namespace cudnn_ci {

// `place` is where the first such element stands: "(n=0,k=1,p=2,q=3)".
// "12 of 512 elements are wrong, first (n=0,k=1,p=2,q=3): expected 4, got 5; ...".
std::string DescribeWrong(const Judgement& judgement, const std::string& place, double bound);
std::string DescribeUnwritten(const Judgement& judgement, const std::string& place);
// "2 of 880 elements differ between two runs on the same data; first (n=0,k=1,p=2,q=3): 0x3c00, then 0x3c01".
std::string DescribeDifference(const Difference& difference, const Operand& output, const std::string& place);
// "lse: " where an operation has several outputs, to begin a sentence about one of them with.
std::string OutputPrefix(const Operands& operands, std::size_t output);
// Of three digits, for a report.
std::string Short(double value);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_DESCRIBE_RESULT_H_
