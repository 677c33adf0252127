// What a pipeline's log would obey, out of text that is printed. The runners read every line of a step.
#ifndef CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_
#define CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_

#include <string>
#include <string_view>

namespace cudnn_ci {

// How a colon and a number sign are spelled so that whoever reads the text sees them and no pipeline does.
struct CommandSpelling {
  const char* colon;
  const char* number_sign;
};
inline constexpr CommandSpelling kInText = {"\\x3A", "\\x23"};
// In a string of JSON, and as references of XML and HTML: the document means the same as before. Markdown has
// no such form for its code, where texts of others stand.
inline constexpr CommandSpelling kInJson = {"\\u003a", "\\u0023"};
inline constexpr CommandSpelling kInMarkup = {"&#58;", "&#35;"};

// Lines in which no command is left of GitHub's ("::error::", "##[error]"), of Azure's ("##vso[") and of
// TeamCity's ("##teamcity["). The first colon of a "::" before which no visible character of ASCII stands is
// spelled otherwise, and so is the second character of "##", letters or none, and "[". GitHub trims a line,
// of Unicode's blanks too, before it looks for the first; the others are found anywhere in it:
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs,
// https://github.com/microsoft/azure-pipelines-agent/blob/master/src/Microsoft.VisualStudio.Services.Agent/Command.cs,
// https://www.jetbrains.com/help/teamcity/service-messages.html. Idempotent.
std::string WithoutPipelineCommands(std::string_view lines, const CommandSpelling& spelling = kInText);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_TEXT_PIPELINE_COMMANDS_H_
