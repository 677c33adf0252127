// The Python interpreter of a subject: which one it is, its LD_LIBRARY_PATH, how it runs a script of a
// plugin, and how a process of it ended.
#ifndef CUDNN_CI_PLUGINS_COMMON_INTERPRETER_H_
#define CUDNN_CI_PLUGINS_COMMON_INTERPRETER_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// The parameter "python" that leaves the choice, and what is then started where a subject does not say.
inline constexpr char kAutoPython[] = "auto";
inline constexpr char kDefaultPython[] = "python3";

// The parameters of a check that asks an interpreter.
struct Interpreter {
  std::string python;    // "auto": the subject's, else the first python3 of PATH
  double timeout_s = 0;  // for the interpreter, from its start to its end
};

// Of P, which is an Interpreter or begins with one.
template <class P>
void DescribeInterpreter(Schema<P>& s, double timeout_s) {
  // A margin, in which the case says what the interpreter did until its time was over.
  s.Layer(CCI_LAYER_FRAMEWORK).PerSubject().TimeoutSeconds(timeout_s * 1.25);
  std::string P::*const python = &P::python;
  double P::*const seconds = &P::timeout_s;
  s.Param("python", python)
      .Summary(
          "interpreter: a path, or a name in PATH; auto: the subject's, or else the first python3 in PATH")
      .Default(kAutoPython);
  s.Param("timeout_s", seconds)
      .Summary("time limit of the interpreter in seconds; must be less than the entry's")
      .Default(timeout_s);
}

void ValidateInterpreter(const Interpreter& p, Problems& problems);

// The interpreter that is asked: `python` unless it is "auto"; then that of a subject "python:PATH", else
// "python3".
std::string InterpreterOf(const std::string& python, const std::string& subject_spec);

// Of the subjects of a run (CCI_FACT_RUN_SUBJECTS) the one "python:PATH" whose PATH is this interpreter, by
// that name or another in the same folder: a virtual environment is told by its folder. Empty: none is.
std::string SubjectOfInterpreter(const std::string& subjects, const std::string& path);

// LD_LIBRARY_PATH of this process becomes what it is for a program of the subject: without the subject's
// folders, which the harness puts into a worker's. Once a process.
void TakeUsersLibraryPath(const Context& ctx);
// What is the harness's in LD_LIBRARY_PATH even then: the folders of a subject that is no program.
std::vector<std::string> FoldersOfTheHarness(const Context& ctx);

// The interpreter that the parameter "python" means for the subject of the case, whose LD_LIBRARY_PATH this
// process takes. Skips the case where none was named and there is none; ends it with the finding `unusable`
// where it is not to be found.
std::string InterpreterOfCase(Context& ctx, const std::string& parameter, const char* unusable);

// A file of a script, which is part of a plugin (cudnn_ci_embed_script).
struct ScriptFile {
  const char* name;  // "cudnn_ci_probe/answer.py"
  const char* text;
};

// Writes a file for a script into a folder that is there. Throws std::runtime_error where it cannot.
void WriteForScript(const std::string& path, std::string_view bytes);
// Writes the files of a script, with the folders that their names have. Returns the path of the first, which
// is the one to run. Throws std::runtime_error.
std::string WriteScript(const std::string& folder, const std::vector<ScriptFile>& files);

struct ScriptRun {
  std::string python;  // the interpreter that was started
  ChildResult end;
};

// Runs a script: `arguments` are its path and its own, of which the last is the path of its answer. An answer
// of the case before is removed. Ends the case with a finding where the container was short of memory or
// processes.
ScriptRun RunScript(Context& ctx, const std::string& python, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment, double timeout_s);

// What a script left as its answer, at most `most` bytes; empty where there is no file. *problem says why it
// cannot be read: it is too large, or no regular file.
std::string ReadScriptsAnswer(const std::string& path, std::size_t most, std::string* problem);

// Ends the case with the finding `unusable` where an answer has a problem, or no version of Python
// ("3.11.7"): the script did not get to its first line. Skips it where Python is older than scripts need.
void RequireAnswer(Context& ctx, const ScriptRun& run, const std::string& problem, const std::string& version,
                   double timeout_s, const char* unusable);

// Whether scripts run in Python "3.11.7": 3.8 or later.
bool RunsScripts(const std::string& version);

// "was killed by signal 11 (Segmentation fault)", "ended with exit status 1".
std::string HowEnded(const ChildResult& end);

// Whether the words of an exception say that memory was wanting: those of PyTorch and CuPy, and of XLA and
// TensorFlow.
bool IsOutOfMemory(const std::string& error);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_INTERPRETER_H_
