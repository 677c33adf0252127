// Whether the shared objects of a subject resolve in the processes that load them. Reads files; loads
// nothing.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_JUDGE_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_JUDGE_H_

#include <string>
#include <vector>

#include "image/contents/image_files.h"
#include "image/loader/loader_scope.h"
#include "image/symbols/symbols_faults.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

struct SymbolJudgement {
  std::vector<SymbolFault> faults;     // each once
  std::size_t files = 0, symbols = 0;  // that were resolved
  std::vector<std::string> processes;  // "import torch"
};

// Of a "python:" subject each package with extension modules gets a process: the interpreter, what its rule
// says (SymbolRules), its extension modules in turn. Extensions that are linked with PyTorch get the one of
// `import torch`. What lies there besides is opened in a process of its own, and what fails is a note.
// Of "program:" it is the program. Of others each file is opened for itself: what it needs must be there if
// it is a library for GPUs; symbols without a version may come from the program that opens it.
SymbolJudgement JudgeSymbols(const ImageFiles& image, const std::string& spec, const SymbolRules& rules,
                             LoaderFiles* files);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_JUDGE_H_
