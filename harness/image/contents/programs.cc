#include "image/contents/programs.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/folder_list.h"
#include "image/contents/program_libraries.h"
#include "image/elf/elf_file.h"
#include "image/elf/read_in_parallel.h"
#include "image/loader/loader_config.h"
#include "image/loader/loader_files.h"
#include "image/packages/conda_environment.h"
#include "image/packages/conda_metadata.h"

namespace cudnn_ci {
namespace {

constexpr int kMostFiles = 20000;
constexpr size_t kMostPrograms = 1000;  // whose libraries are searched for
constexpr int kDepth = 4, kDepthOfSystem = 2;

// Of a distribution, the kernel, or otherwise not part of an image.
constexpr const char* kOfSystem[] = {"bin",   "boot", "dev", "etc", "home", "lib",  "lib32",    "lib64",
                                     "media", "mnt",  "nix", "opt", "proc", "root", "run",      "sbin",
                                     "srv",   "sys",  "tmp", "usr", "var",  "app",  "workspace"};

// A folder of libraries, and what they show of a GPU.
struct Folder {
  bool brings = false;  // one of them is a library of CUDA or holds device code
  std::set<std::string> names, needed, majors;
  GpuUse use;
};

struct Program {
  std::string path;
  bool uses = false;                 // it needs a library of CUDA itself, or holds device code
  bool reaches = false;              // or what it needs is such a library
  std::vector<std::string> claimed;  // the folders with libraries that use a GPU which its run paths lead to
  std::vector<std::string> folders;  // all of them that hold libraries
};

// A file that may be a program or a library, and what its headers say.
struct File {
  std::string path, name, folder;
  bool library = false, link = false;
  std::string real;  // of a program that can be loaded, links followed; else empty
  // A library: it is one of CUDA or holds device code. A program: it needs one, or holds it.
  bool uses = false;
  bool has_run_path = false;
  std::vector<std::string> needed;  // of a library
  GpuUse use;                       // of a library
};

void ReadHeaders(File* file, const CudaLibraries& cuda) {
  const ElfFile elf(file->path);
  if (file->library) {
    file->needed = elf.Needed();
    file->use = GpuUseOfFile(file->path, cuda);
    file->uses = cuda.Has(file->name) || (!file->use.example.empty() && HoldsDeviceCode(file->path));
    return;
  }
  if (!elf.loadable()) return;
  file->real = file->link ? RealPath(file->path) : file->path;
  const std::vector<std::string> needed = elf.Needed();
  file->uses =
      std::any_of(needed.begin(), needed.end(), [&](const std::string& name) { return cuda.Has(name); }) ||
      HoldsDeviceCode(file->path);
  file->has_run_path = !elf.RunPath().empty();
}

std::string LastOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void AddUse(const GpuUse& use, GpuUse* sum, std::set<std::string>* majors) {
  if (sum->example.empty()) sum->example = use.example;
  if (!use.cuda.empty()) majors->insert(use.cuda);
  sum->asks_for_cudnn = sum->asks_for_cudnn || use.asks_for_cudnn;
  sum->asks_for_runtime = sum->asks_for_runtime || use.asks_for_runtime;
  sum->asks_for_nvrtc = sum->asks_for_nvrtc || use.asks_for_nvrtc;
}

class Search {
 public:
  Search(const Variables& environment, const CudaLibraries& cuda, const std::vector<std::string>& prefixes,
         const std::string& root)
      : cuda_(cuda), root_(root), library_path_(ValueOf(environment, "LD_LIBRARY_PATH")) {
    for (const std::string& prefix : prefixes) excluded_.insert(RealPath(prefix));
    // The packages of a system's Python are its own; what lies beside them is not.
    for (const char* shared : {"/", "/usr", "/usr/local"}) excluded_.erase(RealPath(root + shared));
    for (const char* folder : {"/opt/nvidia", "/usr/local/nvidia"}) excluded_.insert(RealPath(root + folder));
    for (const std::string& folder : DefaultLibraryDirectories()) {
      const std::string real = RealPath(root + folder);
      loader_.insert(real);
      if (LastOf(real).find("-linux-") != std::string::npos) excluded_.insert(real);
    }
    // What lies there is for the cache, also if that does not exist.
    for (const std::string& folder : ConfiguredFolders(root)) loader_.insert(RealPath(root + folder));
    for (const std::string& folder : SplitLibraryPath(library_path_)) loader_.insert(RealPath(folder));
    for (const std::string& path : LoaderCachePaths([](const std::string&) { return true; }))
      loader_.insert(RealPath(DirectoryOf(path)));
  }

