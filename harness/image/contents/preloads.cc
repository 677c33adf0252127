#include "image/contents/preloads.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "image/contents/folder_list.h"
#include "image/contents/mounts.h"
#include "image/contents/python_packages.h"
#include "image/elf/elf_dynamic.h"
#include "image/loader/loader_files.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLibraries = 100, kMostFileBytes = 64 << 10;
constexpr int kMostFoldersOfCpus = 200;

// What separates names, no blank more and no blank less (glibc: rtld.c, do_preload's callers and audit_list):
// any other one belongs to a name.
constexpr char kOfPreload[] = " :", kOfAudit[] = ":", kOfFile[] = ": \t\n";

std::vector<std::string> Names(const std::string& list, const char* separators) {
  std::vector<std::string> names;
  for (size_t begin = 0; (begin = list.find_first_not_of(separators, begin)) != std::string::npos;) {
    const size_t end = std::min(list.find_first_of(separators, begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end;
  }
  return names;
}

// In the loader's file a "#" begins a comment.
std::string WithoutComments(const std::string& text) {
  std::string out;
  for (std::string line : Split(text, '\n')) {
    line.erase(std::min(line.find('#'), line.size()));
    out += line + '\n';
  }
  return out;
}

// The files of that name in the folders of a folder that are for some CPUs (dl-hwcaps.c; the other names are
// those of glibc before 2.37).
void AddForCpus(const std::string& folder, const std::string& name, std::vector<std::string>* files) {
  static const std::set<std::string> kFolders = {"glibc-hwcaps", "tls",    "haswell", "xeon_phi",
                                                 "avx512_1",     "x86_64", "aarch64", "atomics"};
  std::error_code error;
  for (const std::string& first : kFolders) {
    fs::recursive_directory_iterator it(folder + "/" + first, fs::directory_options::follow_directory_symlink,
                                        error);
    for (int i = 0; !error && it != fs::recursive_directory_iterator() && i < kMostFoldersOfCpus;
         it.increment(error), ++i) {
      if (it.depth() > 3) it.disable_recursion_pending();
      if (it->path().filename() == name) files->push_back(it->path().string());
    }
    error.clear();
  }
}

// Whether the loader takes this very file for that name without LD_PRELOAD and LD_LIBRARY_PATH, and the name
// is one of glibc's libraries.
bool IsTheCLibrarys(const std::string& file) {
  static const std::set<std::string> kNames = {"libc.so.6",  "libm.so.6",  "libpthread.so.0",
                                               "libdl.so.2", "librt.so.1", "libutil.so.1"};
  const std::string name = file.substr(file.rfind('/') + 1);
  return kNames.count(name) > 0 && RealPath(file) == RealPath(FirstTaken(LoaderCandidates(name, {}, "", {})));
}

// Why the loader says of a preload "cannot be preloaded: ignored" and goes on; empty: it does not.
std::string IgnoredReason(const std::string& file) {
  struct stat seen {};
  if (stat(file.c_str(), &seen) != 0) return "";
  if (S_ISDIR(seen.st_mode)) return "a folder";
  if (!S_ISREG(seen.st_mode)) return "";
  if (seen.st_size == 0) return "an empty file";
  return access(file.c_str(), R_OK) == 0 ? "" : "a file that may not be read";
}

// "cudaMalloc", "cuMemCreate", "cublasCreate_v2": the prefix of a library and then a capital letter.
bool IsOfCuda(const std::string& function) {
  constexpr std::string_view kPrefixes[] = {"cuda",   "cu",       "cudnn",    "cublas", "cublasLt", "cufft",
                                            "curand", "cusolver", "cusparse", "nvrtc",  "nvml",     "nccl"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](std::string_view prefix) {
    return function.size() > prefix.size() && function.starts_with(prefix) &&
           function[prefix.size()] >= 'A' && function[prefix.size()] <= 'Z';
  });
}

void Examine(const std::set<std::string>& wanted, Preload* preload) {
  preload->ignored = IgnoredReason(preload->file);
  if (!preload->ignored.empty()) {
    preload->file.clear();
    return;
  }
  const DynamicSymbols symbols = ReadDynamicSymbols(preload->file);
  if (symbols.foreign) {
    preload->file.clear();  // the loader passes over it
    return;
  }
  preload->problem = symbols.problem;
  if (symbols.problem.empty() && symbols.filters)
    preload->problem =
        "it is a filter (DT_FILTER, DT_AUXILIARY): the loader looks into another library first";
  preload->own = symbols.problem.empty() && IsTheCLibrarys(preload->file);
  if (preload->own) return;
  std::set_intersection(symbols.defined.begin(), symbols.defined.end(), wanted.begin(), wanted.end(),
                        std::inserter(preload->interposed, preload->interposed.end()));
  std::copy_if(symbols.defined.begin(), symbols.defined.end(),
               std::inserter(preload->of_cuda, preload->of_cuda.end()), IsOfCuda);
}

// Why it cannot be told which file a name stands for; empty: it can.
std::string UnresolvedReason(const std::string& name, const std::vector<std::string>& library_paths) {
  const auto has_words = [](const std::string& text) { return text.find('$') != std::string::npos; };
  const bool searched = name.find('/') == std::string::npos;
  if (has_words(name)) return "\"$\" in its name is not expanded";
  if (searched && std::any_of(library_paths.begin(), library_paths.end(), has_words))
    return "\"$\" in LD_LIBRARY_PATH is not expanded";
  return "";
}

// The files that a name may stand for.
std::vector<std::string> FilesOf(const std::string& name, const std::vector<std::string>& library_paths) {
  if (name.find('/') != std::string::npos)
    return Exists(name) ? std::vector<std::string>{name} : std::vector<std::string>{};
  std::vector<std::string> files;
  for (const std::string& path : library_paths)
    for (std::string& file : LibraryCandidates(name, path))
      if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(std::move(file));
  return files;
}

}  // namespace

