// The dynamic loader that an executable names.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_INTERPRETER_H_
#define CUDNN_CI_IMAGE_ELF_ELF_INTERPRETER_H_

#include <string>

namespace cudnn_ci {

// The path of the loader that `program` names (its PT_INTERP); empty: it names none, or is no 64-bit ELF file
// that can be read. Any thread.
std::string InterpreterOf(const std::string& program);

// The loader that `program` names and that is not there: the kernel then refuses to start the
// program with ENOENT, as if the program itself were missing. Empty: the loader is there, none is needed, or
// `program` is no 64-bit ELF file that can be read. Any thread.
std::string MissingInterpreter(const std::string& program);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_INTERPRETER_H_
