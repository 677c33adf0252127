// The journal: one event a line, the record every report can be made from again. Format `journal/1`:
//   {"v":"journal/1","seq":7,"t_ms":812,"ev":"CaseFinished","id":"driver.load","outcome":{"is":"passed"},...}
// Text is cleaned on its way in (CleanText); numbers read back exactly.
#ifndef CUDNN_CI_REPORT_JOURNAL_H_
#define CUDNN_CI_REPORT_JOURNAL_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "report/reporter.h"

namespace cudnn_ci {

// Longest line that is written or read, in bytes with its line feed.
inline constexpr size_t kMaxJournalLine = 1 << 20;

// The event as one line with its line feed. Long texts are cut until the line fits; empty if it never does.
std::string EncodeEvent(const Event& event);

class JournalWriter : public Reporter {
 public:
  // Creates or empties the file.
  static Result<std::unique_ptr<JournalWriter>> Open(const std::string& path);
  const char* name() const override { return "journal"; }
  // One write(2) a line, so that the death of this process tears at most the last one.
  Status OnEvent(const Event& event, const Summary& summary) override;
  Status Finish(const Summary& summary) override;

 private:
  JournalWriter(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  Fd fd_;
};

// The events of a journal, in order. A last line without line feed is torn and left out; unknown events and
// fields are left out. Errors, as "FILE:LINE: ...": no JSON, a value of the wrong type, another version, a
// gap in `seq`, a line over kMaxJournalLine.
Result<std::vector<Event>> ReadJournal(const std::string& path);
// The same for text at hand; `name` stands for the file in messages.
Result<std::vector<Event>> ParseJournal(std::string_view text, const std::string& name);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_JOURNAL_H_
