// What merging shards and merging types of GPU have in common. Private to model.
#ifndef CUDNN_CI_MODEL_MERGE_MERGE_PARTS_H_
#define CUDNN_CI_MODEL_MERGE_MERGE_PARTS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "model/merge/merge.h"
#include "model/verdict/summary.h"

namespace cudnn_ci {

// A record with its fold.
struct Part {
  const RecordedRun* recorded = nullptr;
  Summary summary;
  const RunStarted& run() const { return *summary.run; }
  const std::string& name() const { return recorded->name; }
  // Whether it came as far as a plan: before that it knows neither plugins nor subjects nor GPUs.
  bool planned() const { return summary.plan_end.has_value() || !summary.cases.empty(); }
};

// The first that came as far as a plan: what it says of itself is whole. Where none did, the first.
const Part& FirstPlanned(const std::vector<Part>& parts);

// Folds each; an error for a record that does not tell which run it is of.
Result<std::vector<Part>> FoldParts(const std::vector<RecordedRun>& recorded);

// An error unless the two can be parts of one run on one image.
Status CheckSameImage(const Part& a, const Part& b);

// An error if runs of an unnamed image are not taken for one image's: one that began more than a day before
// another may have run on yesterday's image.
Status CheckSameDay(const std::vector<RecordedRun>& recorded);

// An error unless they can be shards of one run. Their numbers are not looked at.
Status CheckSameRun(const Part& a, const Part& b);

// How the part is named in the merged run.
RunPart DescribePart(const Part& part, const std::string& name);
// One that is not there.
RunPart MissingPart(const std::string& name);

// What the runs say of themselves, as far as it is the same for all: of the first, with the warnings, facts
// and what is not gated of all. Who is merged, parts and devices are left to the caller.
RunStarted CommonRunStarted(const std::vector<Part>& parts);

// Whether the run is one of a node, which has all cases, and no shard.
bool IsNode(const RunStarted& run);

// The command line without `--shard` or `--nodes`, which are no part of the whole.
std::string WithoutShard(const std::string& command_line);

// Events in a row, numbered. Workers of different parts get different numbers.
class Merged {
 public:
  void Add(int64_t t_ms, EventBody body);
  // The events of the workers of a part, and how much is added to their numbers from now on.
  void AddWorkers(const Part& part);
  // Findings about the run as a whole, lost devices, cancellations. `type`: of its GPU, which they then name;
  // empty: of a shard, whose findings at its end are left out, because they are made again for the merged
  // run.
  void AddAboutRun(const Part& part, const std::string& type);
  // What is seen only at the end; then RunFinished, if every part came to its end.
  void Finish(const std::vector<Part>& parts, bool all_there);
  int64_t worker_offset() const { return worker_offset_; }
  const Summary& summary() const { return fold_.summary(); }
  std::vector<Event> Take() { return std::move(events_); }

 private:
  std::vector<Event> events_;
  Fold fold_;
  int64_t worker_offset_ = 0, highest_worker_ = 0;
};

// Of a device of a part, by the type of its GPU: "gpu0" and none are "t4", "gpu1" is "t4.gpu1".
std::string DeviceOnType(const std::string& device, const std::string& type);

// The event as it is in a merged run: another ref, workers by other numbers, attachments elsewhere.
EventBody Moved(EventBody body, const CaseRef& ref, int64_t worker_offset, const std::string& attachments);

// The case an event is about; null: none.
const CaseRef* RefOf(const EventBody& body);

// Whether the event is about a case that the part has planned. One about any other counts as one about the
// run.
bool IsOfCase(const Part& part, const Event& event);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MERGE_MERGE_PARTS_H_
