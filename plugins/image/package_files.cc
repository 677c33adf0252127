#include "image/package_files.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "common/install_line.h"
#include "common/joined.h"
#include "common/overlap.h"
#include "image/contents/recorded_libraries.h"
#include "image/findings.h"
#include "image/missed_files.h"
#include "image/packages/record_conflicts.h"

namespace cudnn_ci {
namespace {

constexpr std::size_t kMostNamed = 3;

class FilesJudge {
 public:
  FilesJudge(const ImageFiles& image, const SymbolRules& rules)
      : image_(image), rules_(rules), requirements_(&image.packages), missed_(image, rules) {}

  std::vector<PackageFault> Run() {
    const RecordConflicts conflicts = FindRecordConflicts(image_.packages.packages());
    for (const ReplacedFiles& replaced : conflicts.replaced)
      if (replaced.loser.name != replaced.winner.name && IsForGpus(replaced.loser)) JudgeReplaced(replaced);
    for (const GoneFiles& gone : conflicts.gone) JudgeGone(gone);
    for (const ChangedFiles& changed : conflicts.changed) JudgeChanged(changed);
    return std::move(faults_);
  }

 private:
  bool IsForGpus(const Package& package) const {
    return HasLibrary(package, [&](const std::string& name) {
      return rules_.GpuLibraryOf(name) || !rules_.DriverFunctionsOf(name).empty();
    });
  }

  InstalledPackage AsInstalled(const Package& package) const {
    return {Manager::kPip, package.name, package.version, PythonOf(DirectoryOf(package.records))};
  }

  static std::string Files(const std::vector<std::string>& files, std::size_t count) {
    std::vector<std::string> named(files.begin(), files.begin() + std::min(files.size(), kMostNamed));
    std::string text = Joined(named);
    if (count > named.size()) text += " and " + std::to_string(count - named.size()) + " more";
    return text;
  }

  // The two lines that leave `kept` in the place of `gone`.
  static std::string PipLines(const Package& kept, const Package& gone) {
    return "; pip uninstall -y " + gone.name + "; pip install --force-reinstall --no-deps " + kept.name +
           "==" + kept.version;
  }

  void JudgeReplaced(const ReplacedFiles& replaced) {
    const Package &loser = replaced.loser, &winner = replaced.winner;
    const std::string what = winner.Text() + " has replaced files of " + loser.Text() + ": " +
                             Files(replaced.files, replaced.count);
    if (!IsForGpus(winner)) {
      faults_.push_back(
          {kPackageReplaced, what + PipLines(loser, winner), ReplaceLine(AsInstalled(loser), {winner.name})});
      return;
    }
    JudgeOverlap(loser, winner, what);
  }

  // A library that nobody requires is missed by nobody; code of which one half is another build's is told in
  // any case.
  void JudgeOverlap(const Package& loser, const Package& winner, std::string what) {
    if (rules_.IsOfLibraries(loser.name) &&
        PackagesThatRequire(image_.packages, &requirements_, loser, false).empty())
      return;
    Overlap overlap = DescribeOverlap(image_.packages, &requirements_, loser, winner);
    what += overlap.words;
    std::string line = std::move(overlap.line);
    faults_.push_back({kPackagesOverlap, std::move(what), std::move(line)});
  }

  // The extension module of a package for CPUs that needs one of these files, so that its import fails;
  // empty: none does.
  static std::string ImportThatFails(const GoneFiles& gone) {
    std::set<std::string> names;
    for (const std::string& file : gone.files) names.insert(file.substr(file.rfind('/') + 1));
    return FindLibrary(gone.package, [&](const std::string& name, const std::vector<std::string>& needed) {
      const bool is_extension =
          name.find(".cpython-") != std::string::npos || name.find(".abi3.") != std::string::npos;
      return is_extension && std::any_of(needed.begin(), needed.end(), [&](const std::string& library) {
               return names.count(library) > 0;
             });
    });
  }

  // Conda changes files behind their record, and a record may be of a release that was there before.
  bool IsTrusted(const Package& package) const {
    const std::string installer(Trim(ReadSmallFile(package.records + "/INSTALLER")));
    const auto same = [&](const Package& other) { return other.name == package.name; };
    const auto& all = image_.packages.packages();
    return installer != "conda" && std::count_if(all.begin(), all.end(), same) == 1;
  }

