#include "image/symbols/symbols_remedy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "common/install_line.h"
#include "image/elf/elf_file.h"
#include "image/loader/loader_scope.h"

namespace cudnn_ci {
namespace {

constexpr int kMostFilesOfPackage = 50;        // that are read for the CUDA major
constexpr char kFinder[] = "cuda-pathfinder";  // finds libraries in all packages of an environment

// "12.6" of "libnvrtc-builtins.so.12.6".
std::string NumberOf(const std::string& library) {
  const std::string stem = LibraryStem(library);
  return library.size() > stem.size() + 1 ? library.substr(stem.size() + 1) : "";
}

// "8.*" of "8"; empty of nothing.
std::string AnyOf(const std::string& number) { return number.empty() ? "" : number + ".*"; }

// "8.*" of "8.9.*".
std::string MajorOf(const std::string& version) { return AnyOf(version.substr(0, version.find('.'))); }

// Whether a version is that one, or of "8.*"; any is of nothing.
bool IsOf(const std::string& version, const std::string& wanted) {
  return wanted.empty() || version == wanted ||
         (wanted.ends_with(".*") && version.starts_with(wanted.substr(0, wanted.size() - 1)));
}

// What conda has installed looks for its libraries in the environment's lib, where pip puts none.
bool IsOfConda(const Package* package) {
  if (!package) return false;
  return package->manager == PackageManager::kConda ||
         (package->manager == PackageManager::kPython &&
          Trim(ReadSmallFile(package->records + "/INSTALLER")) == "conda");
}

}  // namespace

std::string QuotedText(const std::string& line) {
  const std::size_t begin = line.find_first_of("'\"");
  if (begin == std::string::npos) return "";
  const std::size_t end = line.find(line[begin], begin + 1);
  return end == std::string::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

BuiltWith ReadBuiltWith(const std::string& version_py) {
  BuiltWith built;
  for (const std::string& line : Split(ReadSmallFile(version_py), '\n')) {
    const std::size_t equals = line.find('=');
    const std::string name(Trim(line.substr(0, std::min(line.find_first_of(": =", 0), line.size()))));
    if (equals == std::string::npos) continue;
    if (name == "__version__" && built.version.empty()) built.version = QuotedText(line.substr(equals));
    if (name == "cuda" && built.cuda.empty()) built.cuda = QuotedText(line.substr(equals));
  }
  return built;
}

BuiltWith TorchOf(const std::vector<std::string>& package_folders) {
  for (const std::string& folder : package_folders)
    if (BuiltWith built = ReadBuiltWith(folder + "/torch/version.py"); !built.version.empty()) return built;
  return {};
}

InstalledPackage SymbolRemedies::OfPip(const std::string& package, const std::string& version) const {
  InstalledPackage wanted = {Manager::kPip, package, version, ""};
  for (const std::string& folder : image_->folders)
    if (wanted.python.empty()) wanted.python = PythonOf(folder);
  return wanted;
}

std::string SymbolRemedies::Line(const std::string& package, const std::string& version, bool there,
                                 bool again) const {
  InstalledPackage wanted = OfPip(package, version);
  if (again) return ReinstallLine(wanted);
  if (!there) return version.empty() ? InstallLine(wanted) : FreshLine(wanted, version);
  if (version.ends_with(".*")) {
    wanted.version = version.substr(0, version.size() - 2);
    return ReleaseLine(wanted, wanted.version);
  }
  return version.empty() ? InstallLine(wanted) : ReplaceLine(wanted, {});
}

std::vector<int> SymbolRemedies::MajorsOnRecord(const GpuLibrary& library) const {
  const std::string suffixed = library.package + "-cu";
  std::vector<int> majors;
  for (const Package& package : image_->packages.packages())
    if (package.manager == PackageManager::kPython && package.name.starts_with(suffixed))
      majors.push_back(std::atoi(package.name.c_str() + suffixed.size()));
  return majors;
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
  const auto fits = [&](int major) { return major > 0 && rules_->MayBeOf(major, wanted.library, known); };
  std::vector<std::string> names = {wanted.library};
  if (wanted.table) names.insert(names.end(), wanted.table->needed.begin(), wanted.table->needed.end());
  if (const int major = rules_->CudaMajorOf(names); fits(major)) return major;
  if (fits(wanted.cuda_major)) return wanted.cuda_major;
  const Package* owner = wanted.asker.empty() ? nullptr : image_->packages.OwnerOf(wanted.asker);
  if (owner && owner->manager == PackageManager::kPython)
    if (const int major = MajorOfPackage(*owner); fits(major)) return major;
  if (const int major = std::atoi(torch_.cuda.c_str()); fits(major)) return major;
  const std::vector<int> recorded = MajorsOnRecord(known);
  const auto found = std::find_if(recorded.begin(), recorded.end(), fits);
  return found == recorded.end() ? 0 : *found;
}

std::string SymbolRemedies::PackageBy(const Wanted& wanted, const GpuLibrary& known) {
  if (const int major = MajorFor(wanted, known); major != 0) return known.PackageOf(major);
  const LibraryNumber* number = rules_->NumberOf(wanted.library);
  return number && number->packages.size() == 1 ? number->packages.front() : "";
}

std::string SymbolRemedies::VersionByNumber(const std::string& library, const GpuLibrary& known) const {
  if (const LibraryNumber* number = rules_->NumberOf(library)) return AnyOf(number->Release());
  return known.minor_in_name || known.numbered_as_cuda ? AnyOf(NumberOf(library)) : "";
}

SymbolRemedy SymbolRemedies::ForOtherRelease(const Wanted& wanted, const std::string& file) {
  const GpuLibrary* known = rules_->GpuLibraryOf(wanted.library);
  const std::string package = known ? PackageBy(wanted, *known) : "";
  if (package.empty() || IsOfConda(image_->packages.OwnerOf(wanted.asker))) return {};
  std::string version;
  const Package* requires_it =
      requirements_.PinningPackage(package, image_->packages.OwnerOf(wanted.asker), &version);
  const Package* there = image_->packages.OwnerOf(file);
  if (!requires_it || (there && there->name == package && there->version == version)) return {};
  // pip does nothing for a version that is on record, and another package's file stays.
  const Package* on_record = image_->packages.Python(package);
  const bool replaced =
      there && there->name != package && on_record != nullptr && on_record->version == version;
  const std::vector<std::string> others = replaced ? std::vector{there->name} : std::vector<std::string>();
  return {requires_it->Text() + " requires " + package + " " + version +
              (replaced ? "; pip uninstall -y " + there->name + "; pip install --force-reinstall --no-deps "
                        : "; pip install ") +
              package + "==" + version,
          ReplaceLine(OfPip(package, version), others),
          {}};
}

SymbolRemedy SymbolRemedies::ForConda(const std::string& library, const GpuLibrary& known) const {
  const LibraryNumber* row = rules_->NumberOf(library);
  const auto is_of_11 = [](const std::string& package) { return package.ends_with("-cu11"); };
  const std::string number = NumberOf(library), major = number.substr(0, number.find('.'));
  const bool of_11 = row ? std::all_of(row->packages.begin(), row->packages.end(), is_of_11)
                         : known.numbered_as_cuda && major == "11";
  if (known.conda.empty() || of_11 || std::atoi(major.c_str()) == 0) return {};
  std::string version = known.minor_in_name ? number : major;
  const std::vector<Package>& packages = image_->packages.packages();
  const auto there = std::find_if(packages.begin(), packages.end(), [&](const Package& package) {
    return package.manager == PackageManager::kConda && package.name == known.conda;
  });
  const bool again = there != packages.end() && IsOf(there->version, AnyOf(version));
  if (again) version = there->version;
  SymbolRemedy remedy;
  remedy.words = "conda's package " + known.conda + " contains it";
  if (again) remedy.words += "; " + there->Text() + " is on record, but its file is missing or not found";
  remedy.words += std::string("; conda install -c conda-forge ") + (again ? "--force-reinstall " : "") +
                  known.conda + "=" + version;
  remedy.line = CondaLine(image_->prefix, known.conda, version, again);
  return remedy;
}

std::string SymbolRemedies::FolderOfPip(const std::string& asker) const {
  for (const std::string& folder : image_->folders)
    if (asker.starts_with(folder + "/")) return folder;
  return image_->folders.empty() ? "" : image_->folders.front();
}

bool SymbolRemedies::IsSeen(const std::string& folder, const Wanted& wanted) {
  const Package* owner = wanted.asker.empty() ? nullptr : image_->packages.OwnerOf(wanted.asker);
  if (owner && requirements_.Requires(*owner, kFinder)) return true;
  if (wanted.ahead) return false;
  const auto is = [&](std::string other) {
    std::replace(other.begin(), other.end(), '%', '*');
    return GlobMatch(std::filesystem::path(other).lexically_normal().string(), folder);
  };
  for (const auto* folders : {&wanted.looks_in, &files_->library_path(), &files_->default_folders()})
    if (std::any_of(folders->begin(), folders->end(), is)) return true;
  return false;
}

SymbolRemedy SymbolRemedies::ForOtherName(const Wanted& wanted) {
  const bool any_number = LibraryStem(wanted.library) == wanted.library;
  std::string found;
  for (const std::string& file : wanted.same) {
    const std::string name = file.substr(file.rfind('/') + 1);
    if (any_number && !rules_->Serves(name, wanted.cuda_major, wanted.cudnn)) continue;
    if (found.empty()) found = file;
    if (found.substr(found.rfind('/') + 1) != name) return {};
  }
  if (found.empty()) return {};
  const std::string folder = DirectoryOf(found), name = found.substr(found.rfind('/') + 1);
  SymbolRemedy remedy;
  remedy.words = any_number ? name + " must be opened by its number, or needs a link with the other name"
                            : found + " is that library under another name";
  remedy.cure.links = {name + " " + folder + "/" + wanted.library};
  if (any_number && !IsSeen(folder, wanted)) remedy.cure.folders = {folder};
  remedy.cure.ahead = wanted.ahead;
  return remedy;
}

void SymbolRemedies::AddWhatPipLeaves(const Wanted& wanted, const GpuLibrary& known,
                                      const std::string& package, const std::string& version,
                                      SymbolCure* cure) {
  const std::string site = FolderOfPip(wanted.asker), below = known.FolderOf(package);
  if (site.empty() || below.empty()) return;
  const std::string folder = site + "/" + below;
  if (!IsSeen(folder, wanted)) cure->folders = {folder};
  cure->ahead = wanted.ahead;
  if (LibraryStem(wanted.library) != wanted.library) return;
  if (const std::string file = rules_->FileIn(known, package, version); !file.empty())
    cure->links = {file + " " + folder + "/" + wanted.library};
}

SymbolRemedy SymbolRemedies::ForReplaced(const Wanted& wanted, const Package& owner) {
  if (!wanted.other_major) return {};
  if (!replaced_) replaced_ = FindRecordConflicts(image_->packages.packages()).replaced;
  for (const ReplacedFiles& replaced : *replaced_) {
    const Package &loser = replaced.loser, &winner = replaced.winner;
    if (winner.name != owner.name || loser.name == winner.name) continue;
    return {winner.Text() + " has replaced files of " + loser.Text() +
                ", whose CUDA libraries exist; pip uninstall -y " + winner.name +
                "; pip install --force-reinstall --no-deps " + loser.name + "==" + loser.version,
            ReplaceLine(OfPip(loser.name, loser.version), {winner.name}),
            {}};
  }
  return {};
}

SymbolRemedy SymbolRemedies::ForHidden(const std::string& file) const {
  const GpuLibrary* known = rules_->GpuLibraryOf(file.substr(file.rfind('/') + 1));
  const Package* owner = image_->packages.OwnerOf(file);
  const std::string folder = DirectoryOf(file);
  SymbolRemedy remedy;
  if (known && owner && folder.ends_with("/" + known->FolderOf(owner->name))) remedy.cure.folders = {folder};
  return remedy;
}

SymbolRemedy SymbolRemedies::ForMissing(const Wanted& wanted) {
  if (SymbolRemedy link = ForOtherName(wanted); !link.words.empty()) return link;
  const std::string& library = wanted.library;
  const GpuLibrary* known = rules_->GpuLibraryOf(library);
  if (!known) return {};
  const Package* owner = wanted.asker.empty() ? nullptr : image_->packages.OwnerOf(wanted.asker);
  if (IsOfConda(owner)) return ForConda(library, *known);
  if (owner && owner->manager == PackageManager::kPython)
    if (SymbolRemedy kept = ForReplaced(wanted, *owner); !kept.words.empty()) return kept;
  if (image_->interpreter.empty() && !(owner && owner->manager == PackageManager::kPython)) {
    const int major = known->suffix_in_13 ? 0 : MajorFor(wanted, *known);
    return {major == 0 ? "" : "the toolkit of CUDA " + std::to_string(major) + " contains it", "", {}};
  }
  const std::string package = PackageBy(wanted, *known);
  if (package.empty()) {
    const std::string packages = rules_->PackageFor(library);
    return {packages.empty() ? "" : "package " + packages + " contains it", "", {}};
  }
  const Package* there = image_->packages.Python(package);
  const std::string by_number =
      IsCudnn(library) && !wanted.cudnn.empty() ? MajorOf(wanted.cudnn) : VersionByNumber(library, *known);
  std::string version;
  const Package* requires_it = requirements_.PinningPackage(package, owner, &version);
  // What is required of this library is no cure for one whose number no such release has.
  const LibraryNumber* number = rules_->NumberOf(library);
  const bool of_others = wanted.other_major && requires_it != owner;
  if ((number && !IsOf(version, by_number)) || (!number && of_others && !IsOf(version, MajorOf(by_number)))) {
    // What another package requires, and has, is taken from it by no line.
    if (there && requires_it && requires_it != owner && IsOf(there->version, version))
      return {"another version of package " + package + " contains it, but " + requires_it->Text() +
                  " requires the installed " + there->version + ": install them in separate environments",
              "",
              {}};
    requires_it = nullptr, version.clear();
  }
  const bool tells = known->minor_in_name || number || !wanted.cudnn.empty();
  if (version.empty() && (tells || (wanted.other_major && there))) version = by_number;
  // A package without a suffix is for whatever CUDA is the newest one.
  if (version.empty()) version = rules_->ReleasesFor(library, package, MajorFor(wanted, *known));
  const bool again = there && IsOf(there->version, version);
  if (again) version = there->version;
  SymbolRemedy remedy;
  remedy.words = "package " + package + " contains it";
  if (requires_it) remedy.words += ", and " + requires_it->Text() + " requires its version " + version;
  if (again) remedy.words += "; " + there->Text() + " is on record, but its file is missing or not found";
  const char* quote = version.find('*') == std::string::npos ? "" : "'";
  // What it requires comes with a package that is new here; where one takes the place of another, all else
  // stays as it is.
  remedy.cure.pip = std::string(again ? "--force-reinstall " : "") +
                    (version.empty() || !there ? "" : "--no-deps ") + quote + package +
                    (version.empty() ? "" : "==" + version) + quote;
  remedy.line = Line(package, version, there != nullptr, again);
  AddWhatPipLeaves(wanted, *known, package, version, &remedy.cure);
  return remedy;
}

namespace {

// "/a:/b"; of a folder that is there again the first place counts.
std::string PathOf(const std::vector<std::string>& folders) {
  std::vector<std::string> once;
  for (const std::string& folder : folders)
    if (std::find(once.begin(), once.end(), folder) == once.end()) once.push_back(folder);
  return Join(once, ":");
}

}  // namespace

std::string LineForFolders(const std::vector<std::string>& folders) {
  return EnvironmentLine("LD_LIBRARY_PATH", PathOf(folders));
}

std::string LineForCure(const std::string& line, const SymbolCure& cure) {
  const bool folders_alone = cure.pip.empty() && cure.links.empty() && line.empty();
  if (cure.ahead && !folders_alone) return "";
  if (folders_alone) return cure.folders.empty() ? "" : LineForFolders(cure.folders);
  if (line.empty() && !cure.pip.empty()) return "";
  return LineWithLinks(line, cure.links, cure.folders);
}

std::string WordsForCure(const SymbolCure& cure) {
  std::string words = cure.pip.empty() ? "" : "; pip install " + cure.pip;
  for (const std::string& link : cure.links) words += "; ln -s " + link;
  if (!cure.folders.empty()) words += "; ENV LD_LIBRARY_PATH=" + PathOf(cure.folders);
  return words;
}

}  // namespace cudnn_ci
