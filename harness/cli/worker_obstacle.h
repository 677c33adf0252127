// What in an image keeps every worker from running: found once, said once, instead of one red case for each
// plugin.
#ifndef CUDNN_CI_CLI_WORKER_OBSTACLE_H_
#define CUDNN_CI_CLI_WORKER_OBSTACLE_H_

#include <optional>
#include <string>

#include "exec/plugins/discover.h"
#include "model/record/finding.h"

namespace cudnn_ci {

// Before anything is started: a limit of the runner that is too low, or no dynamic loader. None: nothing is
// known to be in the way. `root`: "" or, in tests, the image's root.
std::optional<Finding> ObstacleBeforeDiscovery(const std::string& worker_path, const std::string& root = "");

// None: the file at `loader`, which is there, is glibc's loader of this name by its SONAME, or cannot be
// read. Else another C library's loader has taken the name (a link to musl's, gcompat, a stub), and no
// program of glibc's runs. Any thread.
std::optional<Finding> ForeignLoader(const std::string& loader);

// Of the loader's words, where no plugin could be asked for one and the same reason: the image's C library is
// not one that the worker can run with. The loaders of glibc, musl, uClibc and bionic are known by their
// words.
std::optional<Finding> ObstacleOf(const Discovery& discovery, const std::string& worker_path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_WORKER_OBSTACLE_H_
