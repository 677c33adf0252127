// The collectives that a framework is asked for: their exact data as files, which the script sends, and what
// is judged of the files that it received. Knows neither Python nor CUDA.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_COLLECTIVE_FILES_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_COLLECTIVE_FILES_H_

#include <string>
#include <vector>

#include "framework/frameworks.h"
#include "nccl/collective_spec.h"

namespace cudnn_ci {

// What is asked of a framework, for so many ranks: each call in three counts, odd ones and one that is no
// multiple of 16. Without those that the framework has not, or that round.
std::vector<CollectiveSpec> CollectivesOf(const Probe& probe, int ranks);

// Makes the folder, with the data of each rank and nothing else. Throws std::runtime_error where a file
// cannot be written.
void WriteCollectives(const std::string& folder, const std::vector<CollectiveSpec>& calls);

// The problem as the script takes it; `processes`: that lead a rank each, or 1 that leads all.
std::string ProblemOf(const std::string& folder, const std::vector<CollectiveSpec>& calls, int processes);

// Whether each rank has written all of its result of a call.
bool HasResults(const std::string& folder, const std::vector<CollectiveSpec>& calls, size_t index);

// What is wrong with the results of a call, of the first rank that has such, and of how many they are. Empty:
// they are right, all of them.
std::string WrongWith(const std::string& folder, const std::vector<CollectiveSpec>& calls, size_t index);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_COLLECTIVE_FILES_H_
