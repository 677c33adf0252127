#include "report/suspects.h"

#include "base/text.h"
#include "model/reasons.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostOfName = 200;

bool IsClean(const CaseRecord& record) {
  return std::holds_alternative<Passed>(record.outcome) && ErrorFindings(record).empty();
}

// On the root's own device, or on none.
bool IsBeside(const CaseRecord& record, const CaseRecord& root) {
  const std::string& device = record.plan.ref.device;
  return device.empty() || root.plan.ref.device.empty() || device == root.plan.ref.device;
}

std::string Says(const std::string& who, const CaseRecord& record) {
  const CaseRef& ref = record.plan.ref;
  return who + ": " + CleanLine(ref.id, kMostOfName) + " passed" +
         (ref.device.empty() ? "" : " on " + CleanLine(ref.device, kMostOfName));
}

// A driver that computes on this very GPU says more than one that loads: the last case of the layer, those
// that use a device first.
const CaseRecord* BestOfDriver(const Summary& summary, const CaseRecord& root) {
  const CaseRecord* best = nullptr;
  for (const CaseRecord& record : summary.cases) {
    if (record.plan.layer != Layer::kDriver || !IsClean(record) || !IsBeside(record, root)) continue;
    if (!best || best->plan.ref.device.empty() || !record.plan.ref.device.empty()) best = &record;
  }
  return best;
}

// The same case on another GPU, else what used most of the image.
std::string ImageExcluded(const Summary& summary, const CaseRecord& root) {
  const CaseRecord* best = nullptr;
  for (const CaseRecord& record : summary.cases) {
    if (&record == &root || !IsClean(record)) continue;
    if (record.plan.ref.id == root.plan.ref.id) return Says("the image", record);
    const Layer layer = record.plan.layer;
    if (layer == Layer::kDriver || layer == Layer::kOther || !IsBeside(record, root)) continue;
    if (!root.plan.subject.empty() && !record.plan.subject.empty() &&
        record.plan.subject != root.plan.subject)
      continue;
    if (!best || layer >= best->plan.layer) best = &record;
  }
  return best ? Says("the image's libraries", *best) : "";
}

}  // namespace

std::string ExcludedSuspect(const Summary& summary, const Verdict& verdict) {
  if (!verdict.root_cause || verdict.root_cause->case_id.empty()) return "";
  for (const CaseRecord& root : summary.cases) {
    if (DisplayId(root.plan.ref) != verdict.root_cause->case_id) continue;
    if (verdict.blame == Blame::kRunner) return ImageExcluded(summary, root);
    // In the driver's own layer a pass beside says little of what failed.
    if (verdict.blame == Blame::kMatrix || root.plan.layer == Layer::kDriver) return "";
    const CaseRecord* driver = BestOfDriver(summary, root);
    return driver ? Says("the driver", *driver) : "";
  }
  return "";
}

}  // namespace cudnn_ci
