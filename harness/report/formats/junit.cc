// The JUnit reporter. See junit.h.
#include "report/formats/junit.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/time.h"
#include "report/record/own_reports.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kIntervalMs = 5000;

}  // namespace

std::string JunitPath(const std::string& path, size_t number) {
  if (number == 1) return path;
  const size_t slash = path.rfind('/');
  size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) dot = path.size();
  return path.substr(0, dot) + "-" + std::to_string(number) + path.substr(dot);
}

// Files of an earlier run with more cases. Stops at the first that is missing or not ours.
Status JunitReporter::RemoveFrom(size_t number) {
  for (;; ++number) {
    const std::string path = JunitPath(path_, number);
    if (!IsOwnReport(path)) return {};
    if (unlink(path.c_str()) != 0) return Error{"cannot remove " + path + ": " + std::strerror(errno)};
  }
}

Status JunitReporter::Write(const Summary& summary, bool final) {
  begun_ = 0;
  Status status = RenderJunit(summary, options_, final, [&](size_t number, const std::string& document) {
    begun_ = number;
    return WriteFileAtomically(JunitPath(path_, number), document, final, IsOwnReport);
  });
  return status.ok() ? RemoveFrom(begun_ + 1) : status;
}

Status JunitReporter::Open() { return Write(Summary{}, false); }

Status JunitReporter::WriteIfDue(int64_t now_ms, const Summary& summary) {
  if (!dirty_ || now_ms < next_write_ms_) return {};
  const int64_t start = MonotonicNs();
  Status status = Write(summary, false);
  const int64_t cost_ms = (MonotonicNs() - start) / 1'000'000;
  // At most a tenth of the time goes into reports that may never be read.
  next_write_ms_ = now_ms + std::max(kIntervalMs, 10 * cost_ms);
  dirty_ = false;
  return status;
}

Status JunitReporter::OnEvent(const Event& event, const Summary& summary) {
  if (std::holds_alternative<RunStarted>(event.body) || std::holds_alternative<PlanEnd>(event.body)) {
    next_write_ms_ = event.t_ms;
  }
  dirty_ = true;
  return WriteIfDue(event.t_ms, summary);
}

Status JunitReporter::OnTick(int64_t now_ms, const Summary& summary) { return WriteIfDue(now_ms, summary); }

Status JunitReporter::Finish(const Summary& summary) {
  Status status = Write(summary, true);
  // The first of several files holds the verdict, and is in its place already.
  if (!status.ok() && begun_ > 1) Withdraw();
  return status;
}

void JunitReporter::Withdraw() {
  [[maybe_unused]] const Status removed = RemoveFrom(1);  // nothing more can be done
}

}  // namespace cudnn_ci