  void Run(const Variables& environment) {
    for (const std::string& folder : Split(ValueOf(environment, "PATH"), ':'))
      if (!folder.empty() && folder[0] == '/') Walk(folder, 0);
    for (const char* place : {"/opt", "/srv", "/app", "/workspace", "/root", "/usr/local"})
      Walk(root_ + place, kDepth);
    for (const std::string& user : reader_.Names(root_ + "/home")) Walk(root_ + "/home/" + user, kDepth);
    if (const std::string home = ValueOf(environment, "HOME"); home.size() > 1) Walk(home, kDepth);
    for (const char* place : {"/usr/lib", "/usr/libexec"}) Walk(root_ + place, kDepthOfSystem);
    for (const std::string& name : reader_.Names(root_.empty() ? "/" : root_))
      if (std::find(std::begin(kOfSystem), std::end(kOfSystem), name) == std::end(kOfSystem))
        Walk(root_ + "/" + name, kDepthOfSystem);
    ReadInParallel(files_.size(), [this](size_t i) { ReadHeaders(&files_[i], cuda_); });
    for (File& file : files_) Take(&file);
    // Where nothing is brought, only what a program asks of the loader is left to tell.
    const bool any =
        std::any_of(folders_.begin(), folders_.end(), [](const auto& f) { return f.second.brings; });
    for (Program& program : programs_)
      if (any || program.uses) Follow(&program);
  }

  std::vector<Candidate> Take(bool only_with_libraries) {
    AddPrograms(only_with_libraries);
    for (const auto& [path, folder] : folders_)
      if (folder.brings && claimed_.count(path) == 0) AddFolders({path});
    return std::move(candidates_);
  }
  bool complete() const {
    return reader_.complete() && count_ < kMostFiles && programs_.size() < kMostPrograms;
  }

 private:
  bool IsExcluded(const std::string& folder, const std::string& real) const {
    const std::string name = LastOf(folder);
    const std::string above = DirectoryOf(folder);
    const bool toolkit =
        name.starts_with("cuda") && (above == root_ + "/usr/local" || above == root_ + "/opt");
    return toolkit || name.starts_with("python3") || name.ends_with("-packages") || name == "node_modules" ||
           (name.starts_with(".") && name != ".local") ||
           std::any_of(excluded_.begin(), excluded_.end(),
                       [&](const std::string& e) { return real == e || real.starts_with(e + "/"); }) ||
           Exists(folder + "/pyvenv.cfg") || IsCondaEnvironment(folder);
  }

  // Whether a folder in one that holds packages of Python (`among_packages`), or in any other, is such a
  // package: what lies in it is the package's, and its programs are helpers, as PyTorch's torch_shm_manager.
  bool IsPythonPackage(const std::string& folder, const std::string& name, bool among_packages) {
    if (among_packages && (name == "nvidia" || name.ends_with(".libs"))) return true;
    if (!Exists(folder + "/__init__.py")) return false;
    const std::vector<std::string> names = reader_.Names(folder);
    return among_packages || std::any_of(names.begin(), names.end(), [](const std::string& file) {
             return file.find(".cpython-") != std::string::npos || file.ends_with(".abi3.so");
           });
  }

  // A folder, and those in it down to a depth; links to folders are not followed.
  void Walk(const std::string& folder, int depth) {
    const std::string real = RealPath(folder);
    if (!IsFolder(real) || IsExcluded(folder, real)) return;
    const auto known = walked_.find(real);
    if (known != walked_.end() && known->second >= depth) return;
    const bool read = known != walked_.end();
    walked_[real] = depth;
    const std::vector<std::string> names = reader_.Names(real);
    const bool among_packages = std::any_of(
        names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".dist-info"); });
    for (const std::string& name : names) {
      const std::string path = (real == "/" ? "" : real) + "/" + name;
      struct stat status = {};
      if (lstat(path.c_str(), &status) != 0) continue;
      const bool link = S_ISLNK(status.st_mode);
      if (S_ISDIR(status.st_mode)) {
        if (depth > 0 && !IsPythonPackage(path, name, among_packages)) Walk(path, depth - 1);
      } else if (!read && (!link || stat(path.c_str(), &status) == 0) && S_ISREG(status.st_mode)) {
        AddFile(path, name, real, link, (status.st_mode & S_IXUSR) != 0);
      }
    }
  }

  void AddFile(const std::string& path, const std::string& name, const std::string& folder, bool link,
               bool executable) {
    File file;
    file.library = IsLibraryName(name);
    if ((!file.library && !executable) || ++count_ > kMostFiles) return;
    if (file.library && loader_.count(folder) > 0) return;
    file.path = path;
    file.name = name;
    file.folder = folder;
    file.link = link;
    files_.push_back(std::move(file));
  }

  void Take(File* file) {
    if (file->library) {
      Folder& libraries = folders_[file->folder];
      libraries.names.insert(file->name);
      for (std::string& needed : file->needed) libraries.needed.insert(std::move(needed));
      AddUse(file->use, &libraries.use, &libraries.majors);
      libraries.brings = libraries.brings || file->uses;
    } else if (!file->real.empty() && programs_.size() < kMostPrograms && seen_.insert(file->real).second) {
      // Without a run path it finds what the loader finds.
      if (file->uses || file->has_run_path) programs_.push_back({file->path, file->uses, file->uses, {}, {}});
    }
  }

