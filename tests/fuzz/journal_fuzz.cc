// Journals that were cut, merged or edited: whatever the bytes, reading gives events or an error; the events
// can be written again and read back; fold, verdict and reports can be made of them, and a journal without an
// end is never green.
#include "base/utf8.h"
#include "fuzz_target.h"
#include "report/formats/junit_document.h"
#include "report/formats/run_summary.h"
#include "report/record/journal.h"
#include "report/text/run_text.h"
#include "review/rebuild.h"

namespace cudnn_ci {
namespace {

void RequireSameAgain(const std::vector<Event>& events) {
  for (const Event& event : events) {
    Event first = event;
    first.seq = 1;  // a journal of this event alone
    std::string chain, chain_again;
    const std::string line = EncodeEvent(first, &chain);
    if (line.empty()) continue;  // it can never fit a line
    const Result<std::vector<Event>> again = ParseJournal(line, "again");
    Require(again.ok() && again->size() == 1, "a written event is read back",
            line + (again.ok() ? "" : again.error()));
    const std::string same = EncodeEvent(again->front(), &chain_again);
    Require(same == line, "it is the same event", line + same);
  }
}

// The lines with the hashes they need: what is fuzzed is all that comes behind the chain.
std::string Sealed(std::string_view text) {
  std::string sealed, chain;
  for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const std::string_view line = text.substr(0, end);
    if (line.empty()) {
      sealed += '\n';
    } else {
      sealed += SealLine(line, &chain);
    }
  }
  return sealed += text;
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
  Require(!RunSummary(summary, verdict, {}).empty(), "the summary says something", "");

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
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  cudnn_ci::TestJournal(text);
  cudnn_ci::TestJournal(cudnn_ci::Sealed(text));
  return 0;
}
