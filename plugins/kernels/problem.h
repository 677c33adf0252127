// One exact problem for a kernel of the image: its inputs as they lie in files, and what each element of its
// results is held to. Must not know CUDA, a framework or the SDK: what computes may not grade itself.
#ifndef CUDNN_CI_PLUGINS_KERNELS_PROBLEM_H_
#define CUDNN_CI_PLUGINS_KERNELS_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/numeric/attention_spec.h"
#include "common/numeric/data_type.h"
#include "compute/judge_elements.h"

namespace cudnn_ci {

// How an implementation computes, as far as its results may show it on exact data.
enum class KernelArithmetic {
  kExact,
  // Attention whose softmax is taken on line, by base 2, with partial sums that are combined by weights: see
  // attention_problems.cc.
  kOnlineSoftmax,
  // Attention whose backward pass makes the probabilities anew, in float32, from the logarithm of their sum,
  // likewise. What is rounded to 16 bits is exact.
  kRecomputedSoftmax,
  // As kOnlineSoftmax, but each partial sum is divided by its own weights and rounded to the type of the
  // result before they are combined, likewise.
  kRoundedPartials,
};

struct KernelInput {
  std::string name;                          // "q"
  std::string dtype;                         // "bfloat16"; "bool", a byte each
  std::vector<std::int64_t> shape, strides;  // in elements
  std::vector<unsigned char> bytes;
};

struct KernelOutput {
  std::string name;  // "o"
  DataType type = DataType::kFloat32;
  std::vector<std::int64_t> shape;  // last axis fastest, without gaps
  std::function<ElementRule(std::int64_t index, KernelArithmetic)> rule;

  std::int64_t Count() const;
  // "(1, 0, 17, 5)".
  std::string Place(std::int64_t index) const;
};

struct KernelProblem {
  std::string name;        // "attention/bfloat16_causal_grouped"
  std::string operation;   // "attention", what a function of an adapter is called
  std::string attributes;  // what the operation is to be done with, a JSON object
  std::vector<KernelInput> inputs;
  std::vector<KernelOutput> outputs;              // none: there is no right result, it has to be refused
  std::optional<AttentionProblemSpec> attention;  // of an attention
};

// All problems that there are, in order.
const std::vector<std::string>& KernelProblemNames();
// The one of this name. The same each time. Throws std::out_of_range where there is none.
KernelProblem MakeKernelProblem(const std::string& name);

// Every element of a result: what is wrong with it, in words; empty: it is right. `bytes` has SizeOf(type)
// bytes for each element.
std::string WhyWrong(const KernelOutput& output, KernelArithmetic arithmetic, std::string_view bytes);

// The rows of a table of problems, which each kind of operation has.
struct KernelProblemRow {
  std::string name;
  std::function<KernelProblem()> make;
};
std::vector<KernelProblemRow> AttentionProblems();
std::vector<KernelProblemRow> ProductProblems();
std::vector<KernelProblemRow> RowProblems();
std::vector<KernelProblemRow> RotaryProblems();
std::vector<KernelProblemRow> ExpertProblems();
std::vector<KernelProblemRow> SamplingProblems();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_KERNELS_PROBLEM_H_
