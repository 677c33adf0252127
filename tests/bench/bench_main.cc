// The benchmark: one table of what the harness costs, beside CTest and bare processes, all measured in turns
// in one run on this machine. It reports and never judges.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure.h"
#include "workload.h"

namespace cudnn_ci::bench {
namespace {

struct Options {
  std::string stage, plugin, ctest = "ctest";
  int repeat = 5;
  std::vector<int> jobs;
  bool json = false;
};

struct Row {
  std::string what;
  int jobs = 1, cases = 0;
  double seconds = 0;      // median of the whole
  double per_case_ms = 0;  // after the median of the same with one case is taken off
  double peak_mib = 0;     // largest of all repeats; 0: not of interest
  std::string goal;
  double of_ctest = 0;  // per case, as a share of CTest's; 0: not comparable
};

constexpr int kCases = 1000, kMany = 100'000, kReported = 10'000;

// One thing that is measured: with many cases and, to know the start-up, with one.
struct Subject {
  Row row;
  std::function<Sample(int cases)> run;
  std::vector<double> whole, start_up;
};

// Every repeat measures everything once, so that a change of the machine's load meets all alike.
void MeasureInTurns(std::vector<Subject>* subjects, int repeat) {
  for (int i = 0; i < repeat; ++i)
    for (Subject& s : *subjects) {
      const Sample sample = s.run(s.row.cases);
      s.whole.push_back(sample.seconds);
      s.row.peak_mib = std::max(s.row.peak_mib, sample.peak_mib);
      s.start_up.push_back(s.run(1).seconds);
    }
  for (Subject& s : *subjects) {
    s.row.seconds = Median(s.whole);
    s.row.per_case_ms = (s.row.seconds - Median(s.start_up)) * 1e3 / (s.row.cases - 1);
  }
}

std::vector<Row> MeasureSmall(Workload* workload, const Options& options) {
  std::vector<Row> rows;
  for (const int jobs : options.jobs) {
    std::vector<Subject> subjects(4);
    subjects[0] = {{"posix_spawn and wait of /bin/true", jobs, kCases, 0, 0, 0, "", 0},
                   [=](int n) {
                     return Sample{SpawnAndWait("/bin/true", n, jobs), 0, 0};
                   },
                   {},
                   {}};
    subjects[1] = {{"CTest, /bin/true, JUnit", jobs, kCases, 0, 0, 0, "", 0},
                   [=](int n) { return workload->CTest(n, jobs); },
                   {},
                   {}};
    subjects[2] = {{"cudnn-ci, a process per case", jobs, kCases, 0, 0, 0, "at most CTest's", 0},
                   [=](int n) { return workload->ProcessPerCase(n, jobs); },
                   {},
                   {}};
    subjects[3] = {{"cudnn-ci, warm", jobs, kCases, 0, 0, 0, "0.05 ms a case", 0},
                   [=](int n) { return workload->Warm(n, jobs); },
                   {},
                   {}};
    MeasureInTurns(&subjects, options.repeat);
    for (Subject& s : subjects) {
      s.row.of_ctest = s.row.per_case_ms / subjects[1].row.per_case_ms;
      rows.push_back(s.row);
    }
  }
  return rows;
}

std::vector<Row> MeasureLarge(Workload* workload, const Options& options) {
  const int jobs = options.jobs.back();
  std::vector<Subject> subjects(4);
  subjects[0] = {{"cudnn-ci, warm", jobs, kMany, 0, 0, 0, "10 s, 200 MiB", 0},
                 [=](int n) { return workload->Warm(n, jobs); },
                 {},
                 {}};
  subjects[1] = {
      {"cudnn-ci list", 1, kMany, 0, 0, 0, "1 s", 0}, [=](int n) { return workload->List(n); }, {}, {}};
  subjects[2] = {{"cudnn-ci, warm, all reports", jobs, kReported, 0, 0, 0, "", 0},
                 [=](int n) { return workload->Warm(n, jobs); },
                 {},
                 {}};
  subjects[3] = {{"cudnn-ci report, all from the journal", 1, kReported, 0, 0, 0, "", 0},
                 [=](int n) {
                   workload->Warm(n, jobs);
                   return workload->Rebuild();
                 },
                 {},
                 {}};
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
  for (const Row& r : rows) {
    char share[32] = "", peak[32] = "";
    if (r.of_ctest > 0) snprintf(share, sizeof share, "%.3f", r.of_ctest);
    if (r.peak_mib > 0) snprintf(peak, sizeof peak, "%.0f", r.peak_mib);
    printf("%-38s %4d %7d %9.3f %12.4f %9s %9s  %s\n", r.what.c_str(), r.jobs, r.cases, r.seconds,
           r.per_case_ms, share, peak, r.goal.c_str());
  }
  printf("\nseconds: the whole program. ms per case: without what the same takes with one case.\n");
}

void PrintJson(const Machine& machine, const std::vector<Row>& rows, int repeat) {
  nlohmann::ordered_json j{
      {"schema", "cudnn-ci/bench/1"},
      {"machine",
       {{"cpu", machine.cpu}, {"cores", machine.cores}, {"kernel", machine.kernel}, {"load", machine.load}}},
      {"repeat", repeat},
      {"rows", nlohmann::ordered_json::array()}};
  for (const Row& r : rows)
    j["rows"].push_back({{"what", r.what},
                         {"jobs", r.jobs},
                         {"cases", r.cases},
                         {"seconds", r.seconds},
                         {"per_case_ms", r.per_case_ms},
                         {"of_ctest", r.of_ctest},
                         {"peak_mib", r.peak_mib},
                         {"goal", r.goal}});
  printf("%s\n", j.dump(2).c_str());
}

int Usage() {
  fprintf(
      stderr,
      "usage: cudnn_ci_bench --stage DIR --plugin FILE [--ctest FILE] [--repeat N] [--jobs N]... [--json]\n");
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
  Workload workload(options.stage, options.plugin, options.ctest);
  std::vector<Row> rows = MeasureSmall(&workload, options);
  const std::vector<Row> large = MeasureLarge(&workload, options);
  rows.insert(rows.end(), large.begin(), large.end());
  (options.json ? PrintJson : PrintTable)(machine, rows, options.repeat);
  return 0;
}
