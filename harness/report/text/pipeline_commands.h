// What a pipeline's log would obey, out of text that is printed. The runners read every line of a step.
#ifndef CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_
#define CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_

#include <string>
#include <string_view>

namespace cudnn_ci {

// Lines in which no command is left of GitHub's ("::error::", "##[error]"), of Azure's ("##vso[") and of
// TeamCity's ("##teamcity["). A "::" before which no visible character of ASCII stands becomes "\x3A:"; of
// "##", letters or none, and "[" the second character becomes "\x23". GitHub trims a line, of Unicode's
// blanks too, before it looks for the first; the others are found anywhere in it:
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs,
// https://github.com/microsoft/azure-pipelines-agent/blob/master/src/Microsoft.VisualStudio.Services.Agent/Command.cs,
// https://www.jetbrains.com/help/teamcity/service-messages.html. Idempotent.
std::string WithoutPipelineCommands(std::string_view lines);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_
