// Journals that were cut, merged or edited: whatever the bytes, reading gives events or an error; the events
// can be written again and read back; fold, verdict and reports can be made of them, and a journal without an
// end is never green.
#include "base/utf8.h"
#include "fuzz_target.h"
#include "report/journal.h"
#include "report/junit_document.h"
#include "report/last_screen.h"
#include "report/rebuild.h"

namespace cudnn_ci {
namespace {

void RequireSameAgain(const std::vector<Event>& events) {
  for (const Event& event : events) {
    Event first = event;
    first.seq = 1;  // a journal of this event alone
    const std::string line = EncodeEvent(first);
    if (line.empty()) continue;  // it can never fit a line
    const Result<std::vector<Event>> again = ParseJournal(line, "again");
    Require(again.ok() && again->size() == 1, "a written event is read back",
            line + (again.ok() ? "" : again.error()));
    Require(EncodeEvent(again->front()) == line, "it is the same event", line + EncodeEvent(again->front()));
  }
}

void TestJournal(std::string_view text) {
  const Result<std::vector<Event>> events = ParseJournal(text, "fuzz.jsonl");
  if (!events.ok()) return Require(!events.error().empty(), "an error says something", "");
  RequireSameAgain(*events);

  const Summary summary = FoldEvents(*events);
  const Verdict verdict = Judge(summary);
  Require(verdict.kind != VerdictKind::kPassed || (verdict.complete && verdict.exit_code == 0),
          "only what is complete passes", VerdictLine(summary, verdict));
  Require((verdict.kind == VerdictKind::kPassed) == (verdict.exit_code == 0),
          "passed is 0, and nothing else is", VerdictLine(summary, verdict));
  const Totals t = Count(summary);
  Require(t.passed + t.failed + t.errored + t.skipped + t.blocked + t.not_run == t.planned,
          "every planned case is counted once", VerdictLine(summary, verdict));
  Require(!LastScreen(summary, verdict, {}).empty(), "the last screen says something", "");

  for (const bool strict : {false, true}) {
    JunitOptions options;
    options.strict = strict;
    const Status rendered = RenderJunit(summary, options, true, [](size_t, const std::string& document) {
      Require(FindInvalidUtf8(document) == std::string::npos, "a document is valid UTF-8", document);
      return Status();
    });
    Require(rendered.ok(), "JUnit can be rendered", rendered.ok() ? "" : rendered.error());
  }
}

}  // namespace
}  // namespace cudnn_ci

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cudnn_ci::TestJournal({reinterpret_cast<const char*>(data), size});
  return 0;
}
