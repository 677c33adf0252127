// Which extension modules `import PACKAGE` loads for certain: a scan of the import statements that Python
// executes whatever happens. Runs no Python.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_IMPORTS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_IMPORTS_H_

#include <set>
#include <string>
#include <vector>

namespace cudnn_ci {

// The names that a module imports by statements at its outermost level, "a.b", relative ones as written
// (".x"), those of `from a import b` as "a" and "a.b". Statements inside of a function, a condition or a
// `try` stand deeper and are not among them, since Python may go on without. At most 20,000 names.
std::vector<std::string> UnconditionalImports(const std::string& source);

// The files of extension modules that are loaded for certain when the module `name` is imported, as they
// stand below one of `folders` (sys.path). At most 5,000 modules are read, of at most 2 MiB each.
std::set<std::string> ExtensionsImportedBy(const std::string& name, const std::vector<std::string>& folders);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_IMPORTS_H_