std::vector<std::string> LibraryCandidates(const std::string& name, const std::string& library_path) {
  std::vector<std::string> files;
  for (const std::string& candidate : LoaderCandidates(name, {}, library_path, {})) {
    AddForCpus(DirectoryOf(candidate), name, &files);
    if (FirstTaken({candidate}).empty()) continue;
    files.push_back(candidate);
    break;
  }
  std::vector<std::string> once;
  for (const std::string& file : files)
    if (std::find(once.begin(), once.end(), RealPath(file)) == once.end()) once.push_back(RealPath(file));
  return once;
}

std::vector<Preload> FindPreloads(const Variables& environment, const std::vector<std::string>& library_paths,
                                  const std::function<std::set<std::string>()>& wanted,
                                  const std::string& file) {
  std::vector<Preload> found;
  std::optional<std::set<std::string>> names_wanted;
  const Mounts mounts = Mounts::Read();
  const auto named = [&](const std::string& by, const std::string& name, const std::string& path,
                         bool audits) {
    Preload preload;
    preload.by = by;
    preload.name = name;
    preload.file = path;
    preload.audits = audits;
    if (by == file && mounts.IsPoint(file))
      preload.mounted = file;
    else if (!path.empty() && mounts.IsPoint(path))
      preload.mounted = path;
    return preload;
  };
  const auto add = [&](const std::string& by, const std::vector<std::string>& names, bool audits) {
    for (const std::string& name : names) {
      Preload preload = named(by, name, "", audits);
      if (found.size() >= kMostLibraries) {
        preload.problem = "there are more libraries than are checked";
        found.push_back(preload);
        return;
      }
      // The loader's own words for folders.
      preload.problem = UnresolvedReason(name, library_paths);
      if (!preload.problem.empty()) {
        found.push_back(preload);
        continue;
      }
      const std::vector<std::string> files = FilesOf(name, library_paths);
      if (files.empty()) found.push_back(preload);
      for (const std::string& path : files) {
        preload = named(by, name, path, audits);
        if (!names_wanted) names_wanted = wanted();
        Examine(*names_wanted, &preload);
        found.push_back(preload);
      }
    }
  };
  add("LD_PRELOAD", Names(ValueOf(environment, "LD_PRELOAD"), kOfPreload), false);
  add("LD_AUDIT", Names(ValueOf(environment, "LD_AUDIT"), kOfAudit), true);
  const std::string list = ReadSmallFile(file, kMostFileBytes);
  add(file, Names(WithoutComments(list), kOfFile), false);
  if (list.size() >= kMostFileBytes) {
    Preload rest = named(file, "more than " + std::to_string(kMostFileBytes) + " bytes", "", false);
    rest.problem = "it is longer than the limit";
    found.push_back(rest);
  }
  return found;
}

}  // namespace cudnn_ci
