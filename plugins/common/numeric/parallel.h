// Spreads independent items of work over the CPUs this process may use. Knows nothing of convolutions.
#ifndef CUDNN_CI_PLUGINS_COMMON_NUMERIC_PARALLEL_H_
#define CUDNN_CI_PLUGINS_COMMON_NUMERIC_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace cudnn_ci {

// CPUs in this process's affinity mask, within LimitCpus, at most 16: beyond that memory is the limit, and
// the machine is shared. At least 1.
int UsableCpus();
// From now on UsableCpus is `most` at most: other processes use the rest. 0: as many as there are.
void LimitCpus(int most);

// Calls body(begin, end) for ranges that cover [0, count) exactly once, each of at most `grain` items,
// on up to UsableCpus() threads; `threads` > 0 sets their number. Returns when all are done. The first
// exception of a body is thrown on; the others' ranges may then be left out. With one range or one CPU
// no thread is made; threads that were made wait for the next call. May be called from several threads at
// once. A body may call it, too.
void ParallelFor(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t begin, std::int64_t end)>& body, int threads = 0);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_NUMERIC_PARALLEL_H_
