// One run of the gate, step by step. Each step says on stderr why it failed and sets the exit code; main.cc
// reads them in order.
#ifndef CUDNN_CI_CLI_GATE_H_
#define CUDNN_CI_CLI_GATE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/installation.h"
#include "cli/known.h"
#include "cli/output_folder.h"
#include "cli/preparation.h"
#include "cli/run_options.h"
#include "cli/session.h"
#include "model/matrix/image_identity.h"
#include "model/matrix/matrix.h"
#include "model/plan/plan.h"
#include "report/record/reporter.h"
#include "review/run_view.h"

namespace cudnn_ci {

class Gate {
 public:
  // Both must live as long as the gate.
  Gate(const RunOptions& options, const Invocation& invocation);
  ~Gate();

  bool PrepareOutput();  // folder probed, old reports removed
  bool Load();           // the matrix; with --auto after discovery
  bool OpenReports();
  bool Discover();
  bool MakePlan();
  bool Run();
  int Finish();  // the last word: verdict and exit code
  int exit_code() const { return exit_code_; }

 private:
  bool Invalid(const std::string& message);
  bool Refuse(const std::vector<Problem>& problems);  // prints them; false
  // What of the image did not answer.
  std::optional<Finding> Unreadable() const;
  // A signal came while the image was looked at.
  void CancelIfInterrupted();
  // A signal came before there was a plan: the reports say so, as far as there are any. Always false.
  bool Interrupted();
  // With --baseline and --rerun-failed: what earlier runs said. False: one cannot be used.
  bool ReadEarlierRuns(const OutputPaths& paths);
  // What cases are held to by "max_slowdown_percent"; what is not compared is not gated.
  void SelectTimedCases();
  // Warm workers of one GPU at a time, as RunnerOptions has it.
  int WorkersPerGpu() const;
  // None: it cannot be used.
  std::optional<Matrix> LoadMatrixFile(const std::string& path);
  // Without --matrix and --sbom: that of --auto, or what to type.
  bool LoadByChoice();
  bool LoadWhatIsKnown();
  // With --sbom: the matrix, for the document as its one subject.
  bool LoadForSbom();
  // That a document was tested, and what that leaves out.
  void ReportSbom();
  // Who set which of the variables that the facts tell of, and the reproduction that sets the runner's again.
  void Identify(RunStarted* run) const;
  void Emit(EventBody body);
  int64_t NowMs() const;
  RunStarted MakeRunStarted() const;
  void EmitPlan();
  // LD_LIBRARY_PATH of every process that checks run in.
  std::vector<std::string> LibraryPaths() const;
  std::vector<Finding> PreloadFindings() const;  // may block: see image_look.h
  // Says what the image brings into those processes, and has not been said yet: what it runs may change it.
  void ReportPreloads();
  std::optional<Finding> ObstacleBehindPlugins();
  void ReportIsolation();
  void ReportStrays();
  // What every process that loads a library would wait for. None as well where the look was interrupted.
  std::optional<Finding> ObstacleOfTheLoader();
  // What would keep every plugin from being asked.
  std::optional<Finding> ObstacleBeforePlugins();
  // With --dry-run: prints the plan and ends with exit 0.
  bool DryRun();

  const RunOptions& options_;
  const Invocation& invocation_;
  const Installation& installation_;
  Session session_;
  OutputPaths paths_;
  ReportLocks locks_;
  std::optional<Chosen> chosen_;        // by Load
  std::optional<Collected> collected_;  // by Discover
  Known known_;
  Notices own_warnings_;    // of what was loaded
  Notices sbom_not_gated_;  // with --sbom
  std::shared_ptr<const RunView> baseline_;
  SpeedBaseline speed_;                   // of baseline_
  std::vector<CaseRef> rerun_;            // with --rerun-failed: the cases
  ImageConfig image_;                     // what its inspector prints; known if --image-config is given
  std::vector<Problem> plugin_problems_;  // with what the plugins declare: nothing is planned then
  std::optional<Finding> obstacle_;       // no worker can run: nothing is planned then
  Plan plan_;
  std::map<CaseRef, const CasePlanned*> planned_;  // of plan_, by EmitPlan
  std::vector<DeviceInfo> devices_;
  bool looked_at_loader_ = false;
  std::set<std::string> reported_;  // details of ReportPreloads
  std::unique_ptr<Fanout> fanout_;
  uint64_t number_ = 0;  // of the run, random
  std::string run_token_;
  int64_t start_ns_ = 0, last_tick_ms_ = 0;
  int exit_code_ = 0;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_GATE_H_
