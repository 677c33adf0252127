// What comes before a run, stage by stage: Looked -> Chosen -> Resolved -> Collected, and from that the
// devices and the plan. Each is a value that is made from the stage before it alone. A stage that a signal,
// the time limit or the image itself has ended is made with what there is: the session says which of them it
// was (interrupted(), MustEnd(), unreadable()).
#ifndef CUDNN_CI_CLI_PREPARATION_H_
#define CUDNN_CI_CLI_PREPARATION_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/image_look.h"
#include "cli/session.h"
#include "cli/shared_options.h"
#include "model/inventory/auto_matrix.h"
#include "model/knowledge/knowledge.h"
#include "model/matrix/matrix.h"
#include "model/plan/plan.h"
#include "model/record/facts.h"

namespace cudnn_ci {

// Plugins, and what they find here without a matrix.
class Looked {
 public:
  // Plugins alone.
  static Looked AtPlugins(Session* session);
  // Plugins, and the facts of one subject, which has the folders of its libraries.
  static Looked AtSubject(const SubjectInfo& subject, Session* session);
  // Plugins, and the facts to choose a matrix by: of what the loader finds and, if that is no cuDNN, of what
  // uses a GPU in the image too, with the names of packages.
  static Looked ForChoice(const PackageNames& names, Session* session);

  const Discovery& discovery() const { return discovery_; }
  // What --auto takes, and tests by it.
  AutoChoice Choice() const {
    return ChooseMatrix(discovery_.facts, candidates_ ? candidates_->Found() : FoundUse());
  }
  // What uses a GPU, as the choice has seen it; none where the loader finds a CUDA runtime and a cuDNN.
  const std::optional<CandidateLook>& candidates() const { return candidates_; }
  // "CUDA toolkit 13.0, cuDNN 9.19.0, no driver": what was found, in words.
  std::string FoundInWords() const;

 private:
  Looked() = default;
  Discovery discovery_;
  std::optional<CandidateLook> candidates_;  // of ForChoice
  Session::StartedLook started_;             // at candidates, where the choice did without them

  friend class Resolved;
};

// The matrix file of a choice; else why there is none, and what to do.
Result<std::string> MatrixFileOf(const AutoChoice& choice, const Installation& installation);
// That of --auto.
Result<std::string> AutoMatrixFile(const Looked& looked, const Installation& installation);

// The matrix, by which everything else is prepared.
class Chosen {
 public:
  // One that was named.
  explicit Chosen(Matrix matrix) : matrix_(std::move(matrix)) {}
  // That of --auto: it tests what the choice says, where that is not what the loader finds.
  Chosen(Matrix matrix, Looked looked);

  const Matrix& matrix() const { return matrix_; }
  // What --auto has taken, because of what, and what of the image it tests by that.
  const std::optional<Notice>& automatic() const { return automatic_; }

 private:
  friend class Resolved;
  friend class Collected;
  Matrix matrix_;
  std::optional<Looked> looked_;  // with --auto
  std::optional<Notice> automatic_;
};

// The matrix with the folders of each subject's libraries, and with what uses a GPU in the image as subjects
// if it asks for them.
class Resolved {
 public:
  Resolved(Chosen chosen, const PackageNames& names, Session* session);

  const std::vector<SubjectInfo>& subjects() const { return chosen_.matrix_.subjects; }

 private:
  friend class Collected;
  void FinishLook(Session* session);
  Chosen chosen_;
  std::vector<Finding> problems_;
  Notices warnings_;
  CandidateLook candidates_;
  Session::StartedLook started_;  // at candidates; plugins may be asked meanwhile
};

// Plugins, and the facts of the matrix's subjects.
class Collected {
 public:
  // Facts of the matrix's own subjects.
  static Collected ForMatrix(Resolved resolved, Session* session);
  // Facts of these subjects; none: plugins are asked for no facts.
  static Collected ForSubjects(const std::vector<SubjectInfo>& subjects, Resolved resolved, Session* session);
  // No plugin is asked, because something keeps all of them from running: with what the choice has shown.
  static Collected Nothing(Resolved resolved) { return Collected(std::move(resolved)); }

  // Settles what is tested, now that facts tell what the loader finds. Where that is no cuDNN and the matrix
  // names no subjects, what uses a GPU in the image is tested in its place, if there is such; "system" is
  // taken out of `"subjects": "auto"` where the loader finds nothing of CUDA and another subject is there.
  // `adapted`: packages with adapters, which may be absent where another subject has them.
  void ChooseSubjects(const std::vector<AdaptedPackage>& adapted, Session* session);

  const Matrix& matrix() const { return resolved_.chosen_.matrix_; }
  // As of Chosen.
  const std::optional<Notice>& automatic() const { return resolved_.chosen_.automatic_; }
  const Discovery& discovery() const { return discovery_; }
  // What the subjects name and the image lacks; and what was not looked at.
  const std::vector<Finding>& subject_problems() const { return resolved_.problems_; }
  const Notices& subject_warnings() const { return resolved_.warnings_; }
  // What the matrix promises and no subject is held to, or what nothing was found of: the matrix is at fault.
  std::vector<Finding> MatrixProblems() const;
  // If the finding is about something that the loader does not find, and a candidate beside brings it: adds
  // the subject that tests that to the remedy, with the line of a matrix. `planned`: the finding's case.
  void NameSubjectThatCures(const CasePlanned& planned, Finding* finding) const;
  // What is preloaded into every process of the image, when no worker got as far as to speak; else empty.
  std::string PreloadProblem() const;

  // The GPUs of the run by --device; a nominal gpu0 is not among them.
  Result<std::vector<DeviceInfo>> SelectDevices(const std::string& device) const;
  // The visible GPUs that --device leaves out.
  std::vector<DeviceInfo> OtherDevices(const std::vector<DeviceInfo>& used) const;
  // The same, as what is not gated.
  Notices UnusedDevices(const std::vector<DeviceInfo>& used) const;
  // The copies of cuDNN that no subject uses, and what else uses a GPU or is activated and is not tested.
  // With --auto also the packages with adapters.
  Notices NotTested(const std::vector<AdaptedPackage>& adapted) const;
  // How the cases are chosen. Plugins validate parameters in processes of the session: interrupted() may
  // change while the plan is made. For as long as this value lives.
  PlanOptions MakePlanOptions(const SelectionOptions& selection, const std::vector<DeviceInfo>& devices,
                              Session* session) const;
  // A plan holds what it needs of the entries, which may be as large: forgets them.
  void ForgetEntries();

 private:
  explicit Collected(Resolved resolved);
  void DropSystemWithoutCuda();
  void UseCandidates(Session* session);
  void FindSubjects(Session* session);
  void LeaveOutPromises();
  void LeaveOutPromisesOfLoader();
  void LeaveOutNvrtc();
  void AddChecksOfFiles();
  Notices UnusedCopies() const;
  Resolved resolved_;
  Discovery discovery_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_PREPARATION_H_
