// What a run could not keep apart, and what of it could not be ended. See gate.h.
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/gate.h"
#include "exec/system/isolation.h"

namespace cudnn_ci {
namespace {

constexpr double kEndS = 2;  // for what was killed last
constexpr size_t kMostSaid = 8;

}  // namespace

void Gate::ReportIsolation() {
  for (Finding& finding : RefusedIsolation()) Emit(FindingReported{{}, std::move(finding)});
}

void Gate::ReportStrays() {
  std::vector<std::string> left = session_.control()->EndStrays(kEndS);
  if (left.empty()) return;
  const size_t more = left.size() > kMostSaid ? left.size() - kMostSaid : 0;
  left.resize(left.size() - more);
  if (more > 0) left.push_back("and " + std::to_string(more) + " more");
  Emit(FindingReported{{}, HarnessFinding("process-not-ended", Join(left, "; "))});
}

}  // namespace cudnn_ci
