#include "common/shortage.h"

#include <signal.h>

#include <cerrno>
#include <cstring>

#include "base/memory_room.h"
#include "base/process_room.h"
#include "common/host_memory.h"
#include "model/record/finding_ids.h"

namespace cudnn_ci {
namespace {

constexpr int kKilledByShell = 128 + SIGKILL;  // a shell's status where a program of it was killed
constexpr std::size_t kLastWords = 2000;

[[noreturn]] void ReportNotStarted(Context& ctx, const ChildNotStarted& why) {
  if (why.error == EAGAIN)
    ctx.Finding(kProcessesRefused, std::string(why.what()) + " (" + ProcessRoom().Describe() + ")");
  else if (why.error == ENOMEM)
    ctx.Finding(kOutOfMemory, std::string(why.what()) + " (" + MemoryRoom().Describe() + ")");
  else
    throw;
  ctx.Stop();
}

}  // namespace

ChildResult RunProgram(Context& ctx, const std::vector<std::string>& argv,
                       const std::vector<std::string>& environment, double timeout_s, Shortage* shortage) {
  const MemoryRoom memory;
  const ProcessRoom processes;
  const std::int64_t kills = memory.OomKills(), refusals = processes.Refusals();
  ChildResult end;
  try {
    end = ctx.RunChild(argv, environment, timeout_s);
  } catch (const ChildNotStarted& why) {
    ReportNotStarted(ctx, why);
  }
  if (const std::int64_t more = memory.OomKills() - kills; more > 0)
    shortage->memory = "the kernel killed " + std::to_string(more) + (more == 1 ? " process" : " processes") +
                       " of the container to free memory: " + memory.Describe();
  if (const std::int64_t more = processes.Refusals() - refusals; more > 0)
    shortage->processes =
        "the kernel refused to start " + std::to_string(more) + " more: " + processes.Describe();
  return end;
}

bool ReportShortage(Context& ctx, const std::string& program, const ChildResult& end,
                    const Shortage& shortage) {
  // Another process of the container may have been meant, where this one was not killed.
  const bool killed = end.signal == SIGKILL || end.exit_status == kKilledByShell;
  if (!shortage.memory.empty() && killed) {
    ctx.Finding(kOutOfMemory, program + " ran out of memory; " + shortage.memory);
    return true;
  }
  if (shortage.processes.empty()) return false;
  ctx.Finding(kProcessesRefused, program + " could not start a process; " + shortage.processes);
  return true;
}

std::string WordsOfShortage(const std::string& output) {
  const std::string last = output.substr(output.size() > kLastWords ? output.size() - kLastWords : 0);
  for (const char* words : {"Cannot allocate memory", "std::bad_alloc", "MemoryError"}) {
    if (last.find(words) == std::string::npos) continue;
    const std::optional<HostRoom> room = LookAtHostMemory();
    return std::string("; its output mentions memory (\"") + words + "\")" +
           (room ? ", and " + MebiBytes(room->bytes) + " are left now (" + room->limit + ")" : "");
  }
  for (const char* words : {"Resource temporarily unavailable", "can't start new thread"})
    if (last.find(words) != std::string::npos)
      return std::string("; its output mentions processes or threads (\"") + words +
             "\"): " + ProcessRoom().Describe();
  return "";
}

}  // namespace cudnn_ci
