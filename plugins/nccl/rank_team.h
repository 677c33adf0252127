// The ranks of a job that one process forks: it hears what they say and ends them. Knows nothing of CUDA;
// must not know the SDK.
#ifndef CUDNN_CI_PLUGINS_NCCL_RANK_TEAM_H_
#define CUDNN_CI_PLUGINS_NCCL_RANK_TEAM_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "nccl/rank_job.h"

namespace cudnn_ci {

class RankTeam {
 public:
  // Takes a line of a rank, by its number in the whole job.
  using Heard = std::function<void(int rank, const std::string& line)>;

  // Forks `count` ranks of the job from `first` on, where nothing of CUDA is loaded and no thread runs beside
  // the caller's. They die with this process. Throws std::runtime_error where no process can be had.
  RankTeam(const RankJob& job, int first, int count);
  // Whatever happens, nobody is left.
  ~RankTeam();
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;

  // Hears what there is, or comes within milliseconds. The last line of a rank is its end (RankWord::kEnded).
  void Look(int wait_ms, const Heard& heard);
  // The unique id, by the words of RankWord::kId, to all of them.
  void PassOn(const std::string& digits) const;

 private:
  struct Member {
    pid_t pid = -1;
    int channel = -1;
    bool ended = false;
    std::string unread;
  };
  void Fork(int rank, Member* member);
  static void Hear(Member* member, int rank, const Heard& heard);
  void EndAll();

  const RankJob& job_;
  const int first_;
  std::vector<Member> members_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_NCCL_RANK_TEAM_H_
