#include "image/symbols/symbols_imports.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 20000, kMostModules = 20000, kMostKnown = 500000,
                      kMostRemembered = 2000000, kMostStatement = 64 << 10;

bool IsNamePart(char c) {
  return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// The next dotted name or single character of a statement; empty at its end.
std::string NextToken(const std::string& text, std::size_t* at) {
  while (*at < text.size() && (text[*at] == ' ' || text[*at] == '\t' || text[*at] == '\\')) ++*at;
  if (*at >= text.size() || text[*at] == '#') return "";
  const std::size_t begin = *at;
  while (*at < text.size() && IsNamePart(text[*at])) ++*at;
  if (*at == begin) ++*at;
  return text.substr(begin, *at - begin);
}

void AddNames(const std::string& statement, std::vector<std::string>* names) {
  std::size_t at = 0;
  const std::string keyword = NextToken(statement, &at);
  std::string from, token;
  if (keyword == "from") {
    from = NextToken(statement, &at);
    if (NextToken(statement, &at) != "import" || from.empty()) return;
    names->push_back(from);
  }
  bool expect = true;
  while (names->size() < kMostNames && !(token = NextToken(statement, &at)).empty()) {
    if (token == "," || token == "(") {
      expect = true;
    } else if (expect && IsNamePart(token[0])) {
      names->push_back(from.empty() ? token : from + (from.back() == '.' ? "" : ".") + token);
      expect = false;
    }
  }
}

// The quotes that a line opens and does not close: ''' or """; `open`: those that it begins in.
std::string OpenQuotes(const std::string& line, std::string open) {
  for (std::size_t i = 0; i + 3 <= line.size();) {
    const std::string here = line.substr(i, 3);
    if (open.empty() && line[i] == '#') return open;
    if (here == open || (open.empty() && (here == "'''" || here == "\"\"\""))) {
      open = open.empty() ? here : "";
      i += 3;
    } else {
      ++i;
    }
  }
  return open;
}

// Where a module lies: its source, or the files of an extension, one for each Python; both empty: there is
// none.
struct Place {
  std::string source;
  std::set<std::string> extensions;
  bool is_package = false;
};

std::set<std::string> ExtensionFiles(const fs::path& folder, const std::string& name) {
  std::error_code error;
  std::set<std::string> found;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    const bool of_name =
        file.size() > name.size() && file.compare(0, name.size(), name) == 0 && file[name.size()] == '.';
    const bool shared = file.size() > 3 && file.compare(file.size() - 3, 3, ".so") == 0;
    if (of_name && shared) found.insert(it->path().string());
  }
  return found;
}

// Python takes a package before an extension module before a source.
Place FindModule(const std::string& name, const std::vector<std::string>& folders) {
  std::string path = name;
  std::replace(path.begin(), path.end(), '.', '/');
  std::error_code ignored;
  for (const std::string& folder : folders) {
    const fs::path at = fs::path(folder) / path;
    if (fs::is_regular_file(at / "__init__.py", ignored)) return {(at / "__init__.py").string(), {}, true};
    std::set<std::string> extensions = ExtensionFiles(at.parent_path(), at.filename().string());
    if (!extensions.empty()) return {"", std::move(extensions), false};
    if (fs::is_regular_file(at.string() + ".py", ignored)) return {at.string() + ".py", {}, false};
  }
  return {};
}

// "a.b.c" of a name as it stands in module `of`.
std::string Absolute(const std::string& name, const std::string& of, bool is_package) {
  if (name.empty() || name[0] != '.') return name;
  std::size_t dots = name.find_first_not_of('.');
  if (dots == std::string::npos) dots = name.size();
  std::string base = of;
  for (std::size_t up = is_package ? 1 : 0; up < dots; ++up) {
    const std::size_t dot = base.rfind('.');
    base = dot == std::string::npos ? "" : base.substr(0, dot);
  }
  const std::string rest = name.substr(dots);
  return base.empty() || rest.empty() ? base + rest : base + "." + rest;
}

}  // namespace

std::vector<std::string> UnconditionalImports(const std::string& source) {
  std::vector<std::string> names;
  std::string open, statement;
  for (std::size_t at = 0; at < source.size() && names.size() < kMostNames;) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    std::string line = source.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const bool in_text = !open.empty();
    open = OpenQuotes(line, open);
    if (in_text) continue;
    const bool continues = !statement.empty();
    if (!continues && !line.starts_with("import ") && !line.starts_with("from ")) continue;
    statement += " " + line.substr(0, line.find('#'));
    const bool more = statement.find('(') != std::string::npos ? statement.find(')') == std::string::npos
                                                               : statement.back() == '\\';
    if (more && statement.size() < kMostStatement) continue;
    AddNames(statement, &names);
    statement.clear();
  }
  return names;
}

const PythonImports::Module& PythonImports::Read(const std::string& name) {
  const auto [at, fresh] = modules_.try_emplace(name);
  Module& module = at->second;
  if (!fresh) return module;
  const Place place = FindModule(name, folders_);
  module.source = place.source;
  module.extensions = place.extensions;
  if (place.source.empty() || names_ > kMostRemembered) return module;
  const Result<std::string> source = ReadFile(place.source, kMostPythonSource);
  if (!source) return module;
  for (const std::string& written : UnconditionalImports(*source)) {
    const std::string absolute = Absolute(written, name, place.is_package);
    // Python imports "a" and "a.b" for "a.b.c".
    for (std::size_t dot = 0; dot != std::string::npos && !absolute.empty();) {
      dot = absolute.find('.', dot + 1);
      module.imports.insert(absolute.substr(0, dot));
    }
  }
  names_ += module.imports.size();
  return module;
}

std::vector<std::string> PythonImports::OwnSources(const std::string& package, std::size_t most) {
  std::vector<std::string> sources;
  std::set<std::string> known = {package};
  std::deque<std::string> waiting = {package};
  while (!waiting.empty() && sources.size() < most) {
    const Module& module = Read(waiting.front());
    waiting.pop_front();
    if (module.source.empty()) continue;
    sources.push_back(module.source);
    for (const std::string& name : module.imports)
      if (name.starts_with(package + ".") && known.insert(name).second) waiting.push_back(name);
  }
  return sources;
}

const PythonImports::Closure& PythonImports::Of(const std::string& package) {
  const auto [at, fresh] = closures_.try_emplace(package);
  Closure& closure = at->second;
  if (!fresh) return closure;
  std::set<std::string> known = {package};
  std::deque<std::string> waiting = {package};
  std::size_t modules = 0;
  while (!waiting.empty() && modules < kMostModules && known.size() < kMostKnown) {
    const std::string next = waiting.front();
    waiting.pop_front();
    const Module& module = Read(next);
    closure.extensions.insert(module.extensions.begin(), module.extensions.end());
    if (module.source.empty()) continue;
    ++modules;
    const std::string first = next.substr(0, next.find('.'));
    closure.packages.insert(first);
    if (first == package) closure.sources.push_back(module.source);
    for (const std::string& name : module.imports)
      if (known.insert(name).second) waiting.push_back(name);
  }
  return closure;
}

}  // namespace cudnn_ci
