// Which process computes which calls of an adapter, how many there may be, and what each of them may say.
#include "kernels/processes.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "kernels/answer.h"
#include "kernels/job.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;
using nlohmann::json;

constexpr double kGiB = 1 << 30;

// One that names no process, two that share one, and one whose problems are computed by two in turn.
Adapter FourImplementations() {
  Adapter adapter;
  const auto add = [&](const char* name, const char* problems, const Names& processes) {
    Implementation& one = adapter.implementations.emplace_back();
    one.name = name;
    one.promises = {problems};
    if (!processes.empty()) one.processes = processes;
  };
  add("plain", "layer_norm/*", {});
  add("cudnn", "silu_gate/*", {"cudnn"});
  add("split", "rms_norm/*", {"one", "two"});
  add("cudnn too", "silu_gate/*", {"cudnn"});
  return adapter;
}

KernelJob JobFor(int most) {
  static const Adapter kAdapter = FourImplementations();
  return MakeKernelJob(
      kAdapter, [](const Implementation&) { return true; }, most);
}

// "plain 0", of each implementation the processes of its calls.
std::vector<std::string> Spread(const KernelJob& job) {
  std::vector<std::string> spread;
  for (const KernelCall& call : job.calls) {
    const std::string process = std::to_string(call.process);
    if (spread.empty() || spread.back().rfind(call.implementation->name + ":", 0) != 0)
      spread.push_back(call.implementation->name + ":");
    spread.back() += " " + process;
  }
  return spread;
}

TEST(KernelProcesses, HaveTheCallsOfThoseThatNameThem) {
  const KernelJob job = JobFor(64);
  EXPECT_EQ(job.processes, (Names{"", "cudnn", "one", "two"}));
  EXPECT_THAT(Spread(job), ElementsAre("plain: 0 0 0 0", "cudnn: 1 1", "split: 2 3 2 3", "cudnn too: 1 1"));
}

TEST(KernelProcesses, AreSharedWhereThereMayBeFewer) {
  EXPECT_EQ(JobFor(3).processes, (Names{"", "cudnn", "one"}));
  EXPECT_THAT(Spread(JobFor(3)),
              ElementsAre("plain: 0 0 0 0", "cudnn: 1 1", "split: 2 0 2 0", "cudnn too: 1 1"));
  EXPECT_EQ(JobFor(2).processes, (Names{"", "cudnn"}));
  EXPECT_THAT(Spread(JobFor(2)),
              ElementsAre("plain: 0 0 0 0", "cudnn: 1 1", "split: 0 1 0 1", "cudnn too: 1 1"));
  for (const int most : {1, 0, -1}) {
    EXPECT_EQ(JobFor(most).processes, Names{""}) << most;
    EXPECT_THAT(Spread(JobFor(most)),
                ElementsAre("plain: 0 0 0 0", "cudnn: 0 0", "split: 0 0 0 0", "cudnn too: 0 0"));
  }
}

// Whatever their number, each call is told to one process, in the order of the calls, and no process is idle.
TEST(KernelProcesses, AreToldEachCallOnce) {
  for (int most = 1; most <= 5; ++most) {
    const Scratch scratch;
    const KernelJob job = JobFor(most);
    const json told =
        json::parse(*ReadFile(WriteKernelJob(scratch.path() + "/job", FourImplementations(), job), 1 << 20));
    ASSERT_EQ(told["processes"].size(), static_cast<std::size_t>(std::min(most, 4)));
    std::multiset<int> calls;
    for (std::size_t p = 0; p < told["processes"].size(); ++p) {
      EXPECT_EQ(told["processes"][p]["name"], job.processes[p]);
      const std::vector<int> its = told["processes"][p]["calls"];
      EXPECT_FALSE(its.empty());
      EXPECT_TRUE(std::is_sorted(its.begin(), its.end()));
      for (const int call : its)
        EXPECT_EQ(ProcessesOfCalls(job).at(static_cast<std::size_t>(call)), static_cast<int>(p));
      calls.insert(its.begin(), its.end());
    }
    std::multiset<int> all;
    for (std::size_t i = 0; i < told["calls"].size(); ++i) all.insert(static_cast<int>(i));
    EXPECT_EQ(all.size(), 12u);
    EXPECT_EQ(calls, all);
  }
}

