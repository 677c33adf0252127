// What every command that starts processes needs: the signal descriptor, a guardian, a scratch folder and a
// limit of time; and how the image is looked at.
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
#include "cli/installation.h"
#include "cli/shared_options.h"
#include "exec/plugins/discover.h"
#include "exec/system/guardian.h"
#include "exec/system/process_posix.h"
#include "exec/workers/bounded_call.h"
#include "model/matrix/matrix.h"
#include "model/plan/plan.h"

namespace cudnn_ci {

// The exit code if the fault is undetermined.
inline constexpr int kExitUndetermined = 6;

// What to say when a session has no scratch folder.
inline constexpr char kNoScratchFolder[] =
    "no folder for scratch files: neither $TMPDIR, /tmp nor /dev/shm can be written; mount one there";

struct SessionOptions {
  Installation installation;
  DiscoveryOptions discovery = {};
  double time_limit_s = 0;  // counted from the start of the session; 0: none
  double grace_s = 2;       // between SIGTERM and SIGKILL
};

class Session {
 public:
  explicit Session(SessionOptions options);
  ~Session();  // removes the scratch folder
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Plugins describe themselves and give facts for `subjects` (none: no facts) of the installs that
  // `contract` means. Incomplete when MustEnd().
  Discovery DiscoverPlugins(const std::vector<SubjectInfo>& subjects,
                            const std::map<std::string, std::string>& contract);
  // Facts for more subjects, added to the discovery.
  void AddFacts(const std::vector<SubjectInfo>& subjects, const std::map<std::string, std::string>& contract,
                Discovery* discovery);
  // Has plugins validate the parameters of a plan, in processes of this session: interrupted() may change
  // while the plan is made. `catalog` must live until then.
  Validate Validator(const Catalog& catalog);

  // What of the image did not answer, as the detail of a finding; empty: all did.
  const std::string& unreadable() const { return unreadable_; }
  // For commands that write no report: the exit code where a signal or what did not answer has ended the
  // inspection, which is then said on stderr; 0: all was looked at.
  int InspectionExitCode() const;
  // What `look` returns, called in a process that is given up after half a minute, or when the run must end.
  // None then: unreadable() says why, or interrupted().
  template <class T>
  std::optional<T> Look(const std::function<T(const LookingAt&)>& look) {
    return Finish<T>(StartLook<T>(look));
  }
  // A look that goes on while plugins are asked; not longer than the session.
  using StartedLook = std::unique_ptr<StartedCall>;
  template <class T>
  StartedLook StartLook(const std::function<T(const LookingAt&)>& look) {
    if (!unreadable_.empty()) return nullptr;  // it would not answer again
    return std::make_unique<StartedCall>([&](const LookingAt& looking_at) { return Pack(look(looking_at)); },
                                         &control_);
  }
  template <class T>
  std::optional<T> Finish(StartedLook look) {
    T value;
    if (look && FinishLook(look.get(), [&](const std::string& bytes) { return Unpack(bytes, &value); }))
      return value;
    return std::nullopt;
  }

  const Installation& installation() const { return options_.installation; }
  ProcessControl* control() { return &control_; }
  int signal_fd() const { return signal_fd_.get(); }
  int interrupted() const { return interrupted_; }
  // Seconds that the time limit leaves; without one, infinite.
  double TimeLeft() const;
  // A signal or the time limit ends the run: what was discovered may be incomplete.
  bool MustEnd() const { return interrupted_ != 0 || TimeLeft() <= 0; }
  const std::string& scratch_dir() const { return scratch_dir_; }

 private:
  bool FinishLook(StartedCall* look, const std::function<bool(const std::string&)>& take);
  DiscoverOptions DiscoveryOf(std::vector<SubjectInfo> subjects,
                              const std::map<std::string, std::string>& contract) const;

  const SessionOptions options_;
  const int64_t start_ns_;
  PosixProcessControl control_;
  Fd signal_fd_;
  const std::vector<std::string> scratch_places_;
  Guardian guardian_;
  const std::string scratch_dir_;  // one of them, made when the guardian is there
  std::string unreadable_;
  int interrupted_ = 0;
};

// Prints problems one a line to stderr, bounded; returns 2.
int PrintProblems(const std::vector<Problem>& problems);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_SESSION_H_
