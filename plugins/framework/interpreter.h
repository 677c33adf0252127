// An interpreter of the image, and what it answers when it runs the script.
#ifndef CUDNN_CI_PLUGINS_FRAMEWORK_INTERPRETER_H_
#define CUDNN_CI_PLUGINS_FRAMEWORK_INTERPRETER_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

#include "common/interpreter.h"
#include "framework/answer.h"
#include "framework/frameworks.h"

namespace cudnn_ci {

struct Asked : ScriptRun {
  Answer answer;
};

// Runs the script for "versions" or the name of a framework. Skips the case where no interpreter was asked
// for and there is none, or none that is recent enough; ends it with a finding where one cannot be used at
// all.
Asked Ask(Context& ctx, const Interpreter& p, const std::string& what, const std::string& problem,
          const std::vector<std::string>& environment);

// The framework of a probe, by what is known of it.
Framework FrameworkOf(const Context& ctx, const Probe& probe);

// Skips the case where the interpreter that was asked has no such framework.
void SkipIfAbsent(Context& ctx, const Framework& framework, const Asked& asked);

// Skips the case where this exception of the framework says that memory was wanting; others hold the
// device's.
void SkipIfOutOfMemory(Context& ctx, const Framework& framework, const std::string& error);

// What the checks of a framework on a GPU have in common. `kPromise` is what it shall do, the rest of a
// sentence that begins with it; `kJudge(Context&, const Probe&, const Interpreter&)` finds out whether it
// does.
template <const Probe& kProbe, const char* kPromise, auto kJudge>
struct FrameworkCheck {
  using Params = Interpreter;
  static void Describe(Schema<Params>& s) {
    s.Summary("the image's own " + std::string(kProbe.title) + " " + kPromise)
        .Devices(CCI_DEVICES_ONE)
        .Shareable()  // all that it does on the device it does in a child
        .Requires("driver.canary");
    // An import from a cold disk takes minutes; a hang must not hold a GPU for longer.
    DescribeInterpreter(s, 240);
  }
  static void Validate(const Params& p, Problems& problems) { ValidateInterpreter(p, problems); }
  static void Run(Context& ctx, const Params& p) { kJudge(ctx, kProbe, p); }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_FRAMEWORK_INTERPRETER_H_
