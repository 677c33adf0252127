// What stands where a text was cut. Whoever cuts takes the words from here: base/secrets looks for them, to
// mask what is left of a secret on either side. Needs nothing, so that plugins may use it too.
#ifndef CUDNN_CI_BASE_CUT_MARK_H_
#define CUDNN_CI_BASE_CUT_MARK_H_

#include <cstdint>
#include <string>

namespace cudnn_ci {

inline constexpr char kCutMarkHead[] = "... ";
inline constexpr char kCutMarkTail[] = " bytes left out ...";

// "... 37 bytes left out ..."
inline std::string CutMark(uint64_t bytes) { return kCutMarkHead + std::to_string(bytes) + kCutMarkTail; }

}  // namespace cudnn_ci

#endif  // CUDNN_CI_BASE_CUT_MARK_H_
