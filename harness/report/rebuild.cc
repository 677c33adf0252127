// Reports from the record. See rebuild.h.
#include "report/rebuild.h"

#include "base/text.h"

namespace cudnn_ci {

namespace {

Fold Folded(const std::vector<Event>& events) {
  Fold fold;
  for (const Event& event : events) fold.Apply(event);
  return fold;
}

}  // namespace

Summary FoldEvents(const std::vector<Event>& events) { return Folded(events).summary(); }

Status RebuildReports(const std::vector<Event>& events, const RebuildOptions& options) {
  Fanout fanout(Folded(events));
  for (auto& reporter : MakeReporters(options.paths, options.settings)) fanout.Add(std::move(reporter));
  if (options.console_fd >= 0)
    fanout.Add(std::make_unique<ConsoleReporter>(options.console_fd, options.console));
  fanout.Finish();
  if (fanout.failures().empty()) return {};
  return Error{Join(fanout.failures(), "; ")};
}

}  // namespace cudnn_ci
