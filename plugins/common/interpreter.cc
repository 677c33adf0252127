#include "common/interpreter.h"

#include <stdlib.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/file.h"
#include "common/judge.h"
#include "common/loader_path.h"
#include "common/program.h"
#include "common/shortage.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr char kPythonSubject[] = "python:", kProgramSubject[] = "program:";

bool BeginsWith(const std::string& text, const char* words) {
  return text.compare(0, std::strlen(words), words) == 0;
}

bool NamesAProgram(const Context& ctx) {
  const std::string spec = ctx.SubjectSpec();
  return BeginsWith(spec, kPythonSubject) || BeginsWith(spec, kProgramSubject);
}

// Why an interpreter did not get as far as the script's first line; empty: it did.
std::string WhyNoAnswer(const ScriptRun& run, const std::string& problem, const std::string& version,
                        double timeout_s) {
  if (!problem.empty()) return "left an answer that cannot be read: " + problem;
  if (!version.empty()) return "";
  if (const std::string why = StartError(run.python, run.end); !why.empty())
    return "cannot be started: " + why;
  const std::string last = "; " + LastLine(run.end.output);
  if (run.end.timed_out) return "did not run a script within " + SecondsText(timeout_s) + last;
  return HowEnded(run.end) + " before it ran a script" + last;
}

}  // namespace

void ValidateInterpreter(const Interpreter& p, Problems& problems) {
  if (p.python.empty()) problems.Add("python", "the interpreter's name is empty; leave it out instead");
  if (const std::string why = ProblemOfSeconds(p.timeout_s); !why.empty()) problems.Add("timeout_s", why);
}

std::string InterpreterOf(const std::string& python, const std::string& subject_spec) {
  if (python != kAutoPython) return python;
  return BeginsWith(subject_spec, kPythonSubject) ? subject_spec.substr(std::strlen(kPythonSubject))
                                                  : kDefaultPython;
}

std::string SubjectOfInterpreter(const std::string& subjects, const std::string& path) {
  std::error_code error;
  for (std::size_t begin = 0, end = 0; (end = subjects.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::string spec = subjects.substr(begin, end - begin);
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

std::string InterpreterOfCase(Context& ctx, const std::string& parameter, const char* unusable) {
  TakeUsersLibraryPath(ctx);
  std::string python = InterpreterOf(parameter, ctx.SubjectSpec());
  if (const std::string missing = LookupError(python); !missing.empty()) {
    if (parameter == kAutoPython && python == kDefaultPython)
      ctx.Skip(CCI_SKIP_ABSENT, kDefaultPython, missing);
    ctx.Finding(unusable, missing);
    ctx.Stop();
  }
  return python;
}

void WriteForScript(const std::string& path, std::string_view bytes) {
  if (const Status written = WriteFileAtomically(path, bytes); !written.ok())
    throw std::runtime_error(written.error());
}

std::string WriteScript(const std::string& folder, const std::vector<ScriptFile>& files) {
  for (const ScriptFile& file : files) {
    const fs::path path = folder + "/" + file.name;
    fs::create_directories(path.parent_path());
    WriteForScript(path.string(), file.text);
  }
  return folder + "/" + files.front().name;
}

ScriptRun RunScript(Context& ctx, const std::string& python, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment, double timeout_s) {
  std::remove(arguments.back().c_str());
  // Nothing is left in the image (-B), and a crash shows where Python was.
  std::vector<std::string> argv = {python, "-B", "-X", "faulthandler"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Shortage shortage;
  ScriptRun run = {python, RunProgram(ctx, argv, environment, timeout_s, &shortage)};
  LogEnd(ctx, run.end.output);
  if (!run.end.timed_out && run.end.exit_status != 0 && ReportShortage(ctx, python, run.end, shortage))
    ctx.Stop();
  return run;
}

std::string ReadScriptsAnswer(const std::string& path, std::size_t most, std::string* problem) {
  std::error_code error;
  if (!fs::exists(path, error)) return "";
  const Result<std::string> text = ReadFile(path, most);
  if (!text.ok()) *problem = text.error();
  return text.ok() ? *text : "";
}

void RequireAnswer(Context& ctx, const ScriptRun& run, const std::string& problem, const std::string& version,
                   double timeout_s, const char* unusable) {
  const std::string why = WhyNoAnswer(run, problem, version, timeout_s);
  if (!Judge(ctx, why.empty(), "the interpreter runs a script", unusable, run.python + " " + why)) ctx.Stop();
  if (!RunsScripts(version)) ctx.Skip(CCI_SKIP_VERSION, "Python 3.8 or later", version + " at " + run.python);
}

bool RunsScripts(const std::string& version) {
  int major = 0, minor = 0;
  (void)std::sscanf(version.c_str(), "%9d.%9d", &major, &minor);
  return major > 3 || (major == 3 && minor >= 8);
}

std::string HowEnded(const ChildResult& end) {
  if (end.signal != 0)
    return "was killed by signal " + std::to_string(end.signal) + " (" + strsignal(end.signal) + ")";
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
