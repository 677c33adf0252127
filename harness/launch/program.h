// Programs that the launcher starts, the engine's above all: by their words, without a shell, with bounds on
// what is kept of their output and, where they only answer a question, on their time.
#ifndef CUDNN_CI_LAUNCH_PROGRAM_H_
#define CUDNN_CI_LAUNCH_PROGRAM_H_

#include <cstddef>
#include <string>
#include <vector>

#include "launch/cancel.h"

namespace cudnn_ci::launch {

// Where a program's standard output goes. To ours it is passed on, so that one that takes no more (`| head`,
// a full disk) is no failure of the program's; a terminal the program gets itself.
enum class Output { kDropped, kKept, kOurs };

struct Call {
  std::vector<std::string> words;  // the program's name or path, and its arguments
  std::string program = {};        // its file, where words[0] does not tell it
  Output output = Output::kKept;
  size_t most_output = size_t{1} << 20;  // bytes that are kept; what follows is dropped
  bool shown = false;                    // what it says on stderr goes to ours as well
  double seconds = 60;                   // then it is ended; 0: it may take as long as it likes
  std::vector<std::string> stop = {};    // the command that ends what it runs, in order; empty: SIGTERM does
  // So long `stop` is repeated while it fails: what it ends may not be there yet. A second signal ends that.
  double stop_again_s = 0;
  // What is there then has done nothing yet that it could finish: this command ends it.
  std::vector<std::string> remove = {};
  double grace_s = 2;  // from SIGTERM to SIGKILL; `stop` takes as long, and as it needs itself
};

struct Ended {
  int status = 127;         // as a shell has it: 128 and the signal; 127 also where it could not be started
  std::string output;       // what was kept
  bool output_cut = false;  // it was more
  std::string said;         // the last MiB, at most, of what it said on stderr
  bool out_of_time = false;
  bool unfinished = false;  // a signal has ended it, or what `stop` ends never came
  bool unprinted = false;   // our standard output has not taken all, although it has a reader
  bool ok() const { return status == 0; }
};

// The path of a program; empty: there is none of that name.
std::string FindProgram(const std::string& name);

// Runs the program to its end. It gets no input, no signal that is blocked here, and a process group of its
// own, so that a terminal's Ctrl-C reaches the launcher alone. A signal that ends the launch, and was not
// noticed before, ends the program. What it leaves behind may hold its output open for five seconds at most;
// what it has said is shown as long as the console takes some of it within a minute.
Ended Run(const Call& call, Cancel* cancel);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_PROGRAM_H_
