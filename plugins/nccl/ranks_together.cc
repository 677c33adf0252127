#include "nccl/ranks_together.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>

#include "nccl/rank_process.h"

namespace cudnn_ci {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHarness = 3;                  // the worker's own channel, which is none of a rank's
constexpr std::size_t kMostWrong = 8;        // of one rank, that are told
constexpr std::size_t kMostLine = 64 << 10;  // bytes
constexpr int kLookMs = 20;
constexpr std::chrono::milliseconds kLastWords{200};

struct Member {
  Member() = default;
  ~Member() { CloseChannel(); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  pid_t pid = -1;
  int channel = -1;
  std::string unread, step, last_error, wrong, failed, lacks, memory;
  bool waits = false, done = false, ended = false;
  int status = 0, judged = 0;
  std::size_t wrong_calls = 0;

  void CloseChannel() {
    if (channel >= 0) close(channel);
    channel = -1;
  }
  void EndNow() {
    if (pid > 0 && !ended) kill(pid, SIGKILL);
  }
};

class Leader {
 public:
  explicit Leader(const RankJob& job) : job_(job), members_(static_cast<std::size_t>(job.ranks)) {}
  // Whatever happens, nobody is left.
  ~Leader() { EndAll(); }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  RanksOutcome Run() {
    for (int rank = 0; rank < job_.ranks; ++rank) Fork(rank);
    auto last = Clock::now();
    while (!AllEnded() && !hung_) {
      if (Look()) last = Clock::now();
      if (AnyEndedEarly()) break;
      hung_ = std::chrono::duration<double>(Clock::now() - last).count() > job_.limit_s;
    }
    // What others say of it, or that they ended before, is heard too.
    const auto until = Clock::now() + kLastWords;
    while (AnyEndedEarly() && !AllEnded() && Clock::now() < until) Look();
    RanksOutcome outcome = Outcome();
    EndAll();
    return outcome;
  }

 private:
  void Fork(int rank) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error(std::string("socketpair: ") + strerror(errno));
    Member& member = members_[static_cast<std::size_t>(rank)];
    member.channel = ends[0];
    const int own = ends[1];
    fflush(stdout);
    const pid_t leader = getpid();
    member.pid = fork();
    const int error = errno;
    if (member.pid != 0) close(own);
    if (member.pid < 0) throw std::runtime_error(std::string("fork: ") + strerror(error));
    if (member.pid > 0) return static_cast<void>(fcntl(ends[0], F_SETFL, O_NONBLOCK));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != leader) _exit(0);
    close(kHarness);
    for (Member& other : members_) other.CloseChannel();
    RunRank(job_, rank, own);
  }

