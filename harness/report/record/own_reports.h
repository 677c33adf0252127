// How a report is known as ours: only what bears our mark at its head is ever replaced or removed. Whoever
// names a file that is not a report of cudnn-ci keeps it.
#ifndef CUDNN_CI_REPORT_RECORD_OWN_REPORTS_H_
#define CUDNN_CI_REPORT_RECORD_OWN_REPORTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// The comment between XML declaration and root element of every JUnit file.
inline constexpr char kJunitMark[] = "cudnn-ci report";
// "schema" of report.json; its first key.
inline constexpr char kReportSchema[] = "cudnn-ci/report/1";
// "v" of every journal line; its first key.
inline constexpr char kJournalVersion[] = "journal/2";
// The comment at the head of report.html.
inline constexpr char kHtmlMark[] = "cudnn-ci report.html";
// The first line of a summary in Markdown, which no renderer shows.
inline constexpr char kSummaryMark[] = "<!--cudnn-ci summary-->";
// Of an in-toto statement: its type, that of its predicate, and what begins the type of our extension in it.
inline constexpr char kStatementType[] = "https://in-toto.io/Statement/v1";
inline constexpr char kPredicateType[] = "https://in-toto.io/attestation/test-result/v0.1";
inline constexpr char kGateExtensions[] = "urn:cudnn-ci:gate:";

// The format of the report that begins so, of this version or another, by its name in formats.h ("junit"), or
// "journal". Empty: it is none of ours.
std::string_view FormatOfHead(std::string_view head);

// Whether the file is a JUnit file, report.json, report.html or journal of cudnn-ci, of this version or
// another, by its first bytes. An empty regular file counts as ours: nothing is lost with it. False when it
// cannot be read, and if it is not a regular file (links are not followed).
bool IsOwnReport(const std::string& path);

// Of an earlier run's journal, which may not be trusted, so much is read, no more of a line is held,
// and so many attachments are taken from it. An attached table stands in its line, with at most 256 KiB, of
// which each byte may be escaped.
inline constexpr uint64_t kMostEarlierBytes = 64 << 20;
inline constexpr size_t kMostEarlierLine = 1 << 20;
inline constexpr size_t kMostEarlierAttachments = 10000;

// The files under attachments/ that a journal names, as "attachments/NAME", in its order, without repeats:
// what may be removed with it. Lines that cannot be read, and those beyond the bounds, are passed over. Empty
// when the file is no journal.
std::vector<std::string> AttachmentsNamedBy(const std::string& journal_path);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_OWN_REPORTS_H_
