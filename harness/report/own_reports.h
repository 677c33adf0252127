// How a report is known as ours: only what bears our mark at its head is ever replaced or removed. Whoever
// names a file that is not a report of cudnn-ci keeps it.
#ifndef CUDNN_CI_REPORT_OWN_REPORTS_H_
#define CUDNN_CI_REPORT_OWN_REPORTS_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// The comment between XML declaration and root element of every JUnit file.
inline constexpr char kJunitMark[] = "cudnn-ci report";
// "schema" of report.json; its first key.
inline constexpr char kReportSchema[] = "cudnn-ci/report/1";
// "v" of every journal line; its first key.
inline constexpr char kJournalVersion[] = "journal/2";

// Whether the file is a JUnit file, report.json, report.html or journal of cudnn-ci, of this version or
// another, by its first bytes. An empty regular file counts as ours: nothing is lost with it. False when it
// cannot be read, and for what is no regular file (links are not followed).
bool IsOwnReport(const std::string& path);

// The files under attachments/ that a journal names, as "attachments/NAME", without repeats: what may be
// removed with it. Lines that cannot be read are passed over. Empty when the file is no journal.
std::vector<std::string> AttachmentsNamedBy(const std::string& journal_path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_OWN_REPORTS_H_
