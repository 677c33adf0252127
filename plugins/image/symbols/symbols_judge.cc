#include "image/symbols/symbols_judge.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/path.h"
#include "image/packages/python_metadata.h"
#include "image/symbols/symbols_bundled.h"
#include "image/symbols/symbols_compare.h"
#include "image/symbols/symbols_copies.h"
#include "image/symbols/symbols_literals.h"
#include "image/symbols/symbols_merge.h"
#include "image/symbols/symbols_native.h"
#include "image/symbols/symbols_process.h"
#include "image/symbols/symbols_remedy.h"
#include "image/symbols/symbols_weights.h"

namespace cudnn_ci {
namespace {

using InstalledOwner = Package;

// How deep packages may require one another for a file.
constexpr int kMostRequired = 8;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool Holds(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Extension modules carry the interpreter's tag (PEP 3149, PEP 425): "cpython-311" or "abi3".
bool HasExtensionName(const std::string& name) {
  return name.find(".cpython-") != std::string::npos || name.find(".abi3.so") != std::string::npos;
}

class PythonJudge {
 public:
  PythonJudge(const ImageFiles& image, const SymbolRules& rules, LoaderFiles* files)
      : image_(image),
        rules_(rules),
        files_(files),
        index_(image, files),
        remedies_(&image, &rules, files, TorchOf(image.folders)),
        writer_(&image, &index_, files, &rules, &remedies_),
        weights_(&image, &rules, TorchOf(image.folders)),
        copies_(&rules) {}

  SymbolJudgement Run() {
    const SymbolProcess bare = Interpreter();
    for (const PackageRule& rule : rules_.packages) StartPackage(rule, bare);
    Classify();
    OpenExtensions(bare);
    OpenTheRest(bare);
    for (SymbolFault& fault : weights_.Take(decided_)) Say(std::move(fault));
    for (SymbolFault& fault : copies_.Faults(image_, writer_)) out_.faults.push_back(std::move(fault));
    for (SymbolFault& fault : OpenedAndNowhere(image_, rules_, files_, &weights_.imports(), writer_))
      Say(std::move(fault));
    BundledLibraries bundled(&writer_);
    for (const auto& [rule, package] : packages_)
      bundled.Add(package.process.scope(), package.process.name());
    for (const auto& [key, process] : processes_) bundled.Add(process.scope(), process.name());
    for (SymbolFault& fault : bundled.Faults()) out_.faults.push_back(std::move(fault));
    for (const auto& [name, count] : not_judged_)
      out_.faults.push_back(
          {SymbolFaultKind::kUndecided,
           "import " + name +
               " fails: extension modules that are loaded after it are not tested: " + std::to_string(count),
           "", ""});
    return std::move(out_);
  }

 private:
  struct Package {
    SymbolProcess process;
    bool works;
  };

  SymbolProcess Interpreter() {
    const std::string program = RealPath(image_.interpreter);
    SymbolProcess bare(LoaderScope(files_, program), &writer_, image_.interpreter);
    bare.JudgeProgram();
    decided_ = bare.scope().program().root >= 0;
    if (!decided_)
      out_.faults.push_back(
          {SymbolFaultKind::kUndecided,
           program + " is not a dynamically linked program: the symbols that it gives to extension "
                     "modules are unknown, so theirs are not tested",
           "", ""});
    Finish(&bare);
    return bare;
  }

  void Say(SymbolFault fault) {
    const bool of_symbols =
        fault.kind == SymbolFaultKind::kMissingSymbol || fault.kind == SymbolFaultKind::kOtherCxxAbi;
    if ((decided_ || !of_symbols) && said_.insert(fault.detail).second)
      out_.faults.push_back(std::move(fault));
  }

  // Takes over what a process found; `judged`: what it has opened needs no other look.
  void Finish(SymbolProcess* process, bool judged = true) {
    for (SymbolFault& fault : process->faults()) Say(std::move(fault));
    process->faults().clear();
    if (judged) seen_.insert(process->seen().begin(), process->seen().end());
    out_.symbols += process->TakeSymbols();
  }

  void StartPackage(const PackageRule& rule, const SymbolProcess& bare) {
    if (std::none_of(image_.folders.begin(), image_.folders.end(),
                     [&](const std::string& folder) { return rule.AppliesTo(folder); }))
      return;
    SymbolProcess process = bare.As("import " + rule.import_name);
    bool works = process.Run(rule, image_);
    if (!works && !rule.after.empty()) works = RunAfter(rule, &process);
    out_.processes.push_back(process.name());
    // A rule that was added cannot excuse a file by trying it: the file is judged again, as without the rule.
    if (rule.added)
      std::erase_if(process.faults(), [](const auto& f) { return f.kind == SymbolFaultKind::kUnused; });
    // It compares before it opens anything.
    std::vector<SymbolFault> faults = ComparedAtImport(rule, image_);
    faults.insert(faults.end(), process.faults().begin(), process.faults().end());
    process.faults() = std::move(faults);
    Finish(&process, !rule.added);
    copies_.Add(process.scope(), process.name());
    packages_.emplace(&rule, Package{std::move(process), works});
  }

  // A package that fails alone and works behind the import of another one, whose libraries it finds in the
  // process then; true: it does. *process is that one.
  bool RunAfter(const PackageRule& rule, SymbolProcess* process) {
    const auto other = std::find_if(packages_.begin(), packages_.end(), [&](const auto& package) {
      return package.first->import_name == rule.after && package.second.works;
    });
    if (other == packages_.end()) return false;
    SymbolProcess behind =
        other->second.process.As("import " + rule.import_name + " after import " + rule.after);
    if (!behind.Run(rule, image_)) return false;
    const auto fault =
        std::find_if(process->faults().begin(), process->faults().end(),
                     [](const SymbolFault& one) { return one.kind != SymbolFaultKind::kUnused; });
    if (fault != process->faults().end())
      behind.faults().push_back({SymbolFaultKind::kAfterImport,
                                 "import " + rule.import_name + " fails unless " + rule.after +
                                     " is imported before it: " + fault->detail,
                                 fault->asker, fault->library});
    *process = std::move(behind);
    return true;
  }

  // The rule of a package that is there and into whose process the file belongs.
  const PackageRule* RuleOf(const std::string& path, const std::string& folder,
                            const DynamicTable& table) const {
    for (const auto& [rule, unused] : packages_)
      if (rule->Concerns(path, folder, table)) return rule;
    return nullptr;
  }

  void Classify() {
    const std::string tag = PythonTagOf(image_.folders);
    for (const ImageFile& file : image_.files) {
      const std::string name = NameOf(file.path);
      if (LibraryStem(name) == name && name.find(".so") == std::string::npos) continue;
      if (IsOfAnotherPython(name, tag)) continue;
      for (const std::string& folder : image_.folders) {
        if (!file.path.starts_with(folder + "/")) continue;
        const LoaderFiles::File opened = files_->Open(file.path);
        if (opened.table) python_files_.push_back(Classified(file.path, folder, *opened.table));
        break;
      }
    }
    out_.files = python_files_.size();
  }

  PythonFile Classified(const std::string& path, const std::string& folder, const DynamicTable& table) {
    PythonFile file{path, "", path.substr(folder.size() + 1)};
    const std::string name = NameOf(path), module = name.substr(0, name.find('.'));
    file.package = file.below.substr(0, std::min(file.below.find('/'), file.below.find('.')));
    const bool beside = file.below == name;  // of the packages
    // Beside the packages a library for LD_PRELOAD may have a module's name: its package opens it.
    file.extension =
        (HasExtensionName(name) && !beside) || table.Find("PyInit_" + module) == SymbolLookup::kFound;
    if (beside && !file.extension) file.package = OpenerOf(path, file.package);
    file.rule = RuleOf(path, folder, table);
    file.linked = file.rule && !file.rule->libraries.empty() && !Holds(file.rule->import_names, file.package);
    return file;
  }

  // Of the packages by which the owner of a file is imported, the one whose sources know most of it; `other`:
  // nobody owns it.
  std::string OpenerOf(const std::string& path, std::string other) {
    const InstalledOwner* owner = image_.packages.OwnerOf(path);
    if (!owner || owner->manager != PackageManager::kPython) return other;
    Opening best = Opening::kNone;
    for (const std::string& name : ImportNamesOf(*owner)) {
      const Opening opening = weights_.openers().Of(name, path);
      if (opening > best) best = opening, other = name;
    }
    return other;
  }

  // The process for the extension modules of a package.
  SymbolProcess* ProcessFor(const PythonFile& file, const SymbolProcess& bare) {
    const auto key = std::make_pair(file.package, file.rule);
    const auto known = processes_.find(key);
    if (known != processes_.end()) return &known->second;
    std::string name = "import " + file.package;
    if (file.rule && !Holds(file.rule->import_names, file.package))
      name += " after import " + file.rule->import_name;
    const SymbolProcess& from = file.rule ? packages_.at(file.rule).process : bare;
    out_.processes.push_back(name);
    return &processes_.emplace(key, from.As(name)).first->second;
  }

  void OpenExtensions(const SymbolProcess& bare) {
    for (const PythonFile& file : python_files_) {
      if (!file.extension && !file.linked) continue;
      const LoaderFiles::File opened = files_->Open(file.path);
      if (!seen_.insert({opened.device, opened.inode}).second) {
        weights_.AddSound(file);
      } else if (file.rule && !packages_.at(file.rule).works) {
        ++not_judged_[file.rule->import_name];
      } else {
        Open(file, ProcessFor(file, bare));
      }
    }
    for (auto& [key, process] : processes_) copies_.Add(process.scope(), process.name());
  }

  // What no extension module and no rule leads to: plugins that a library opens by name if they fit the
  // machine, such as NVSHMEM's transports.
  void OpenTheRest(const SymbolProcess& bare) {
    for (const PythonFile& file : python_files_) {
      if (file.extension || file.linked) continue;
      const LoaderFiles::File opened = files_->Open(file.path);
      if (!seen_.insert({opened.device, opened.inode}).second) {
        weights_.AddSound(file);
        continue;
      }
      SymbolProcess process = (file.rule ? packages_.at(file.rule).process : bare).As(NameOf(file.path));
      Open(file, &process);
    }
  }

  void Open(const PythonFile& file, SymbolProcess* process) {
    const bool sound = OpenWithRequired(file.path, process, kMostRequired);
    std::vector<SymbolFault> faults = std::exchange(process->faults(), {});
    Finish(process);
    const PackageRule* rule = sound || file.rule ? nullptr : ImportedBefore(file.package);
    if (!rule) return weights_.Add(file, std::move(faults));
    SymbolProcess after =
        packages_.at(rule).process.As("import " + file.package + " after import " + rule->import_name);
    OpenWithRequired(file.path, &after, kMostRequired);
    weights_.Add(file, std::exchange(after.faults(), {}));
    Finish(&after);
  }

  // A package that this one imports in any case, so that its libraries are in the process by then; null:
  // none.
  const PackageRule* ImportedBefore(const std::string& package) {
    for (const auto& [rule, state] : packages_)
      if (state.works && weights_.imports().Of(package).packages.count(rule->import_name)) return rule;
    return nullptr;
  }

  // A file may need libraries that its own package opens before it, or packages that this one requires as
  // they are imported, as RAPIDS does: they are opened first then.
  bool OpenWithRequired(const std::string& path, SymbolProcess* process, int left) {
    if (process->Open(path)) return true;
    std::set<std::string> tried;
    for (bool again = left > 0; again;) {
      again = false;
      for (const SymbolFault& fault : std::vector<SymbolFault>(process->faults())) {
        const std::string required = OpenedByRequired(fault);
        if (required.empty() || !tried.insert(required).second) continue;
        std::vector<SymbolFault> before = std::exchange(process->faults(), {});
        again = OpenWithRequired(required, process, left - 1) || again;
        process->faults() = std::move(before);
      }
      if (!again) break;
      process->faults().clear();
      if (process->Open(path)) return true;
    }
    return false;
  }

  // The first name below the folder of packages; empty: the file lies elsewhere.
  std::string ImportOf(const std::string& path) const {
    for (const std::string& folder : image_.folders)
      if (path.starts_with(folder + "/")) {
        const std::string below = path.substr(folder.size() + 1);
        return below.substr(0, below.find('/'));
      }
    return "";
  }

  // The file of what is missing that such a package opens; empty: none.
  std::string OpenedByRequired(const SymbolFault& fault) {
    const bool missing =
        fault.kind == SymbolFaultKind::kMissingLibrary || fault.kind == SymbolFaultKind::kOtherMajor;
    const std::string own = missing ? ImportOf(fault.asker) : "";
    if (own.empty()) return "";
    const InstalledOwner* asker = image_.packages.OwnerOf(fault.asker);
    for (const std::string& path : index_.Named(fault.library)) {
      const std::string other = ImportOf(path);
      if (other.empty()) continue;
      if (weights_.openers().Of(own, path) != Opening::kNone) return path;
      const InstalledOwner* owner = image_.packages.OwnerOf(path);
      if (asker && owner && remedies_.requirements().Requires(*asker, owner->name) &&
          weights_.openers().Of(other, path) != Opening::kNone)
        return path;
    }
    return "";
  }

  const ImageFiles& image_;
  const SymbolRules& rules_;
  LoaderFiles* files_;
  LibraryIndex index_;
  SymbolRemedies remedies_;
  FaultWriter writer_;
  FaultWeights weights_;
  LibraryCopies copies_;
  bool decided_ = true;
  SymbolJudgement out_;
  std::set<std::string> said_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::map<const PackageRule*, Package> packages_;
  std::map<std::pair<std::string, const PackageRule*>, SymbolProcess> processes_;
  std::map<std::string, int> not_judged_;  // files, by the import that fails before them
  std::vector<PythonFile> python_files_;
};

}  // namespace

SymbolJudgement JudgeSymbols(const ImageFiles& image, const std::string& spec, const SymbolRules& rules,
                             LoaderFiles* files) {
  constexpr char kProgram[] = "program:";
  SymbolJudgement judgement;
  if (!image.interpreter.empty())
    judgement = PythonJudge(image, rules, files).Run();
  else if (spec.starts_with(kProgram))
    judgement = JudgeProgram(image, spec.substr(sizeof kProgram - 1), rules, files);
  else
    judgement = JudgeLibraries(image, rules, files);
  judgement.faults = OneForEachCause(std::move(judgement.faults), image, files->library_path());
  for (const std::string& problem : files->problems())
    judgement.faults.push_back({SymbolFaultKind::kUndecided, problem, "", ""});
  return judgement;
}

}  // namespace cudnn_ci
