// html_sample KIND CASES FILE: report.html of a made-up run, for the browser to look at. KIND is green, red
// or hostile (every text of the run is markup that tries to run).
#include <cstdio>
#include <cstdlib>
#include <string>

#include "report/html.h"
#include "run_builder.h"

namespace cudnn_ci {
namespace {

const char* const kTypes[] = {"float32", "float16", "bfloat16"};
const char* const kShapes[] = {"stem", "bottleneck", "odd_space", "depthwise"};
constexpr char kHostile[] = "</script><script>window.hurt=1</script><img src=x onerror=\"window.hurt=2\">";

RunBuilder Sample(const std::string& kind, int count) {
  RunBuilder b;
  b.run.image = "team/train@sha256:" + std::string(64, 'a');
  b.run.container_command = "docker run --rm --gpus all " + b.run.image + " --matrix matrices/cu12.json";
  b.run.facts["system"]["cudnn.copy.0.path"] = "/usr/lib/x86_64-linux-gnu/libcudnn.so.9";
  b.run.facts["system"]["cudnn.copy.0.version"] = "9.1.0";
  b.run.facts["system"]["cudnn.copy.1.path"] = "/opt/venv/lib/libcudnn.so.9";
  const std::string extra = kind == "hostile" ? kHostile : "";
  if (kind == "hostile") b.run.hostname = b.run.matrix_name = b.run.facts["system"]["cudnn.path"] = kHostile;
  for (int i = 0; i < count; ++i) {
    const std::string type = kTypes[i % 3], shape = kShapes[i % 4];
    const std::string id =
        "conv.forward[dtype=" + type + ",i=" + std::to_string(i) + ",shape=" + shape + "]" + extra;
    CasePlanned& planned = b.Plan(id, Layer::kConvolution, "gpu0");
    planned.params = {{"dtype", type + extra}, {"shape", shape}, {"i", int64_t{i}}};
    const bool fails = kind != "green" && i % 50 == 7;
    const CaseRef ref{id, "gpu0"};
    b.Add(AttemptStarted{ref, 1, 1 + i % 4, AttemptMode::kShared}).Add(StepReached{ref, "compare" + extra});
    if (fails) b.Add(FindingReported{ref, Wrong("wrong-value", Blame::kImage, "3 elements differ" + extra)});
    const Outcome outcome = fails ? Outcome(Failed{}) : Outcome(Passed{});
    b.Add(AttemptFinished{ref, 1, 1 + i % 4, outcome, 0.01 * i, fails ? "output" + extra : "", ""});
    b.Add(CaseFinished{ref, outcome, 0.01 * i, {}});
  }
  return b;
}

int Main(int argc, char** argv) {
  if (argc != 4) return 2;
  HtmlReporter reporter(argv[3], {});
  Fold fold;
  for (const Event& event : Sample(argv[1], atoi(argv[2])).Events()) {
    fold.Apply(event);
    reporter.Replay(event);
  }
  const Status status = reporter.Finish(fold.summary());
  if (!status.ok()) fprintf(stderr, "%s\n", status.error().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace cudnn_ci

int main(int argc, char** argv) { return cudnn_ci::Main(argc, argv); }
