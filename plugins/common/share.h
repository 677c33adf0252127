// What a process may take of a host and a GPU that others use at the same time.
#ifndef CUDNN_CI_PLUGINS_COMMON_SHARE_H_
#define CUDNN_CI_PLUGINS_COMMON_SHARE_H_

#include <cudnn_ci/check.hpp>

namespace cudnn_ci {

// From now on the threads of ParallelFor, the memory of the Session and what LookAtHostMemory finds keep to
// what the harness says that this process may count on (CCI_FACT_SHARE_*); to nothing where it says nothing.
// For a check that is Concurrent, before anything else.
void KeepToShare(const Context& ctx);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_SHARE_H_
