// html_sample KIND COUNT FILE: report.html of a made-up run of so many cases, for the browser to look at.
// KIND is green, red, mixed (every outcome) or hostile (every text of the run is markup that tries to run);
// of so many subjects stack (all links of each proven) or broken-stack (of the second the toolkit is broken).
// Of the kinds images and hostile-images: images.html of so many images.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "report/formats/html.h"
#include "review/page.h"
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
  std::string first;  // that fails
  for (int i = 0; i < count; ++i) {
    const std::string type = kTypes[i % 3], shape = kShapes[i % 4];
    const std::string id =
        "conv.forward[dtype=" + type + ",i=" + std::to_string(i) + ",shape=" + shape + "]" + extra;
    if (i == 7) first = id;
    CasePlanned& planned = b.Plan(id, Layer::kConvolution, "gpu0");
    planned.params = {{"dtype", type + extra}, {"shape", shape}, {"i", int64_t{i}}};
    if (kind == "mixed" && i > 7 && i % 4 != 3) {
      if (i % 4 == 0) b.End({id, "gpu0"}, Blocked{{first, "gpu0"}});
      if (i % 12 == 1) b.End({id, "gpu0"}, Skipped{SkipKind::kUnsupported, "an engine", "none"});
      if (i % 12 == 5) b.End({id, "gpu0"}, Errored{}, {Wrong("crashed", Blame::kImage, "SIGSEGV")});
      if (i % 4 != 2) continue;
    }
    if (kind == "mixed" && i % 24 == 10) continue;  // not run
    const bool fails = kind != "green" && i % 50 == 7;
    const CaseRef ref{id, "gpu0"};
    b.Add(AttemptStarted{ref, 1, 1 + i % 4, AttemptMode::kShared}).Add(StepReached{ref, "compare" + extra});
    Finding wrong = Wrong("wrong-value", Blame::kImage, "3 elements differ" + extra);
    wrong.link = kind == "hostile" ? "javascript:window.hurt=4" : "https://example.org/troubleshooting";
    wrong.command = "RUN apt-get install --yes 'libcudnn9-cuda-12=9.14.0.64-1'" + extra;
    wrong.where = Where::kImage;
    if (fails) b.Add(FindingReported{ref, wrong});
    const Outcome outcome = fails ? Outcome(Failed{}) : Outcome(Passed{});
    b.Add(AttemptFinished{ref, 1, 1 + i % 4, outcome, 0.01 * i, fails ? "output" + extra : "", ""});
    b.Add(CaseFinished{ref, outcome, 0.01 * i, {}});
  }
  return b;
}

