// What a merged run was made of, in words. Of a run that was not merged there is nothing to say.
#ifndef CUDNN_CI_REPORT_TEXT_PARTS_TEXT_H_
#define CUDNN_CI_REPORT_TEXT_PARTS_TEXT_H_

#include <string>
#include <utility>
#include <vector>

#include "model/verdict/summary.h"

namespace cudnn_ci {

// As (label, value), for what the verdict is about: a line for all shards, or one for each type of GPU.
std::vector<std::pair<std::string, std::string>> PartsTested(const RunStarted& run);

// The drivers of all parts, without repeats; "" when none is known.
std::string DriversOfParts(const RunStarted& run);

// Of a run merged from types of GPU: a column for each type, a row for each case that does not end as a pass
// on all of them, at most `most` rows. Lines of text with the same columns; empty when there is no such case.
std::vector<std::string> PartsTable(const Summary& summary, size_t most);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_PARTS_TEXT_H_
