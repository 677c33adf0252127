// The ids of this plugin's findings, spelled once: a check that reports an undeclared finding id is a bug the
// compiler should find.
#ifndef CUDNN_CI_PLUGINS_CONV_FINDINGS_H_
#define CUDNN_CI_PLUGINS_CONV_FINDINGS_H_

#include "compute/findings.h"

namespace cudnn_ci {

inline constexpr char kConvolutionFailed[] = "convolution-failed";
inline constexpr char kConvolutionCudnnMixed[] = "convolution-cudnn-mixed";
inline constexpr char kWrongValue[] = "wrong-value";
inline constexpr char kWrongValueUnexplained[] = "wrong-value-unexplained";
inline constexpr char kImpreciseValue[] = "imprecise-value";
inline constexpr char kOutputNotWritten[] = "output-not-written";
inline constexpr char kOutOfBoundsWrite[] = "out-of-bounds-write";
inline constexpr char kInputModified[] = "input-modified";
inline constexpr char kImpossibleAccepted[] = "impossible-accepted";
inline constexpr char kUnusableAfterRefusal[] = "unusable-after-refusal";
inline constexpr char kWorkspaceUnderstated[] = "workspace-understated";
inline constexpr char kProposalRefused[] = "proposal-refused";
inline constexpr char kKnownCrash[] = "known-crash";
inline constexpr char kNotRepeatable[] = "not-repeatable";

inline constexpr ComputeFindings kConvolutionFindings = {
    kConvolutionFailed,    kConvolutionCudnnMixed, kWrongValue,       kWrongValueUnexplained,
    kImpreciseValue,       kOutputNotWritten,      kOutOfBoundsWrite, kInputModified,
    kWorkspaceUnderstated, kProposalRefused,       kNotRepeatable};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_FINDINGS_H_
