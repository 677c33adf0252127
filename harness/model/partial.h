// Why a run is no verdict on the whole image: in words for people, which the record holds, and as codes for
// machines.
#ifndef CUDNN_CI_MODEL_PARTIAL_H_
#define CUDNN_CI_MODEL_PARTIAL_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// How each reason begins in words; several are separated by ", ".
inline constexpr char kPartialFiltered[] = "filtered";
inline constexpr char kPartialShard[] = "shard ";  // then "2/4"
inline constexpr char kPartialStatic[] = "static stage";
inline constexpr char kPartialDisturb[] = "without --disturb (";  // then the checks, and ")"
inline constexpr char kPartialIsolation[] = "isolation none";
inline constexpr char kPartialRerun[] = "rerun of what did not pass";

// The codes of the reasons in a text, in the order of the list above: "filtered", "shard", "static-stage",
// "without-disturb", "isolation-none", "rerun". Empty for a whole run; "other" for words of another version.
std::vector<std::string> PartialCodes(const std::string& words);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_PARTIAL_H_
