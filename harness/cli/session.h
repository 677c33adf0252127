// What every command that looks at plugins needs: the signal descriptor, a scratch folder, discovery, and
// the choice of matrix and devices from what was found.
#ifndef CUDNN_CI_CLI_SESSION_H_
#define CUDNN_CI_CLI_SESSION_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/packed.h"
#include "base/result.h"
#include "cli/image_look.h"
#include "cli/options.h"
#include "exec/plugins/discover.h"
#include "exec/system/guardian.h"
#include "exec/system/process_posix.h"
#include "model/inventory/auto_matrix.h"
#include "model/matrix/matrix.h"
#include "model/plan/plan.h"
#include "model/record/facts.h"

namespace cudnn_ci {

// The exit code where nobody can tell whose fault it is.
inline constexpr int kExitUndetermined = 6;

// What to say when a session has no scratch folder.
inline constexpr char kNoScratchFolder[] =
    "no folder for scratch files: neither $TMPDIR, /tmp nor /dev/shm can be written; mount one there";

class Session {
 public:
  explicit Session(const Options& options);
  ~Session();  // removes the scratch folder
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Plugins, and facts for `subjects` (none: no facts), of the installs that `contract` means. May be called
  // once.
  void DiscoverPlugins(const std::vector<SubjectInfo>& subjects,
                       const std::map<std::string, std::string>& contract = {});
  // Plugins, and the facts to choose a matrix by: of what the loader finds and, if that is no cuDNN, of the
  // image's Python environments too, by the names of their packages. In the place of DiscoverPlugins.
  void DiscoverForChoice(const PackageNames& names);
  // Facts for the subjects of a matrix that was chosen only after discovery.
  void CollectFactsFor(const std::vector<SubjectInfo>& subjects,
                       const std::map<std::string, std::string>& contract);

  // Gives each subject of a matrix the folders of its libraries, and adds the image's Python environments if
  // the matrix asks for them. Before plugins are discovered for it. See unreadable().
  void ResolveSubjects(Matrix* matrix);
  // What the subjects name and the image lacks; and what was not looked at.
  const std::vector<Finding>& subject_problems() const { return subject_problems_; }
  const Notices& subject_warnings() const { return subject_warnings_; }
  // What of the image did not answer, as the detail of a finding; empty: all did.
  const std::string& unreadable() const { return unreadable_; }
  // For commands that write no report: the exit code where a signal or what did not answer has ended the
  // look, which is then said on stderr; 0: all was looked at.
  int EndOfLook() const;
  // What `look` returns, called in a process that is given up after half a minute, or when the run must end.
  // None then: unreadable() says why, or interrupted().
  template <class T>
  std::optional<T> Look(const std::function<T(const LookingAt&)>& look) {
    T value;
    if (LookApart([&](const LookingAt& looking_at) { return Pack(look(looking_at)); },
                  [&](const std::string& bytes) { return Unpack(bytes, &value); }))
      return value;
    return std::nullopt;
  }
  // Takes "system" out of subjects that were found, if the loader finds no cuDNN and another subject has one.
  // After the facts were collected.
  void DropSystemWithoutCudnn(Matrix* matrix);

  // What --auto takes, and judges by it. After DiscoverForChoice.
  AutoChoice Choice() const { return ChooseMatrix(discovery_.facts, environments_); }
  // The matrix file of a choice; else why there is none, and what to do.
  Result<std::string> MatrixFile(const AutoChoice& choice) const;
  // That of --auto.
  Result<std::string> AutoMatrix() const;
  // Lets the matrix of --auto judge what the choice says, and says so, where that is not what the loader
  // finds. Behind LoadMatrix, before ResolveSubjects.
  std::optional<Notice> JudgeChosen(Matrix* matrix) const;
  // "CUDA toolkit 13.0, cuDNN 9.19.0, no driver": what was found, in words.
  std::string FoundInWords() const;
  // What is preloaded into every process of the image, when no worker got as far as to speak; else empty.
  std::string PreloadProblem() const;

  // The GPUs of the run by --device; a nominal gpu0 is not among them.
  Result<std::vector<DeviceInfo>> SelectDevices() const;
  // The visible GPUs that --device leaves out.
  std::vector<DeviceInfo> OtherDevices(const std::vector<DeviceInfo>& used) const;
  // The same, as what is not gated.
  Notices UnusedDevices(const std::vector<DeviceInfo>& used) const;
  // The copies of cuDNN that no subject uses, as what is not gated.
  Notices UnusedCopies() const;
  // With plugins to judge parameters, in processes of this session: interrupted() may change while the plan
  // is made.
  PlanOptions MakePlanOptions(const std::vector<DeviceInfo>& devices);

  const Discovery& discovery() const { return discovery_; }
  ProcessControl* control() { return &control_; }
  int signal_fd() const { return signal_fd_.get(); }
  int interrupted() const { return interrupted_; }
  // Seconds that --time-limit leaves, counted from the start of the session; without one, infinite.
  double TimeLeft() const;
  // A signal or --time-limit ends the run: what was discovered may be incomplete.
  bool MustEnd() const { return interrupted_ != 0 || TimeLeft() <= 0; }
  const std::string& scratch_dir() const { return scratch_dir_; }

 private:
  bool LookApart(const std::function<std::string(const LookingAt&)>& look,
                 const std::function<bool(const std::string&)>& take);
  std::vector<DeviceInfo> VisibleDevices() const;
  DiscoverOptions DiscoveryOf(std::vector<SubjectInfo> subjects,
                              const std::map<std::string, std::string>& contract) const;
  HostFacts host_;  // of the discovery, decoded

  const Options& options_;
  const int64_t start_ns_;
  PosixProcessControl control_;
  Fd signal_fd_;
  const std::vector<std::string> scratch_places_;
  Guardian guardian_;
  const std::string scratch_dir_;  // one of them, made when the guardian is there
  Discovery discovery_;
  std::vector<Finding> subject_problems_;
  Notices subject_warnings_;
  std::string unreadable_;
  std::vector<PythonEnvironment> environments_;  // of DiscoverForChoice
  int interrupted_ = 0;
};

// Prints problems one a line to stderr, bounded; returns 2.
int PrintProblems(const std::vector<Problem>& problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SESSION_H_
