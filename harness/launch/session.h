// One launch, from the engine's choice to the verdict.
#ifndef CUDNN_CI_LAUNCH_SESSION_H_
#define CUDNN_CI_LAUNCH_SESSION_H_

#include <functional>
#include <string>
#include <vector>

#include "launch/cancel.h"
#include "launch/container.h"
#include "launch/engine.h"
#include "launch/evidence.h"
#include "launch/folder.h"
#include "launch/matrix.h"
#include "launch/options.h"
#include "launch/page.h"
#include "launch/program.h"
#include "launch/speech.h"
#include "launch/tool.h"

namespace cudnn_ci::launch {

// What is to be started.
struct Plan {
  Options options;
  Tool tool;
  MatrixChoice matrix;
  Home home;
  std::function<void()> withdraw;  // removes the reports of an earlier run: for exit 2
  std::string called;              // what was typed to call the launcher, for a shell
  std::string again;               // the line that repeats the run
};

// The command that a plan would start, with placeholders for what is made at the start; for a shell.
std::string DryRun(const Plan& plan);

class Session {
 public:
  explicit Session(const Plan& plan);
  ~Session();  // removes the container and the run's folder
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The gate, or a command that asks. Returns the exit code.
  int Run();

 private:
  // Each returns whether the launch goes on; if not, exit_code_ is how it ends.
  bool Prepare();
  bool ChooseAnEngine();
  bool FindImage();
  bool PullImage();
  // The image is for the processor that the tool is for, as far as both are known.
  bool FitsTool();
  bool Compose();
  bool Start();
  void RemoveContainer();
  bool EvaluateGate();
  bool EvaluateAnswer();
  bool Publish();
  // A verdict of the launcher's own, with the last words of `said`; ends the launch.
  bool Settle(int exit_code, const std::string& type, const std::string& message, const std::string& remedy,
              const std::string& said = {});
  bool Invalid(const std::string& message);
  // The same of a gate that has no place yet.
  bool Refuse(const std::string& message);
  bool Interrupted();
  bool WriteInitFile(const std::string& text);
  // What the engine's status means where no report says more.
  bool EvaluateStatus(const std::string& reason);
  // Whether the words of an engine that has failed are a row of knowledge/findings, by which the launch has
  // then ended. `happened`: what failed.
  bool EndsByMessage(const std::string& happened, const std::string& said);
  // Whether the caller has given one of these options, to the launcher or to the engine.
  bool HasGiven(const std::vector<std::string>& names) const;
  // Makes the reports from the journal, on this machine, by our own program, in a separate process: what a
  // process of the container wrote beside it is not published. False, and why: the journal does not bear out
  // the status.
  bool Remake(std::string* why_not);
  bool IsGate() const { return plan_.options.ask.empty(); }

  const Plan plan_;
  const Options& options_;
  Cancel cancel_;
  GithubSilence silence_;  // lasts longest
  OutputFolder folder_;
  RunWords run_;
  Facts facts_;
  Inspector inspector_;
  std::string config_file_;
  std::vector<std::string> blank_, command_;
  Ended ended_;
  bool created_ = false, removed_ = false, out_of_memory_ = false;
  // Where the status may be the engine's client's or the program's: the program's; nerdctl's client's.
  bool program_ended_ = false, client_failed_ = false;
  Confirmation confirmation_;
  int exit_code_ = 5;
};

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_SESSION_H_
