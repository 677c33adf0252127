// Says one judgement once: an expectation where it holds, the declared finding where it does not. A
// failed expectation beside a finding would report one fault twice, the second time without blame.
#ifndef CUDNN_CI_PLUGINS_COMMON_JUDGE_H_
#define CUDNN_CI_PLUGINS_COMMON_JUDGE_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

// Returns `held`. `what` says what was to hold; `slug` is one of the plugin's declared findings.
inline bool Judge(Context& ctx, bool held, const std::string& what, const char* slug,
                  const std::string& detail, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (held) {
    ctx.Expect(true, file, line, what);
  } else {
    ctx.Finding(slug, detail);
  }
  return held;
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_JUDGE_H_
