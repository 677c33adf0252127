// The running case, as a check sees it: parameters aside, everything a check asks and says goes through here.
// Part of check.hpp, which is what authors include.
#ifndef CUDNN_CI_CONTEXT_HPP_
#define CUDNN_CI_CONTEXT_HPP_

#include <cudnn_ci/plugin.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudnn_ci {

class Context;

namespace detail {

inline std::vector<std::string> SubjectFolders(const cci_host* host, cci_case* c) {
  const char* const* folders = nullptr;
  std::size_t count = 0;
  if (!CCI_HAS(cci_host, host, subject_folders) || host->subject_folders(c, &folders, &count) != CCI_OK)
    return {};
  return {folders, folders + count};
}

struct StopCheck {};  // thrown by CCI_ASSERT_* and Skip; never leaves the library

inline Context*& CurrentContext() {
  static Context* current = nullptr;  // one case runs at a time in a process
  return current;
}

}  // namespace detail

// How a command of RunChild ended.
struct ChildResult {
  int exit_status = -1;    // exit code, or -1 when a signal ended it
  int signal = 0;          // that signal, or 0
  bool timed_out = false;  // killed at the timeout
  std::string output;      // stdout and stderr, at most 256 KiB (head and tail)
};

// No process could be had for a command, or its end was not to be learned.
struct ChildNotStarted : std::runtime_error {
  ChildNotStarted(int number, const std::string& command)
      : std::runtime_error("cannot run " + command + ": " + std::strerror(number)), error(number) {}
  int error;  // of errno: EAGAIN where a limit of processes is reached
};

// One line that fixes what was found here, and where it is typed. Empty: there is none that is certain to.
struct LineToType {
  std::string text;
  cci_where where = CCI_WHERE_IMAGE;
};

// The running case, as the check sees it. Valid until Run returns.
class Context {
 public:
  Context(const cci_host* host, cci_case* c) : host_(host), case_(c) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static Context& Current() { return *detail::CurrentContext(); }

  // The contract's range for "image.cudnn", "runner.driver", ...; empty when it promises nothing.
  std::string Contract(const char* key) const { return OrEmpty(host_->contract(case_, key)); }
  // What the facts step found; empty when it found nothing.
  std::string Fact(const char* key) const { return OrEmpty(host_->fact(case_, key)); }
  // An entry of the table of version facts, by the keys of <cudnn_ci/facts.h>; empty when the table, or a
  // host older than ABI 1.2, does not know.
  std::string Compatibility(const std::string& key) const {
    return CCI_HAS(cci_host, host_, compatibility) ? OrEmpty(host_->compatibility(case_, key.c_str())) : "";
  }
  // Whether a dotted version lies in a range (">=12.0 <13"); throws std::invalid_argument when either is
  // malformed.
  bool Satisfies(const std::string& version, const std::string& range) const {
    const int r = host_->satisfies(case_, version.c_str(), range.c_str());
    if (r < 0) throw std::invalid_argument("malformed version '" + version + "' or range '" + range + "'");
    return r == 1;
  }
  // As the matrix has it: "loader", "path:/opt/cudnn", "python:/opt/venv/bin/python", "program:/opt/app/run".
  std::string SubjectSpec() const { return OrEmpty(host_->subject_spec(case_)); }
  // The folders of the subject's own libraries; none of "loader", and none from a host older than ABI 1.2.
  std::vector<std::string> SubjectFolders() const { return detail::SubjectFolders(host_, case_); }
  // Of the one visible device; empty when there is none.
  std::string DeviceUuid() const { return OrEmpty(host_->device_uuid(case_)); }
  // A private folder, removed after the run.
  std::string ScratchDir() const { return OrEmpty(host_->scratch_dir(case_)); }
  // For random data; the same when a case is run again.
  std::uint64_t Seed() const { return host_->seed(case_); }

