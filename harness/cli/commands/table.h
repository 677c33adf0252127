// The table of the commands beside the gate, in the order of --help.
#ifndef CUDNN_CI_CLI_COMMANDS_TABLE_H_
#define CUDNN_CI_CLI_COMMANDS_TABLE_H_

#include <memory>

#include "cli/command.h"

// X(function that makes it, its word, what --help says of it). The function is defined in the command's file.
#define CUDNN_CI_COMMANDS(X)                                                                \
  X(MakeList, "list", "the cases of the plan, without running them")                        \
  X(MakePlugins, "plugins", "what was discovered")                                          \
  X(MakeFacts, "facts", "what this host and image are")                                     \
  X(MakeInit, "init", "write a first matrix from what is found here")                       \
  X(MakeExplain, "explain", "cause, remedy and link of a finding")                          \
  X(MakeKnowledge, "knowledge", "what is known of packages and faults")                     \
  X(MakeCopyTo, "copy-to", "copy the installed tree, without shell or cp")                  \
  X(MakeSelfTest, "self-test", "inject faults into runs of the gate: does it notice?")      \
  X(MakeReport, "report", "rebuild reports from a journal, or merge several runs into one") \
  X(MakeCompare, "compare", "what changed from one run to another")                         \
  X(MakeWaive, "waive", "write waivers for what failed in a run")                           \
  X(MakeManual, "manual", "the manual page")

namespace cudnn_ci {

#define CUDNN_CI_DECLARE_COMMAND(Make, word, what) std::unique_ptr<Command> Make();
CUDNN_CI_COMMANDS(CUDNN_CI_DECLARE_COMMAND)
#undef CUDNN_CI_DECLARE_COMMAND

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMMANDS_TABLE_H_
