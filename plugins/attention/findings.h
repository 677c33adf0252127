// The ids of this plugin's findings, spelled once: a check that reports an undeclared one is a bug the
// compiler should find.
#ifndef CUDNN_CI_PLUGINS_ATTENTION_FINDINGS_H_
#define CUDNN_CI_PLUGINS_ATTENTION_FINDINGS_H_

#include "compute/findings.h"

namespace cudnn_ci {

inline constexpr ComputeFindings kAttentionFindings = {"attention-failed",
                                                       "attention-cudnn-mixed",
                                                       "attention-wrong-value",
                                                       "attention-wrong-unexplained",
                                                       "attention-imprecise-value",
                                                       "attention-output-not-written",
                                                       "attention-out-of-bounds-write",
                                                       "attention-input-modified",
                                                       "attention-workspace-understated",
                                                       "attention-proposal-refused",
                                                       "attention-not-repeatable"};

inline constexpr char kAttentionKnownCrash[] = "attention-known-crash";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_ATTENTION_FINDINGS_H_
