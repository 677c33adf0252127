// cudnn-ci: may this image ship? The table of contents; each line is a chapter.
#include "cli/command_line.h"
#include "cli/gate.h"
#include "cli/process_setup.h"
#include "launch/launch.h"

int main(int argc, char** argv) {
  cudnn_ci::PrepareProcess();  // signals, descriptors, limits: nothing inherited decides how this ends
  const cudnn_ci::ParsedLine line = cudnn_ci::ParseCommandLine(argc, argv);
  if (line.launcher) return cudnn_ci::launch::RunLauncher(*line.launcher);  // run IMAGE: in a container
  if (line.command) return cudnn_ci::RunCommand(line);  // list, plugins, facts, ...: cli/commands
  if (!line.run) return cudnn_ci::RejectCommandLine(line);

  cudnn_ci::Gate gate(*line.run, line.invocation);
  return gate.PrepareOutput()           // no report of an earlier run survives from here on
                 && gate.Load()         // the contract, whole and valid, or exit 2
                 && gate.OpenReports()  // a journal, and a junit.xml that is red until the end
                 && gate.Discover()     // which plugins there are, and what host and image are
                 && gate.MakePlan()     // which cases exist: fixed before any runs
                 && gate.Run()          // each in a process that may do to itself what it likes
             ? gate.Finish()            // one fold over the record: reports, verdict, exit code
             : gate.exit_code();
}
