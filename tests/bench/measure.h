// Measuring processes: wall time, peak memory, medians, and the machine the figures hold for. Knows nothing
// of cudnn-ci.
#ifndef CUDNN_CI_TESTS_BENCH_MEASURE_H_
#define CUDNN_CI_TESTS_BENCH_MEASURE_H_

#include <string>
#include <vector>

namespace cudnn_ci::bench {

struct Sample {
  double seconds = 0;    // wall time, from before the spawn to after the wait
  double peak_mib = 0;   // largest resident size of the process, or of one it waited for if that is larger
  int exit_status = -1;  // 128 + N when signal N ended it
};

// Runs a program to its end, stdin from /dev/null, stdout and stderr to `output`. The program is looked up in
// PATH. Exits this process when it cannot be started: there is nothing to measure then.
Sample RunProgram(const std::vector<std::string>& argv, const std::string& output);

// Seconds for `count` times posix_spawn of `program` and the wait for it, `jobs` of them at a time.
double SpawnAndWait(const std::string& program, int count, int jobs);

// The value in the middle; of an even number the mean of the two.
double Median(std::vector<double> values);

struct Machine {
  std::string cpu, kernel;
  int cores = 0;    // that this process may use
  double load = 0;  // the load average of the last minute, before the benchmark
};
Machine DescribeMachine();

}  // namespace cudnn_ci::bench

#endif  // CUDNN_CI_TESTS_BENCH_MEASURE_H_
