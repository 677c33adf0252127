// `cudnn-ci self-test`: the gate as its own child, once as it is and once for each fault, injected here and
// now into the shipped checks. Shows that a green of this tree, on this machine, means something.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/embedded.h"
#include "base/file.h"
#include "base/null_device.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/option_checks.h"
#include "cli/process_setup.h"
#include "cli/self_test_faults.h"
#include "cli/self_test_report.h"
#include "cli/session.h"

extern char** environ;

namespace cudnn_ci {
namespace {

constexpr int kRunLimitS = 300;         // --time-limit of every run
constexpr double kMostDeadlineS = 100;  // of the case that hangs: it is tried twice within kRunLimitS
constexpr int kRunOverdueS = 60;        // beyond it a run that still has not ended is killed
constexpr size_t kMaxConsole = 64 << 10;
constexpr size_t kMaxReason = 300;
constexpr size_t kMaxScratch = 500;

// A run of the gate that is over.
struct Ran {
  ExitStatus status;
  double seconds = 0;
  std::string problem;  // why it has no report that can be believed; empty: it has one
  SeenReport report;
};

// The environment of a run: what is inherited, but for plugins that are not shipped, and what is injected.
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> out;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e, name = entry.substr(0, entry.find('='));
    if (name != "CUDNN_CI_PLUGIN_PATH" && name != "CUDNN_CI_KNOWLEDGE" && name != "CUDNN_CI_PLANT" &&
        changes.count(name) == 0)
      out.push_back(entry);
  }
  for (const auto& [name, value] : changes) out.push_back(name + "=" + value);
  return out;
}

// The end of a process, which is killed when it is not over by itself in time.
ExitStatus WaitFor(ProcessControl* control, pid_t pid) {
  const int64_t deadline = MonotonicNs() + int64_t{kRunLimitS + kRunOverdueS} * 1'000'000'000;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  while (!control->HasExited(pid)) {
    // Blocked since the start of this process, so none is missed; the second is for the deadline.
    const timespec second{1, 0};
    sigtimedwait(&child, nullptr, &second);
    if (MonotonicNs() > deadline) control->Signal(pid, SIGKILL);
  }
  const ExitStatus status = control->Reap(pid);
  // What cannot be killed is not waited for.
  for (int i = 0; i < 5000 && control->SweepStrays({}); ++i) usleep(200);
  return status;
}

// What a run printed last: its words when it has no report.
std::string LastWords(const std::string& console) {
  const std::vector<std::string> lines = Split(Trim(ReadSmallFile(console, kMaxConsole)), '\n');
  return lines.empty() ? "" : CleanLine(lines.back(), kMaxReason);
}

std::string NotGreen(const std::string& check, const SeenCase* seen) {
  if (!seen) return "no case of " + check;
  return check + " is not green here: " + (seen->reason.empty() ? seen->outcome : seen->reason);
}

struct SelfTestOptions {
  std::vector<std::string> faults;  // empty: all
  std::string keep_dir;             // of the runs' reports; empty: they are removed
};

class Tester {
 public:
  Tester(const SelfTestOptions& options, Session* session, const std::function<void(const std::string&)>& say)
      : options_(options), session_(session), say_(say) {}

  // The exit code.
  int Run() {
    baseline_ = RunGate("baseline", {}, SelfTestMatrix("", 0), {});
    SayBaseline();
    for (const std::string& name : FaultNames())
      if (options_.faults.empty() ||
          std::find(options_.faults.begin(), options_.faults.end(), name) != options_.faults.end())
        Try(name);
    say_("faults: " + std::to_string(noticed_) + " noticed, " + std::to_string(unnoticed_) +
         " not noticed, " + std::to_string(impossible_) + " impossible here");
    if (unnoticed_ > 0) return 5;
    if (const int code = BaselineCode(); code != 0) return code;
    return noticed_ > 0 ? 0 : 6;
  }

 private:
  // A folder of the run's own, in the scratch folder.
  std::string FolderOf(const std::string& name) const { return session_->scratch_dir() + "/" + name; }

  Ran RunGate(const std::string& name, const std::vector<std::string>& arguments, const std::string& matrix,
              const std::map<std::string, std::string>& environment);
  Status Start(const std::string& folder, const std::string& reports,
               const std::vector<std::string>& arguments,
               const std::map<std::string, std::string>& environment, pid_t* pid);
  void SayBaseline() const;
  int BaselineCode() const;
  void Try(const std::string& name);
  void TryIn(const Fault& fault, const SeenCase& green);
  void Say(const char* result, const std::string& fault, const std::string& text) const;

  const SelfTestOptions& options_;
  Session* const session_;
  const std::function<void(const std::string&)>& say_;
  Ran baseline_;
  std::set<std::string> run_ids_;
  int noticed_ = 0, unnoticed_ = 0, impossible_ = 0;
};

