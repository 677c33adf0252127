// Locks on reports: one run at a time writes them, whatever starts it.
#ifndef CUDNN_CI_REPORT_RECORD_REPORT_LOCKS_H_
#define CUDNN_CI_REPORT_RECORD_REPORT_LOCKS_H_

#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace cudnn_ci {

// What the name of a lock's file ends in.
inline constexpr char kLockSuffix[] = ".cudnn-ci-lock";
// Whether a file of this name is a lock's, which is empty: of those nothing is lost, but another run may hold
// it.
bool IsNameOfLock(const std::string& path);

// That reports cannot be written to the folder, by errno, and what to do.
Error CannotWriteReports(const std::string& folder, int error);

// One run at a time writes a report file, whatever folders it was named by: a lock file ".NAME.cudnn-ci-lock"
// beside each, held as long as this lives and removed with it.
class ReportLocks {
 public:
  ReportLocks() = default;
  ReportLocks(ReportLocks&&) noexcept = default;
  ReportLocks& operator=(ReportLocks&& other) noexcept {
    std::swap(locks_, other.locks_);  // what was held is let go with `other`
    std::swap(made_, other.made_);
    return *this;
  }
  ReportLocks(const ReportLocks&) = delete;
  ReportLocks& operator=(const ReportLocks&) = delete;
  ~ReportLocks();
  // Takes the lock of one more report; its folder exists. An error when another run holds it, or when the
  // lock file cannot be made; a file system without locks is no error.
  Status Take(const std::string& report_path);
  // Makes the folder of reports if it is not there. An error says why it cannot be made.
  Status MakeFolder(const std::string& folder);
  // Releases the locks, and removes the folders that it made if they are empty: no report was written.
  void Undo();

 private:
  std::vector<std::pair<std::string, Fd>> locks_;  // by path of the lock file
  std::vector<std::string> made_;                  // folders
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_REPORT_LOCKS_H_
