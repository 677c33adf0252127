// The table of the commands beside the gate, in the order of --help.
#ifndef CUDNN_CI_CLI_COMMANDS_TABLE_H_
#define CUDNN_CI_CLI_COMMANDS_TABLE_H_

#include <memory>

#include "cli/command.h"

// X(function that makes it, its word, what --help says of it). The function is defined in the command's file.
#define CUDNN_CI_COMMANDS(X)                                                                       \
  X(MakeList, "list", "list the cases of the plan without running them")                           \
  X(MakePlugins, "plugins", "list the plugins and their checks")                                   \
  X(MakeFacts, "facts", "print the facts about this host and image")                               \
  X(MakeInit, "init", "write a first matrix from what this image has")                             \
  X(MakeExplain, "explain", "explain a finding, or the text of an error")                          \
  X(MakeKnowledge, "knowledge", "print what is known about packages and faults")                   \
  X(MakeCopyTo, "copy-to", "copy the installed tree, without a shell or cp")                       \
  X(MakeSelfTest, "self-test", "inject faults into runs of the gate, to see that it notices them") \
  X(MakeReport, "report", "rebuild reports from a journal, or merge several runs into one")        \
  X(MakeCompare, "compare", "show what changed between two runs")                                  \
  X(MakeWaive, "waive", "write waivers for the failures of a run")                                 \
  X(MakeManual, "manual", "print the manual page")

namespace cudnn_ci {

#define CUDNN_CI_DECLARE_COMMAND(Make, word, what) std::unique_ptr<Command> Make();
CUDNN_CI_COMMANDS(CUDNN_CI_DECLARE_COMMAND)
#undef CUDNN_CI_DECLARE_COMMAND

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMMANDS_TABLE_H_
