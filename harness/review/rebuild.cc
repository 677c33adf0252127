// Reports from the record. See rebuild.h.
#include "review/rebuild.h"

#include <memory>
#include <utility>

#include "base/text.h"
#include "report/record/journal.h"

namespace cudnn_ci {

namespace {

Fold Folded(const std::vector<Event>& events) {
  Fold fold;
  for (const Event& event : events) fold.Apply(event);
  return fold;
}

}  // namespace

Status RebuildReports(const std::vector<Event>& events, const RebuildOptions& options) {
  Fanout fanout(Folded(events), events.empty() ? 0 : events.back().seq,
                events.empty() ? 0 : events.back().t_ms);
  if (!options.journal.empty()) {
    Result<std::unique_ptr<JournalWriter>> journal = JournalWriter::Open(options.journal);
    if (!journal.ok()) return Error{journal.error()};
    for (const Event& event : events)
      if (Status s = (*journal)->OnEvent(event, {}); !s.ok()) return s;
    fanout.Add(std::move(*journal));
  }
  for (auto& reporter : MakeReporters(options.paths, options.settings)) fanout.Add(std::move(reporter));
  if (options.console_fd >= 0)
    fanout.Add(std::make_unique<ConsoleReporter>(options.console_fd, options.console));
  for (const Event& event : events) fanout.Replay(event);
  fanout.Finish();
  if (fanout.failures().empty()) return {};
  return Error{Join(fanout.failures(), "; ")};
}

}  // namespace cudnn_ci
