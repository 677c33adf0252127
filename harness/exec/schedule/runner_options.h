// What a run of a plan needs to know besides the plan.
#ifndef CUDNN_CI_EXEC_SCHEDULE_RUNNER_OPTIONS_H_
#define CUDNN_CI_EXEC_SCHEDULE_RUNNER_OPTIONS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exec/schedule/scheduler.h"
#include "exec/workers/worker.h"
#include "model/plan/check_info.h"
#include "model/plan/speed.h"
#include "model/record/event.h"

namespace cudnn_ci {

struct RunnerOptions {
  std::string worker_path;  // of cudnn-ci-worker
  std::string scratch_dir;  // private, exists
  std::string output_dir;   // attachments go to DIR/attachments; empty: they are dropped
  Isolation isolation = Isolation::kShared;
  int jobs = 1;
  int processors = 1;            // that the container may use
  bool processor_quota = false;  // these are a quota of more that it sees
  int workers_per_gpu = 0;  // warm workers of one GPU at a time, at most; 0: as many as there is room for
  // Of the host's memory, free when the run begins, without which two large processes do not run at once: a
  // framework and a convolution's reference take some gigabytes each.
  int64_t co_scheduled_host_bytes = int64_t{16} << 30;
  int retries = 0;
  bool fail_fast = false;
  double time_limit_s = 0;  // 0: none
  WorkerLimits limits;
  int max_descendants = 256;  // of one worker
  std::map<std::string, std::string> contract;
  std::map<std::string, std::set<std::string>> unpromised;  // by subject, what its workers are not told of it
  std::map<std::string, std::string> compatibility;         // the entries of the table of version facts
  Facts facts;
  std::vector<SubjectInfo> subjects;
  std::vector<DeviceInfo> devices;  // with empty uuid: nominal, nothing to test
  // Visible GPUs that the run does not test: they may be asked for a second opinion.
  std::vector<DeviceInfo> other_devices;
  SpeedBaseline baseline;  // what cases with `max_slowdown` are held to
};

// All that may be asked for a second opinion; none where one process does everything.
std::vector<DeviceInfo> AskableDevices(const RunnerOptions& options);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_SCHEDULE_RUNNER_OPTIONS_H_
