// The Python interpreter of a subject: which one it is, its LD_LIBRARY_PATH, and how a process of it ended.
#ifndef CUDNN_CI_PLUGINS_COMMON_INTERPRETER_H_
#define CUDNN_CI_PLUGINS_COMMON_INTERPRETER_H_

#include <cudnn_ci/check.hpp>

#include <string>
#include <vector>

namespace cudnn_ci {

// The parameter "python" that leaves the choice, and what is then started where a subject does not say.
inline constexpr char kAutoPython[] = "auto";
inline constexpr char kDefaultPython[] = "python3";

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

// "was ended by signal 11 (Segmentation fault)", "ended with exit status 1".
std::string HowEnded(const ChildResult& end);

// Whether the words of an exception say that memory was wanting: those of PyTorch and CuPy, and of XLA and
// TensorFlow.
bool IsOutOfMemory(const std::string& error);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMMON_INTERPRETER_H_
