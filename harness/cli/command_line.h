// The command line, parsed: the gate with its options, another command, or the launcher.
#ifndef CUDNN_CI_CLI_COMMAND_LINE_H_
#define CUDNN_CI_CLI_COMMAND_LINE_H_

#include <memory>
#include <optional>
#include <vector>

#include "cli/command.h"
#include "cli/run_options.h"
#include "launch/launch.h"

namespace cudnn_ci {

struct ParsedLine {
  std::unique_ptr<RunOptions> run;                    // of the gate; null: it is not asked for
  std::unique_ptr<Command> command;                   // another command; null: none is asked for
  std::optional<launch::LauncherLine> launcher = {};  // the gate in a container; none: it is not asked for
  Invocation invocation;
  // With none of them: help was shown, or the usage was wrong. Of a run whose command line is wrong, where
  // its reports would have gone: those of an earlier run that lie there would be taken for this one's.
  int exit_code = 0;
  std::vector<ReportOptions> report_places = {};
};

// Prints help and version to stdout, usage errors to stderr.
ParsedLine ParseCommandLine(int argc, char** argv);

// The end of a line with neither gate, command nor launcher: no report of an earlier run is left where this
// one's would have been. Returns the exit code.
int RejectCommandLine(const ParsedLine& line);

// Runs another command than the gate, which a signal ends at once. Returns the exit code.
int RunCommand(const ParsedLine& line);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMMAND_LINE_H_
