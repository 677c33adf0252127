// Calling a function of a plugin so that an exception which leaves it, against the contract, harms only
// the plugin.
#ifndef CUDNN_CI_WORKER_PLUGIN_CALL_H_
#define CUDNN_CI_WORKER_PLUGIN_CALL_H_

#include <cudnn_ci/plugin.h>

#include <optional>
#include <string>

namespace cudnn_ci::worker {

// Calls `function`. When an exception leaves it: what is known of the exception, perhaps nothing (""). What
// the C frames between held is lost then, so that nothing more should run in this process. Of one thread at a
// time, not nested.
std::optional<std::string> ExceptionOf(void (*function)(const cci_host*, cci_case*), const cci_host* host,
                                       cci_case* c);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_PLUGIN_CALL_H_
