#include "common/interpreter.h"

#include <stdlib.h>

#include <cstring>
#include <filesystem>

#include "common/loader_path.h"

namespace cudnn_ci {
namespace {

constexpr char kPythonSubject[] = "python:", kProgramSubject[] = "program:";

bool BeginsWith(const std::string& text, const char* words) {
  return text.compare(0, std::strlen(words), words) == 0;
}

bool NamesAProgram(const Context& ctx) {
  const std::string spec = ctx.SubjectSpec();
  return BeginsWith(spec, kPythonSubject) || BeginsWith(spec, kProgramSubject);
}

}  // namespace

std::string InterpreterOf(const std::string& python, const std::string& subject_spec) {
  if (python != kAutoPython) return python;
  return BeginsWith(subject_spec, kPythonSubject) ? subject_spec.substr(std::strlen(kPythonSubject))
                                                  : kDefaultPython;
}

std::string SubjectOfInterpreter(const std::string& subjects, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (std::size_t begin = 0, end = 0; (end = subjects.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string spec = subjects.substr(begin, end - begin);
    if (!BeginsWith(spec, kPythonSubject)) continue;
    const fs::path mine = path, its = spec.substr(std::strlen(kPythonSubject));
    if (fs::equivalent(mine, its, error) && fs::equivalent(mine.parent_path(), its.parent_path(), error))
      return spec;
  }
  return "";
}

// With the subject's folders in it a program would find what it does not find by itself, and not find what
// hides its own.
void TakeUsersLibraryPath(const Context& ctx) {
  constexpr char kVariable[] = "LD_LIBRARY_PATH";
  static bool taken = false;  // a process has one subject
  if (taken || !NamesAProgram(ctx)) return;
  taken = true;
  const std::string users = UsersLibraryPath(Environment(kVariable), ctx.SubjectFolders());
  if (users.empty())
    unsetenv(kVariable);
  else
    setenv(kVariable, users.c_str(), 1);
}

std::vector<std::string> FoldersOfTheHarness(const Context& ctx) {
  return NamesAProgram(ctx) ? std::vector<std::string>() : ctx.SubjectFolders();
}

std::string HowEnded(const ChildResult& end) {
  if (end.signal != 0)
    return "was ended by signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")";
  return "ended with exit status " + std::to_string(end.exit_status);
}

bool IsOutOfMemory(const std::string& error) {
  for (const char* words :
       {"OutOfMemoryError", "RESOURCE_EXHAUSTED", "ResourceExhaustedError", "out of memory", "ALLOC_FAILED",
        "ALLOCATION_FAILED", "Failed to allocate memory", "Cannot allocate memory", "MemoryError"})
    if (error.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace cudnn_ci
