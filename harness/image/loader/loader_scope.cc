#include "image/loader/loader_scope.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/path.h"
#include "base/text.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

// A whole PyTorch environment takes a tenth of it.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kMostLoaded = 4000;

// $ORIGIN replaced, each folder once: TensorFlow names 17 folders 900 times.
std::vector<std::string> Expanded(const std::vector<std::string>& folders, const std::string& path) {
  const std::string origin = DirectoryOf(path);
  std::vector<std::string> expanded;
  std::set<std::string> known;
  for (std::string folder : folders) {
    for (const char* token : {"${ORIGIN}", "$ORIGIN"})
      for (std::size_t at = 0; (at = folder.find(token, at)) != std::string::npos; at += origin.size())
        folder.replace(at, std::char_traits<char>::length(token), origin);
    if (known.insert(folder).second) expanded.push_back(folder);
  }
  return expanded;
}

}  // namespace

std::string LibraryStem(const std::string& name) {
  const std::size_t at = name.find(".so");
  return at == std::string::npos ? name : name.substr(0, at + 3);
}

LoaderFiles::LoaderFiles(const std::string& library_path, bool system_folders)
    : library_path_(SplitLibraryPath(library_path)) {
  if (!system_folders) return;
  default_folders_ = DefaultLibraryDirectories();
  std::vector<std::string> names;
  const std::vector<std::string> paths = LoaderCachePaths([&](const std::string& name) {
    names.push_back(name);
    return true;
  });
  for (std::size_t i = 0; i < names.size() && i < paths.size(); ++i) cache_[names[i]].push_back(paths[i]);
}

LoaderFiles::File LoaderFiles::Open(const std::string& path) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  File file;
  file.path = path;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), R_OK) == 0) {
    file.device = status.st_dev, file.inode = status.st_ino;
    std::unique_ptr<DynamicTable>& table = tables_[{file.device, file.inode}];
    if (!table) {
      table = std::make_unique<DynamicTable>();
      if (bytes_ < kMostBytes)
        *table = ReadDynamicTable(path);
      else if (problems_.empty())
        problems_.push_back(
            path + " and the libraries after it: not read, because the symbols take too much memory");
      if (bytes_ >= kMostBytes) table->foreign = true;
      bytes_ += table->Bytes();
    }
    if (!table->foreign) file.table = table.get();
  }
  return by_path_.emplace(path, file).first->second;
}

LoaderFiles::File LoaderFiles::Search(const std::string& name, const std::vector<std::string>& first,
                                      const std::vector<std::string>& then, bool default_folders) {
  for (const auto* folders : {&first, &std::as_const(library_path_), &then})
    for (const std::string& folder : *folders)
      if (File file = Open(folder + "/" + name); file.table) return file;
  if (!default_folders) return {};
  if (const auto cached = cache_.find(name); cached != cache_.end())
    for (const std::string& path : cached->second)
      if (File file = Open(path); file.table) return file;
  for (const std::string& folder : default_folders_)
    if (File file = Open(folder + "/" + name); file.table) return file;
  return {};
}

std::vector<std::string> LoaderFiles::Matching(const std::string& pattern,
                                               const std::vector<std::string>& first,
                                               const std::vector<std::string>& then) const {
  std::vector<std::string> matching;
  const auto take = [&](const std::string& name, const std::string& path) {
    if (GlobMatch(pattern, name)) matching.push_back(path);
  };
  const auto look_in = [&](const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      std::error_code error;
      for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
           it.increment(error))
        take(it->path().filename().string(), it->path().string());
    }
  };
  look_in(first);
  look_in(library_path_);
  look_in(then);
  // A cache may be older than what was removed since.
  for (const auto& [name, paths] : cache_) {
    if (!GlobMatch(pattern, name)) continue;
    const auto there = std::find_if(paths.begin(), paths.end(), Exists);
    if (there != paths.end()) matching.push_back(*there);
  }
  look_in(default_folders_);
  return matching;
}

LoaderScope::LoaderScope(LoaderFiles* files, const std::string& program) : files_(files) {
  const LoaderFiles::File file = files_->Open(program);
  program_ = Open(file.table && file.table->problem.empty() ? program : "", true);
}

int LoaderScope::Named(const std::string& name) const {
  for (std::size_t i = 0; i < loaded_.size(); ++i)
    if (std::find(loaded_[i].names.begin(), loaded_[i].names.end(), name) != loaded_[i].names.end())
      return static_cast<int>(i);
  return -1;
}

// The index of a file, which is not mapped twice whatever its name.
int LoaderScope::Add(const LoaderFiles::File& file, const std::string& name, int loader) {
  for (std::size_t i = 0; i < loaded_.size(); ++i) {
    if (loaded_[i].file.device != file.device || loaded_[i].file.inode != file.inode) continue;
    loaded_[i].names.push_back(name);
    return static_cast<int>(i);
  }
  LoadedFile loaded;
  loaded.file = file;
  loaded.loader = loader;
  loaded.names = {name};
  if (!file.table->soname.empty()) loaded.names.push_back(file.table->soname);
  loaded_.push_back(std::move(loaded));
  return static_cast<int>(loaded_.size()) - 1;
}

// DT_RPATH of the file that asks, of what brought it, and of the program; none of a file with a DT_RUNPATH.
std::vector<std::string> LoaderScope::FoldersFirst(int loader) const {
  std::vector<std::string> folders;
  if (loader < 0 || !loaded_[loader].file.table->run_path.empty()) return folders;
  const auto add = [&](const LoadedFile& from) {
    if (!from.file.table->run_path.empty()) return;
    for (std::string& folder : Expanded(from.file.table->rpath, from.file.path))
      folders.push_back(std::move(folder));
  };
  int last = loader;
  for (int at = loader; at >= 0; at = loaded_[at].loader) add(loaded_[at]), last = at;
  if (last != 0) add(loaded_[0]);
  return folders;
}

