// The benchmark: one table of what the harness costs, beside CTest and bare processes, all measured in turns
// in one run on this machine. It reports and never judges.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure.h"
#include "workload.h"

namespace cudnn_ci::bench {
namespace {

struct Options {
  std::string stage, plugin, ctest = "ctest";
  std::string against;  // another build's folder; empty: nothing to compare with
  int repeat = 5;
  std::vector<int> jobs;
  bool json = false;
};

struct Figures {
  double seconds = 0;      // median of the whole
  double per_case_ms = 0;  // after the median of the same with one case is taken off
  double peak_mib = 0;     // largest of all repeats
};

struct Row {
  std::string what;
  int jobs = 1, cases = 0;
  std::string goal = {};
  bool memory = false;  // whether the peak is of interest
  Figures figures = {};
  double of_ctest = 0;                  // per case, as a share of CTest's; 0: not comparable
  std::optional<Figures> against = {};  // the same of the other build
  double of_against = 0;                // median of the ratios of the whole, measured next to each other
};

constexpr int kCases = 1000, kMany = 100'000, kReported = 10'000;

using Run = std::function<Sample(int cases)>;

struct Samples {
  std::vector<double> whole, start_up;
  double peak_mib = 0;

  void Measure(const Run& run, int cases) {
    const Sample sample = run(cases);
    whole.push_back(sample.seconds);
    peak_mib = std::max(peak_mib, sample.peak_mib);
    start_up.push_back(run(1).seconds);
  }
  Figures Summarise(int cases) const {
    const double seconds = Median(whole);
    return {seconds, (seconds - Median(start_up)) * 1e3 / (cases - 1), peak_mib};
  }
};

// One thing that is measured, with many cases and, to know the start-up, with one; and the same of another
// build.
struct Subject {
  Row row;
  Run run;
  Run other = nullptr;
  Samples samples = {}, other_samples = {};
};

// Every repeat measures everything once, so that a change of the machine's load meets all alike; the two
// builds take turns in being first.
void MeasureInTurns(std::vector<Subject>* subjects, int repeat) {
  for (int i = 0; i < repeat; ++i)
    for (Subject& s : *subjects) {
      if (s.other && i % 2 == 1) s.other_samples.Measure(s.other, s.row.cases);
      s.samples.Measure(s.run, s.row.cases);
      if (s.other && i % 2 == 0) s.other_samples.Measure(s.other, s.row.cases);
    }
  for (Subject& s : *subjects) {
    s.row.figures = s.samples.Summarise(s.row.cases);
    if (!s.other) continue;
    s.row.against = s.other_samples.Summarise(s.row.cases);
    std::vector<double> ratios;
    for (size_t i = 0; i < s.samples.whole.size(); ++i)
      ratios.push_back(s.samples.whole[i] / s.other_samples.whole[i]);
    s.row.of_against = Median(ratios);
  }
}

// The builds that are measured: ours, and the one to compare with if there is one.
struct Builds {
  Workload ours;
  std::optional<Workload> other;