Status Tester::Start(const std::string& folder, const std::string& reports,
                     const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment, pid_t* pid) {
  const std::string console = reports + "/console.txt";
  const Fd output(open(console.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!output.valid()) return Error{console + ": " + strerror(errno)};
  const Fd null = OpenNullDevice();
  SpawnRequest request;
  request.argv = {session_->installation().program_path(),
                  "--matrix",
                  folder + "/matrix.json",
                  "--output-dir",
                  reports,
                  "--time-limit",
                  std::to_string(kRunLimitS)};
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  request.env = EnvironmentWith(environment);
  request.control_fd = null.get();
  request.output_fd = output.get();
  const Result<pid_t> started = session_->control()->Spawn(request);
  if (!started.ok()) return Error{started.error()};
  *pid = *started;
  return {};
}

Ran Tester::RunGate(const std::string& name, const std::vector<std::string>& arguments,
                    const std::string& matrix, const std::map<std::string, std::string>& environment) {
  const std::string folder = FolderOf(name);
  const std::string reports = options_.keep_dir.empty() ? folder + "/report" : options_.keep_dir + "/" + name;
  Ran ran;
  const int64_t start = MonotonicNs();
  pid_t pid = -1;
  Status status;
  for (const std::string& made : {folder, reports})
    if (status.ok()) status = MakeDirectories(made);
  if (status.ok()) status = WriteFileAtomically(folder + "/matrix.json", matrix);
  if (status.ok()) status = Start(folder, reports, arguments, environment, &pid);
  if (!status.ok()) {
    ran.status = {false, 5};
    ran.problem = status.error();
    return ran;
  }
  ran.status = WaitFor(session_->control(), pid);
  ran.seconds = static_cast<double>(MonotonicNs() - start) / 1e9;
  Result<SeenReport> report = ReadSeenReport(reports + "/report.json");
  if (!report.ok()) {
    ran.problem = ToString(ran.status) + " without a report: " + LastWords(reports + "/console.txt");
    return ran;
  }
  ran.report = std::move(*report);
  ran.problem = ran.status.signaled ? "it ended with " + ToString(ran.status)
                                    : ForeignReport(ran.report, ran.status.code, folder);
  if (!run_ids_.insert(ran.report.run_id).second) ran.problem = "its report is of an earlier run";
  return ran;
}

void Tester::Say(const char* result, const std::string& fault, const std::string& text) const {
  char head[64];
  snprintf(head, sizeof head, "[ %-11s ] %-15s ", result, fault.c_str());
  say_(head + CleanLine(text, 2000));
}

int Tester::BaselineCode() const {
  if (baseline_.problem.empty() || baseline_.status.signaled) return baseline_.report.exit_code;
  return baseline_.status.code != 0 ? baseline_.status.code : 5;
}

void Tester::SayBaseline() const {
  const SeenReport& r = baseline_.report;
  if (!baseline_.problem.empty()) return Say("NOT GREEN", "no fault", baseline_.problem);
  const auto passed =
      std::count_if(r.cases.begin(), r.cases.end(), [](const SeenCase& c) { return c.outcome == "passed"; });
  const std::string counts = std::to_string(passed) + " of " + std::to_string(r.cases.size()) +
                             " cases passed (" + FixedSeconds(baseline_.seconds) + " s)";
  if (r.exit_code == 0) return Say("OK", "no fault", "exit 0, " + counts);
  Say("NOT GREEN", "no fault",
      "exit " + std::to_string(r.exit_code) + ", " + counts + ": " + r.root_cause.blame + "." +
          r.root_cause.slug + ": " + CleanLine(r.root_cause.detail, kMaxReason));
}

void Tester::Try(const std::string& name) {
  std::string why;
  for (const Fault& fault : Faults()) {
    if (name != fault.name) continue;
    const SeenCase* seen = baseline_.problem.empty() ? baseline_.report.Find(fault.check) : nullptr;
    if (seen && seen->outcome == "passed") return TryIn(fault, *seen);
    why += (why.empty() ? "" : "; ") + NotGreen(fault.check, seen);
  }
  ++impossible_;
  Say("IMPOSSIBLE", name, CleanLine(why, 2 * kMaxReason));
}

void Tester::TryIn(const Fault& fault, const SeenCase& green) {
  const std::string what = std::string(fault.what) + ": ";
  // A deadline that this machine can keep, and that is short.
  const bool hangs = strcmp(fault.slug, "timed-out") == 0;
  const double deadline = hangs ? std::min(2 + 10 * green.seconds, kMostDeadlineS) : 0;
  if (hangs && 2 * green.seconds > deadline) {
    ++impossible_;
    return Say("IMPOSSIBLE", fault.name,
               what + "without it the case takes " + FixedSeconds(green.seconds) + " s here");
  }
  Result<Injection> injection = Error{""};
  if (const Status made = MakeDirectories(FolderOf(fault.name)); !made.ok())
    injection = Error{made.error()};
  else
    injection = Inject(fault, FolderOf(fault.name), session_->installation().injector_path(),
                       baseline_.report.cudnn_path);
  if (!injection.ok()) {
    ++impossible_;
    return Say("IMPOSSIBLE", fault.name, what + injection.error());
  }
  const Ran ran = RunGate(fault.name, {"--case", green.id}, SelfTestMatrix(fault.check, deadline),
                          injection->environment);
  const std::string problem =
      ran.problem.empty() ? Unnoticed(fault, *injection, ran.report, green.id) : ran.problem;
  const std::string time = " (" + FixedSeconds(ran.seconds) + " s)";
  ++(problem.empty() ? noticed_ : unnoticed_);
  if (!problem.empty()) return Say("NOT NOTICED", fault.name, what + problem + time);
  Say("OK", fault.name,
      what + fault.check + " " + fault.outcome + ", " + fault.blame + "." + fault.slug + ", exit " +
          std::to_string(fault.exit_code) + time);
}

// The folder of kept reports, made if need be; what is in it would be mixed up with them.
Status PrepareKeep(const std::string& folder) {
  if (folder.empty()) return {};
  if (Status s = MakeDirectories(folder); !s.ok()) return s;
  std::error_code error;
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error) return Error{"--keep " + folder + ": " + error.message()};
  return empty ? Status() : Status(Error{"--keep " + folder + " is not empty; name a new folder"});
}

