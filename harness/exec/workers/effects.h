// What a worker's state machine asks for: to be carried out by the pool (packets, signals) or to be evaluated
// by the pool's client (the rest).
#ifndef CUDNN_CI_EXEC_WORKERS_EFFECTS_H_
#define CUDNN_CI_EXEC_WORKERS_EFFECTS_H_

#include <string>
#include <variant>
#include <vector>

#include "model/record/event.h"
#include "model/record/outcome.h"

namespace cudnn_ci {

// How an attempt at a case ended. The findings and expectations it reported stand in the record of the run.
struct AttemptResult {
  size_t case_index = 0;
  int attempt = 1;
  AttemptMode mode = AttemptMode::kAlone;
  Outcome outcome;
  std::vector<std::string> crashed_step;  // the step it ended in, if the check can skip it; at most one
  double seconds = 0;
  std::string output, evidence;
  int signal = 0;  // that ended the process
  bool leaked = false, context_broken = false, slow = false;
  bool concurrent = false;  // its device may have been shared with other processes, and its memory
  // It is bad, and what others took of the device and the host may be why: it counts for nothing.
  bool inconclusive = false;
};

// For the pool.
struct SendPacket {
  std::string packet;
};
struct SendSignal {
  int signal = 0;
};
// The process would not die: the pool stops waiting for it, and passes this on. The last effect of a worker.
struct Abandoned {
  std::string evidence;
};

// For the pool's client.
struct EmitEvent {
  EventBody body;
};
struct AttemptEnded {
  AttemptResult result;
};
// Unfinished cases given back, none of them to blame.
struct GiveBack {
  std::vector<size_t> case_indices;
};
// The process ended as it prepared the case, of itself or because it took too long.
struct PreparationFailed {
  size_t case_index = 0;
  Errored how;
  int signal = 0;  // that ended the process
};
struct CanaryResult {
  bool ok = false;
  std::string detail;
};

using Effect = std::variant<SendPacket, SendSignal, Abandoned, EmitEvent, AttemptEnded, GiveBack,
                            PreparationFailed, CanaryResult>;
using Effects = std::vector<Effect>;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_WORKERS_EFFECTS_H_
