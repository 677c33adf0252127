#include "image/elf/read_in_parallel.h"

#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace cudnn_ci {
namespace {

constexpr size_t kThreads = 8;
constexpr size_t kWorthAThread = 32;  // files

}  // namespace

void ReadInParallel(size_t count, const std::function<void(size_t)>& read) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) read(i);
  };
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < kThreads && (others.size() + 1) * kWorthAThread < count)
      others.emplace_back(run);
  } catch (const std::system_error&) {  // the threads that there are read all files
  }
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace cudnn_ci