// An embedded injector is opened by what is preloaded with it, several processes below this one: all inherit
// its descriptor.
Status HandDownInjector(const Installation& installation) {
  if (!installation.IsEmbedded()) return {};
  const Result<int> injector = Embedded()->Descriptor(installation.injector_path());
  if (!injector.ok()) return Error{injector.error()};
  fcntl(*injector, F_SETFD, 0);
  return {};
}

// Runs bin/cudnn-ci of this tree, with the shipped plugins alone, and says a line for each fault. Returns the
// exit code: 5 if an injected fault was not noticed, else that of the run without any if it is not 0, else 0;
// 6 if nothing could be injected. Errors are of use or installation: nothing ran. A signal ends this process
// at once; what it has started dies with it, by the guardian.
Result<int> RunSelfTest(const SelfTestOptions& options, const Installation& installation,
                        const std::function<void(const std::string& line)>& say) {
  for (const std::string& needed : {installation.worker_path(), installation.injector_path()})
    if (const std::string why = Installation::MissingFileText(needed, R_OK); !why.empty()) return Error{why};
  if (const std::string missing = MissingMount(); !missing.empty()) return Error{missing};
  if (Status s = HandDownInjector(installation); !s.ok()) return Error{s.error()};
  if (Status s = PrepareKeep(options.keep_dir); !s.ok()) return Error{s.error()};
  Session session({installation});
  const std::string& scratch = session.scratch_dir();
  if (scratch.empty()) return Error{kNoScratchFolder};
  // The loader takes blanks, colons and semicolons apart and replaces what follows a dollar sign; what a
  // report has to quote is not found again in it.
  const auto is_plain = [](unsigned char c) { return isalnum(c) != 0 || strchr("/._-+,@=", c) != nullptr; };
  if (scratch.size() > kMaxScratch || !std::all_of(scratch.begin(), scratch.end(), is_plain))
    return Error{"TMPDIR " + CleanLine(scratch, kMaxReason) +
                 " is too long, or has characters other than letters, digits and /._-+,@=; set another"};
  return Tester(options, &session, say).Run();
}

class SelfTest : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_option("FAULT", options_.faults, "inject only these faults: " + Join(FaultNames(), ", "))
        ->check(CLI::IsMember(FaultNames()));
    app->add_option("--keep", options_.keep_dir,
                    "keep the reports of all runs in this folder, which must be new or empty")
        ->type_name("DIR")
        ->check(CheckPath());
  }
  int Run(const Invocation& invocation) override {
    int printed = 0;
    const Result<int> code = RunSelfTest(options_, invocation.installation, [&](const std::string& line) {
      if (const int failed = PrintText(line + "\n"); failed != 0) printed = failed;
    });
    if (!code.ok()) return Fail(code.error());
    return *code != 0 ? *code : printed;
  }

 private:
  SelfTestOptions options_;
};

}  // namespace

std::unique_ptr<Command> MakeSelfTest() { return std::make_unique<SelfTest>(); }

}  // namespace cudnn_ci
