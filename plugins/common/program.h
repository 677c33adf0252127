// Programs that a check starts (Context::RunChild): how they are found, and what is said of their end.
#ifndef CUDNN_CI_PLUGINS_COMMON_PROGRAM_H_
#define CUDNN_CI_PLUGINS_COMMON_PROGRAM_H_

#include <cudnn_ci/check.hpp>

#include <string>

namespace cudnn_ci {

// The error of looking `program` up by the rule of execvp(3): with a slash it is a path, else it is looked up
// in the folders of PATH. Empty: there is such a file and it may be executed.
std::string LookupError(const std::string& program);
// The path of its file, by the same rule; empty: there is none.
std::string PathOfProgram(const std::string& program);

// The error with which the worker says that the program could not be started at all; empty if it was.
std::string StartError(const std::string& program, const ChildResult& result);

// "its last line: no such module", the last one that says anything; or that it printed nothing.
std::string LastLine(const std::string& output);

// The last 8 KiB, behind a mark that says how much was left out.
std::string EndOf(const std::string& output);
// The end of the output becomes the case's evidence.
void LogEnd(Context& ctx, const std::string& output);

// "1.5 s".
std::string SecondsText(double seconds);

// Why a program cannot be given this many seconds, of 0.1 to 86400; empty: it can.
std::string ProblemOfSeconds(double seconds);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_PROGRAM_H_
