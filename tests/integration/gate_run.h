// Runs the real cudnn-ci, as a user would, in a folder of its own, and reads what it leaves. Knows the
// program's command line and report formats, none of its code.
#ifndef CUDNN_CI_TESTS_INTEGRATION_GATE_RUN_H_
#define CUDNN_CI_TESTS_INTEGRATION_GATE_RUN_H_

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cudnn_ci {

using nlohmann::json;

// What a run said and left. `report` is null when there is none.
struct GateResult {
  int exit_code = -1;  // 128 + N when signal N ended it
  std::string out, err, junit;
  json report;
  std::vector<json> journal;
  long max_rss_kib = 0;  // of cudnn-ci or the largest process it has waited for

  // The report's case of that id ("fixture.pass[i=0]", "...@gpu1"); null: there is none.
  json Case(const std::string& id) const;
  std::string Outcome(const std::string& id) const;  // "" when there is no such case
  // "blame.slug" of the case's findings of severity error, sorted, separated by a space.
  std::string Errors(const std::string& id) const;
  std::vector<std::string> Flags(const std::string& id) const;
  // All journal events of a kind.
  std::vector<json> Events(const std::string& kind) const;
};

// A folder with a matrix and everything one or more runs leave; removed at the end. Every process that a run
// starts carries a mark in its environment, by which it is found should it be left behind.
class GateRun {
 public:
  GateRun();
  ~GateRun();
  GateRun(const GateRun&) = delete;
  GateRun& operator=(const GateRun&) = delete;

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& content) const;
  std::string Read(const std::string& name) const;
  bool Exists(const std::string& name) const;

  // Writes matrix.json: `checks` is the inside of its "checks", `rest` what follows it (",\"waivers\":
  // [...]").
  void Matrix(const std::string& checks, double timeout_s = 20, const std::string& rest = "") const;

  // Variables of the runs to come.
  void Set(const std::string& name, const std::string& value) { environment_[name] = value; }
  // The fake driver, and the driver plugin that finds its devices.
  void UseFakeGpus(int count);
  // Discover this folder too. The fixture plugin is always there.
  void AddPlugins(const std::string& folder) { plugins_.push_back(folder); }
  void WithoutFixture() { plugins_.clear(); }
  // Another executable than the one built, and words to put before it ("setpriv", ...).
  void UseExecutable(const std::string& path) { executable_ = path; }
  void Before(std::vector<std::string> words) { before_ = std::move(words); }

  // cudnn-ci --matrix matrix.json --output-dir report --grace 0.2 ARGUMENTS
  GateResult Run(const std::vector<std::string>& arguments = {});
  // cudnn-ci ARGUMENTS
  GateResult Command(const std::vector<std::string>& arguments);

  // In pieces, to interrupt it: what Run does up to the wait, and from it on.
  pid_t Start(const std::vector<std::string>& arguments = {});
  // The same of Command.
  pid_t StartCommand(const std::vector<std::string>& arguments) { return Spawn(arguments); }
  // Until the journal tells of an event; after long enough for the slowest machine without it.
  void WaitForEvent(const std::string& kind) const;
  // Ends the cases of fixture.held.
  void Release() const { Write("release", ""); }
  GateResult Wait(pid_t pid);
  // The contents of report/.
  void ReadReports(GateResult* result) const;

  // Ids of processes this test's runs have left alive.
  std::vector<pid_t> Left() const;
  // The same, given `seconds` to go.
  std::vector<pid_t> LeftAfter(double seconds) const;

 private:
  pid_t Spawn(const std::vector<std::string>& words);
  std::vector<std::string> Words(const std::vector<std::string>& arguments) const;

  std::string folder_, mark_, executable_;
  std::map<std::string, std::string> environment_;
  std::vector<std::string> plugins_, before_;
};

// One check entry of a matrix: Entry("fixture.pass", R"("params": {"i": 1})").
std::string Entry(const std::string& check, const std::string& rest = "");

// The day, in UTC: "2026-11-20".
std::string Today();

// Why a test cannot mount file systems of its own here; empty when it can.
std::string WhyNoMounts();
// Why a test cannot run the gate as user 65534; empty when it can. Below a folder that only its owner may
// enter, such as root's, nobody else reaches the build.
std::string WhyNoOtherUser();

// For tests of what a sanitized build cannot show.
#ifdef CUDNN_CI_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_GATE_RUN_H_