// A run that judges every link of the stack, for each of `count` environments.
RunBuilder Stack(const std::string& kind, int count) {
  RunBuilder b;
  b.run.subjects.clear();
  b.run.facts["system"]["driver.library.path"] = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06";
  const auto end = [&](const std::string& check, const std::string& params, const std::string& subject,
                       Layer layer, const Outcome& outcome, const std::vector<Finding>& findings = {}) {
    const std::string rest = params + (params.empty() || subject.empty() ? "" : ",") +
                             (subject.empty() ? "" : "subject=" + subject);
    const std::string id = check + (rest.empty() ? "" : "[" + rest + "]");
    CasePlanned& planned = b.Plan(id, layer);
    planned.subject = subject;
    if (!params.empty()) planned.params["dtype"] = params.substr(params.find('=') + 1);
    b.End(id, outcome, findings);
    return CaseRef{id, ""};
  };
  end("driver.load", "", "", Layer::kDriver, Passed{});
  for (const char* check : {"driver.version", "driver.devices", "driver.canary"})
    end(check, "", "", Layer::kDriver, Passed{});
  for (int i = 0; i < count; ++i) {
    const std::string subject = "venv" + std::to_string(i), folder = "/opt/" + subject + "/lib/python3.12/";
    b.run.subjects.push_back({subject, "python:/opt/" + subject + "/bin/python3"});
    b.run.facts[subject] = {
        {"toolkit.version", "12." + std::to_string(i)},
        {"toolkit.runtime.path", folder + "site-packages/nvidia/cuda_runtime/lib/libcudart.so.12"},
        {"cudnn.version", "9." + std::to_string(i) + ".0"},
        {"cudnn.path", folder + "site-packages/nvidia/cudnn/lib/libcudnn.so.9"}};
    const bool broken = kind == "broken-stack" && i == std::min(1, count - 1);
    const CaseRef runtime =
        broken ? end("toolkit.runtime", "", subject, Layer::kToolkit, Failed{},
                     {Wrong("toolkit-runtime-missing", Blame::kImage,
                            "libcudart.so.12: cannot open shared object file: No such file or directory")})
               : end("toolkit.runtime", "", subject, Layer::kToolkit, Passed{});
    const Outcome rest = broken ? Outcome(Blocked{runtime}) : Outcome(Passed{});
    end("toolkit.nvrtc", "", subject, Layer::kToolkit, Passed{});
    end("cudnn.load", "", subject, Layer::kCudnn, Passed{});
    end("cudnn.init", "", subject, Layer::kInit, rest);
    for (const char* check : {"framework.torch", "framework.jax", "image.symbols", "image.device_code"})
      end(check, "", subject, Layer::kFramework, check[0] == 'i' ? Outcome(Passed{}) : rest);
    for (const char* check : {"conv.forward", "conv.backward_data", "gemm.matmul", "attention.forward"})
      for (const char* type : {"float32", "float16", "bfloat16", "float8_e4m3"})
        if (check[0] != 'a' || type[5] != '3')
          end(check, std::string("dtype=") + type, subject, Layer::kConvolution, rest);
  }
  return b;
}

// Images of all verdicts; of every second one a report lies beside it.
std::string Images(const std::string& kind, int count) {
  const std::string extra = kind == "hostile-images" ? kHostile : "";
  std::vector<PageRow> rows;
  for (int i = 0; i < count; ++i) {
    PageRow row;
    row.source = "wall/image-" + std::to_string(i) + extra;
    row.view.image =
        "registry.example/team/train-" + std::to_string(i) + "@sha256:" + std::string(64, 'a') + extra;
    row.view.verdict = i % 3 == 0 ? "failed" : "passed";
    row.view.blame = i % 3 == 0 ? "image" : "";
    row.view.exit_code = i % 3 == 0 ? 1 : 0;
    row.view.complete = true;
    row.view.headline_cause = i % 3 == 0 ? "image.wrong-value: 3 elements differ" + extra : "";
    row.view.root_case.id =
        i % 3 == 0 ? "conv.forward[algo=implicit_gemm,dtype=float16,shape=bottleneck]" : "";
    row.view.libraries = {{"cuDNN of system", "9." + std::to_string(i)}};
    row.view.gpus = {"NVIDIA H200", "NVIDIA H200"};
    row.view.driver = "580.65.06";
    row.view.matrix = "cu13";
    row.view.timestamp = "2026-01-" + std::to_string(10 + i % 20) + "T10:00:00Z";
    if (i % 2 == 0) row.report = row.source + "/report.html";
    rows.push_back(std::move(row));
  }
  return RenderPage(std::move(rows), 1770000000);
}

int Main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string kind = argv[1];
  if (kind == "images" || kind == "hostile-images")
    return WriteFileAtomically(argv[3], Images(kind, atoi(argv[2]))).ok() ? 0 : 1;
  HtmlReporter reporter(argv[3], {});
  Fold fold;
  const bool is_stack = kind == "stack" || kind == "broken-stack";
  const RunBuilder run = is_stack ? Stack(kind, atoi(argv[2])) : Sample(kind, atoi(argv[2]));
  for (const Event& event : run.Events()) {
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
