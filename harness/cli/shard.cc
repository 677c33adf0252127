#include "cli/shard.h"

#include <stdlib.h>

#include "base/launched_task.h"
#include "base/text.h"
#include "model/merge/merge.h"

namespace cudnn_ci {
namespace {

constexpr int kMostNumber = 100'000;  // of a variable: tasks of an array need not begin with 0

// The whole text as a number; false when it is none, or more than digits and a minus.
bool Number(const std::string& text, int* out) {
  if (text.find_first_not_of("0123456789", text.compare(0, 1, "-") == 0 ? 1 : 0) != std::string::npos)
    return false;
  char* end = nullptr;
  const long n = strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || n < -kMostNumber || n > kMostNumber) return false;
  *out = static_cast<int>(n);
  return true;
}

bool Variable(const char* name, int* out) {
  const char* value = getenv(name);
  return value && Number(value, out);
}

// Index and count of the first system that gives both.
bool FromEnvironment(int* index, int* count) {
  int i = 0, low = 0;
  if (Variable("CI_NODE_INDEX", &i) && Variable("CI_NODE_TOTAL", count)) {
    *index = i;
  } else if (Variable("GTEST_SHARD_INDEX", &i) && Variable("GTEST_TOTAL_SHARDS", count)) {
    *index = i + 1;
  } else if (Variable("SLURM_ARRAY_TASK_ID", &i) && Variable("SLURM_ARRAY_TASK_COUNT", count)) {
    Variable("SLURM_ARRAY_TASK_MIN", &low);
    *index = i - low + 1;
  } else {
    return false;
  }
  return true;
}

bool IsPart(int index, int count) {
  return count >= 1 && count <= kMostShards && index >= 1 && index <= count;
}

constexpr char kVariables[] =
    "CI_NODE_INDEX/CI_NODE_TOTAL, GTEST_SHARD_INDEX/GTEST_TOTAL_SHARDS, "
    "SLURM_ARRAY_TASK_ID/SLURM_ARRAY_TASK_COUNT";

// "auto/N": the number is the caller's, and who knows one too must agree.
Status ReadAutoOf(const std::string& number, int* index, int* count) {
  int wanted = 0, known = 0, i = 0;
  if (!Number(number, &wanted) || wanted < 1 || wanted > kMostShards)
    return Error{"--shard auto/" + CleanLine(number, 100) +
                 ": write auto/N with 1 <= N <= " + std::to_string(kMostShards)};
  const std::string option = "--shard auto/" + number;
  if (Variable("JOB_COMPLETION_INDEX", &i)) {
    *index = i + 1;
  } else if (!FromEnvironment(index, &known)) {
    return Error{option + ": none of JOB_COMPLETION_INDEX, " + kVariables + " names a part; write I/N"};
  } else if (known != wanted) {
    return Error{option + ": the variables name " + std::to_string(known) + " parts"};
  }
  *count = wanted;
  if (IsPart(*index, wanted)) return {};
  return Error{option + ": the variables give part " + std::to_string(*index)};
}

// "I/N".
bool ReadPart(const std::string& text, int* index, int* count) {
  const size_t slash = text.find('/');
  return slash != std::string::npos && Number(text.substr(0, slash), index) &&
         Number(text.substr(slash + 1), count) && IsPart(*index, *count);
}

}  // namespace

Status ReadShard(const std::string& text, int* index, int* count) {
  if (text == "auto") {
    if (!FromEnvironment(index, count))
      return Error{std::string("--shard auto: none of ") + kVariables + " names a part; write I/N"};
    if (IsPart(*index, *count)) return {};
    return Error{"--shard auto: the variables give part " + std::to_string(*index) + " of " +
                 std::to_string(*count)};
  }
  const size_t slash = text.find('/');
  const std::string first = text.substr(0, slash);
  if (first == "auto")
    return ReadAutoOf(slash == std::string::npos ? "" : text.substr(slash + 1), index, count);
  if (ReadPart(text, index, count)) return {};
  return Error{"--shard " + CleanLine(text, 100) +
               ": write I/N with 1 <= I <= N <= " + std::to_string(kMostShards)};
}

Status ReadNodes(const std::string& text, int* index, int* count) {
  if (text != "auto") {
    if (ReadPart(text, index, count) && *count <= kMostTasks) return {};
    return Error{"--nodes " + CleanLine(text, 100) +
                 ": write auto, or I/N with 1 <= I <= N <= " + std::to_string(kMostTasks)};
  }
  const LaunchedTask launched = LaunchedTaskOf([](const std::string& name) {
    const char* value = getenv(name.c_str());
    return std::string(value ? value : "");
  });
  if (launched.task_variable.empty())
    return Error{
        "--nodes auto: no variables of Slurm, Kubernetes, MPI or torchrun name this task; write I/N"};
  if (!launched.IsOne())
    return Error{"--nodes auto: " + launched.task_variable + " and " + launched.tasks_variable +
                 " do not name one of 2 to " + std::to_string(kMostTasks) + " tasks"};
  *index = launched.task + 1, *count = launched.tasks;
  return {};
}

}  // namespace cudnn_ci
