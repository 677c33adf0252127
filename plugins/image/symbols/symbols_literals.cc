#include "image/symbols/symbols_literals.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "image/packages/record_text.h"
#include "image/symbols/symbols_openers.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfPackage = 100, kMostReached = 200, kMostSources = 6000,
                      kMostBytes = std::size_t{64} << 20;

// A package or module of a folder of packages: "/x/site-packages/torch", "/x/site-packages/six.py".
using Places = std::map<std::string, std::string>;  // by import name

Places PlacesIn(const std::vector<std::string>& folders) {
  Places places;
  for (const std::string& folder : folders)
    for (const std::string& entry : RecordNames(folder)) {
      const std::string path = folder + "/" + entry;
      if (entry.ends_with(".py")) places.emplace(entry.substr(0, entry.size() - 3), path);
      if (Exists(path + "/__init__.py")) places.emplace(entry, path);
    }
  return places;
}

// The sources of a package that lie in its folder or in one of that.
std::vector<std::string> SourcesNear(const std::string& place) {
  std::vector<std::string> sources;
  std::error_code error;
  if (place.ends_with(".py")) return {place};
  fs::recursive_directory_iterator it(place, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && it != end && sources.size() < kMostOfPackage;
       it.increment(error)) {
    if (it.depth() > 0) it.disable_recursion_pending();
    if (it->path().extension() == ".py") sources.push_back(it->path().string());
  }
  return sources;
}

class Look {
 public:
  Look(const SymbolRules& rules, LoaderFiles* files, const FaultWriter& writer)
      : rules_(rules), files_(files), writer_(writer) {}

  // What a source of a package opens and nothing has.
  std::vector<std::string> NowhereIn(const std::string& text) const {
    std::vector<std::string> nowhere;
    const std::set<std::string> opened = PlainlyOpened(text, rules_.openers);
    // Opened by its path, it is loaded for whoever names it afterwards.
    const auto has_path = [&](const std::string& name) {
      return std::any_of(opened.begin(), opened.end(), [&](const std::string& other) {
        return other.ends_with("/" + name) && other[0] == '/' && Exists(other);
      });
    };
    for (const std::string& name : opened)
      if (name.find(".so") != std::string::npos && !IsThere(name) && !has_path(name)) nowhere.push_back(name);
    return nowhere;
  }
  void Add(const std::string& package, const std::string& source, const std::vector<std::string>& names) {
    for (const std::string& name : names) faults_.push_back(FaultOf(package, source, name));
  }
  std::vector<SymbolFault> Take() { return std::move(faults_); }

 private:
  bool IsThere(const std::string& name) const {
    if (name.find('/') != std::string::npos) return name[0] != '/' || Exists(name);
    return !rules_.DriverFunctionsOf(name).empty() || !writer_.index().Named(name).empty() ||
           files_->Search(name, {}, {}, true).table != nullptr;
  }

  SymbolFault FaultOf(const std::string& package, const std::string& source, const std::string& name) const {
    const std::string library = name.substr(name.rfind('/') + 1);
    const bool for_gpus = rules_.GpuLibraryOf(library) != nullptr;
    SymbolFault fault = {
        for_gpus ? SymbolFaultKind::kMissingLibrary : SymbolFaultKind::kUnused,
        "import " + package + " opens " + name + " (" + source + "), but no file of the image has that name",
        source, library};
    const std::vector<std::string> others = writer_.index().OtherMajors(library);
    if (!others.empty()) fault.detail += "; " + writer_.File(others.front()) + " exists";
    // A name without a number is that of a link for compilers, which no package for running brings.
    const bool numbered = LibraryStem(library) != library;
    if (for_gpus)
      fault.Add(writer_.remedies().ForMissing({.library = library,
                                               .asker = source,
                                               .other_major = !others.empty(),
                                               .same = numbered ? std::vector<std::string>() : others}));
    return fault;
  }

  const SymbolRules& rules_;
  LoaderFiles* files_;
  const FaultWriter& writer_;
  std::vector<SymbolFault> faults_;
};

}  // namespace

std::vector<SymbolFault> OpenedAndNowhere(const ImageFiles& image, const SymbolRules& rules,
                                          LoaderFiles* files, PythonImports* imports,
                                          const FaultWriter& writer) {
  Look look(rules, files, writer);
  std::size_t sources = 0, bytes = 0;
  for (const auto& [package, place] : PlacesIn(image.folders))
    for (const std::string& source : SourcesNear(place)) {
      if (++sources > kMostSources || bytes > kMostBytes) return look.Take();
      const Result<std::string> text = ReadFile(source, kMostPythonSource);
      if (!text) continue;
      bytes += text->size();
      const std::vector<std::string> names = look.NowhereIn(*text);
      if (names.empty()) continue;
      const std::vector<std::string> reached = imports->OwnSources(package, kMostReached);
      if (std::find(reached.begin(), reached.end(), source) != reached.end())
        look.Add(package, source, names);
    }
  return look.Take();
}

}  // namespace cudnn_ci