LoaderFiles::File LoaderScope::Found(const std::string& name, int asker) const {
  if (name.find('/') != std::string::npos) return files_->Open(name);
  if (asker < 0) return files_->Search(name, {}, {}, true);
  const DynamicTable& table = *loaded_[asker].file.table;
  return files_->Search(name, FoldersFirst(asker), Expanded(table.run_path, loaded_[asker].file.path),
                        !table.no_default_folders);
}

std::vector<std::string> LoaderScope::RunPathOf(int asker) const {
  if (asker < 0) return {};
  std::vector<std::string> folders = FoldersFirst(asker);
  for (std::string& folder : Expanded(loaded_[asker].file.table->run_path, loaded_[asker].file.path))
    folders.push_back(std::move(folder));
  return folders;
}

std::vector<std::string> LoaderScope::Matching(const std::string& pattern, int asker) const {
  if (asker < 0) return files_->Matching(pattern);
  const LoadedFile& from = loaded_[asker];
  return files_->Matching(pattern, FoldersFirst(asker), Expanded(from.file.table->run_path, from.file.path));
}

int LoaderScope::Need(const std::string& name, int loader) {
  if (const int known = Named(name); known >= 0) return known;
  if (loaded_.size() >= kMostLoaded) return -1;
  const LoaderFiles::File file = Found(name, loader);
  return file.table ? Add(file, name, loader) : -1;
}

OpenedFile LoaderScope::Open(const std::string& file, bool global, int caller) {
  OpenedFile opened;
  const std::size_t before = loaded_.size();
  if (file.empty()) return opened;
  opened.root = Need(file, caller < static_cast<int>(before) ? caller : -1);
  if (opened.root < 0) return opened;
  if (opened.root >= static_cast<int>(before)) loaded_[opened.root].loader = before == 0 ? -1 : 0;
  opened.closure = {opened.root};
  for (std::size_t i = 0; i < opened.closure.size(); ++i) {
    const int at = opened.closure[i];
    const bool fresh = at >= static_cast<int>(before);
    if (fresh) opened.fresh.push_back(at);
    if (fresh && loaded_[at].needed.empty() && loaded_[at].missing.empty()) {
      const std::vector<std::string> names = loaded_[at].file.table->needed;
      for (const std::string& name : names) {
        const int found = Need(name, at);
        if (found >= 0) loaded_[at].needed.push_back(found);
        if (found < 0) loaded_[at].missing.push_back(name);
      }
    }
    for (const int next : loaded_[at].needed)
      if (std::find(opened.closure.begin(), opened.closure.end(), next) == opened.closure.end())
        opened.closure.push_back(next);
  }
  if (global)
    for (const int at : opened.closure)
      if (std::find(global_.begin(), global_.end(), at) == global_.end()) global_.push_back(at);
  return opened;
}

void LoaderScope::TakeBack(const OpenedFile& opened) {
  if (opened.fresh.empty()) return;
  const int first = *std::min_element(opened.fresh.begin(), opened.fresh.end());
  global_.erase(std::remove_if(global_.begin(), global_.end(), [&](int at) { return at >= first; }),
                global_.end());
  loaded_.resize(static_cast<std::size_t>(first));
}

std::vector<int> LoaderScope::ScopeOf(const OpenedFile& opened) const {
  std::vector<int> scope = global_;
  for (const int at : opened.closure)
    if (std::find(scope.begin(), scope.end(), at) == scope.end()) scope.push_back(at);
  return scope;
}

// The loader compares the versions that a file asks of another with those that the other has, before it looks
// at any symbol (glibc, elf/dl-version.c).
void LoaderScope::UnresolvedVersions(int asker, std::vector<UnresolvedSymbol>* unresolved) const {
  for (const SymbolVersion& version : loaded_[asker].file.table->versions) {
    if (version.file.empty() || version.optional) continue;
    const int giver = Named(version.file);
    if (giver < 0 || loaded_[giver].file.table->GivesVersion(version.name)) continue;
    unresolved->push_back({asker, "", version.name, version.file, false});
  }
}

std::vector<UnresolvedSymbol> LoaderScope::Unresolved(const OpenedFile& opened) const {
  std::vector<UnresolvedSymbol> unresolved;
  const std::vector<int> scope = ScopeOf(opened);
  for (const int asker : opened.fresh) {
    UnresolvedVersions(asker, &unresolved);
    const DynamicTable& table = *loaded_[asker].file.table;
    for (const UndefinedSymbol& symbol : table.undefined) {
      if (symbol.weak) continue;
      const std::string_view name = table.Name(symbol.name);
      const uint32_t hash = GnuHash(name);
      const SymbolVersion* version = symbol.version >= 2 && symbol.version < table.versions.size()
                                         ? &table.versions[symbol.version]
                                         : nullptr;
      const std::string_view wanted = version ? std::string_view(version->name) : std::string_view();
      SymbolLookup seen = SymbolLookup::kAbsent;
      for (const int at : scope) {
        const SymbolLookup here = loaded_[at].file.table->Find(name, hash, wanted);
        if (here != SymbolLookup::kAbsent) seen = here;
        if (here == SymbolLookup::kFound) break;
      }
      if (seen == SymbolLookup::kFound) continue;
      unresolved.push_back({asker, std::string(name), std::string(wanted), version ? version->file : "",
                            seen == SymbolLookup::kOtherVersion});
    }
  }
  return unresolved;
}

}  // namespace cudnn_ci
