#include "nccl/rank_team.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "nccl/forked.h"
#include "nccl/rank_process.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostLine = 64 << 10;  // bytes
constexpr std::chrono::seconds kEndsWithin{5};

std::string HowEnded(int status) {
  if (WIFSTOPPED(status)) return "was stopped by signal " + std::to_string(WSTOPSIG(status));
  return WIFSIGNALED(status) ? "was killed by signal " + std::to_string(WTERMSIG(status))
                             : "exited with " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

RankTeam::RankTeam(const RankJob& job, int first, int count)
    : job_(job), first_(first), members_(static_cast<std::size_t>(count)) {
  try {
    for (Member& member : members_) Fork(first++, &member);
  } catch (...) {
    EndAll();
    throw;
  }
}

RankTeam::~RankTeam() { EndAll(); }

void RankTeam::Fork(int rank, Member* member) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error(std::string("socketpair: ") + strerror(errno));
  member->channel = ends[0];
  const int own = ends[1];
  fflush(stdout);
  member->pid = ForkWith(own);
  const int error = errno;
  if (member->pid != 0) close(own);
  if (member->pid < 0) throw std::runtime_error(std::string("fork: ") + strerror(error));
  if (member->pid > 0) return static_cast<void>(fcntl(ends[0], F_SETFL, O_NONBLOCK));
  RunRank(job_, rank, rank - first_, own);
}

void RankTeam::Look(int wait_ms, const Heard& heard) {
  std::vector<pollfd> polled;
  for (const Member& member : members_) polled.push_back({member.ended ? -1 : member.channel, POLLIN, 0});
  poll(polled.data(), polled.size(), wait_ms);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    if (member.ended) continue;
    const int rank = first_ + static_cast<int>(i);
    // Asked first, so that what it said before its end is all there.
    int status = 0;
    const bool is_over = waitpid(member.pid, &status, WNOHANG | WUNTRACED) == member.pid;
    member.ended = is_over && !WIFSTOPPED(status);
    Hear(&member, rank, heard);
    if (is_over) heard(rank, static_cast<char>(RankWord::kEnded) + HowEnded(status));
  }
}

void RankTeam::Hear(Member* member, int rank, const Heard& heard) {
  char buffer[4096];
  for (ssize_t n; (n = read(member->channel, buffer, sizeof buffer)) > 0;) {
    member->unread.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end; (end = member->unread.find('\n')) != std::string::npos;) {
      heard(rank, member->unread.substr(0, end));
      member->unread.erase(0, end + 1);
    }
    if (member->unread.size() > kMostLine) member->unread.clear();
  }
}

void RankTeam::PassOn(const std::string& digits) const {
  NcclUniqueId id = {};
  for (std::size_t i = 0; i < sizeof id.bytes && 2 * i + 1 < digits.size(); ++i)
    id.bytes[i] = static_cast<char>(std::strtol(digits.substr(2 * i, 2).c_str(), nullptr, 16));
  for (const Member& member : members_) {
    // It fits the socket's buffer; a rank that is gone is seen by its end.
    [[maybe_unused]] const ssize_t n = send(member.channel, id.bytes, sizeof id.bytes, MSG_NOSIGNAL);
  }
}

void RankTeam::EndAll() {
  for (const Member& member : members_)
    if (member.pid > 0 && !member.ended) kill(member.pid, SIGKILL);
  // One that waits in the driver for a wedged GPU does not end: what is known of the others is told all the
  // same.
  const auto until = std::chrono::steady_clock::now() + kEndsWithin;
  for (Member& member : members_) {
    if (member.channel >= 0) close(member.channel);
    while (member.pid > 0 && !member.ended) {
      const pid_t ended = waitpid(member.pid, nullptr, WNOHANG);
      member.ended =
          ended == member.pid || (ended < 0 && errno != EINTR) || std::chrono::steady_clock::now() > until;
      if (!member.ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace cudnn_ci
