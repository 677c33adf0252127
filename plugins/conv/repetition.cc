// The runs and the two results that are kept of them.
#include "conv/repetition.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "common/numeric/fill.h"
#include "conv/bounds.h"
#include "conv/kernel_class.h"
#include "conv/reference.h"

namespace cudnn_ci {
namespace {

constexpr double kLongRunMs = 300;  // what takes longer is not repeated more often than needed

}  // namespace

Repetition Repeat(const CaseMemory& needs, Layout layout, const DevicePointers& memory, int runs,
                  Candidate* candidate, Session* session) {
  const Tensor y = needs.problem().Y();
  unsigned char* first = session->readback.Get(needs.ReadbackBytes());
  unsigned char* last = session->repeated.Get(needs.OutputBytes());
  const DataType type = needs.output_type();
  const std::uint32_t other = OtherUnwrittenWord(type);
  std::vector<double> times;
  for (int run = 0; run < std::max(runs, 2) && (run < 2 || times.front() <= kLongRunMs); ++run) {
    session->memory().FillAgain(run == 0 ? UnwrittenWord(type) : other);
    session->Synchronize();  // cuDNN may use streams of its own that do not wait for a fill
    times.push_back(session->Milliseconds([&] { candidate->Run(memory); }));
    if (run == 0) session->memory().Download(kY, first);
  }
  session->memory().Download(kY, last);
  std::sort(times.begin(), times.end());
  return {(times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2,
          DifferenceOf(first, last, y.AsExtent(), type, layout, other), first};
}

std::optional<Rerun> RunOnceMore(Candidate& candidate, const ApiPromise& promise, Layout layout,
                                 CaseMemory* needs, CaseData* data, Session* session) try {
  const Trial trial = PrepareTrial(candidate, needs->problem(), needs->type(), promise);
  if (!trial.decisive()) return std::nullopt;
  needs->Require(trial.recipe, trial.workspace_bytes, session);
  const std::shared_ptr<const Reference> reference = ReferenceOf(needs->problem(), trial.recipe);
  data->Forget();
  data->Upload(reference, trial.workspace_bytes);
  candidate.Run(data->Pointers(false));
  session->Synchronize();
  const unsigned char* output = data->Download();
  Rerun rerun = {{output, output + needs->OutputBytes()},
                 JudgeOutput(*reference, needs->output_type(), layout, trial.bound, output).AllMatch()};
  // One that turns out to transform was given the wrong data; once more, then, on its own.
  if (!rerun.right && LearnKernels(&candidate, data->Pointers(false), session))
    return RunOnceMore(candidate, promise, layout, needs, data, session);
  return rerun;
} catch (const CudnnFailure& e) {
  if (!e.unsupported()) throw;
  return std::nullopt;
} catch (const NoMemory&) {
  return std::nullopt;
}

std::string DescribeDifference(const Difference& difference, const Problem& problem, DataType type) {
  return std::to_string(difference.elements) + " of " + std::to_string(problem.Y().Count()) +
         " elements differ between two runs on the same data; first " + problem.Place(difference.first) +
         ": " + BitsText(type, difference.bits_before) + ", then " + BitsText(type, difference.bits_after);
}

double TeraflopsOf(const Repetition& repetition, const ConvShape& shape) {
  return repetition.milliseconds > 0 ? shape.Flops() / repetition.milliseconds / 1e9 : 0;
}

std::string FiguresOf(const Trial& trial, double error, const Repetition& repetition,
                      const ConvShape& shape) {
  std::string text = "error " + Short(error) + " of " + Short(trial.bound) + ", workspace " +
                     std::to_string(trial.workspace_bytes) + " B, " + Short(repetition.milliseconds) + " ms";
  if (const double teraflops = TeraflopsOf(repetition, shape); teraflops > 0)
    text += ", " + Short(teraflops) + " TFLOP/s";
  if (!trial.candidate->deterministic())
    text += ", noted non-deterministic: " + std::to_string(repetition.difference.elements) +
            " elements differ between two runs";
  return text + KernelsText(trial.candidate->kernels(), ", ");
}

}  // namespace cudnn_ci
