#include "launch/cancel.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cudnn_ci::launch {

Cancel::Cancel() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGALRM, SIGCHLD}) sigaddset(&set, s);
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_ = Fd(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

bool Cancel::Take() {
  bool first = false;
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;
    came_again_ = signal_ != 0;
    if (came_again_) continue;
    signal_ = number;
    first = true;
  }
  return first;
}

}  // namespace cudnn_ci::launch