  // Where a program finds its libraries, and whether it comes upon one that uses a GPU by what it needs.
  void Follow(Program* program) {
    std::string problem;
    std::vector<std::string> files;
    const LibraryFolders found =
        FindProgramLibraries(program->path, library_path_, &reader_, &problem, &files);
    for (const auto& folders : {found.before, found.behind})
      for (const std::string& folder : folders) {
        const std::string real = RealPath(folder);
        program->folders.push_back(real);
        const auto libraries = folders_.find(real);
        if (libraries != folders_.end() && libraries->second.brings) program->claimed.push_back(real);
      }
    for (const std::string& file : files)
      program->reaches = program->reaches || (file != program->path && BringsGpu(file));
  }

  bool BringsGpu(const std::string& file) const {
    const auto folder = folders_.find(DirectoryOf(RealPath(file)));
    return folder != folders_.end() && folder->second.brings &&
           (cuda_.Has(LastOf(file)) || !GpuUseOfFile(file, cuda_).example.empty());
  }

  // Programs that share their libraries are one candidate.
  void AddPrograms(bool only_with_libraries) {
    std::map<std::string, std::vector<const Program*>> sharing;
    for (const Program& program : programs_) {
      if (!program.claimed.empty())
        sharing[Join(program.claimed, ":")].push_back(&program);
      else if (program.uses && !only_with_libraries)
        AddProgram(program);
    }
    for (const auto& [key, programs] : sharing) {
      claimed_.insert(programs.front()->claimed.begin(), programs.front()->claimed.end());
      if (programs.size() == 1 && programs.front()->reaches)
        AddProgram(*programs.front());
      else
        AddFolders(programs.front()->folders);
    }
  }

  void AddProgram(const Program& program) {
    Candidate candidate{"", "program:" + program.path, program.path, "", ""};
    std::set<std::string> majors;
    AddUse(GpuUseOfFile(program.path, cuda_), &candidate.gpu, &majors);
    Describe(program.folders, majors, std::move(candidate));
  }

  // The folder above them is searched too if they need a library of it, as a program's plugins may.
  void AddFolders(std::vector<std::string> folders) {
    for (size_t i = 0, own = folders.size(); i < own; ++i) {
      const Folder& libraries = folders_[folders[i]];
      const auto above = folders_.find(DirectoryOf(folders[i]));
      if (above == folders_.end()) continue;
      const bool needs = std::any_of(libraries.needed.begin(), libraries.needed.end(), [&](const auto& name) {
        return libraries.names.count(name) == 0 && above->second.names.count(name) > 0;
      });
      if (needs && std::find(folders.begin(), folders.end(), above->first) == folders.end())
        folders.push_back(above->first);
    }
    // A matrix separates folders by colons.
    const auto has_separator = [](const std::string& folder) {
      return folder.find_first_of(":;") != std::string::npos;
    };
    if (std::any_of(folders.begin(), folders.end(), has_separator)) return;
    Describe(folders, {}, {"", "path:" + Join(folders, ":"), folders.front(), "", ""});
  }

  void Describe(const std::vector<std::string>& folders, std::set<std::string> majors, Candidate candidate) {
    for (const std::string& folder : folders) {
      if (candidate.cudnn.empty() && HoldsCudnn(folder)) candidate.cudnn = folder;
      const auto found = folders_.find(folder);
      if (found == folders_.end()) continue;
      AddUse(found->second.use, &candidate.gpu, &majors);
      majors.insert(found->second.majors.begin(), found->second.majors.end());
    }
    if (majors.size() == 1) candidate.cuda = *majors.begin();
    candidate.name = NameOfPrefix(candidate.place);
    candidates_.push_back(std::move(candidate));
  }

  const CudaLibraries& cuda_;
  const std::string root_, library_path_;
  FolderReader reader_;
  std::vector<File> files_;
  int count_ = 0;                                    // of what may be a program or a library
  std::set<std::string> excluded_, seen_, claimed_;  // links followed
  std::set<std::string> loader_;                     // folders that the loader searches by itself
  std::map<std::string, int> walked_;                // folders, and how deep
  std::map<std::string, Folder> folders_;            // links followed
  std::vector<Program> programs_;
  std::vector<Candidate> candidates_;
};

}  // namespace

FoundPrograms FindPrograms(const Variables& environment, const CudaLibraries& cuda,
                           const std::vector<std::string>& prefixes, bool only_with_libraries,
                           const std::string& root) {
  Search search(environment, cuda, prefixes, root);
  search.Run(environment);
  FoundPrograms found;
  found.candidates = search.Take(only_with_libraries);
  found.complete = search.complete();
  std::sort(found.candidates.begin(), found.candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.place < b.place; });
  std::map<std::string, int> uses;
  for (const Candidate& candidate : found.candidates) ++uses[candidate.name];
  for (Candidate& candidate : found.candidates)
    if (uses[candidate.name] > 1) candidate.name += NumberOfPlace(candidate.place);
  return found;
}

}  // namespace cudnn_ci