  // Who strips libraries or sets their run path changes them on purpose. NVIDIA's own are stripped already:
  // one of another size is another release's, copied over it.
  void JudgeChanged(const ChangedFiles& changed) {
    const Package& package = changed.package;
    if (!IsForGpus(package) && !rules_.IsOfLibraries(package.name)) return;
    if (!IsTrusted(package)) return;
    const bool of_libraries = rules_.IsOfLibraries(package.name);
    faults_.push_back(
        {of_libraries ? kPackageLibraryChanged : kPackageFileChanged,
         package.Text() + " has recorded another size of " + Files(changed.files, changed.count),
         of_libraries ? ReinstallLine(AsInstalled(package)) : ""});
  }

  void SayGone(const char* id, const Package& package, const std::string& files, const std::string& why) {
    faults_.push_back({id,
                       package.Text() + " lacks files of its record: " + files + why +
                           "; pip install --force-reinstall --no-deps " + package.name +
                           "==" + package.version,
                       ReinstallLine(AsInstalled(package))});
  }

  // A library of NVIDIA's that is for programs which are linked with it, and that no such one asks for.
  bool IsForLinkingAlone(const std::string& file) const {
    const GpuLibrary* library = rules_.GpuLibraryOf(file.substr(file.rfind('/') + 1));
    return library && library->linked_only;
  }

  // What is left of a package may be its build for the CPU.
  bool HasBuildsForCuda(const GoneFiles& gone) const {
    return std::any_of(gone.files.begin(), gone.files.end(), [this](const std::string& file) {
      const VariantName name = VariantOf(file.substr(file.rfind('/') + 1), rules_.machines);
      return std::any_of(name.marks.begin(), name.marks.end(),
                         [](const VariantMark& mark) { return mark.machine == MachineKind::kCuda; });
    });
  }

  void JudgeGoneLibraries(const GoneFiles& gone) {
    const bool told = gone.files.size() < gone.count ||
                      !std::all_of(gone.files.begin(), gone.files.end(),
                                   [this](const std::string& file) { return IsForLinkingAlone(file); });
    if (told) return SayGone(kPackageLibraryGone, gone.package, Files(gone.files, gone.count), "");
    SayUnmissed(gone);
  }

  void SayUnmissed(const GoneFiles& gone) {
    faults_.push_back({kPackageFileNotMissed,
                       gone.package.Text() + " lacks files of its record that nothing asks for: " +
                           Files(gone.files, gone.count),
                       ""});
  }

  // Images are made smaller by taking out what they do not use: of a package for CPUs that is a fault where
  // its import fails, of one for GPUs where what is there asks for it, and what is left of a package that was
  // taken out whole is a fault of none, unless it is one of libraries that others open by name.
  void JudgeGone(const GoneFiles& gone) {
    const Package& package = gone.package;
    if (!IsTrusted(package)) return;
    if (rules_.IsOfLibraries(package.name)) return JudgeGoneLibraries(gone);
    if (gone.there == 0) return;
    if (!IsForGpus(package) && !HasBuildsForCuda(gone)) {
      if (const std::string module = ImportThatFails(gone); !module.empty())
        SayGone(kPackageFileGone, package, Files(gone.files, gone.count), ", which " + module + " needs");
      return;
    }
    const std::vector<MissedFile> missed = missed_.Of(gone);
    if (missed.empty()) return SayUnmissed(gone);
    std::vector<std::string> files;
    for (const MissedFile& file : missed) files.push_back(file.path);
    const std::string& asker = missed.front().asker;
    SayGone(kPackageFileGone, package, Files(files, files.size()),
            asker.empty() ? "" : ", which " + asker + " asks for");
  }

  const ImageFiles& image_;
  const SymbolRules& rules_;
  PythonRequirements requirements_;
  MissedFiles missed_;
  std::vector<PackageFault> faults_;
};

}  // namespace

std::vector<PackageFault> JudgePackageFiles(const ImageFiles& image, const SymbolRules& rules) {
  return FilesJudge(image, rules).Run();
}

}  // namespace cudnn_ci
