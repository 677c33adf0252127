#include "image/symbols/symbols_process.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "common/joined.h"

namespace cudnn_ci {

SymbolProcess SymbolProcess::As(const std::string& name) const {
  return SymbolProcess(scope_, writer_, name);
}

// What is wrong with what an Open brought; the loader gives up at the first, and so nothing more is said of
// symbols where a file is missing.
bool SymbolProcess::Judge(const OpenedFile& opened) {
  bool complete = true;
  std::vector<std::string> driver;  // prefixes of functions that the host's driver will give
  for (const int at : opened.closure) {
    const LoadedFile& file = scope_.loaded()[at];
    const bool fresh = std::find(opened.fresh.begin(), opened.fresh.end(), at) != opened.fresh.end();
    if (fresh) seen_.insert({file.file.device, file.file.inode});
    if (fresh && !file.file.table->problem.empty()) {
      faults_.push_back(writer_->Damaged(scope_, at, name_));
      complete = false;
    }
    for (const std::string& name : file.missing) {
      if (std::string prefix = writer_->rules().DriverFunctionsOf(name); !prefix.empty()) {
        driver.push_back(std::move(prefix));
      } else if (fresh) {
        faults_.push_back(writer_->Missing(scope_, at, name, name_));
        complete = false;
      }
    }
  }
  if (!complete) return false;
  for (const int at : opened.fresh) symbols_ += scope_.loaded()[at].file.table->undefined.size();
  std::vector<UnresolvedSymbol> unresolved = scope_.Unresolved(opened);
  unresolved.erase(std::remove_if(unresolved.begin(), unresolved.end(),
                                  [&](const UnresolvedSymbol& symbol) {
                                    return std::any_of(driver.begin(), driver.end(),
                                                       [&](const std::string& prefix) {
                                                         return IsDriverFunction(symbol.name, prefix);
                                                       });
                                  }),
                   unresolved.end());
  if (unresolved.empty()) return true;
  for (SymbolFault& fault : writer_->Unresolved(scope_, opened, unresolved, name_))
    faults_.push_back(std::move(fault));
  return false;
}

bool SymbolProcess::Open(const std::string& path, bool global) {
  const OpenedFile opened = scope_.Open(path, global);
  if (opened.root < 0) return false;
  if (Judge(opened)) return true;
  scope_.TakeBack(opened);
  return false;
}

void SymbolProcess::JudgeProgram() { Judge(scope_.program()); }

// The files that open what a step names; the program where the step names none that is there.
std::vector<int> SymbolProcess::AskersOf(const OpenStep& step, const ImageFiles& image) const {
  const std::vector<LoadedFile>& loaded = scope_.loaded();
  std::vector<int> askers;
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    const std::string path =
        Normal(loaded[i].file.path);  // "ctranslate2/../ctranslate2.libs/..." of a run path
    for (const std::string& by : step.by)
      if (std::any_of(image.folders.begin(), image.folders.end(),
                      [&](const std::string& folder) { return GlobMatch(folder + "/" + by, path); }))
        askers.push_back(static_cast<int>(i));
  }
  if (askers.empty()) askers.push_back(loaded.empty() ? -1 : 0);
  return askers;
}

// By the library's number, which its soname has where its name has none, or, of CUDA, by its folder:
// "nvidia/cu13/lib".
bool SymbolProcess::IsForOthers(const std::string& path, const BuiltFor& built) const {
  constexpr std::string_view kFolder = "/nvidia/cu";
  std::string name = path.substr(path.rfind('/') + 1);
  if (const LoaderFiles::File file = writer_->files().Open(path); file.table && LibraryStem(name) == name)
    name = file.table->soname;
  if (!writer_->rules().Serves(name, built.cuda_major, built.cudnn)) return true;
  const std::size_t at = path.rfind(kFolder);
  if (built.cuda_major == 0 || at == std::string::npos || writer_->rules().CudaMajorOf({name}) != 0)
    return false;
  const int major = std::atoi(path.c_str() + at + kFolder.size());
  return major != 0 && major != built.cuda_major;
}

// In the step's folders; else as the loader finds it for who opens it.
std::vector<std::string> SymbolProcess::FilesFor(const OpenStep& step, const BuiltFor& built,
                                                 const ImageFiles& image, std::string* unfit) const {
  const auto fitting = [&](std::vector<std::string> files) {
    if (!built.said) return files;
    std::erase_if(files, [&](const std::string& path) {
      const bool others = IsForOthers(path, built);
      if (others && unfit && unfit->empty()) *unfit = path;
      return others;
    });
    return files;
  };
  std::vector<std::string> found = fitting(FilesOfStep(step, built.cuda_major, image.folders));
  const std::vector<int> askers = AskersOf(step, image);
  const bool pattern = step.name.find('*') != std::string::npos;
  for (const int asker : askers) {
    if (!found.empty()) break;
    if (pattern) found = fitting(scope_.Matching(step.name, asker));
    if (pattern) continue;
    if (const LoaderFiles::File file = scope_.Found(step.name, asker); file.table)
      found = fitting({file.path});
  }
  for (const std::string& folder : writer_->rules().toolkit_folders) {
    if (!found.empty() || !step.toolkit) break;
    for (const std::string& name : NamesLike(folder, step.name)) found.push_back(folder + "/" + name);
  }
  return found;
}

