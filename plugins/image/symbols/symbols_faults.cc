#include "image/symbols/symbols_faults.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "common/joined.h"
#include "common/loader_path.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kShownSymbols = 3, kLongestSymbol = 240, kMostCandidates = 64, kShortestPrefix = 3;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string Cut(const std::string& symbol) {
  return symbol.size() <= kLongestSymbol ? symbol : symbol.substr(0, kLongestSymbol) + "...";
}

std::size_t CommonPrefix(std::string_view a, std::string_view b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// How far the beginning of a symbol is the beginning of one that the table defines.
std::size_t Closest(const DynamicTable& table, const std::string& symbol) {
  std::size_t closest = 0;
  for (const DefinedSymbol& defined : table.defined)
    closest = std::max(closest, CommonPrefix(table.Name(defined.name), symbol));
  return closest;
}

// The symbols of a table that are the same C++ function with other arguments.
std::vector<std::string> SameFunction(const DynamicTable& table, const std::string& function) {
  std::vector<std::string> same;
  for (const DefinedSymbol& defined : table.defined) {
    const std::string_view name = table.Name(defined.name);
    if (same.size() >= kMostCandidates) break;
    if (name.substr(0, function.size()) == function && MangledFunction(std::string(name)) == function)
      same.emplace_back(name);
  }
  std::sort(same.begin(), same.end());
  return same;
}

bool TakesNewString(const std::string& symbol) { return symbol.find("NSt7__cxx11") != std::string::npos; }

// "Ss" among the arguments, and not within an identifier.
bool TakesOldString(const std::string& symbol) {
  for (std::size_t at = MangledFunction(symbol).size(); at < symbol.size();) {
    std::size_t length = 0;
    while (at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9' && length < symbol.size())
      length = length * 10 + static_cast<std::size_t>(symbol[at++] - '0');
    if (length > symbol.size() - at) return false;
    at += length;
    if (at < symbol.size() && symbol.compare(at, 2, "Ss") == 0) return true;
    if (length == 0) ++at;
  }
  return false;
}

std::string WithoutTag(std::string symbol) {
  constexpr std::string_view kTag = "B5cxx11";
  for (std::size_t at = 0; (at = symbol.find(kTag, at)) != std::string::npos;) symbol.erase(at, kTag.size());
  return symbol;
}

}  // namespace

void SymbolFault::Add(const SymbolRemedy& remedy) {
  if (!remedy.words.empty()) detail += "; " + remedy.words;
  line = remedy.line;
  cure = remedy.cure;
}

std::string MangledFunction(const std::string& symbol) {
  if (symbol.compare(0, 2, "_Z") != 0) return "";
  std::size_t at = 2;
  const bool nested = at < symbol.size() && symbol[at] == 'N';
  if (nested) ++at;
  for (const char qualifier : {'r', 'V', 'K', 'R', 'O'})
    if (nested && at < symbol.size() && symbol[at] == qualifier) ++at;
  if (symbol.compare(at, 2, "St") == 0) at += 2;
  std::size_t end = 0;
  while (at < symbol.size() && symbol[at] >= '1' && symbol[at] <= '9') {
    std::size_t length = 0, digits = at;
    while (digits < symbol.size() && symbol[digits] >= '0' && symbol[digits] <= '9' && length < symbol.size())
      length = length * 10 + static_cast<std::size_t>(symbol[digits++] - '0');
    if (length > symbol.size() - digits) return "";
    at = end = digits + length;
    if (!nested) break;
  }
  return symbol.substr(0, end);
}

bool DifferInCxxAbi(const std::string& a, const std::string& b) {
  if (TakesNewString(a) && TakesOldString(b)) return true;
  if (TakesOldString(a) && TakesNewString(b)) return true;
  return a != b && WithoutTag(a) == WithoutTag(b);
}

LibraryIndex::LibraryIndex(const ImageFiles& image, LoaderFiles* files) {
  const auto add = [&](const std::string& path) { by_stem_[LibraryStem(NameOf(path))].push_back(path); };
  for (const ImageFile& file : image.files) add(file.path);
  for (const std::string& path : files->Matching("*.so*")) add(path);
  for (auto& [stem, paths] : by_stem_) {
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
}

std::vector<std::string> LibraryIndex::Named(const std::string& name) const {
  std::vector<std::string> named;
  const auto found = by_stem_.find(LibraryStem(name));
  if (found == by_stem_.end()) return named;
  for (const std::string& path : found->second)
    if (NameOf(path) == name) named.push_back(path);
  return named;
}

std::vector<std::string> LibraryIndex::OtherMajors(const std::string& name, bool minors) const {
  std::vector<std::string> others;
  const std::string stem = LibraryStem(name);
  const auto number = [&](const std::string& file) {
    if (file.size() <= stem.size() + 1) return std::string();
    const std::size_t begin = stem.size() + 1, dot = file.find('.', begin);
    return file.substr(begin, (minors && dot != std::string::npos ? file.find('.', dot + 1) : dot) - begin);
  };
  const auto found = by_stem_.find(stem);
  if (found == by_stem_.end()) return others;
  for (const std::string& path : found->second)
    if (!number(NameOf(path)).empty() && number(NameOf(path)) != number(name)) others.push_back(path);
  return others;
}

std::vector<std::string> LibraryIndex::Matching(const std::string& pattern) const {
  std::vector<std::string> matching;
  const auto take = [&](const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      if (GlobMatch(pattern, NameOf(path))) matching.push_back(path);
  };
  const std::string stem = LibraryStem(pattern);
  if (stem.find('*') == std::string::npos) {
    if (const auto found = by_stem_.find(stem); found != by_stem_.end()) take(found->second);
  } else {
    for (const auto& [ignored, paths] : by_stem_) take(paths);
  }
  std::sort(matching.begin(), matching.end());
  return matching;
}

std::string FaultWriter::File(const std::string& path) const {
  const std::string package = image_->BroughtBy(path);
  return std::filesystem::path(path).lexically_normal().string() +
         (package.empty() ? " (no package)" : " (" + package + ")");
}

std::string FaultWriter::RequestersText(const LoaderScope& scope, int asker,
                                        const std::string& process) const {
  const std::vector<LoadedFile>& loaded = scope.loaded();
  std::string chain;
  int steps = 0;
  for (int at = loaded[asker].loader; at > 0 && steps < 3; at = loaded[at].loader, ++steps)
    chain += (chain.empty() ? ", needed by " : " of ") + NameOf(loaded[at].file.path);
  return File(loaded[asker].file.path) + chain + " (process: " + process + ")";
}

SymbolFault FaultWriter::Missing(const LoaderScope& scope, int asker, const std::string& name,
                                 const std::string& process) const {
  const GpuLibrary* known = rules_->GpuLibraryOf(name);
  const std::vector<std::string> others = index_->OtherMajors(name, known && known->minor_in_name),
                                 same = index_->Named(name);
  // A copy where the loader does not look changes nothing for a process that has another major already.
  const std::vector<LoadedFile>& loaded = scope.loaded();
  const auto needed = [&](int at) {
    return std::any_of(loaded.begin(), loaded.end(), [&](const LoadedFile& file) {
      return std::find(file.needed.begin(), file.needed.end(), at) != file.needed.end();
    });
  };
  const auto other = std::find_if(loaded.begin(), loaded.end(), [&](const LoadedFile& file) {
    const std::string& soname = file.file.table->soname;
    return soname != name && LibraryStem(soname) == LibraryStem(name) &&
           needed(static_cast<int>(&file - loaded.data()));
  });
  const bool has_other = other != loaded.end();
  SymbolFault fault;
  fault.other_major = !others.empty() || has_other;
  fault.kind = fault.other_major && (same.empty() || has_other) ? SymbolFaultKind::kOtherMajor
                                                                : SymbolFaultKind::kMissingLibrary;
  fault.hidden = !same.empty();
  fault.asker = loaded[asker].file.path;
  fault.library = name;
  fault.detail = RequestersText(scope, asker, process) + " needs " + name;
  if (!same.empty())
    fault.detail += ", which exists as " + File(same.front()) + ", where the loader does not look";
  if (same.empty()) fault.detail += ", which is missing";
  if (fault.kind == SymbolFaultKind::kOtherMajor)
    fault.detail +=
        "; " + File(has_other ? other->file.path : others.front()) +
        (known && known->minor_in_name ? " is from another release" : " has another major version");
  if (has_other) {
    // Who asks is the odd one in this process.
    const std::string package = image_->BroughtBy(fault.asker);
    fault.detail += "; install the build of " + (package.empty() ? NameOf(fault.asker) : package) +
                    " for the version that the process has";
  }
  if (has_other) return fault;
  if (!same.empty() && fault.kind == SymbolFaultKind::kMissingLibrary) {
    fault.Add(remedies_->ForHidden(same.front()));
    return fault;
  }
  fault.Add(remedies_->ForMissing({.library = name,
                                   .asker = fault.asker,
                                   .table = loaded[asker].file.table,
                                   .other_major = fault.kind == SymbolFaultKind::kOtherMajor,
                                   .looks_in = FoldersOf(scope, asker),
                                   .same = UnderOtherNames(scope, asker, name)}));
  return fault;
}

// Of what is missing, the files of that soname in the folders where it is looked for.
std::vector<std::string> FaultWriter::UnderOtherNames(const LoaderScope& scope, int asker,
                                                      const std::string& name) const {
  std::vector<std::string> same;
  for (const std::string& path : scope.Matching(name + ".*", asker))
    if (const LoaderFiles::File file = files_->Open(path); file.table && file.table->soname == name)
      same.push_back(path);
  return same;
}

// The folders of the file's run path, and those of packages in which rules of its process open libraries.
std::vector<std::string> FaultWriter::FoldersOf(const LoaderScope& scope, int asker) const {
  std::vector<std::string> folders = scope.RunPathOf(asker);
  const LoadedFile& file = scope.loaded()[asker];
  for (const std::string& packages : image_->folders)
    for (const PackageRule& rule : rules_->packages) {
      if (!rule.AppliesTo(packages) || !rule.Concerns(file.file.path, packages, *file.file.table)) continue;
      for (const auto* steps : {&rule.first, &rule.main, &rule.later})
        for (const OpenStep& step : *steps)
          for (const std::string& folder : step.folders) folders.push_back(packages + "/" + folder);
    }
  return folders;
}

SymbolFault FaultWriter::Damaged(const LoaderScope& scope, int file, const std::string& process) const {
  return {
      SymbolFaultKind::kDamaged,
      RequestersText(scope, file, process) + " cannot be loaded: " + scope.loaded()[file].file.table->problem,
      scope.loaded()[file].file.path, ""};
}

// The files that the loader would come upon for a library if the one that it takes were not there.
std::set<std::pair<dev_t, ino_t>> FaultWriter::WouldBeTaken(const LoaderScope& scope, int asker,
                                                            const LoadedFile& giver) const {
  std::set<std::pair<dev_t, ino_t>> taken;
  for (const int by : {asker, giver.loader})
    for (const std::string& name : giver.names) {
      if (by < 0) continue;
      for (const std::string& path : scope.Matching(NameOf(name), by)) {
        const LoaderFiles::File file = files_->Open(path);
        taken.insert({file.device, file.inode});
      }
    }
  return taken;
}

FaultWriter::Answer FaultWriter::Explain(const LoaderScope& scope, const OpenedFile& opened,
                                         const UnresolvedSymbol& symbol) const {
  Answer answer;
  const std::vector<LoadedFile>& loaded = scope.loaded();
  if (!symbol.file.empty()) answer.giver = scope.Named(symbol.file);
  if (symbol.name.empty()) {
    answer.kind = SymbolFaultKind::kVersionMissing;
    return answer;
  }
  const std::string function = MangledFunction(symbol.name);
  for (const int at : scope.ScopeOf(opened)) {
    if (function.empty() || at == symbol.asker) continue;
    for (const std::string& other : SameFunction(*loaded[at].file.table, function)) {
      const bool abi = DifferInCxxAbi(other, symbol.name);
      if (!answer.other.empty() && !abi) continue;
      answer = {abi ? SymbolFaultKind::kOtherCxxAbi : SymbolFaultKind::kMissingSymbol, at, other};
      if (abi) return answer;
    }
  }
  std::size_t closest = kShortestPrefix;
  for (const int at : loaded[symbol.asker].needed) {
    if (answer.giver >= 0) break;
    if (const std::size_t here = Closest(*loaded[at].file.table, symbol.name); here > closest)
      closest = here, answer.giver = at;
  }
  if (answer.giver < 0) return answer;
  const LoadedFile& giver = loaded[answer.giver];
  const std::set<std::pair<dev_t, ino_t>> taken = WouldBeTaken(scope, symbol.asker, giver);
  for (const std::string& name : giver.names) {
    for (const std::string& path : index_->Named(NameOf(name))) {
      const LoaderFiles::File file = files_->Open(path);
      const bool itself = file.device == giver.file.device && file.inode == giver.file.inode;
      if (!file.table || itself || file.table->Find(symbol.name, symbol.version) != SymbolLookup::kFound)
        continue;
      if (!taken.count({file.device, file.inode})) {
        answer.unseen = path;
        continue;
      }
      answer.kind = SymbolFaultKind::kWrongProvider;
      answer.other = path;
      return answer;
    }
  }
  return answer;
}

std::string FaultWriter::Words(const LoaderScope& scope, const Answer& answer,
                               const std::vector<const UnresolvedSymbol*>& symbols) const {
  std::vector<std::string> names;
  for (const UnresolvedSymbol* symbol : symbols) {
    if (names.size() >= kShownSymbols) break;
    names.push_back(symbol->name.empty()
                        ? "version " + symbol->version
                        : Cut(symbol->name) +
                              (symbol->version.empty() ? "" : ", version " + symbol->version));
  }
  std::string words = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) words += "; " + names[i];
  if (symbols.size() > names.size())
    words += "; and " + std::to_string(symbols.size() - names.size()) + " more";
  const std::string giver = answer.giver < 0 ? "" : File(scope.loaded()[answer.giver].file.path);
  if (answer.kind == SymbolFaultKind::kWrongProvider)
    return words + ": " + giver + " is the one that the loader takes, but lacks it; " + File(answer.other) +
           " has it";
  if (answer.kind == SymbolFaultKind::kOtherCxxAbi)
    return words + ": " + giver + " has " + Cut(answer.other) + ", with the other C++ ABI";
  if (answer.giver < 0) return words + ": no file of the process has it";
  if (!answer.other.empty()) return words + ": " + giver + " has " + Cut(answer.other) + " instead";
  return words + ": " + giver + " should have it, but does not" +
         (answer.unseen.empty() ? ""
                                : "; " + File(answer.unseen) + " has it, but the loader does not look there");
}

std::vector<SymbolFault> FaultWriter::Unresolved(const LoaderScope& scope, const OpenedFile& opened,
                                                 const std::vector<UnresolvedSymbol>& unresolved,
                                                 const std::string& process) const {
  // A version that is missing as a whole explains its symbols.
  const auto explained = [&](const UnresolvedSymbol& symbol) {
    return !symbol.name.empty() && !symbol.version.empty() &&
           std::any_of(unresolved.begin(), unresolved.end(), [&](const UnresolvedSymbol& other) {
             return other.name.empty() && other.asker == symbol.asker && other.version == symbol.version &&
                    other.file == symbol.file;
           });
  };
  struct Group {
    Answer answer;
    std::vector<const UnresolvedSymbol*> symbols;
  };
  std::map<std::tuple<int, SymbolFaultKind, int>, Group> groups;
  std::size_t looked_at = 0;
  for (const UnresolvedSymbol& symbol : unresolved) {
    if (explained(symbol)) continue;
    // Each costs a look at all symbols of the process.
    const Answer answer = ++looked_at <= kMostCandidates ? Explain(scope, opened, symbol) : Answer();
    Group& group = groups[{symbol.asker, answer.kind, answer.giver}];
    if (group.symbols.empty()) group.answer = answer;
    group.symbols.push_back(&symbol);
  }
  std::vector<SymbolFault> faults;
  for (const auto& [key, group] : groups) {
    const LoaderFiles::File& asker = scope.loaded()[std::get<0>(key)].file;
    SymbolFault fault = {group.answer.kind,
                         RequestersText(scope, std::get<0>(key), process) + " asks for " +
                             Words(scope, group.answer, group.symbols),
                         asker.path, ""};
    if (group.answer.giver >= 0) {
      const std::string& giver = scope.loaded()[group.answer.giver].file.path;
      fault.library = NameOf(giver);
      const bool lacks =
          fault.kind == SymbolFaultKind::kMissingSymbol || fault.kind == SymbolFaultKind::kVersionMissing;
      const SymbolRemedy remedy =
          lacks ? remedies_->ForOtherRelease(
                      {.library = fault.library, .asker = asker.path, .table = asker.table}, giver)
                : SymbolRemedy();
      fault.Add(remedy);
    }
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace cudnn_ci