  // Where the check is ("algo=1"): names the place of a crash or a hang.
  void Step(const std::string& name) { host_->step(case_, name.c_str()); }
  // Whether this step killed an earlier attempt and is to be left out in this one.
  bool ShouldSkipStep(const std::string& name) const {
    return host_->should_skip_step(case_, name.c_str()) != 0;
  }
  // What the CCI_EXPECT_* macros call.
  void Expect(bool held, const char* file, int line, const std::string& what) {
    host_->expect(case_, held ? 1 : 0, file, line, what.c_str());
  }
  // Reports a finding that CCI_FINDING declared, with what was seen.
  void Finding(const char* slug, const std::string& detail) { host_->finding(case_, slug, detail.c_str()); }
  // With a line instead of the one that the finding is declared with; a host older than ABI 1.4 has the
  // finding without it.
  void Finding(const char* slug, const std::string& detail, const LineToType& line) {
    if (line.text.empty() || !CCI_HAS(cci_host, host_, finding_with_command)) return Finding(slug, detail);
    host_->finding_with_command(case_, slug, detail.c_str(), static_cast<std::uint32_t>(line.where),
                                line.text.c_str());
  }
  // Ends the check. For memory call SkipMemory.
  [[noreturn]] void Skip(cci_skip_kind kind, const std::string& need, const std::string& seen) {
    host_->skip(case_, kind, need.c_str(), seen.c_str());
    throw detail::StopCheck{};
  }
  // Ends the check, with kind CCI_SKIP_MEMORY. A host older than ABI 1.5 tells host from device by the words
  // "host memory".
  [[noreturn]] void SkipMemory(cci_memory memory, const std::string& need, const std::string& seen) {
    if (!CCI_HAS(cci_host, host_, skip_memory)) Skip(CCI_SKIP_MEMORY, need, seen);
    host_->skip_memory(case_, static_cast<std::uint32_t>(memory), need.c_str(), seen.c_str());
    throw detail::StopCheck{};
  }
  // Ends the check; what was reported so far decides.
  [[noreturn]] void Stop() { throw detail::StopCheck{}; }
  // A number for the record; `goal` says which direction is better.
  void Measure(const char* name, double value, const char* unit, cci_goal goal = CCI_GOAL_NONE) {
    host_->measure(case_, name, value, unit, goal);
  }
  // A file for the reports.
  void Attach(const char* name, const char* mime, const std::string& data) {
    host_->attach(case_, name, mime, data.data(), data.size());
  }
  // A line for the record; it decides nothing.
  void Log(const std::string& text, cci_log_level level = CCI_LOG_INFO) {
    host_->log(case_, level, text.c_str());
  }
  // Nothing more is to run in this process.
  void Poison(const std::string& reason) { host_->poison(case_, reason.c_str()); }
  // Runs a command to its end; throws ChildNotStarted when no process can be had for it.
  ChildResult RunChild(const std::vector<std::string>& argv, const std::vector<std::string>& env = {},
                       double timeout_s = 0) {
    std::vector<const char*> a, e;
    for (const auto& s : argv) a.push_back(s.c_str());
    for (const auto& s : env) e.push_back(s.c_str());
    a.push_back(nullptr);
    e.push_back(nullptr);
    cci_child child{sizeof(cci_child), a.data(), e.data(), timeout_s};
    cci_child_result r{};
    r.struct_size = sizeof r;
    if (host_->run_child(case_, &child, &r) != CCI_OK)
      throw ChildNotStarted(errno, argv.empty() ? "(no command)" : argv[0]);
    return {r.exit_status, r.signal, r.timed_out != 0, std::string(r.output, r.output_size)};
  }

  // What plugin.h's functions are called with.
  const cci_host* host() const { return host_; }
  cci_case* handle() const { return case_; }

 private:
  static std::string OrEmpty(const char* s) { return s ? s : ""; }
  const cci_host* host_;
  cci_case* case_;
};

// What `facts` reports into.
class FactSink {
 public:
  FactSink(const cci_host* host, cci_case* c) : host_(host), case_(c) {}
  void Report(const std::string& key, const std::string& value) {
    host_->fact_report(case_, key.c_str(), value.c_str());
  }
  std::string SubjectSpec() const {
    const char* s = host_->subject_spec(case_);
    return s ? s : "";
  }
  // As of Context.
  std::vector<std::string> SubjectFolders() const { return detail::SubjectFolders(host_, case_); }
  // As of Context. What is promised tells which of several installs a fact is about; it is empty where no
  // matrix is known yet (`facts`, `--auto`), and by hosts older than 1.1.
  std::string Contract(const char* key) const {
    const char* s = host_->contract(case_, key);
    return s ? s : "";
  }
  bool Satisfies(const std::string& version, const std::string& range) const {
    return host_->satisfies(case_, version.c_str(), range.c_str()) == 1;
  }

 private:
  const cci_host* host_;
  cci_case* case_;
};

// What `Validate` reports into: why no machine could run a case with these parameters.
class Problems {
 public:
  Problems(const cci_host* host, cci_case* c) : host_(host), case_(c) {}
  // `parameter` as Describe names it, a shape's field as "shape.x"; "" when several together are wrong.
  void Add(const std::string& parameter, const std::string& why) {
    host_->invalid(case_, parameter.c_str(), why.c_str());
  }
  // Whether Context::Satisfies can read a range (">=12.0 <13"); of a version V ask with "=V".
  bool IsRange(const std::string& range) const { return host_->satisfies(case_, "0", range.c_str()) >= 0; }

 private:
  const cci_host* host_;
  cci_case* case_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CONTEXT_HPP_
