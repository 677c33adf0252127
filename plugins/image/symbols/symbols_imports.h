// Which modules and extension modules `import PACKAGE` loads for certain: a scan of the import statements
// that Python executes whatever happens. Runs no Python.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_IMPORTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_IMPORTS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_ci {

// Of one source of Python.
inline constexpr std::size_t kMostPythonSource = std::size_t{2} << 20;

// The names that a module imports by statements at its outermost level, "a.b", relative ones as written
// (".x"), those of `from a import b` as "a" and "a.b". Statements inside of a function, a condition or a
// `try` stand deeper and are not among them, since Python may go on without. At most 20,000 names.
std::vector<std::string> UnconditionalImports(const std::string& source);

// The modules of an environment, each read once. One thread at a time.
class PythonImports {
 public:
  // `folders`: sys.path.
  explicit PythonImports(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  struct Closure {
    std::set<std::string> extensions;  // files of extension modules that are loaded for certain
    std::set<std::string> packages;    // that are imported for certain, by their first names
    std::vector<std::string> sources;  // of the package itself, as they are come upon
  };
  // What is loaded for certain when the package of this name is imported. At most 20,000 modules are read, of
  // at most 2 MiB each.
  const Closure& Of(const std::string& package);
  // The sources of the package itself that its import reads for certain, as they are come upon, at most
  // `most`; what it imports of other packages is not followed.
  std::vector<std::string> OwnSources(const std::string& package, std::size_t most);

 private:
  struct Module {
    std::string source;                // empty: it has none
    std::set<std::string> extensions;  // one for each Python
    std::set<std::string> imports;     // absolute names, "a" and "a.b" of "a.b"
  };
  const Module& Read(const std::string& name);

  std::vector<std::string> folders_;
  std::map<std::string, Module> modules_;
  std::map<std::string, Closure> closures_;
  std::size_t names_ = 0;  // in all of modules_
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_IMPORTS_H_
