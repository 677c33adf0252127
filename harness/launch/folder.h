// The output folder of this machine: emptied of our own earlier reports, with a folder of this run in it that
// goes when the run ends. What is no report of ours is never removed or replaced.
#ifndef CUDNN_CI_LAUNCH_FOLDER_H_
#define CUDNN_CI_LAUNCH_FOLDER_H_

#include <functional>
#include <string>

#include "base/result.h"
#include "report/record/report_locks.h"

namespace cudnn_ci::launch {

// What names a run: its container, its folder, its junit.xml; and the word that proves that a report is not
// forged.
struct RunWords {
  std::string token, secret;
};

class OutputFolder {
 public:
  OutputFolder() = default;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder();  // removes the run's folder

  // Makes `folder` if it is not there, removes earlier reports, and makes the folder of this run.
  // `attestation`, `summary`: these are asked for, so that a file of another in their place is an error.
  // Nothing is removed before all of them were looked at. Errors say what to do; it is one that another run,
  // of the launcher or of the gate, is writing reports there. After one no lock is held.
  Status Prepare(const std::string& folder, bool attestation, bool summary, const RunWords& run);
  // A folder of this run alone, for a command that leaves no reports: below $TMPDIR, or /tmp.
  Status PrepareWithoutReports();

  const std::string& path() const { return path_; }  // absolute
  const std::string& work() const { return work_; }  // the caller's alone
  std::string reports() const {
    return work_ + "/reports";
  }                                                     // in it, open to the container, whoever runs there
  std::string made() const { return work_ + "/made"; }  // what is to be published

  // From here on the engine may have the run's container, or be creating it.
  void NoteContainer() const;
  // The run's folder stays: the engine may still be creating the container. The next run removes both.
  void Keep() { keep_ = true; }
  // A launcher that was killed hard leaves its folder, and its container running: those of a launcher of this
  // machine that is no more are removed. `remove_container` is told the name's token, and returns whether
  // there was one; where there was none, and may be one yet, the folder stays for the run after this.
  void RemoveAbandoned(const std::function<bool(const std::string& token)>& remove_container) const;

  // Collects into made() what the container has left: the journal, with at most 1000 attachments that it
  // names, of 16 MiB each and 256 MiB in all. `confirmed`: with the bounds of a run that is believed; else
  // with those of an earlier journal (report/record/own_reports.h), and its reports as they are, where they
  // bear our mark. False: something could not be copied.
  bool Collect(bool confirmed) const;

  // Moves what is in made() to its place. `confirmed`: as it is called; else under names by which nothing
  // takes it for a report of ours, and without pages. An error is said on stderr. False: not all is there.
  bool Publish(bool confirmed, bool summary, const std::string& token) const;

 private:
  Status Make(const std::string& folder, bool attestation, bool summary, const RunWords& run);

  std::string path_, work_;
  bool keep_ = false;
  ReportLocks locks_;
};

// Whether the file is a report of ours, or the launcher's record, by the mark at its head. Links are not
// followed.
bool IsOurs(const std::string& path);

}  // namespace cudnn_ci::launch

#endif  // CUDNN_CI_LAUNCH_FOLDER_H_
