// Finding and loading one cuDNN install.
#include "cudnn/install.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "base/path.h"
#include "common/cudnn_api.h"
#include "common/driver_files.h"
#include "common/loaded_libraries.h"
#include "common/loader_path.h"
#include "image/contents/cudnn_files.h"
#include "image/elf/elf_file.h"
#include "image/packages/cudnn_packages.h"

namespace cudnn_ci {
namespace {

// Those that a JIT-only package has.
constexpr const char* kJitParts[] = {"graph", "engines_runtime_compiled"};

// The names of the sub-libraries that lie in a directory, whatever kind of file each is.
std::set<std::string> PartsIn(const std::string& directory, int major) {
  std::set<std::string> names;
  const std::string prefix = "libcudnn_", suffix = ".so." + std::to_string(major);
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (file.size() > prefix.size() + suffix.size() && file.compare(0, prefix.size(), prefix) == 0 &&
        file.compare(file.size() - suffix.size(), suffix.size(), suffix) == 0) {
      names.insert(file.substr(prefix.size(), file.size() - prefix.size() - suffix.size()));
    }
  }
  return names;
}

// JIT-only packages are made from cuDNN 9.11 on.
bool HasJitPackages(const std::string& version) {
  std::istringstream text(version);
  int major = 0, minor = 0;
  char dot = 0;
  text >> major >> dot >> minor;
  return major > 9 || (major == 9 && minor >= 11);
}

// The libraries of a JIT-only package are the same as those of the full one, so what lies beside the main
// library tells them apart, and what package it says it is.
bool IsJitOnly(const std::set<std::string>& present, int major, const std::string& directory) {
  if (!HasJitPackages(VersionOfFiles(directory, major))) return false;
  for (const Package& package : CudnnWheelsOf(directory))
    if (package.name.find("-jit-") == std::string::npos) return false;
  const auto of_jit = [](const std::string& part) {
    return std::find(std::begin(kJitParts), std::end(kJitParts), part) != std::end(kJitParts);
  };
  for (const std::string& part : CudnnPartNames(major))
    if ((present.count(part) > 0) != of_jit(part)) return false;
  return true;
}

CudnnPart InspectPart(const std::string& name, const std::vector<std::string>& run_path) {
  CudnnPart part;
  part.name = name;
  const std::string found = ResolveLibrary(name, run_path, &part.passed_over);
  if (found.empty()) {
    part.error = name + ": cannot open shared object file: No such file or directory";
    for (const std::string& passed : part.passed_over) part.error += "; passed over: " + passed;
    return part;
  }
  part.found = found;
  part.path = RealPath(found);
  const ElfFile file(part.path);
  part.error = file.error();
  part.version = CudnnVersionOf(file);
  if (const std::string soname = file.Soname(); IsOfAnotherLibrary(soname, name)) part.other_name = soname;
  return part;
}

void LoadPart(CudnnPart* part) {
  LateLibrary library;
  const NewLibraries loaded;
  if (library.Open(part->path)) return loaded.GiveBackPages();
  const std::string awaited = AwaitedLibrary(library.error());
  if (awaited.empty()) {
    part->error = library.error();
    return;
  }
  // The loader stops at the first library that is missing. What else this one needs is the image's to bring.
  const ElfFile file(part->path);
  const std::vector<std::string> run_path = file.RunPath();
  for (const std::string& name : file.Needed()) {
    LateLibrary needed;
    std::string error;
    if (IsDriverLibrary(name) || LoadChecked(name, &needed, &error, run_path)) continue;
    if (AwaitedLibrary(error).empty()) part->error += (part->error.empty() ? "" : "; ") + error;
  }
  if (part->error.empty()) part->awaits = awaited;
}

CudnnInstall InspectMajor(int major, const std::string& found) {
  CudnnInstall install;
  install.major = major;
  install.main = InspectPart(CudnnSoname(major), {});
  // $ORIGIN is the directory of the name the loader opened, before links are followed.
  const std::vector<std::string> run_path = ElfFile(found).RunPath();
  const std::string directory = DirectoryOf(install.main.path);
  std::set<std::string> present = PartsIn(DirectoryOf(found), major);
  present.merge(PartsIn(directory, major));
  const bool jit_only = IsJitOnly(present, major, directory);
  for (const std::string& part : CudnnPartNames(major)) {
    const bool belongs = !jit_only || present.count(part) > 0;
    (belongs ? install.parts : install.left_out).push_back(InspectPart(CudnnSoname(major, part), run_path));
    present.erase(part);
  }
  // Newer releases bring further sub-libraries; those beside the main library belong to it.
  for (const std::string& part : present)
    install.parts.push_back(InspectPart(CudnnSoname(major, part), run_path));
  return install;
}

}  // namespace

