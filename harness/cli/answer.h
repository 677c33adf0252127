// How commands print their answer, and what they say where there is none.
#ifndef CUDNN_CI_CLI_ANSWER_H_
#define CUDNN_CI_CLI_ANSWER_H_

#include <string>

#include "report/text/pipeline_commands.h"

namespace cudnn_ci {

// Each returns the exit code: 0, or 5 when standard output cannot take the answer.

// Text as it is: what was masked by its parts, or is to be typed or read again.
int PrintAsIs(const std::string& text);
// Text that names plugins and files: cleaned, without secrets and commands to a pipeline.
int PrintText(const std::string& text, const CommandSpelling& spelling = kInText);
// A JSON document, indented and in ASCII; each text is printed without secrets.
int PrintJson(const std::string& document);
// A JSON document that is laid out already, its texts as they are.
int PrintJsonAsIs(const std::string& document);

// Says on stderr why there is no answer; returns 2.
int Fail(const std::string& message);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_CLI_ANSWER_H_
