// What a pipeline's log would obey, out of text that is printed. GitHub's runner reads every line of a step.
#ifndef CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_
#define CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_

#include <string>
#include <string_view>

namespace cudnn_ci {

// Lines in which no command of GitHub's is left: a "::" before which no visible character of ASCII stands
// becomes "\x3A:", every "##[" becomes "#\x23[". Its runner trims a line, of Unicode's blanks too, before it
// looks for the first, and finds the second anywhere:
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs. Idempotent.
std::string WithoutPipelineCommands(std::string_view lines);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_
