// What writing the reports of a large run costs: a row for each report, and the peak of memory over all of
// them. The processor's time is told beside that of the clock, which others on the machine and its disk
// lengthen. It reports and never judges.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "report/formats/formats.h"
#include "report/record/journal.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 6, kMeasurements = 4,
              kEvery = 100;  // one case of so many fails, with this much output:
constexpr size_t kOutput = 4096;

// A run as the harness tells it, event by event: nobody ever holds all of them.
void Play(int cases, const std::function<void(EventBody)>& emit) {
  RunStarted run;
  run.run_id = "bench", run.timestamp = "2026-01-31T10:00:00Z", run.version = "0", run.hostname = "bench";
  run.matrix_name = "bench", run.matrix_path = "bench.json", run.image = "unidentified";
  run.command_line = "cudnn-ci --matrix bench.json";
  run.subjects = {{"system", "loader"}};
  run.devices = {{"gpu0", "GPU-0", "NVIDIA H200", "9.0"}};
  emit(run);
  const auto ref = [](int i) {
    return CaseRef{"conv.forward[algo=" + std::to_string(i % 8) + ",api=graph,dtype=float16,layout=nhwc," +
                       "math=default,shape=shape_" + std::to_string(i) + ",subject=system]",
                   "gpu0"};
  };
  for (int i = 0; i < cases; ++i) {
    CasePlanned planned;
    planned.ref = ref(i);
    planned.check = "conv.forward", planned.plugin = "conv", planned.subject = "system";
    planned.layer = Layer::kConvolution;
    planned.entry = i % 10, planned.place = i;
    planned.params = {{"algo", std::to_string(i % 8)},
                      {"dtype", std::string("float16")},
                      {"shape", "shape_" + std::to_string(i)}};
    emit(planned);
  }
  emit(PlanEnd{cases, "sha", cases});
  for (int i = 0; i < cases; ++i) {
    const bool fails = i % kEvery == 0;
    emit(AttemptStarted{ref(i), 1, 1, AttemptMode::kShared});
    for (int s = 0; s < kSteps; ++s) emit(StepReached{ref(i), "step " + std::to_string(s)});
    for (int m = 0; m < kMeasurements; ++m)
      emit(Measured{ref(i), "measurement_" + std::to_string(m), 0.125 * i, "ms", "lower"});
    if (fails) {
      emit(ExpectationFailed{ref(i), "conv.cc", 17, "3 of 1204 elements differ"});
      emit(FindingReported{ref(i),
                           {"wrong-value", Severity::kError, Blame::kImage, "3 elements differ",
                            "the result is wrong", "Image owner: repair it.", ""}});
    }
    const Outcome outcome = fails ? Outcome(Failed{}) : Outcome(Passed{});
    emit(AttemptFinished{ref(i), 1, 1, outcome, 0.01, fails ? std::string(kOutput, 'o') : "", ""});
    emit(CaseFinished{ref(i), outcome, 0.01, {}});
  }
  emit(RunFinished{1});
}

double PeakMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Of the program and of the kernel for it.
double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Row {
  std::string name;
  double seconds = 0, processor_seconds = 0, mib = 0;  // times, and size of what was written
};

double SizeMib(const std::string& folder) {
  double bytes = 0;
  for (const auto& file : fs::directory_iterator(folder)) bytes += static_cast<double>(file.file_size());
  return bytes / (1 << 20);
}

// Calls `write`, which leaves its files in `folder`, and takes them away.
Row Measure(const std::string& name, const std::string& folder, const std::function<Status()>& write) {
  fs::create_directories(folder);
  const int64_t start = MonotonicNs();
  const double processor_start = ProcessorSeconds();
  const Status status = write();
  Row row{name, static_cast<double>(MonotonicNs() - start) / 1e9, ProcessorSeconds() - processor_start,
          SizeMib(folder)};
  fs::remove_all(folder);
  if (status.ok()) return row;
  fprintf(stderr, "%s: %s\n", name.c_str(), status.error().c_str());
  exit(1);
}

int Main(int cases) {
  const std::string folder = fs::temp_directory_path() / ("reports_bench." + std::to_string(getpid()));
  std::vector<Row> rows;
  Fold fold;
  rows.push_back(Measure("journal", folder, [&]() -> Status {
    auto journal = JournalWriter::Open(folder + "/journal.jsonl");
    if (!journal.ok()) return Error{journal.error()};
    int64_t seq = 0;
    Status status;
    Play(cases, [&](EventBody body) {
      ++seq;
      const Event event(seq, seq, std::move(body));
      fold.Apply(event);
      if (status.ok()) status = (*journal)->OnEvent(event, fold.summary());
    });
    return status.ok() ? (*journal)->Finish(fold.summary()) : status;
  }));
  for (const ReportFormat& format : ReportFormats())
    rows.push_back(Measure(format.name, folder, [&] {
      const std::unique_ptr<Reporter> reporter = format.make(folder + "/" + format.name + ".out", {});
      int64_t seq = 0;
      Play(cases, [&](EventBody body) {
        ++seq;
        reporter->Replay({seq, seq, std::move(body)});
      });
      return reporter->Finish(fold.summary());
    }));
  Row all{"all"};
  printf("%-11s %10s %10s %10s\n", "report", "seconds", "processor", "MiB");
  const auto print = [](const Row& row) {
    printf("%-11s %10.3f %10.3f %10.1f\n", row.name.c_str(), row.seconds, row.processor_seconds, row.mib);
  };
  for (const Row& row : rows) {
    print(row);
    all.seconds += row.seconds;
    all.processor_seconds += row.processor_seconds;
    all.mib += row.mib;
  }
  print(all);
  printf("%d cases, peak of memory %.0f MiB\n", cases, PeakMib());
  return 0;
}

}  // namespace
}  // namespace cudnn_ci

int main(int argc, char** argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 10'000;
  if (argc > 2 || cases < 1) {
    fprintf(stderr, "usage: cudnn_ci_reports_bench [CASES]\n");
    return 2;
  }
  return cudnn_ci::Main(cases);
}
