// The host side of the plugin ABI: turns a check's calls into messages. One case runs at a time;
// reports may come from any of its threads.
#ifndef CUDNN_CI_WORKER_HOST_H_
#define CUDNN_CI_WORKER_HOST_H_

#include <cudnn_ci/plugin.h>

#include <string>

#include "wire/message.h"
#include "worker/known_entries.h"
#include "worker/running_case.h"

namespace cudnn_ci::worker {

// Sends a message to the harness; exits the process when the harness is gone.
void SendToHarness(int control_fd, const wire::FromWorker& message);

class Host {
 public:
  explicit Host(int control_fd) : control_fd_(control_fd) {}
  void Configure(const wire::Configure& configuration);
  void Know(const wire::Known& known) { known_.Add(known.entries); }
  // Calls the plugin's facts.
  void CollectFacts(const cci_plugin* plugin);
  // Lets the plugin validate the parameters of one case. Uses no device.
  void Validate(const cci_plugin* plugin, const wire::Validate& request);
  // Lets the plugin prepare a case that may follow. Ends the process where it is unfit for one then.
  void PrepareCase(const cci_plugin* plugin, const wire::PrepareCase& request);
  // Runs one case to its verdict; false: this process must run nothing more (poisoned, leaked, broken
  // context).
  bool RunCase(const cci_plugin* plugin, const wire::Run& run);

 private:
  // What every call into a plugin may read.
  void Open(Phase phase, cci_case* c) const;

  int control_fd_;
  bool began_ = false;  // a case
  wire::Configure configuration_;
  KnownEntries known_;
};

}  // namespace cudnn_ci::worker

#endif  // CUDNN_CI_WORKER_HOST_H_
