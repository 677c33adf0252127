// Which part of a queue each of several warm workers works through. Pure bookkeeping.
//
// Cases that stand together in the plan use the same API, kernels and reference data. A process that goes
// through neighbours loads each kernel once; processes that take turns load every kernel each. Slow cases are
// compiled one by one: those go to whoever is free, before all others, so that none of them is left at the
// end.
#ifndef CUDNN_CI_EXEC_SCHEDULE_PORTIONS_H_
#define CUDNN_CI_EXEC_SCHEDULE_PORTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace cudnn_ci {

class Portions {
 public:
  // Whether a case is slow; the same at each call.
  using IsSlow = std::function<bool(size_t)>;

  // The worker's next case, one of `ready` (cases by place in the plan, ascending, not empty): the first slow
  // one, or else where the worker is. One whose portion is done takes the second half of the portion that has
  // most ready cases.
  size_t Next(int64_t worker, const std::deque<size_t>& ready, const IsSlow& is_slow);
  // The worker is gone: whoever needs a portion next may have the rest of its portion.
  void Release(int64_t worker);

 private:
  // Places in the plan, the end excluded.
  struct Range {
    size_t begin, end;
  };
  std::map<int64_t, Range> ranges_;  // by worker
  std::vector<Range> left_;          // of workers that are gone
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_PORTIONS_H_
