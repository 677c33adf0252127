#include "image/symbols/symbols_remedy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "common/install_line.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_scope.h"

namespace cudnn_ci {
namespace {

constexpr int kMostFilesOfPackage = 50;  // that are read for the CUDA major

// "12.6" of "libnvrtc-builtins.so.12.6".
std::string NumberOf(const std::string& library) {
  const std::string stem = LibraryStem(library);
  return library.size() > stem.size() + 1 ? library.substr(stem.size() + 1) : "";
}

// The text between the first quotes of a line.
std::string Quoted(const std::string& line) {
  const std::size_t begin = line.find_first_of("'\"");
  if (begin == std::string::npos) return "";
  const std::size_t end = line.find(line[begin], begin + 1);
  return end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

}  // namespace

BuiltWith ReadBuiltWith(const std::string& version_py) {
  BuiltWith built;
  for (const std::string& line : Split(ReadSmallFile(version_py), '\n')) {
    const std::size_t equals = line.find('=');
    const std::string name(Trim(line.substr(0, std::min(line.find_first_of(": =", 0), line.size()))));
    if (equals == std::string::npos) continue;
    if (name == "__version__" && built.version.empty()) built.version = Quoted(line.substr(equals));
    if (name == "cuda" && built.cuda.empty()) built.cuda = Quoted(line.substr(equals));
  }
  return built;
}

BuiltWith TorchOf(const std::vector<std::string>& package_folders) {
  for (const std::string& folder : package_folders)
    if (BuiltWith built = ReadBuiltWith(folder + "/torch/version.py"); !built.version.empty()) return built;
  return {};
}

std::string SymbolRemedies::Line(const std::string& package, const std::string& version, bool again) const {
  InstalledPackage wanted = {Manager::kPip, package, version, ""};
  for (const std::string& folder : image_->folders)
    if (wanted.python.empty()) wanted.python = PythonOf(folder);
  if (again) return ReinstallLine(wanted);
  return version.empty() ? InstallLine(wanted) : ReplaceLine(wanted, {});
}

int SymbolRemedies::MajorOnRecord(const GpuLibrary& library) const {
  const std::string suffixed = library.package + "-cu";
  for (const Package& package : image_->packages.packages())
    if (package.manager == PackageManager::kPython && package.name.starts_with(suffixed))
      return std::atoi(package.name.c_str() + suffixed.size());
  return 0;
}

int SymbolRemedies::MajorOfPackage(const Package& owner) {
  for (const char* word : {"cuda", "cu"})
    if (const std::size_t at = owner.name.rfind(std::string("-") + word); at != std::string::npos)
      if (const int major = std::atoi(owner.name.c_str() + at + 1 + std::strlen(word)); major > 0)
        return major >= 100 ? major / 10 : major;  // "cu118"
  for (const PythonRequirement& requirement : requirements_.Of(owner))
    if (const std::size_t at = requirement.name.rfind("-cu");
        at != std::string::npos && requirement.name.starts_with("nvidia-"))
      if (const int major = std::atoi(requirement.name.c_str() + at + 3); major > 0) return major;
  int left = kMostFilesOfPackage;
  for (const ImageFile& file : image_->files) {
    if (image_->packages.OwnerOf(file.path) != &owner) continue;
    if (const int major = rules_->CudaMajorOf(ElfFile(file.path).Needed()); major > 0) return major;
    if (--left == 0) break;
  }
  return 0;
}

int SymbolRemedies::MajorFor(const Wanted& wanted, const GpuLibrary& known) {
  std::vector<std::string> names = {wanted.library};
  if (wanted.table) names.insert(names.end(), wanted.table->needed.begin(), wanted.table->needed.end());
  int major = rules_->CudaMajorOf(names);
  if (major == 0) major = wanted.cuda_major;
  const Package* owner = wanted.asker.empty() ? nullptr : image_->packages.OwnerOf(wanted.asker);
  if (major == 0 && owner && owner->manager == PackageManager::kPython) major = MajorOfPackage(*owner);
  if (major == 0) major = std::atoi(torch_.cuda.c_str());
  return major != 0 ? major : MajorOnRecord(known);
}

std::string SymbolRemedies::VersionByNumber(const std::string& library, const GpuLibrary& known,
                                            const Package& there) const {
  const std::string number = NumberOf(library);
  if (known.minor_in_name || known.numbered_as_cuda) return number + ".*";
  const auto first = [](const std::string& version) { return version.substr(0, version.find('.')); };
  for (const ImageFile& file : image_->files) {
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    if (LibraryStem(name) == LibraryStem(library) && image_->packages.OwnerOf(file.path) == &there)
      return first(NumberOf(name)) == first(there.version) ? number + ".*" : "";
  }
  return "";
}

SymbolRemedy SymbolRemedies::ForOtherRelease(const Wanted& wanted, const std::string& file) {
  const GpuLibrary* known = rules_->GpuLibraryOf(wanted.library);
  const int major = known ? MajorFor(wanted, *known) : 0;
  if (major == 0) return {};
  const std::string package = known->PackageOf(major);
  std::string version;
  const Package* requires_it =
      requirements_.WhoPins(package, image_->packages.OwnerOf(wanted.asker), &version);
  const Package* there = image_->packages.OwnerOf(file);
  if (!requires_it || (there && there->name == package && there->version == version)) return {};
  return {requires_it->Text() + " requires " + package + " " + version + "; pip install " + package +
              "==" + version,
          Line(package, version, false)};
}

SymbolRemedy SymbolRemedies::ForMissing(const Wanted& wanted) {
  const auto& [library, asker, table, other_major, cuda_major] = wanted;
  const GpuLibrary* known = rules_->GpuLibraryOf(library);
  if (!known) return {};
  const int major = MajorFor(wanted, *known);
  if (major == 0) return {"package " + rules_->PackageFor(library) + " brings it", ""};
  const std::string package = known->PackageOf(major);
  const Package* owner = asker.empty() ? nullptr : image_->packages.OwnerOf(asker);
  std::string version;
  const Package* requires_it = requirements_.WhoPins(package, owner, &version);
  // What another package requires of this library is no cure for one that was built for another major.
  const std::string number = NumberOf(library);
  const bool same_major = version.substr(0, version.find('.')) == number.substr(0, number.find('.'));
  if (other_major && requires_it != owner && !same_major) requires_it = nullptr, version.clear();
  const Package* there = image_->packages.Python(package);
  if (version.empty() && known->minor_in_name) version = NumberOf(library) + ".*";
  if (version.empty() && other_major && there) {
    version = VersionByNumber(library, *known, *there);
    if (version.empty()) return {"another release of " + there->Text() + " brings it", ""};
  }
  const bool again = there && (version.empty() || there->version == version);
  if (again) version = there->version;
  SymbolRemedy remedy;
  remedy.words = "package " + package + " brings it";
  if (requires_it) remedy.words += ", and " + requires_it->Text() + " requires its version " + version;
  if (again) remedy.words += "; " + there->Text() + " is on record, and its file is gone or not found";
  remedy.words += std::string("; pip install ") + (again ? "--force-reinstall --no-deps " : "") +
                  (version.find('*') == std::string::npos ? "" : "'") + package +
                  (version.empty() ? "" : "==" + version) +
                  (version.find('*') == std::string::npos ? "" : "'");
  remedy.line = Line(package, version, again);
  return remedy;
}

std::string LineForFolders(const std::vector<std::string>& folders) {
  return EnvironmentLine("LD_LIBRARY_PATH", Join(folders, ":"));
}

}  // namespace cudnn_ci
