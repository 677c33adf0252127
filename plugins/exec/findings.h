// The ids of this plugin's findings, spelled once.
#ifndef CUDNN_CI_PLUGINS_EXEC_FINDINGS_H_
#define CUDNN_CI_PLUGINS_EXEC_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kCommandMissing[] = "command-missing";
inline constexpr char kCommandExitStatus[] = "command-exit-status";
inline constexpr char kCommandKilled[] = "command-killed";
inline constexpr char kCommandTimedOut[] = "command-timed-out";
inline constexpr char kCommandOutput[] = "command-output";
inline constexpr char kCommandLibrary[] = "command-library";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_EXEC_FINDINGS_H_
