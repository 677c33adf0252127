// Says one judgement once: an expectation where it holds, the declared finding where it does not. A
// failed expectation beside a finding would report one fault twice, the second time without blame.
#ifndef CUDNN_CI_PLUGINS_COMMON_JUDGE_H_
#define CUDNN_CI_PLUGINS_COMMON_JUDGE_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <type_traits>

#include "common/joined.h"
#include "common/loader_path.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {

// Returns `held`. `what` says what was to hold; `slug` is one of the plugin's declared findings.
// `detail` is text, or a function returning it where gathering it costs something.
template <class Detail>
bool Judge(Context& ctx, bool held, const std::string& what, const char* slug, const Detail& detail,
           const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (held) {
    ctx.Expect(true, file, line, what);
  } else if constexpr (std::is_invocable_v<Detail>) {
    ctx.Finding(slug, detail());
  } else {
    ctx.Finding(slug, detail);
  }
  return held;
}

// The same with the line that fixes it (Context::Finding), which is made only where it does not hold; an
// empty one is none.
template <class Detail, class Line, class = std::enable_if_t<std::is_invocable_v<Line>>>
bool Judge(Context& ctx, bool held, const std::string& what, const char* slug, const Detail& detail,
           const Line& line, const char* file = __builtin_FILE(), int at = __builtin_LINE()) {
  if (held) {
    ctx.Expect(true, file, at, what);
  } else if constexpr (std::is_invocable_v<Detail>) {
    ctx.Finding(slug, detail(), {line()});
  } else {
    ctx.Finding(slug, detail, {line()});
  }
  return held;
}

// That the image has no library of this stem ("libcudnn.so"), of whatever release: one that is not known here
// would be used all the same.
inline void JudgeAbsence(Context& ctx, const std::string& stem, const std::string& what, const char* slug) {
  const std::string found = Joined(LibrariesOf(stem, Environment("LD_LIBRARY_PATH")));
  Judge(ctx, found.empty(), what, slug, found + " found, absent promised");
}

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_JUDGE_H_
