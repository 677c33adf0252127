#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <fstream>

extern char** environ;

namespace cudnn_ci::bench {
namespace {

double Now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

[[noreturn]] void GiveUp(const std::string& what, int error) {
  fprintf(stderr, "cudnn_ci_bench: %s: %s\n", what.c_str(), strerror(error));
  exit(1);
}

pid_t Spawn(const std::vector<std::string>& argv, const char* output) {
  std::vector<char*> arguments;
  for (const std::string& a : argv)
    arguments.push_back(const_cast<char*>(a.c_str()));  // posix_spawn's signature
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output) {
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  }
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) GiveUp("cannot start " + argv[0], error);
  return pid;
}

}  // namespace

Sample RunProgram(const std::vector<std::string>& argv, const std::string& output) {
  Sample sample;
  const double start = Now();
  const pid_t pid = Spawn(argv, output.c_str());
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) != pid) GiveUp("wait4", errno);
  sample.seconds = Now() - start;
  sample.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  sample.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return sample;
}

double SpawnAndWait(const std::string& program, int count, int jobs) {
  const double start = Now();
  int started = 0, running = 0;
  while (started < count || running > 0) {
    for (; running < jobs && started < count; ++running, ++started) Spawn({program}, nullptr);
    if (waitpid(-1, nullptr, 0) < 0) GiveUp("waitpid", errno);
    --running;
  }
  return Now() - start;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Machine DescribeMachine() {
  Machine machine;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; machine.cpu.empty() && std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) machine.cpu = line.substr(line.find(':') + 2);
  utsname name{};
  if (uname(&name) == 0) machine.kernel = std::string(name.sysname) + " " + name.release + " " + name.machine;
  cpu_set_t set;
  CPU_ZERO(&set);
  machine.cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  (void)getloadavg(&machine.load, 1);
  return machine;
}

}  // namespace cudnn_ci::bench
