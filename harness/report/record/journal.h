// The journal: one event a line, the record every report can be made from again. Format `journal/2`:
//   {"v":"journal/2","seq":7,"t_ms":812,"ev":"CaseFinished","id":"driver.load",...,"h":"0123456789abcdef"}
// Text is cleaned on its way in (CleanText); numbers read back exactly. The lines are a chain: "h" is the
// first 16 digits of SHA-256 over the "h" of the line before (nothing for the first) and this line up to the
// comma before its own "h". A line that was changed, dropped, doubled or moved, or comes from another run,
// breaks it. The schema is schemas/journal.schema.json.
#ifndef CUDNN_CI_REPORT_RECORD_JOURNAL_H_
#define CUDNN_CI_REPORT_RECORD_JOURNAL_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "report/record/journal_line.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

class JournalWriter : public Reporter {
 public:
  // Creates the file; an error if something lies there already.
  static Result<std::unique_ptr<JournalWriter>> Open(const std::string& path);
  const char* name() const override { return "journal"; }
  // One write(2) a line, so that the death of this process tears at most the last one.
  Status OnEvent(const Event& event, const Summary& summary) override;
  // Flushes it to the disk. An error when what lies there is not what was written: a check can reach the
  // file, and may have removed, cut, replaced or edited it.
  Status Finish(const Summary& summary) override;
  // Cuts RunFinished off: the journal of a run that did not finish is never green.
  void Withdraw() override;

 private:
  JournalWriter(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status Verify() const;
  std::string path_;
  Fd fd_;
  std::string chain_;
  off_t written_ = 0;     // bytes
  off_t end_begins_ = 0;  // where RunFinished does; 0: not written
};

// The events of a journal, in order. A last line without line feed is torn and left out; unknown events and
// fields are left out; *unknown_events, where given, gets their types. Errors, as "FILE:LINE: ...": no JSON,
// a value of the wrong type, another version, a gap in `seq`, a broken chain, a line over kMaxJournalLine, a
// torn line behind RunFinished; and a journal without any event. Only regular files are read, so nothing in
// place of one can block.
Result<std::vector<Event>> ReadJournal(const std::string& path,
                                       std::vector<std::string>* unknown_events = nullptr);
// The same for text at hand; `name` stands for the file in messages.
Result<std::vector<Event>> ParseJournal(std::string_view text, const std::string& name,
                                        std::vector<std::string>* unknown_events = nullptr);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_RECORD_JOURNAL_H_