  bool AllEnded() const {
    return std::all_of(members_.begin(), members_.end(), [](const Member& m) { return m.ended; });
  }
  bool AnyEndedEarly() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.ended && !m.done; });
  }

  // Hears what there is; true: somebody went on.
  bool Look() {
    std::vector<pollfd> polled;
    for (const Member& member : members_) polled.push_back({member.ended ? -1 : member.channel, POLLIN, 0});
    poll(polled.data(), polled.size(), kLookMs);
    bool went_on = false;
    for (Member& member : members_) {
      if (member.ended) continue;
      // Asked first, so that what it said before its end is all there.
      const bool ended = waitpid(member.pid, &member.status, WNOHANG) == member.pid;
      went_on = Hear(&member) || went_on;
      member.ended = ended;
      went_on = went_on || ended;
    }
    return went_on;
  }

  bool Hear(Member* member) {
    bool went_on = false;
    char buffer[4096];
    for (ssize_t n; (n = read(member->channel, buffer, sizeof buffer)) > 0;) {
      member->unread.append(buffer, static_cast<std::size_t>(n));
      for (std::size_t end; (end = member->unread.find('\n')) != std::string::npos;) {
        went_on = Take(member, member->unread.substr(0, end)) || went_on;
        member->unread.erase(0, end + 1);
      }
      if (member->unread.size() > kMostLine) member->unread.clear();
    }
    return went_on;
  }

  // True: the rank went on.
  bool Take(Member* member, const std::string& line) {
    if (line.empty()) return false;
    const std::string words = line.substr(1);
    switch (static_cast<RankWord>(line[0])) {
      case RankWord::kId:
        PassOn(words);
        break;
      case RankWord::kLibrary:
        library_ = words;
        break;
      case RankWord::kStep:
        member->step = words, member->waits = false;
        break;
      case RankWord::kWaits:
        member->last_error = words, member->waits = true;
        return false;
      case RankWord::kWrong:
        if (++member->wrong_calls <= kMostWrong)
          member->wrong += (member->wrong.empty() ? "" : " | ") + words;
        break;
      case RankWord::kFailed:
        member->failed = words;
        break;
      case RankWord::kMemory:
        member->memory = words;
        break;
      case RankWord::kLacks:
        member->lacks = words;
        break;
      case RankWord::kDone:
        member->done = true, member->judged = std::atoi(words.c_str());
        break;
    }
    return true;
  }

  void PassOn(const std::string& digits) const {
    NcclUniqueId id = {};
    for (std::size_t i = 0; i < sizeof id.bytes && 2 * i + 1 < digits.size(); ++i)
      id.bytes[i] = static_cast<char>(std::strtol(digits.substr(2 * i, 2).c_str(), nullptr, 16));
    for (const Member& member : members_) {
      // It fits the socket's buffer; a rank that is gone is seen by its end.
      [[maybe_unused]] const ssize_t n = send(member.channel, id.bytes, sizeof id.bytes, MSG_NOSIGNAL);
    }
  }

  static std::string NameOf(std::size_t rank) { return "rank " + std::to_string(rank); }

  // What one kind of words all ranks have said.
  std::string Said(std::string Member::*words, bool only_first = false) const {
    std::string text;
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      const std::string& said = members_[rank].*words;
      if (said.empty() || (only_first && !text.empty())) continue;
      text += (text.empty() ? "" : "; ") + (only_first ? "" : NameOf(rank) + ": ") + said;
    }
    return text;
  }

  std::string Died() const {
    std::string text;
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      const Member& m = members_[rank];
      if (!m.ended || m.done || !m.failed.empty() || !m.lacks.empty() || !m.memory.empty()) continue;
      text += (text.empty() ? "" : "; ") + NameOf(rank) +
              (WIFSIGNALED(m.status) ? " was ended by signal " + std::to_string(WTERMSIG(m.status))
                                     : " exited with " + std::to_string(WEXITSTATUS(m.status))) +
              " in " + m.step;
    }
    return text;
  }

  // Those that did not come are behind the others: in an earlier step.
  std::string Hung() const {
    std::string text;
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      const Member& m = members_[rank];
      text += (text.empty() ? "" : "; ") + NameOf(rank);
      if (m.done) {
        text += " was done";
        continue;
      }
      text += (m.waits ? " waited in " : " did not return from ") + m.step;
      if (m.waits)
        text += m.last_error.empty() ? ", of which NCCL says nothing"
                                     : "; NCCL's last error: '" + m.last_error + "'";
    }
    return text;
  }

  RanksOutcome Outcome() const {
    RanksOutcome outcome;
    outcome.library = library_;
    for (const Member& member : members_) outcome.judged = std::max(outcome.judged, member.judged);
    const auto ends = [&outcome](RanksEnd end, const std::string& text) {
      if (text.empty()) return false;
      outcome.end = end, outcome.text = text;
      return true;
    };
    // A rank that dies leaves others waiting, or they fail too.
    if (!ends(RanksEnd::kLacking, Said(&Member::lacks, true)) &&
        !ends(RanksEnd::kWrong, Said(&Member::wrong)) && !ends(RanksEnd::kMemory, Said(&Member::memory)) &&
        !ends(RanksEnd::kDied, Died()) && !ends(RanksEnd::kFailed, Said(&Member::failed)) && hung_)
      ends(RanksEnd::kHung, Hung());
    return outcome;
  }

  void EndAll() {
    for (Member& member : members_) member.EndNow();
    for (Member& member : members_) {
      if (member.pid <= 0 || member.ended) continue;
      while (waitpid(member.pid, &member.status, 0) < 0 && errno == EINTR) {
      }
      member.ended = true;
    }
  }

  const RankJob& job_;
  std::vector<Member> members_;
  std::string library_;
  bool hung_ = false;
};

}  // namespace

RanksOutcome RunTogether(const RankJob& job) { return Leader(job).Run(); }

}  // namespace cudnn_ci