// What is wrong from this fault on, a program may never come to. A damaged file is one for everybody.
void SymbolProcess::Soften(std::size_t begin) {
  for (std::size_t i = begin; i < faults_.size(); ++i)
    if (faults_[i].kind != SymbolFaultKind::kDamaged) faults_[i].kind = SymbolFaultKind::kOpenedLater;
}

SymbolProcess::Step SymbolProcess::Take(const OpenStep& step, const BuiltFor& built,
                                        const ImageFiles& image) {
  const std::vector<std::string> found = FilesFor(step, built, image);
  if (found.empty()) return Step::kNothingThere;
  const std::size_t before = faults_.size();
  if (Open(found.front(), step.global)) return Step::kDone;
  // The package goes on, and what needs the file in earnest fails by itself.
  if (step.need == StepNeed::kTried)
    for (std::size_t i = before; i < faults_.size(); ++i) faults_[i].kind = SymbolFaultKind::kUnused;
  if (step.need == StepNeed::kPartly) Soften(before);
  return Step::kFailed;
}

bool SymbolProcess::TakeMain(const PackageRule& rule, std::size_t begin, const BuiltFor& built,
                             const ImageFiles& image) {
  for (std::size_t i = begin; i < rule.main.size(); ++i)
    if (Take(rule.main[i], built, image) == Step::kFailed && rule.main[i].need == StepNeed::kMust)
      return false;
  return true;
}

bool SymbolProcess::TakeAll(const std::vector<OpenStep>& steps, const PackageRule& rule,
                            const BuiltFor& built, const ImageFiles& image) {
  bool goes_on = true;
  std::vector<Absent> absent;
  bool found = false;
  // Whether the image means it to use a GPU: a cuDNN, which has one name for every CUDA, may be another
  // package's.
  bool meant = std::any_of(rule.for_gpu.begin(), rule.for_gpu.end(), [&](const std::string& package) {
    return image.packages.Python(package) != nullptr;
  });
  for (const OpenStep& step : steps) {
    const bool together = step.need == StepNeed::kTogether || step.need == StepNeed::kPartly;
    const Step taken = Take(step, built, image);
    if (step.need == StepNeed::kMust && taken != Step::kDone) goes_on = false;
    if (taken != Step::kNothingThere) {
      found = found || together;
      meant = meant || (together && IsItsOwn(step, built, image));
    } else if (step.need == StepNeed::kMust) {
      faults_.push_back(NotThere(step, rule, built, image));
    } else if (together) {
      absent.push_back({&step, writer_->index().Matching(step.name)});
      FilesFor(step, built, image, &absent.back().unfit);
      std::erase_if(absent.back().elsewhere,
                    [&](const std::string& path) { return IsForOthers(path, built); });
      meant = meant || !absent.back().elsewhere.empty();
    }
  }
  const std::size_t before = faults_.size();
  if (!meant) std::erase_if(absent, [](const Absent& one) { return one.unfit.empty(); });
  SayAbsent(absent, rule, found, built, image);
  // CUDA of another major, which another package may use.
  if (!meant && HasOtherUser(rule, image)) Soften(before);
  return goes_on;
}

// Whether the file of a step is for the CUDA of this package alone, as far as that is known.
bool SymbolProcess::IsItsOwn(const OpenStep& step, const BuiltFor& built, const ImageFiles& image) const {
  if (!built.said) return true;
  const std::string file = FilesFor(step, built, image).front();
  return writer_->rules().CudaMajorOf({file.substr(file.rfind('/') + 1)}) == built.cuda_major;
}

// What a step wants, and where it is looked for.
SymbolRemedies::Wanted SymbolProcess::WantedBy(const OpenStep& step, const BuiltFor& built,
                                               const ImageFiles& image) const {
  SymbolRemedies::Wanted wanted = {
      .library = step.name, .cuda_major = built.cuda_major, .cudnn = built.cudnn};
  for (const std::string& packages : image.folders)
    for (const std::string& folder : step.folders) wanted.looks_in.push_back(packages + "/" + folder);
  for (const int asker : AskersOf(step, image))
    for (std::string& folder : scope_.RunPathOf(asker)) wanted.looks_in.push_back(std::move(folder));
  if (LibraryStem(step.name) == step.name) wanted.same = writer_->index().OtherMajors(step.name);
  return wanted;
}

