#include "exec/system/proc.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/file.h"
#include "base/proc_self.h"
#include "base/text.h"

namespace cudnn_ci {
namespace {

std::string ProcPath(pid_t pid) { return pid == 0 ? "/proc/self" : "/proc/" + std::to_string(pid); }

std::vector<pid_t> NumericEntries(const std::string& directory) {
  std::vector<pid_t> out;
  DIR* d = opendir(directory.c_str());
  if (!d) return out;
  while (const dirent* e = readdir(d))
    if (const long n = strtol(e->d_name, nullptr, 10); n > 0) out.push_back(static_cast<pid_t>(n));
  closedir(d);
  return out;
}

struct Family {
  pid_t parent = 0, group = 0;
};

// From /proc/PID/stat, behind the command's closing parenthesis: state, parent, process group.
Family FamilyOf(pid_t pid) {
  Family family;
  const std::string stat = ReadSmallFile(ProcPath(pid) + "/stat");
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return family;
  std::istringstream fields(stat.substr(end + 1));
  std::string state;
  fields >> state >> family.parent >> family.group;
  return family;
}

// For kernels without CONFIG_PROC_CHILDREN.
std::vector<pid_t> ChildrenByScan(pid_t pid) {
  const pid_t parent = pid == 0 ? getpid() : pid;
  std::vector<pid_t> out;
  for (const pid_t p : NumericEntries("/proc"))
    if (FamilyOf(p).parent == parent) out.push_back(p);
  return out;
}

// From a line of /proc/PID/stat: who waits uses none, who loops does.
double ProcessorSeconds(const std::string& stat) {
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;  // the state is the first
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string OneLine(const std::string& path) { return std::string(Trim(ReadSmallFile(path, 4096))); }

}  // namespace

std::vector<pid_t> ChildrenOf(pid_t pid) {
  if (!ProcIsOurs()) return {};
  static const bool kListed =
      access("/proc/self/task", R_OK) == 0 &&
      access(("/proc/self/task/" + std::to_string(getpid()) + "/children").c_str(), R_OK) == 0;
  if (!kListed) return ChildrenByScan(pid);
  std::vector<pid_t> out;
  const std::string tasks = ProcPath(pid) + "/task";
  // The harness has one thread; a worker's children hang on whichever thread started them.
  const std::vector<pid_t> threads = pid == 0 ? std::vector<pid_t>{getpid()} : NumericEntries(tasks);
  for (const pid_t thread : threads) {
    std::istringstream list(ReadSmallFile(tasks + "/" + std::to_string(thread) + "/children"));
    for (pid_t child; list >> child;) out.push_back(child);
  }
  return out;
}

int CountDescendants(pid_t pid, int limit) {
  std::vector<pid_t> open = {pid};
  int count = 0;
  while (!open.empty() && count < limit) {
    const pid_t next = open.back();
    open.pop_back();
    for (const pid_t child : ChildrenOf(next)) {
      ++count;
      open.push_back(child);
    }
  }
  return count;
}

std::string LargestCommandOf(pid_t worker) {
  constexpr int kEnough = 10'000;
  const std::vector<pid_t> children = ChildrenOf(worker);
  pid_t largest = 0;
  int most = 0, all = 0;
  for (const pid_t child : children) {
    const int count = 1 + CountDescendants(child, kEnough);
    all += count;
    if (count <= most || FamilyOf(child).group != child) continue;
    most = count;
    largest = child;
  }
  return 2 * most > all ? SingleLine(OneLine(ProcPath(largest) + "/comm"), 64) : "";
}

std::string DescribeOwner(pid_t pid) {
  std::istringstream status(ReadSmallFile(ProcPath(pid) + "/status", 4096));
  std::string line, user;
  while (user.empty() && std::getline(status, line))
    if (line.starts_with("Uid:")) std::istringstream(line.substr(4)) >> user >> user;  // the real one first
  return SingleLine(OneLine(ProcPath(pid) + "/comm"), 64) + (user.empty() ? "" : ", of user " + user);
}

int64_t ResidentBytes(pid_t pid) {
  std::istringstream statm(ReadSmallFile(ProcPath(pid) + "/statm", 256));
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::string DescribeProcess(pid_t pid) {
  const std::string tasks = ProcPath(pid) + "/task";
  std::vector<pid_t> threads = NumericEntries(tasks);
  if (threads.empty()) return "process " + std::to_string(pid) + ": gone";
  std::sort(threads.begin(), threads.end());
  std::ostringstream out;
  const size_t shown = std::min<size_t>(threads.size(), 16);
  for (size_t i = 0; i < shown; ++i) {
    const std::string task = tasks + "/" + std::to_string(threads[i]);
    const std::string stat = OneLine(task + "/stat");
    const size_t end = stat.rfind(')');
    const std::string state =
        end == std::string::npos || end + 2 >= stat.size() ? "?" : stat.substr(end + 2, 1);
    std::string wchan = OneLine(task + "/wchan");
    if (wchan.empty() || wchan == "0") wchan = "not readable";
    std::string call = OneLine(task + "/syscall");
    call = call.empty() ? "not readable" : call.substr(0, call.find(' '));
    out << "thread " << threads[i] << " (" << OneLine(task + "/comm") << "): state " << state
        << ", wait channel " << wchan << ", system call " << call << ", processor time "
        << FixedSeconds(ProcessorSeconds(stat)) << " s\n";
  }
  if (threads.size() > shown) out << "and " << threads.size() - shown << " more threads\n";
  return out.str();
}

int AvailableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const auto bound = [&](double quota, double period) {
    if (quota > 0 && period > 0) cpus = std::min(cpus, static_cast<int>(std::ceil(quota / period)));
  };
  // cgroup v2: "max 100000" or "200000 100000"; v1: two files. In a container its own group is the root.
  std::istringstream v2(ReadSmallFile("/sys/fs/cgroup/cpu.max", 256));
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max") bound(strtod(quota.c_str(), nullptr), period);
  bound(strtod(ReadSmallFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", 64).c_str(), nullptr),
        strtod(ReadSmallFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us", 64).c_str(), nullptr));
  return std::max(1, cpus);
}

bool HasCpuQuota() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 && AvailableCpus() < CPU_COUNT(&set);
}

}  // namespace cudnn_ci
