// Finds plugin files and lets each describe itself, and what host and image are, in its own process: a
// static initialiser that crashes, exits or hangs costs its own plugin and nothing else.
#ifndef CUDNN_CI_EXEC_PLUGINS_DISCOVER_H_
#define CUDNN_CI_EXEC_PLUGINS_DISCOVER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exec/system/process.h"
#include "exec/workers/worker.h"
#include "model/plan/check_info.h"
#include "model/record/event.h"

namespace cudnn_ci {

struct DiscoverOptions {
  std::string worker_path;
  std::string scratch_dir;
  std::vector<std::string> directories;         // searched for *.cci.so, not below; missing ones are skipped
  std::vector<SubjectInfo> subjects;            // facts are collected for each; empty: no facts
  std::map<std::string, std::string> contract;  // of the matrix; empty: none is known yet
  double load_timeout_s = 10;
  double facts_timeout_s = 60;
  WorkerLimits limits;
};

struct Discovery {
  Catalog catalog;
  Facts facts;
  std::map<std::pair<std::string, std::string>, std::string> fact_owners;  // by subject and key: the plugin
  Notices warnings;
  // A process survived SIGKILL: what hangs in the kernel of this machine would hang again. In words; empty:
  // none did.
  std::string abandoned;
};

// `signal_fd`: a non-blocking signalfd of SIGCHLD, SIGINT and SIGTERM. Gives up, with what it has, when
// SIGINT or SIGTERM comes (`*interrupted` becomes the signal).
Discovery Discover(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted);

// Facts alone, for subjects that were not known before (those of a matrix), added to `discovery`.
void CollectFacts(const DiscoverOptions& options, ProcessControl* control, int signal_fd,
                  Discovery* discovery, int* interrupted);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_EXEC_PLUGINS_DISCOVER_H_