// A file without which the package cannot be imported, as it raises an error of its own.
SymbolFault SymbolProcess::NotThere(const OpenStep& step, const PackageRule& rule, const BuiltFor& built,
                                    const ImageFiles& image) const {
  SymbolFault fault = {SymbolFaultKind::kMissingLibrary,
                       rule.title + " looks for " + step.name + " when it is imported (process: " + name_ +
                           "), but it is found neither in a package nor by the loader",
                       "", step.name};
  if (const std::vector<std::string> elsewhere = writer_->index().Matching(step.name); !elsewhere.empty()) {
    fault.detail += "; the loader does not look in " + DirectoryOf(elsewhere.front());
    return fault;
  }
  fault.Add(writer_->remedies().ForMissing(WantedBy(step, built, image)));
  return fault;
}

// What lies where nobody looks is one fault together: where some are found it is broken, and where none are,
// the program that uses the package may show the loader the way.
void SymbolProcess::SayAbsent(const std::vector<Absent>& absent, const PackageRule& rule, bool some_found,
                              const BuiltFor& built, const ImageFiles& image) {
  std::vector<std::string> hidden, folders;
  for (const auto& [step, elsewhere, unfit] : absent) {
    const std::string opens = rule.title + " opens " + step->name + " for a GPU (process: " + name_ + ")";
    if (!elsewhere.empty()) {
      hidden.push_back(elsewhere.front().substr(elsewhere.front().rfind('/') + 1));
      if (const std::string folder = DirectoryOf(elsewhere.front());
          std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(folder);
      continue;
    }
    SymbolFault fault = {
        step->need == StepNeed::kPartly ? SymbolFaultKind::kOpenedLater : SymbolFaultKind::kMissingLibrary,
        opens + (unfit.empty() ? ", but it is found neither in a package nor by the loader"
                               : ", but finds " + writer_->File(unfit) + ", for another CUDA or cuDNN"),
        "", step->name};
    SymbolRemedies::Wanted wanted = WantedBy(*step, built, image);
    wanted.ahead = !unfit.empty();
    fault.Add(writer_->remedies().ForMissing(wanted));
    faults_.push_back(std::move(fault));
  }
  if (hidden.empty()) return;
  std::vector<std::string> shown = folders;
  const std::vector<std::string>& known = writer_->files().library_path();
  shown.insert(shown.end(), known.begin(), known.end());
  faults_.push_back({some_found ? SymbolFaultKind::kMissingLibrary : SymbolFaultKind::kOpenedLater,
                     rule.title + " opens " + Joined(hidden) + " for a GPU, but does not find " +
                         (hidden.size() > 1 ? "them" : "it") + " (process: " + name_ +
                         "): neither its own run path nor the loader looks in " + Joined(folders),
                     "", hidden.front(), LineForFolders(shown)});
}

namespace {

// Whether a build for the CPU is on record, and no code that lies there is another package's: of two that
// have written the same files the record's hash tells whose they are.
bool IsForCpu(const PackageRule& rule, const ImageFiles& image) {
  const auto is_listed = [&](const std::string& name) {
    return std::find(rule.for_cpu.begin(), rule.for_cpu.end(), name) != rule.for_cpu.end();
  };
  if (std::none_of(rule.for_cpu.begin(), rule.for_cpu.end(),
                   [&](const std::string& name) { return image.packages.Python(name) != nullptr; }))
    return false;
  const std::string own = rule.marker.substr(0, rule.marker.find('/') + 1);
  for (const std::string& folder : image.folders)
    for (const ImageFile& file : image.files) {
      if (!file.path.starts_with(folder + "/" + own)) continue;
      const Package* const owner = image.packages.OwnerOf(file.path);
      if (owner && !is_listed(owner->name)) return false;
    }
  return true;
}

}  // namespace

// Whether another package that uses a GPU is there.
bool SymbolProcess::HasOtherUser(const PackageRule& rule, const ImageFiles& image) const {
  const std::vector<PackageRule>& packages = writer_->rules().packages;
  return std::any_of(packages.begin(), packages.end(), [&](const PackageRule& other) {
    return other.import_name != rule.import_name && !IsForCpu(other, image) &&
           std::any_of(image.folders.begin(), image.folders.end(),
                       [&](const std::string& folder) { return other.AppliesTo(folder); });
  });
}

bool SymbolProcess::Run(const PackageRule& rule, const ImageFiles& image) {
  const BuiltFor built = BuiltForOf(rule, writer_->rules(), image.folders, &writer_->files());
  std::size_t begin = 0;
  if (rule.main_begins) {
    const std::size_t before = faults_.size();
    if (Take(rule.main.front(), built, image) == Step::kDone) begin = 1;
    faults_.resize(before);  // it is tried again
  }
  if (!TakeAll(rule.first, rule, built, image)) return false;
  if (!TakeMain(rule, begin, built, image)) return false;
  // What is opened later is opened in this process, and what fails then is no failed import.
  if (!IsForCpu(rule, image)) TakeAll(rule.later, rule, built, image);
  return true;
}

}  // namespace cudnn_ci