TEST(KernelProcesses, AreAsManyAsThereIsRoomFor) {
  const KernelRoom wide = {"default", 64, 400 * kGiB, 80 * kGiB, 1, 0};
  const auto most = [&](const auto& change) {
    KernelRoom room = wide;
    change(room);
    return MostKernelProcesses(room);
  };
  EXPECT_EQ(MostKernelProcesses(wide), 16);
  EXPECT_EQ(most([](KernelRoom& r) { r.processors = 8; }), 4);
  EXPECT_EQ(most([](KernelRoom& r) { r.processors = 5; }), 2);
  EXPECT_EQ(most([](KernelRoom& r) { r.processors = 4; }), 2);
  EXPECT_EQ(most([](KernelRoom& r) { r.processors = 3; }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.processors = 1; }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.host_bytes = 12 * kGiB; }), 3);
  EXPECT_EQ(most([](KernelRoom& r) { r.host_bytes = 8 * kGiB - 1; }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.host_bytes = 0; }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.device_bytes = 10 * kGiB; }), 2);
  EXPECT_EQ(most([](KernelRoom& r) { r.device_bytes = 10 * kGiB - 1; }), 1);
  // What is unknown, as the free memory of a part of a GPU.
  EXPECT_EQ(most([](KernelRoom& r) { r.device_bytes.reset(); }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.host_bytes.reset(); }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.compute_mode = ""; }), 16);
  EXPECT_EQ(most([](KernelRoom& r) { r.compute_mode = "exclusive_process"; }), 1);
  EXPECT_EQ(most([](KernelRoom& r) { r.compute_mode = "prohibited"; }), 1);
  // Cases of other GPUs run at the same time.
  EXPECT_EQ(most([](KernelRoom& r) { r.gpus = 8; }), 4);
  EXPECT_EQ(most([](KernelRoom& r) { r.gpus = 8, r.host_bytes = 64 * kGiB; }), 2);
  EXPECT_EQ(most([](KernelRoom& r) { r.gpus = 0; }), 16);
}

TEST(KernelProcesses, AreAsManyAsTheUserAsksForOnAGpuThatTakesThem) {
  KernelRoom room = {"default", 1, {}, {}, 8, 3};
  EXPECT_EQ(MostKernelProcesses(room), 3);
  room.compute_mode = "exclusive_process";
  EXPECT_EQ(MostKernelProcesses(room), 1);
  room = {"default", 64, 400 * kGiB, 80 * kGiB, 1, 1};
  EXPECT_EQ(MostKernelProcesses(room), 1);
}

// A container's quota is the processors that it has.
TEST(KernelProcesses, CountTheProcessorsOfTheQuota) {
  const Scratch scratch;
  const int here = ProcessorsOfThisProcess(scratch.path());  // no group
  EXPECT_GE(here, 1);
  const auto put = [&](const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(scratch.File(file)).parent_path());
    scratch.Write(file, text);
  };
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  EXPECT_EQ(ProcessorsOfThisProcess(scratch.path()), here);
  put("sys/fs/cgroup/a/cpu.max", "100000 100000\n");
  EXPECT_EQ(ProcessorsOfThisProcess(scratch.path()), 1) << "of the group above";
  put("sys/fs/cgroup/a/cpu.max", "99999900000 100000\n");
  EXPECT_EQ(ProcessorsOfThisProcess(scratch.path()), here);
  const Scratch old;
  std::filesystem::create_directories(old.File("proc/self"));
  std::filesystem::create_directories(old.File("sys/fs/cgroup/cpu/a"));
  old.Write("proc/self/cgroup", "4:cpu,cpuacct:/a\n");
  old.Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  old.Write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ProcessorsOfThisProcess(old.path()), here);
  old.Write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(ProcessorsOfThisProcess(old.path()), 1);
}

TEST(KernelProcesses, HaveTheLinesThatTheirNameMarks) {
  const Names names = {"", "jit", "jit-2"};
  const std::string output = "begin\n[jit] one\n[jit-2] [jit] two\n[other] plain\n[jit] three\nend";
  EXPECT_EQ(OutputOfProcess(output, names, 0), "begin\n[other] plain\nend");
  EXPECT_EQ(OutputOfProcess(output, names, 1), "one\nthree\n");
  EXPECT_EQ(OutputOfProcess(output, names, 2), "[jit] two\n");
  EXPECT_EQ(OutputOfProcess("", names, 1), "");
  EXPECT_EQ(OutputOfProcess("[jit] cut", names, 1), "cut");
}

