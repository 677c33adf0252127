#include "report/text/suspects.h"

#include <algorithm>

#include "base/text.h"
#include "model/verdict/attribution.h"

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
  return who + ": " + SingleLine(ref.id, kMostOfName) + " passed" +
         (ref.device.empty() ? "" : " on " + SingleLine(ref.device, kMostOfName));
}

// A driver that computes on this very GPU says more than one that loads: the last case of the layer, those
// that use a device first. Null where one of the layer is red, too, though nothing rests on it: the others
// speak of something else.
const CaseRecord* BestOfDriver(const Summary& summary, const CaseRecord& root) {
  const CaseRecord* best = nullptr;
  for (const CaseRecord& record : summary.cases) {
    if (record.plan.layer != Layer::kDriver || !IsBeside(record, root)) continue;
    if (!ErrorFindings(record).empty()) return nullptr;
    if (!IsClean(record)) continue;
    if (!best || best->plan.ref.device.empty() || !record.plan.ref.device.empty()) best = &record;
  }
  return best;
}

bool BlamesImage(const CaseRecord& record) {
  const std::vector<Finding> errors = ErrorFindings(record);
  return std::any_of(errors.begin(), errors.end(), [](const Finding& f) { return f.blame == Blame::kImage; });
}

// The same case on another GPU, else what used most of the image. Nothing where a case, even one that nothing
// rests on, has found the image at fault.
std::string ImageExcluded(const Summary& summary, const CaseRecord& root) {
  const CaseRecord *best = nullptr, *same = nullptr;
  for (const CaseRecord& record : summary.cases) {
    if (&record == &root) continue;
    if (BlamesImage(record)) return "";
    if (same || !IsClean(record)) continue;
    if (record.plan.ref.id == root.plan.ref.id) {
      same = &record;
      continue;
    }
    const Layer layer = record.plan.layer;
    if (layer == Layer::kDriver || layer == Layer::kOther || !IsBeside(record, root)) continue;
    if (!root.plan.subject.empty() && !record.plan.subject.empty() &&
        record.plan.subject != root.plan.subject)
      continue;
    if (!best || layer >= best->plan.layer) best = &record;
  }
  if (same) return Says("the image", *same);
  return best ? Says("the image's libraries", *best) : "";
}

// In the driver's own layer a pass beside says little of what failed, and in a run that was merged gpu0 may
// be that of another host.
bool MayDriverSpeak(const Summary& summary, const CaseRecord& root) {
  return root.plan.layer != Layer::kDriver && !(summary.run && !summary.run->merged_by.empty());
}

}  // namespace

std::string ExcludedSuspect(const Summary& summary, const Verdict& verdict) {
  if (!verdict.root_cause || verdict.root_cause->ref.empty()) return "";
  // Of what took too long everybody is a suspect, whoever computes right.
  if (verdict.root_cause->finding.slug == "slower-than-baseline") return "";
  if (verdict.blame != Blame::kImage && verdict.blame != Blame::kRunner) return "";
  const CaseRecord* root = summary.Find(verdict.root_cause->ref);
  if (!root) return "";
  if (verdict.blame == Blame::kRunner) return ImageExcluded(summary, *root);
  const CaseRecord* driver = MayDriverSpeak(summary, *root) ? BestOfDriver(summary, *root) : nullptr;
  return driver ? Says("the driver", *driver) : "";
}

}  // namespace cudnn_ci
