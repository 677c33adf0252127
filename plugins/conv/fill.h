// What memory holds before a convolution. All are NaNs in every floating-point type, so that what is read
// before it was written, or beyond the end of an input, shows in the result.
#ifndef CUDNN_CI_PLUGINS_CONV_FILL_H_
#define CUDNN_CI_PLUGINS_CONV_FILL_H_

#include <cstdint>

namespace cudnn_ci {

// The 16-bit word that fills outputs. Not what fills the places a kernel must not read: it may carry such
// a NaN over to its output unchanged, and an element that was written wrongly was written.
inline constexpr std::uint16_t kUnwrittenWord = 0xFFFE;
// The byte that fills workspaces and the guards that a kernel might read.
inline constexpr unsigned char kNanByte = 0xFF;

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_FILL_H_