bool IsOfAnotherLibrary(const std::string& soname, const std::string& name) {
  const std::string infix = ".so";
  const std::size_t so = soname.find(infix), at = name.find(infix);
  if (so == std::string::npos || at == std::string::npos) return !soname.empty();
  if (soname.substr(0, std::min(so, soname.find('-'))) != name.substr(0, at)) return true;
  const std::string version = name.substr(at + infix.size()), theirs = soname.substr(so + infix.size());
  return !theirs.empty() && theirs != version && theirs.compare(0, version.size() + 1, version + ".") != 0;
}

std::vector<const CudnnPart*> CudnnInstall::Broken() const {
  std::vector<const CudnnPart*> broken;
  if (!main.error.empty()) broken.push_back(&main);
  for (const auto& part : parts)
    if (!part.error.empty()) broken.push_back(&part);
  return broken;
}

std::vector<const CudnnPart*> CudnnInstall::Awaiting() const {
  std::vector<const CudnnPart*> awaiting;
  if (!main.awaits.empty()) awaiting.push_back(&main);
  for (const auto& part : parts)
    if (!part.awaits.empty()) awaiting.push_back(&part);
  return awaiting;
}

bool CudnnInstall::callable() const {
  const auto loaded = [](const CudnnPart& part) { return part.error.empty() && part.awaits.empty(); };
  return found() && loaded(main) && (parts.empty() || loaded(parts.front()));
}

std::vector<std::string> CudnnInstall::Directories() const {
  std::map<std::string, std::string> files;
  if (!main.path.empty()) files[DirectoryOf(main.path)] = main.name;
  for (const auto& part : parts) {
    if (part.path.empty()) continue;
    std::string& names = files[DirectoryOf(part.path)];
    names += (names.empty() ? "" : ", ") + part.name;
  }
  std::vector<std::string> directories;
  for (const auto& [directory, names] : files) directories.push_back(directory + " (" + names + ")");
  return directories;
}

std::string CudnnInstall::Version() const {
  for (const auto& part : parts)
    if (!part.version.empty()) return part.version;
  return {};
}

std::string JoinLines(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : "; ") + part;
  return all;
}

CudnnInstall InspectCudnn(const std::vector<int>& majors) {
  for (const int major : majors) {
    const std::string found = ResolveLibrary(CudnnSoname(major));
    if (!found.empty()) return InspectMajor(major, found);
  }
  CudnnInstall install;
  install.main = InspectPart(CudnnSoname(majors.front()), {});
  return install;
}

void AddOpenedParts(CudnnInstall* install) {
  if (install->major < 9 || install->parts.empty()) return;
  const std::vector<std::string> run_path = ElfFile(install->main.found).RunPath();
  const auto known = [install](const std::string& name) {
    for (const std::vector<CudnnPart>* parts : {&install->parts, &install->left_out})
      for (const CudnnPart& part : *parts)
        if (part.name == name) return true;
    return false;
  };
  for (const std::string& opened : CudnnPartsOpenedBy(install->parts.front().path)) {
    const std::string name = CudnnSoname(install->major, opened);
    if (known(name)) continue;
    CudnnPart part = InspectPart(name, run_path);
    part.foreign = !part.path.empty();
    (install->jit_only() ? install->left_out
     : part.foreign      ? install->parts
                         : install->lacking)
        .push_back(std::move(part));
  }
}

std::string CudaMajorOfRunPath(const CudnnInstall& install) {
  for (const auto& part : install.parts) {
    for (const std::string& directory : ElfFile(part.path).RunPath()) {
      const size_t at = directory.find("/cu1");
      if (at != std::string::npos && directory.compare(at + 5, 1, "/") == 0)
        return directory.substr(at + 3, 2);
    }
  }
  return {};
}

bool LoadCudnn(CudnnInstall* install) {
  if (!install->found()) return false;
  if (!install->Broken().empty()) return false;
  for (auto& part : install->parts) LoadPart(&part);
  LoadPart(&install->main);
  return install->Broken().empty();
}

}  // namespace cudnn_ci