// The answer with these lines, of calls of these processes.
RunnerAnswer Answer(const std::vector<std::string>& lines, const std::vector<int>& processes) {
  const Scratch scratch;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return ReadRunnerAnswer(scratch.Write("answer", text), processes);
}

TEST(KernelProcesses, SayWhereEachOfThemIs) {
  const RunnerAnswer answer =
      Answer({R"({"python": {"version": "3.11.7"}})", R"({"process": 1, "step": {"call": 1, "run": 2}})",
              R"({"process": 0, "step": {"call": 2, "run": 1}})", R"({"process": 0, "error": "no"})",
              R"({"process": 1, "broken": {"call": 1, "run": 2, "why": "gone"}})",
              R"({"process": 0, "end": true})", R"({"process": 1, "left": {"signal": 11, "status": -1}})",
              R"({"process": 0, "left": {"signal": 0, "status": 3}})",
              R"({"process": 1, "result": {"call": 1, "run": 1, "seconds": 2.5}})"},
             {0, 1, 0});
  EXPECT_EQ(answer.problem, "");
  EXPECT_EQ(answer.python, "3.11.7");
  ASSERT_EQ(answer.processes.size(), 2u);
  const RunnerProcess &one = answer.processes[0], &two = answer.processes[1];
  EXPECT_EQ(one.step, std::pair(2, 1));
  EXPECT_EQ(two.step, std::pair(1, 2));
  EXPECT_EQ(one.error, "no");
  EXPECT_EQ(two.error, "");
  EXPECT_TRUE(one.ended && !two.ended);
  EXPECT_TRUE(one.broken.empty() && two.broken.at({1, 2}) == "gone");
  EXPECT_TRUE(one.left && two.left);
  EXPECT_EQ(std::pair(one.exit_status, one.signal), std::pair(3, 0));
  EXPECT_EQ(std::pair(two.exit_status, two.signal), std::pair(-1, 11));
  EXPECT_EQ(answer.results.at({1, 1}).seconds, 2.5);
  // A process that died has not left until the one that waits says so.
  EXPECT_FALSE(Answer({}, {0, 1}).processes[1].left);
}

TEST(KernelProcesses, SayNothingOfTheCallsOfOthers) {
  for (const char* said : {"result", "refused", "broken", "step"}) {
    const auto problem = [&](int process, int call) {
      return Answer({json{{"process", process}, {said, {{"call", call}, {"run", 1}}}}.dump()}, {0, 1, 0})
          .problem;
    };
    EXPECT_EQ(problem(0, 0), "") << said;
    EXPECT_EQ(problem(0, 2), "") << said;
    EXPECT_EQ(problem(1, 1), "") << said;
    EXPECT_THAT(problem(0, 1), HasSubstr("another: ")) << said;
    EXPECT_THAT(problem(1, 0), HasSubstr("another: ")) << said;
    EXPECT_THAT(problem(1, 3), HasSubstr("another: ")) << said << " of a call that there is not";
    const RunnerAnswer rejected =
        Answer({json{{"process", 1}, {said, {{"call", 0}, {"run", 1}}}}.dump()}, {0, 1, 0});
    EXPECT_TRUE(rejected.results.empty() && rejected.refused.empty() && rejected.processes[1].broken.empty());
    // Of one process alone, which needs no number.
    EXPECT_EQ(Answer({json{{said, {{"call", 1}, {"run", 1}}}}.dump()}, {0, 0}).problem, "") << said;
    EXPECT_NE(Answer({json{{said, {{"call", 2}, {"run", 1}}}}.dump()}, {0, 0}).problem, "") << said;
  }
  EXPECT_EQ(Answer({R"({"process": 1, "step": {"call": -1, "run": 0}})"}, {0, 1}).problem, "");
}

TEST(KernelProcesses, SayWhichTheyAre) {
  for (const char* line :
       {R"({"end": true})", R"({"process": 2, "end": true})", R"({"process": -1, "end": true})",
        R"({"process": "1", "end": true})", R"({"process": 1})",
        R"({"process": 1, "end": true, "error": "no"})", R"({"process": 1, "surprise": 1})"})
    EXPECT_THAT(Answer({line}, {0, 1}).problem, HasSubstr("answer: ")) << line;
  EXPECT_EQ(Answer({R"({"end": true})"}, {0, 0}).problem, "");
  EXPECT_EQ(Answer({R"({"end": true})"}, {}).problem, "");
}

}  // namespace
}  // namespace cudnn_ci