  explicit Builds(const Options& o) : ours(o.stage, o.plugin, o.ctest) {
    if (!o.against.empty())
      other.emplace(o.against + "/stage", o.against + "/tests/bench/bench.cci.so", o.ctest);
  }
  // `run` of a workload and a number of cases, for both.
  template <class Function>
  Subject Make(Row row, Function run) {
    Subject subject{std::move(row), [this, run](int n) { return run(&ours, n); }};
    if (other) subject.other = [this, run](int n) { return run(&*other, n); };
    return subject;
  }
};

std::vector<Row> MeasureSmall(Builds* builds, const Options& options) {
  std::vector<Row> rows;
  for (const int jobs : options.jobs) {
    std::vector<Subject> subjects;
    subjects.push_back({{"posix_spawn and wait of /bin/true", jobs, kCases}, [=](int n) {
                          return Sample{SpawnAndWait("/bin/true", n, jobs), 0, 0};
                        }});
    subjects.push_back(
        {{"CTest, /bin/true, JUnit", jobs, kCases}, [=](int n) { return builds->ours.CTest(n, jobs); }});
    subjects.push_back(builds->Make({"cudnn-ci, a process per case", jobs, kCases, "at most CTest's"},
                                    [=](Workload* w, int n) { return w->ProcessPerCase(n, jobs); }));
    subjects.push_back(builds->Make({"cudnn-ci, warm", jobs, kCases, "0.05 ms a case"},
                                    [=](Workload* w, int n) { return w->Warm(n, jobs); }));
    MeasureInTurns(&subjects, options.repeat);
    for (Subject& s : subjects) {
      s.row.of_ctest = s.row.figures.per_case_ms / subjects[1].row.figures.per_case_ms;
      rows.push_back(s.row);
    }
  }
  return rows;
}

std::vector<Row> MeasureLarge(Builds* builds, const Options& options) {
  const int jobs = options.jobs.back();
  std::vector<Subject> subjects;
  subjects.push_back(builds->Make({"cudnn-ci, warm", jobs, kMany, "10 s, 150 MiB", true},
                                  [=](Workload* w, int n) { return w->Warm(n, jobs); }));
  subjects.push_back(
      builds->Make({"cudnn-ci list", 1, kMany, "1 s", true}, [](Workload* w, int n) { return w->List(n); }));
  subjects.push_back(builds->Make({"cudnn-ci, warm, all reports", jobs, kReported, "", true},
                                  [=](Workload* w, int n) { return w->Warm(n, jobs); }));
  subjects.push_back(builds->Make({"cudnn-ci report, all from the journal", 1, kReported, "", true},
                                  [=](Workload* w, int n) {
                                    w->Warm(n, jobs);
                                    return w->Rebuild();
                                  }));
  MeasureInTurns(&subjects, (options.repeat + 1) / 2);
  std::vector<Row> rows;
  for (const Subject& s : subjects) rows.push_back(s.row);
  return rows;
}

void PrintTable(const Machine& machine, const std::vector<Row>& rows, int repeat) {
  printf("%s, %d cores, %s, load %.1f at the start; medians of %d (large ones of %d)\n", machine.cpu.c_str(),
         machine.cores, machine.kernel.c_str(), machine.load, repeat, (repeat + 1) / 2);
  printf("\n%-38s %4s %7s %9s %12s %9s %9s  %s\n", "what", "jobs", "cases", "seconds", "ms per case",
         "of CTest", "peak MiB", "goal");
  const auto print = [](const char* what, const Row& r, const Figures& f, double of_ctest, const char* note) {
    char share[32] = "", peak[32] = "";
    if (of_ctest > 0) snprintf(share, sizeof share, "%.3f", of_ctest);
    if (r.memory) snprintf(peak, sizeof peak, "%.0f", f.peak_mib);
    printf("%-38s %4d %7d %9.3f %12.4f %9s %9s  %s\n", what, r.jobs, r.cases, f.seconds, f.per_case_ms, share,
           peak, note);
  };
  for (const Row& r : rows) {
    print(r.what.c_str(), r, r.figures, r.of_ctest, r.goal.c_str());
    if (!r.against) continue;
    char note[64];
    snprintf(note, sizeof note, "ours takes %.3f of its time", r.of_against);
    print("  the other build", r, *r.against, 0, note);
  }
  printf("\nseconds: the whole program. ms per case: without what the same takes with one case.\n");
}

nlohmann::ordered_json Json(const Figures& f) {
  return {{"seconds", f.seconds}, {"per_case_ms", f.per_case_ms}, {"peak_mib", f.peak_mib}};
}

void PrintJson(const Machine& machine, const std::vector<Row>& rows, int repeat) {
  nlohmann::ordered_json j{
      {"schema", "cudnn-ci/bench/2"},
      {"machine",
       {{"cpu", machine.cpu}, {"cores", machine.cores}, {"kernel", machine.kernel}, {"load", machine.load}}},
      {"repeat", repeat},
      {"rows", nlohmann::ordered_json::array()}};
  for (const Row& r : rows) {
    nlohmann::ordered_json row{{"what", r.what},          {"jobs", r.jobs},         {"cases", r.cases},
                               {"ours", Json(r.figures)}, {"of_ctest", r.of_ctest}, {"goal", r.goal}};
    if (r.against) {
      row["against"] = Json(*r.against);
      row["of_against"] = r.of_against;
    }
    j["rows"].push_back(std::move(row));
  }
  printf("%s\n", j.dump(2).c_str());
}

int Usage() {
  fprintf(stderr,
          "usage: cudnn_ci_bench --stage DIR --plugin FILE [--against BUILD] [--ctest FILE] [--repeat N] "
          "[--jobs N]... [--json]\n");
  return 2;
}

bool Parse(int argc, char** argv, Options* o) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--json") {
      o->json = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const char* value = argv[++i];
    if (name == "--stage")
      o->stage = value;
    else if (name == "--plugin")
      o->plugin = value;
    else if (name == "--against")
      o->against = value;
    else if (name == "--ctest")
      o->ctest = value;
    else if (name == "--repeat")
      o->repeat = atoi(value);
    else if (name == "--jobs")
      o->jobs.push_back(atoi(value));
    else
      return false;
  }
  for (const int jobs : o->jobs)
    if (jobs < 1) return false;
  return !o->stage.empty() && !o->plugin.empty() && o->repeat > 0;
}

}  // namespace
}  // namespace cudnn_ci::bench

int main(int argc, char** argv) {
  using namespace cudnn_ci::bench;  // NOLINT: this file is the program
  Options options;
  if (!Parse(argc, argv, &options)) return Usage();
  const Machine machine = DescribeMachine();
  if (options.jobs.empty()) {
    options.jobs = {1};
    if (machine.cores > 1) options.jobs.push_back(machine.cores);
  }
  Builds builds(options);
  std::vector<Row> rows = MeasureSmall(&builds, options);
  const std::vector<Row> large = MeasureLarge(&builds, options);
  rows.insert(rows.end(), large.begin(), large.end());
  (options.json ? PrintJson : PrintTable)(machine, rows, options.repeat);
  return 0;
}
