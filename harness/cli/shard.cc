#include "cli/shard.h"

#include <stdlib.h>

namespace cudnn_ci {

bool ParseShard(const std::string& text, int* index, int* count) {
  char* end = nullptr;
  const long i = strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || *end != '/') return false;
  const char* second = end + 1;
  const long n = strtol(second, &end, 10);
  if (end == second || *end != '\0' || n < 1 || n > 100000 || i < 1 || i > n) return false;
  *index = static_cast<int>(i);
  *count = static_cast<int>(n);
  return true;
}

bool ShardFromEnvironment(int* index, int* count) {
  const auto number = [](const char* name, int* out) {
    const char* v = getenv(name);
    if (!v || !*v) return false;
    char* end = nullptr;
    const long n = strtol(v, &end, 10);
    *out = static_cast<int>(n);
    return *end == '\0';
  };
  int i = 0, n = 0, low = 0;
  if (number("CI_NODE_INDEX", &i) && number("CI_NODE_TOTAL", &n)) {
    *index = i;
  } else if (number("GTEST_SHARD_INDEX", &i) && number("GTEST_TOTAL_SHARDS", &n)) {
    *index = i + 1;
  } else if (number("SLURM_ARRAY_TASK_ID", &i) && number("SLURM_ARRAY_TASK_COUNT", &n)) {
    number("SLURM_ARRAY_TASK_MIN", &low);
    *index = i - low + 1;
  } else {
    return false;
  }
  *count = n;
  return n >= 1 && *index >= 1 && *index <= n;
}

}  // namespace cudnn_ci
