// How many processes may use a GPU at a time. Pure.
#ifndef CUDNN_CI_EXEC_SCHEDULE_SHARING_H_
#define CUDNN_CI_EXEC_SCHEDULE_SHARING_H_

#include <cstddef>
#include <cstdint>

namespace cudnn_ci {

// What there is for the workers of a queue, or of several, when the run begins.
struct SharingRoom {
  int asked = 0;              // by the user, at most; 0: as many as there is room for
  int jobs = 1, devices = 1;  // processes at a time, and the GPUs that they are for
  int processors = 1;
  int64_t device_bytes = 0;     // free on the GPU
  int64_t host_bytes = 0;       // that can be used
  int64_t host_bytes_each = 0;  // 0: it does not matter
  size_t queues = 1;            // that need a worker each, whatever there is to do
  size_t cases = 0;             // of the queues that may run so
  size_t slow = 0;              // of these
  bool process_each = false;    // not for warm workers, but for processes with one case each
};

// At least 1. One job is left to others, and of the memory as much as one of them has. Who asks for a number
// is held to jobs and cases alone: the memory is shared out, whatever it comes to.
int ProcessesThatFit(const SharingRoom& room);

// Whether `workers` of one queue get its `work` (1 each case, kSlowCase for a slow one) done sooner than one
// fewer. Contexts end one after the other, for a tenth of a second each, in which a worker gets through a
// case or two: n workers that ended together would leave the GPU idle for the time of n * n cases.
bool AreWorthTheirContexts(size_t workers, size_t work);

// Threads for what each of `sharers` workers computes on the CPU while cuDNN works, at least 1. That is less
// than half of its time, so twice its share of the processors keeps them busy. Under a `quota` it is the
// share: what all spend at once in the first part of a period is missing in the rest of it.
int ThreadsEach(int processors, bool quota, int sharers);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_SHARING_H_
