// What is measured: matrices of no-op cases for cudnn-ci, and the same number of /bin/true for CTest, in a
// folder that lives as long as the benchmark.
#ifndef CUDNN_CI_TESTS_BENCH_WORKLOAD_H_
#define CUDNN_CI_TESTS_BENCH_WORKLOAD_H_

#include <string>

#include "measure.h"

namespace cudnn_ci::bench {

class Workload {
 public:
  // stage: a build's stage folder; plugin: bench.cci.so. They are copied, so that no other plugin is
  // discovered.
  Workload(const std::string& stage, const std::string& plugin, std::string ctest);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  // Each runs one program; its exit status other than 0 ends the benchmark, with what it said.
  Sample Warm(int cases, int jobs) { return Gate("bench.noop", "shared", cases, jobs); }
  Sample ProcessPerCase(int cases, int jobs) { return Gate("bench.noop_alone", "process", cases, jobs); }
  Sample List(int cases);
  // All reports once more from the journal of the last Warm or ProcessPerCase.
  Sample Rebuild();
  // With --output-junit, /bin/true for each test.
  Sample CTest(int tests, int jobs);

 private:
  Sample Gate(const std::string& check, const std::string& isolation, int cases, int jobs);
  Sample Checked(const std::vector<std::string>& argv);
  std::string Matrix(const std::string& check, int cases);

  std::string folder_, gate_, ctest_;
};

}  // namespace cudnn_ci::bench

#endif  // CUDNN_CI_TESTS_BENCH_WORKLOAD_H_
