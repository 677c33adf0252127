// Sentences of a run that are about no case: what is not gated, and warnings of discovery and planning. The
// record holds them in words for people; here are their codes for machines. Who writes such a sentence takes
// the words that tell it from others from here, so that the two cannot part.
#ifndef CUDNN_CI_MODEL_REMARKS_H_
#define CUDNN_CI_MODEL_REMARKS_H_

#include <string>
#include <vector>

namespace cudnn_ci {

// Of what is not gated.
inline constexpr char kNotPromisedWords[] = " is not promised by the matrix: ";
inline constexpr char kNotJudgedWords[] = " is promised, and no required check of this selection judges it";
inline constexpr char kGpuNotUsedWords[] = " is visible and was not used";
inline constexpr char kCudnnNotUsedWords[] = " is used by no subject";
inline constexpr char kSpeedNotComparedWords[] = " held to the baseline, not compared: ";

// Of warnings.
inline constexpr char kWaiverMatchesNoneWords[] = " matches no case";
inline constexpr char kWaiverUndeclaredWords[] = ", which nobody declares";
inline constexpr char kWaiverBlameWords[] = ", which is never reported with that blame; it is ";
inline constexpr char kMoreWaiversWords[] = " more such warnings about waivers";
inline constexpr char kCaseGoneWords[] = " of the earlier run is gone from the plan";  // in records of 0.1.0
inline constexpr char kNoVersionTableWords[] = " is missing: versions are judged without a table";
inline constexpr char kVariableRemovedWords[] = " is set, with which no program runs";
inline constexpr char kWritableByOthersWords[] = " is writable by others: ";
inline constexpr char kOwnedByAnotherWords[] = ", neither root nor user ";
inline constexpr char kAutoElsewhereWords[] = "--auto: the loader finds no cuDNN; judged: ";
inline constexpr char kAutomaticSubjectsWords[] = "\"subjects\": \"auto\": ";
inline constexpr char kFolderNotSearchedWords[] = " is not searched: ";
inline constexpr char kFoldersTooLargeWords[] = "its folders hold more entries than are looked at";
inline constexpr char kImageUnidentifiedWords[] = "the image is unidentified: ";
inline constexpr char kShardsDriversWords[] = "the shards ran with different drivers: ";

// One code for each sentence, in order. Of what is not gated: "version-not-promised", "promise-not-judged",
// "gpu-not-used", "cudnn-not-used", "speed-not-compared". "other" for words of another version or a kind
// without a code.
std::vector<std::string> NotGatedCodes(const std::vector<std::string>& sentences);
// "waiver-without-case", "waiver-without-finding", "waiver-blame", "waivers-cut", "case-gone",
// "no-version-table", "variable-removed", "plugin-writable", "plugin-owner", "auto-elsewhere",
// "environments-cut", "subject-cut", "image-unidentified", "drivers-differ"; "other".
std::vector<std::string> WarningCodes(const std::vector<std::string>& sentences);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_REMARKS_H_
