// Which of cuDNN's APIs a case needs, and whether the image has it.
#ifndef CUDNN_CI_PLUGINS_CONV_NEEDED_API_H_
#define CUDNN_CI_PLUGINS_CONV_NEEDED_API_H_

#include <cudnn_ci/facts.h>
#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

inline constexpr char kLegacyApi[] = "legacy";
inline constexpr char kGraphApi[] = "graph";

// Skips the case if the image's cuDNN lacks the API.
inline void RequireApi(Context& ctx, const std::string& api) {
  if (api == kLegacyApi && ctx.Fact(CCI_FACT_CUDNN_LIBRARIES) == "jit")
    ctx.Skip(CCI_SKIP_ABSENT, "cuDNN's legacy API (libcudnn_ops, libcudnn_cnn)",
             "a JIT-only cuDNN: " + ctx.Fact(CCI_FACT_CUDNN_PATH));
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_CONV_NEEDED_API_H_
