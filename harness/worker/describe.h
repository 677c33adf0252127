// A plugin's C tables as messages. Reads only what struct sizes cover and checks what an author can get
// wrong, so that the harness may rely on it.
#ifndef CUDNN_CI_WORKER_DESCRIBE_H_
#define CUDNN_CI_WORKER_DESCRIBE_H_

#include <cudnn_ci/plugin.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "wire/message.h"

namespace cudnn_ci::worker {

// The checks of a plugin by their full name; null if there is none of that name.
const cci_check* FindCheck(const cci_plugin* plugin, const std::string& full_name);

// The check's validate hook; null where it has none, or is of a version that had none.
void (*ValidateOf(const cci_check* check))(const cci_host*, cci_case*);

// The same of its prepare hook.
void (*PrepareOf(const cci_check* check))(const cci_host*, cci_case*);

// As of enum cci_where; kNone for any other number.
Where PlaceOfNumber(uint32_t where);

// Sends PluginDescribed, the checks, the findings and DescribeEnd; an error if a table is malformed.
Status DescribePlugin(const cci_plugin* plugin, const std::function<void(const wire::FromWorker&)>& send);

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_DESCRIBE_H_
