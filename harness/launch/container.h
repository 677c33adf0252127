// The engine's command line that runs cudnn-ci in a container.
#ifndef CUDNN_CI_LAUNCH_CONTAINER_H_
#define CUDNN_CI_LAUNCH_CONTAINER_H_

#include <string>
#include <vector>

#include "launch/engine.h"
#include "launch/identity.h"
#include "launch/matrix.h"
#include "launch/options.h"
#include "launch/tool.h"

namespace cudnn_ci::launch {

// What the command line is made of. All that is pointed at outlives it.
struct ContainerOf {
  const Options* options;
  const Tool* tool;
  const MatrixChoice* matrix;
  const Engine* engine;
  Identity identity;
  std::string token;               // names container, folder and reports of this run
  std::string reports;             // the folder of this machine that the container may write to
  std::string config;              // a file with the image's configuration; empty: none
  std::vector<std::string> blank;  // variables of the image that are left empty
  bool no_health_check = true;     // the image's own would run beside the gate
  std::string reports_at;          // where the reports will lie on this machine
  std::string again;               // the line that repeats this run
};

// The container's name.
std::string ContainerName(const std::string& token);

// The words of the command. Everything of ours lies below one folder whose name no image can know: a link of
// the image's at a place that it knows would lead engine and kernel to different files.
std::vector<std::string> ComposeCommand(const ContainerOf& of);

// The variables by which a job tells which part of the cases it has (--shard auto).
const std::vector<std::string>& PartVariables();

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_CONTAINER_H_
