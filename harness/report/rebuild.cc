// Reports from the record. See rebuild.h.
#include "report/rebuild.h"

#include "base/text.h"
#include "report/json.h"
#include "report/junit.h"

namespace cudnn_ci {

Summary FoldEvents(const std::vector<Event>& events) {
  Fold fold;
  for (const Event& event : events) fold.Apply(event);
  return std::move(*fold.mutable_summary());
}

Status RebuildReports(const std::vector<Event>& events, const RebuildOptions& options) {
  const Summary summary = FoldEvents(events);
  std::vector<std::string> failures;
  const auto finish = [&](Reporter&& reporter) {
    if (Status status = reporter.Finish(summary); !status) failures.push_back(status.error());
  };
  if (!options.junit_path.empty()) finish(JunitReporter(options.junit_path, options.junit));
  if (!options.json_path.empty()) finish(JsonReporter(options.json_path));
  if (options.console_fd >= 0) finish(ConsoleReporter(options.console_fd, options.console));
  if (failures.empty()) return {};
  return Error{Join(failures, "; ")};
}

}  // namespace cudnn_ci
