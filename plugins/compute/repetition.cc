// The runs and the two results that are kept of them.
#include "compute/repetition.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "common/numeric/fill.h"
#include "compute/describe_result.h"
#include "compute/kernel_class.h"

namespace cudnn_ci {
namespace {

constexpr double kLongRunMs = 300;  // what takes longer is not repeated more often than needed

// Padding that neither run wrote to differs by its two fills, which says nothing of the runs: the second gets
// the bytes of the first.
void TakePadding(const Operand& output, const unsigned char* first, unsigned char* last) {
  if (!output.padding) return;
  const std::uint32_t fill[2] = {UnwrittenWord(output.type), UnwrittenWord(output.type)};
  const std::uint32_t other[2] = {OtherUnwrittenWord(output.type), OtherUnwrittenWord(output.type)};
  const std::size_t bytes = SizeOf(output.type);
  for (std::int64_t i = 0; i < output.extent.Count(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * bytes;
    if (!output.padding(i) || std::memcmp(first + at, fill, bytes) != 0) continue;
    if (std::memcmp(last + at, other, bytes) == 0) std::memcpy(last + at, first + at, bytes);
  }
}

}  // namespace

std::int64_t Repetition::DifferingElements() const {
  std::int64_t elements = 0;
  for (const Difference& difference : differences) elements += difference.elements;
  return elements;
}

Repetition Repeat(const CaseMemory& needs, int runs, Candidate* candidate, CaseData* data,
                  DeviceSession* session) {
  unsigned char* first = session->readback.Get(needs.ReadbackBytes());
  unsigned char* last = session->repeated.Get(needs.OutputBytes());
  const VariantPack pack = data->Pack(true);
  std::vector<double> times;
  for (int run = 0; run < std::max(runs, 2) && (run < 2 || times.front() <= kLongRunMs); ++run) {
    data->FillAgain(run > 0);
    times.push_back(session->Milliseconds([&] { candidate->Run(pack); }));
    if (run == 0) data->Download(first);
  }
  data->Download(last);
  std::sort(times.begin(), times.end());
  Repetition repetition;
  repetition.milliseconds = (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  for (std::size_t o = 0; o < needs.operands().outputs.size(); ++o) {
    const Operand& output = needs.operands().outputs[o];
    const std::size_t at = needs.OutputOffset(o);
    TakePadding(output, first + at, last + at);
    repetition.differences.push_back(DifferenceOf(first + at, last + at, output.extent, output.type,
                                                  output.layout, OtherUnwrittenWord(output.type)));
    repetition.first.push_back(first + at);
  }
  return repetition;
}

std::optional<Rerun> RunOnceMore(const ComputeProblem& problem, Candidate& candidate, CaseMemory* needs,
                                 CaseData* data, DeviceSession* session) try {
  const Trial trial = PrepareTrial(candidate, problem);
  if (!trial.decisive()) return std::nullopt;
  needs->Require(*trial.expectation.data, trial.workspace_bytes, session);
  const std::shared_ptr<const ReferenceData> reference = trial.expectation.data->Get();
  data->Forget();
  data->Upload(*reference, trial.workspace_bytes);
  candidate.Run(data->Pack(false));
  session->Synchronize();
  const unsigned char* output = data->Download();
  Rerun rerun = {{output, output + needs->OutputBytes()},
                 JudgeOutputs(*reference, trial, *needs, output).AllMatch()};
  // One whose kernels tell more than its notes was given the wrong data; once more, then, on its own.
  if (!rerun.right && LearnKernels(problem, &candidate, data->Pack(false), session))
    return RunOnceMore(problem, candidate, needs, data, session);
  return rerun;
} catch (const CudnnFailure& e) {
  if (!e.unsupported()) throw;
  return std::nullopt;
} catch (const NoMemory&) {
  return std::nullopt;
}

double TeraflopsOf(const Repetition& repetition, double flops) {
  return repetition.milliseconds > 0 ? flops / repetition.milliseconds / 1e9 : 0;
}

std::string FiguresOf(const Trial& trial, double error, const Repetition& repetition, double flops) {
  std::string text = "error " + Short(error) + " of " + Short(trial.bound()) + ", workspace " +
                     std::to_string(trial.workspace_bytes) + " B, " + Short(repetition.milliseconds) + " ms";
  if (const double teraflops = TeraflopsOf(repetition, flops); teraflops > 0)
    text += ", " + Short(teraflops) + " TFLOP/s";
  if (!trial.candidate->deterministic())
    text += ", non-deterministic by its notes: " + std::to_string(repetition.DifferingElements()) +
            " elements differ between two runs";
  return text + KernelsText(trial.candidate->kernels(), ", ");
}

}  // namespace cudnn_ci
