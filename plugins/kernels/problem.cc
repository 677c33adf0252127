#include "kernels/problem.h"

#include <functional>
#include <numeric>
#include <stdexcept>

#include "compute/describe_result.h"

namespace cudnn_ci {
namespace {

const std::vector<KernelProblemRow>& Rows() {
  static const std::vector<KernelProblemRow> kRows = [] {
    std::vector<KernelProblemRow> rows;
    for (auto of_kind :
         {AttentionProblems, ProductProblems, RowProblems, RotaryProblems, ExpertProblems, SamplingProblems})
      for (KernelProblemRow& row : of_kind()) rows.push_back(std::move(row));
    return rows;
  }();
  return kRows;
}

}  // namespace

std::int64_t KernelOutput::Count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string KernelOutput::Place(std::int64_t index) const {
  std::string place;
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    place = std::to_string(index % shape[axis]) + (place.empty() ? "" : ", ") + place;
  return "(" + place + ")";
}

const std::vector<std::string>& KernelProblemNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const KernelProblemRow& row : Rows()) names.push_back(row.name);
    return names;
  }();
  return kNames;
}

KernelProblem MakeKernelProblem(const std::string& name) {
  for (const KernelProblemRow& row : Rows()) {
    if (row.name != name) continue;
    KernelProblem problem = row.make();
    problem.name = name;
    problem.operation = name.substr(0, name.find('/'));
    return problem;
  }
  throw std::out_of_range("no problem " + name);
}

std::string WhyWrong(const KernelOutput& output, KernelArithmetic arithmetic, std::string_view bytes) {
  const std::size_t wanted = static_cast<std::size_t>(output.Count()) * SizeOf(output.type);
  if (bytes.size() != wanted)
    return "it has " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(wanted);
  const ElementJudgement judged = JudgeElements(
      output.type, output.Count(), [&](std::int64_t i) { return output.rule(i, arithmetic); },
      reinterpret_cast<const unsigned char*>(bytes.data()));
  if (judged.wrong > 0)
    return DescribeWrong(judged, output.Place(judged.first_wrong), judged.first_allowed) + "; " +
           judged.WorstText(output.Place(judged.worst));
  return judged.unwritten > 0 ? DescribeUnwritten(judged, output.Place(judged.first_unwritten)) : "";
}

}  // namespace cudnn_ci
