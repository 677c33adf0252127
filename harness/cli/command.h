// A command of cudnn-ci beside the gate: its options and what it does. Each has its own file, in
// cli/commands; the table of all is cli/commands/table.h.
#ifndef CUDNN_CI_CLI_COMMAND_H_
#define CUDNN_CI_CLI_COMMAND_H_

#include "base/result.h"
#include "cli/installation.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace cudnn_ci {

class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;
  // Declares its options and arguments on `app`, which sets them when the line is parsed and lives until
  // then. An option that the gate has too may stand before the command's word as well.
  virtual void Declare(CLI::App* app) = 0;
  // What only all options together show. Called once, when they are set.
  virtual Status Check() { return {}; }
  // Prints the answer. Returns the exit code.
  virtual int Run(const Invocation& invocation) = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_COMMAND_H_
