// What /proc says of processes, and when it is not to be believed.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "base/proc_self.h"
#include "exec/system/proc.h"

namespace cudnn_ci {
namespace {

// Whether `holds` does in a process of its own.
bool InAChild(const std::function<bool()>& holds) {
  const pid_t pid = fork();
  if (pid == 0) _exit(holds() ? 0 : 1);
  int status = 0;
  return waitpid(pid, &status, 0) == pid && status == 0;
}

TEST(ProcTest, OfAnotherNamespaceNamesNoChildren) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root for a namespace";
  // The first process of a namespace has the number of the machine's own first, whose children /proc shows.
  const auto first = [] { return getpid() == 1 && !ProcIsOurs() && ChildrenOf(0).empty(); };
  EXPECT_TRUE(InAChild([&] { return unshare(CLONE_NEWPID) == 0 && InAChild(first); }));
}

TEST(ProcTest, NamesChildren) {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  EXPECT_TRUE(ProcIsOurs());
  EXPECT_EQ(ChildrenOf(0), std::vector<pid_t>{pid});
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// A family of four below this process, with a group of its own or not; what is said of it.
std::string CommandOfFamily(bool own_group) {
  int ready[2];
  if (pipe(ready) != 0) return "no pipe";
  const pid_t pid = fork();
  if (pid == 0) {
    if (own_group) setpgid(0, 0);
    for (int i = 0; i < 3; ++i)
      if (fork() == 0) {
        for (;;) pause();
      }
    if (write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) return "no child";
  const std::string command = LargestCommandOf(getpid());
  for (const pid_t child : ChildrenOf(pid)) kill(child, SIGKILL);
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  return command;
}

TEST(ProcTest, ACommandIsWhatLeadsAGroupOfItsOwn) {
  EXPECT_EQ(CommandOfFamily(true), "exec_test");
  EXPECT_EQ(CommandOfFamily(false), "");
}

// What is left of a hang's evidence where the process hides.
TEST(ProcTest, ALoopIsToldFromAWaitByItsProcessorTime) {
  const auto started = [](bool loops) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    HideFromOthers();
    while (loops) {
    }
    for (;;) pause();
  };
  const pid_t loop = started(true), wait = started(false);
  const std::string none = "processor time 0.000 s";
  for (int i = 0; i < 3000 && DescribeProcess(loop).find(none) != std::string::npos; ++i) usleep(10'000);
  EXPECT_EQ(DescribeProcess(loop).find(none), std::string::npos) << DescribeProcess(loop);
  EXPECT_NE(DescribeProcess(wait).find(none), std::string::npos) << DescribeProcess(wait);
  for (const pid_t pid : {loop, wait}) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
}

}  // namespace
}  // namespace cudnn_ci
