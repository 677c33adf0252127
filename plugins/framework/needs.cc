#include "framework/needs.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string_view>

#include "base/path.h"
#include "common/loader_path.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

constexpr std::string_view kCudnn = "libcudnn";
constexpr size_t kMostBytes = size_t{512} << 20, kChunk = size_t{1} << 20, kMostName = 64;

void AddOnce(const std::string& text, std::vector<std::string>* list) {
  if (std::find(list->begin(), list->end(), text) == list->end()) list->push_back(text);
}

std::string Joined(const std::vector<std::string>& alternatives) {
  std::string all;
  for (const std::string& name : alternatives) all += (all.empty() ? "" : " or ") + name;
  return all;
}

// The name that begins here, "libcublas.so.12" of "libcublas.so.12\0...": a stem, letters, ".so." and digits.
std::string NameAt(const char* begin, const char* end) {
  const char* at = begin;
  while (at != end && (std::isalpha(static_cast<unsigned char>(*at)) || *at == '_')) ++at;
  constexpr char kSo[] = ".so.";
  constexpr size_t kSoLength = sizeof kSo - 1;
  if (static_cast<size_t>(end - at) < kSoLength || std::memcmp(at, kSo, kSoLength) != 0) return "";
  const char* digits = at += kSoLength;
  while (at != end && std::isdigit(static_cast<unsigned char>(*at))) ++at;
  return at == digits || at == end || *at != '\0' ? "" : std::string(begin, at);
}

void AddNames(const std::string& text, const CudaLibraries& cuda, std::set<std::string>* names) {
  for (size_t at = 0; (at = text.find("lib", at)) != std::string::npos; ++at) {
    const char* begin = text.data() + at;
    const std::string name = NameAt(begin, begin + std::min(kMostName, text.size() - at));
    if (cuda.Has(name)) names->insert(name);
  }
}

// The file that the loader takes for a name that `library` asks for.
std::string LoaderTakes(const std::string& name, const ElfFile& library,
                        const std::vector<std::string>& interpreters) {
  const std::vector<std::string> own = library.RunPath();
  const bool behind = !own.empty() && !library.RunPathIsFirst();
  // A DT_RUNPATH is for the file alone, and who has one asks nobody else's DT_RPATH.
  std::vector<std::string> before = behind ? std::vector<std::string>() : own;
  if (!behind) before.insert(before.end(), interpreters.begin(), interpreters.end());
  return FirstTaken(LoaderCandidates(name, before, Environment("LD_LIBRARY_PATH"),
                                     behind ? own : std::vector<std::string>()));
}

std::string FolderWith(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (ElfFile(folder + "/" + name).kind() == ElfFile::Kind::kNative) return folder;
  return "";
}

}  // namespace

bool IsCudnnLibrary(const std::string& name) { return IsLibraryName(name) && LibraryFamily(name) == kCudnn; }

std::vector<std::string> CudaLibrariesNamedIn(const CudaLibraries& cuda, const std::string& path) {
  std::set<std::string> names;
  std::ifstream file(path, std::ios::binary);
  // The end of each part is looked at again with the next one, which it may continue.
  std::string part, chunk(kChunk, '\0');
  for (size_t read = 0; file && read < kMostBytes; read += kChunk) {
    file.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    part.append(chunk, 0, static_cast<size_t>(file.gcount()));
    AddNames(part, cuda, &names);
    part.erase(0, part.size() - std::min(part.size(), kMostName));
  }
  return {names.begin(), names.end()};
}

int CudaMajorOfLibraries(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const char* stem : {"libcublas.so.", "libcublasLt.so.", "libcudart.so."})
      if (name.compare(0, std::strlen(stem), stem) == 0) return std::atoi(name.c_str() + std::strlen(stem));
  return 0;
}

std::vector<std::vector<std::string>> Alternatives(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> groups;
  const auto stem = [](const std::string& name) { return name.substr(0, name.find(".so.")); };
  for (const std::string& name : names) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& g) { return stem(g.front()) == stem(name); });
    if (group == groups.end())
      groups.push_back({name});
    else
      group->push_back(name);
  }
  return groups;
}

Needs NeedsOf(const CudaLibraries& cuda, const std::string& path, const std::vector<std::string>& by_name,
              const std::string& interpreter, const std::vector<std::string>& folders, bool lazy) {
  const ElfFile library(path), program(RealPath(interpreter));
  const std::vector<std::string> interpreters =
      program.RunPathIsFirst() ? program.RunPath() : std::vector<std::string>();
  std::vector<std::vector<std::string>> groups;
  for (const std::string& name : library.Needed())
    if (cuda.Has(name)) groups.push_back({name});
  const size_t linked = groups.size();
  for (const auto& group : Alternatives(by_name)) groups.push_back(group);
  Needs needs;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<std::string>& group = groups[i];
    for (const std::string& name : group) AddOnce(name, &needs.names);
    const bool taken = std::any_of(group.begin(), group.end(), [&](const std::string& name) {
      return !LoaderTakes(name, library, interpreters).empty();
    });
    // What a wheel's tools have put beside it is found by the run path of the extension that loads both.
    if (taken || (i < linked && !FolderWith(group.front(), {path.substr(0, path.rfind('/'))}).empty()))
      continue;
    const auto hidden = std::find_if(group.begin(), group.end(), [&](const std::string& name) {
      return !FolderWith(name, folders).empty();
    });
    if (hidden == group.end()) {
      // Without what it links it cannot be loaded; what it opens lazily of cuDNN is for models that convolve.
      const bool optional = lazy && i >= linked && IsCudnnLibrary(group.front());
      AddOnce(Joined(group), optional ? &needs.lacking : &needs.missing);
    } else {
      AddOnce(*hidden, &needs.hidden);
      AddOnce(FolderWith(*hidden, folders), &needs.folders);
    }
  }
  return needs;
}

}  // namespace cudnn_ci
