// Several records put together to one: the shards of a run, or the runs of one image on several types of GPU.
// Pure functions over events. What they give is the record of one run, which fold, verdict and reports take
// as any other.
#ifndef CUDNN_CI_MODEL_MERGE_MERGE_H_
#define CUDNN_CI_MODEL_MERGE_MERGE_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "model/record/event.h"

namespace cudnn_ci {

// More than any run has; a number of shards from elsewhere must not decide how much memory is taken.
inline constexpr int kMostShards = 10'000;

// What one journal holds.
struct RecordedRun {
  std::string name;              // of the journal, for messages
  std::string attachments = {};  // put before the paths of its attachments: "../shard-1/"; empty: they stay
  std::vector<Event> events = {};
  std::vector<std::string> unknown_events = {};  // types of events that this version does not know
};

// The run that these shards, or nodes, are parts of. A case that several of them ran (a prerequisite) has its
// worst outcome, and the findings of all. A shard that is not there, or did not come to its end, is the
// finding `part-missing` with its number. Errors, in one line: a run that is no shard, shards of different
// numbers, plans, matrices, images, plugins or versions of cudnn-ci, on different models of GPU, one shard
// twice, more than kMostShards, events that this version does not know and would lose, and of an image that
// was not named shards that began more than a day apart.
Result<std::vector<Event>> MergeShards(const std::vector<RecordedRun>& shards);

// The runs of one image on the types of GPU named ("t4", "a100-40gb": each word stands in the model's name),
// as one. Shards of one type are put together first. A case is named by the type instead of its device:
// "t4", "t4.gpu1". A type without a run is the finding `part-missing`. Errors: what MergeShards refuses
// (plans may differ, as the numbers of GPUs may), a partial run, a model that no type or several name, two
// runs on one type.
Result<std::vector<Event>> MergeGpus(const std::vector<RecordedRun>& runs,
                                     const std::vector<std::string>& types);

// Whether a type as people write it means the model: "l4" is a word of "NVIDIA L4", not of "NVIDIA L40S".
bool IsGpuType(const std::string& type, const std::string& model);

// The part of a merged run that a case is from, and the case there: that on "t4.gpu1" was on "gpu1" in the
// part "t4", that on "t4" on its first GPU or on none (`there` has no device). Null when the run was not
// merged from types of GPU.
const RunPart* PartOfCase(const RunStarted& run, const CaseRef& ref, CaseRef* there);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_MERGE_MERGE_H_
