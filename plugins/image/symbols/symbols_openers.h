// Which shared objects a Python package opens itself, with ctypes or torch.ops.load_library, and whether its
// import does so whatever happens: told from its sources, without running them.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_OPENERS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_OPENERS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "image/symbols/symbols_imports.h"
#include "image/symbols/symbols_rules.h"

namespace cudnn_ci {

// The better known, the later.
enum class Opening {
  kNone,     // no source names the file
  kPerhaps,  // a source of the package names it, and one opens files
  kTried,    // the import opens it under a condition, or goes on without
  kSurely    // the import opens it
};

// A part of a source: what it calls and which texts it has.
struct SourcePart {
  std::set<std::string> calls;     // the last names: "load_library" of "torch.ops.load_library(x)"
  std::set<std::string> literals;  // of texts on one line; of an f-string the pieces between its braces
};

struct SourceOutline {
  SourcePart surely;                            // at the outermost level, or in a `with` or `for` there
  SourcePart tried;                             // in another block of the outermost level: `try`, `if`
  SourcePart others;                            // in classes
  std::map<std::string, SourcePart> functions;  // those of the outermost level, by name
};

SourceOutline OutlineOf(const std::string& source);

// The texts that openers are called with by statements which Python executes whatever happens, as far as each
// alone tells: `lib = ctypes.CDLL("libx.so.1")` at the outermost level (PlainCall). None where the source
// says itself what the opener's name stands for.
std::set<std::string> PlainlyOpened(const std::string& source, const std::set<std::string>& openers);

// The packages of an environment, each read when it is first asked for. One thread at a time.
class PackageOpeners {
 public:
  // `folders`: sys.path. The others must outlive this.
  PackageOpeners(std::vector<std::string> folders, PythonImports* imports, const SymbolRules* rules)
      : folders_(std::move(folders)), imports_(imports), rules_(rules) {}

  // How the package of this import name opens a file of this name. At most 3,000 sources of a package are
  // read, and 64 MiB of them.
  Opening Of(const std::string& package, const std::string& file_name);

 private:
  struct Package {
    std::set<std::string> surely, tried, perhaps;  // texts that may name what is opened
  };
  const Package& Read(const std::string& package);

  std::vector<std::string> folders_;
  PythonImports* imports_;
  const SymbolRules* rules_;
  std::map<std::string, Package> packages_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_OPENERS_H_
