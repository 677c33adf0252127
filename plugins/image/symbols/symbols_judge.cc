#include "image/symbols/symbols_judge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/path.h"
#include "image/symbols/symbols_copies.h"
#include "image/symbols/symbols_imports.h"
#include "image/symbols/symbols_process.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool Holds(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// What a file of a Python environment is to Python.
struct PythonFile {
  std::string path, package;  // "torch": the first name below the folder of packages
  bool extension = false;     // an extension module: it has PyInit_NAME, or a name that only such have
  const PackageRule* rule = nullptr;  // into whose process it belongs
};

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
        writer_(&image, &index_, files, &rules),
        copies_(&rules) {}

  SymbolJudgement Run() {
    const SymbolProcess bare = Interpreter();
    for (const PackageRule& rule : rules_.packages) StartPackage(rule, bare);
    Classify();
    OpenExtensions(bare);
    OpenTheRest(bare);
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
      out_.faults.push_back({SymbolFaultKind::kUndecided,
                             program +
                                 " is no dynamically linked program: which symbols it gives to extension "
                                 "modules is not known, and none of theirs is judged",
                             "", ""});
    Finish(&bare);
    return bare;
  }

  // Takes over what a process found; `judged`: what it has opened needs no other look.
  void Finish(SymbolProcess* process, bool judged = true) {
    for (SymbolFault& fault : process->faults()) {
      const bool of_symbols =
          fault.kind == SymbolFaultKind::kMissingSymbol || fault.kind == SymbolFaultKind::kOtherCxxAbi;
      if ((decided_ || !of_symbols) && said_.insert(fault.detail).second) out_.faults.push_back(fault);
    }
    process->faults().clear();
    if (judged) seen_.insert(process->seen().begin(), process->seen().end());
    out_.symbols += process->TakeSymbols();
  }

  void StartPackage(const PackageRule& rule, const SymbolProcess& bare) {
    std::error_code ignored;
    const bool there = std::any_of(
        image_.folders.begin(), image_.folders.end(),
        [&](const std::string& folder) { return fs::exists(folder + "/" + rule.marker, ignored); });
    if (!there) return;
    SymbolProcess process = bare.As("import " + rule.import_name);
    const bool works = process.Run(rule, image_, files_);
    out_.processes.push_back(process.name());
    // A rule that was added cannot excuse a file by trying it: the file is judged again, as without the rule.
    if (rule.added)
      std::erase_if(process.faults(), [](const auto& f) { return f.kind == SymbolFaultKind::kUnused; });
    Finish(&process, !rule.added);
    copies_.Add(process.scope(), process.name());
    packages_.emplace(&rule, Package{std::move(process), works});
  }

  // The rule of a package that is there and into whose process the file belongs.
  const PackageRule* RuleOf(const std::string& package, const DynamicTable& table) const {
    for (const auto& [rule, unused] : packages_) {
      if (Holds(rule->import_names, package)) return rule;
      for (const std::string& name : table.needed)
        if (Holds(rule->libraries, LibraryStem(name))) return rule;
    }
    return nullptr;
  }

  void Classify() {
    const std::string tag = PythonTagOf(image_.folders);
    for (const ImageFile& file : image_.files) {
      const std::string name = NameOf(file.path);
      if (LibraryStem(name) == name && name.find(".so") == std::string::npos) continue;
      if (IsOfAnotherPython(name, tag)) continue;
      for (const std::string& folder : image_.folders) {
        if (!StartsWith(file.path, folder + "/")) continue;
        const LoaderFiles::File opened = files_->Open(file.path);
        if (opened.table) python_files_.push_back(Classified(file.path, folder, *opened.table));
        break;
      }
    }
    out_.files = python_files_.size();
  }

  PythonFile Classified(const std::string& path, const std::string& folder, const DynamicTable& table) const {
    PythonFile file;
    file.path = path;
    const std::string below = path.substr(folder.size() + 1), name = NameOf(path);
    file.package = below.substr(0, std::min(below.find('/'), below.find('.')));
    const std::string module = name.substr(0, name.find('.'));
    file.extension = HasExtensionName(name) || table.Find("PyInit_" + module) == SymbolLookup::kFound;
    file.rule = RuleOf(file.package, table);
    return file;
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
    std::map<std::string, int> not_judged;
    for (const PythonFile& file : python_files_) {
      const bool of_torch =
          file.rule && !file.rule->libraries.empty() && !Holds(file.rule->import_names, file.package);
      if (!file.extension && !of_torch) continue;
      const LoaderFiles::File opened = files_->Open(file.path);
      if (!seen_.insert({opened.device, opened.inode}).second) continue;
      if (file.rule && !packages_.at(file.rule).works) {
        ++not_judged[file.rule->import_name];
        continue;
      }
      SymbolProcess* process = ProcessFor(file, bare);
      process->Open(file.path);
      AllowMissing(file, &process->faults());
      Finish(process);
    }
    for (auto& [key, process] : processes_) copies_.Add(process.scope(), process.name());
    for (SymbolFault& fault : copies_.Faults(image_, writer_)) out_.faults.push_back(std::move(fault));
    for (const auto& [name, count] : not_judged)
      out_.faults.push_back(
          {SymbolFaultKind::kUndecided,
           "import " + name +
               " fails: not judged are extension modules that are loaded after it: " + std::to_string(count),
           "", ""});
  }

  // True if the import of its package loads the file whatever happens. Only asked where something is wrong:
  // it reads the package's sources.
  bool IsRequired(const PythonFile& file) {
    auto known = imported_.find(file.package);
    if (known == imported_.end())
      known = imported_.emplace(file.package, ExtensionsImportedBy(file.package, image_.folders)).first;
    return known->second.count(file.path) > 0;
  }

  // An extension that a package imports only if it can lacks a library: the package was installed without it.
  // One that was built for another major of a GPU library is broken all the same. A symbol that none of its
  // libraries is to give comes from a package that is imported before it, as PyTorch's does for cuda-core.
  void AllowMissing(const PythonFile& file, std::vector<SymbolFault>* faults) {
    for (SymbolFault& fault : *faults) {
      if (decided_ && fault.kind == SymbolFaultKind::kMissingSymbol && fault.library.empty() &&
          !IsRequired(file))
        fault.kind = SymbolFaultKind::kUndecided;
      const bool missing =
          fault.kind == SymbolFaultKind::kMissingLibrary ||
          (fault.kind == SymbolFaultKind::kOtherMajor && !rules_.GpuLibraryOf(fault.library));
      if (missing && !IsRequired(file)) fault.kind = SymbolFaultKind::kUnused;
    }
  }

  // What no extension module and no rule leads to: plugins that a library opens by name if they fit the
  // machine, such as NVSHMEM's transports.
  void OpenTheRest(const SymbolProcess& bare) {
    for (const PythonFile& file : python_files_) {
      const LoaderFiles::File opened = files_->Open(file.path);
      if (!seen_.insert({opened.device, opened.inode}).second) continue;
      SymbolProcess process = (file.rule ? packages_.at(file.rule).process : bare).As(NameOf(file.path));
      process.Open(file.path);
      for (SymbolFault& fault : process.faults()) fault.kind = SymbolFaultKind::kUnused;
      Finish(&process);
    }
  }

  const ImageFiles& image_;
  const SymbolRules& rules_;
  LoaderFiles* files_;
  LibraryIndex index_;
  FaultWriter writer_;
  LibraryCopies copies_;
  bool decided_ = true;
  SymbolJudgement out_;
  std::set<std::string> said_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::map<const PackageRule*, Package> packages_;
  std::map<std::pair<std::string, const PackageRule*>, SymbolProcess> processes_;
  std::map<std::string, std::set<std::string>> imported_;
  std::vector<PythonFile> python_files_;
};

// A program, and libraries that no interpreter loads.
class NativeJudge {
 public:
  NativeJudge(const ImageFiles& image, const SymbolRules& rules, LoaderFiles* files)
      : image_(image),
        rules_(rules),
        files_(files),
        index_(image, files),
        writer_(&image, &index_, files, &rules) {}

  SymbolJudgement OfProgram(const std::string& program) {
    SymbolProcess process(LoaderScope(files_, program), &writer_, program);
    process.JudgeProgram();
    if (process.scope().program().root < 0)
      out_.faults.push_back(
          {SymbolFaultKind::kUndecided, program + " is no dynamically linked program", "", ""});
    out_.processes.push_back(program);
    out_.files = process.scope().loaded().size();
    out_.symbols = process.TakeSymbols();
    Take(process.faults());
    LibraryCopies copies(&rules_);
    copies.Add(process.scope(), process.name());
    Take(copies.Faults(image_, writer_));
    return std::move(out_);
  }

  SymbolJudgement OfLibraries() {
    for (const ImageFile& file : image_.files) {
      if (NameOf(file.path).find(".so") == std::string::npos || !files_->Open(file.path).table) continue;
      ++out_.files;
      SymbolProcess process(LoaderScope(files_, ""), &writer_, "any that opens " + NameOf(file.path));
      process.Open(file.path);
      out_.symbols += process.TakeSymbols();
      for (SymbolFault& fault : process.faults())
        if (!ConcernsGpus(fault) || MayComeFromTheProgram(fault)) fault.kind = SymbolFaultKind::kUnused;
      Take(process.faults());
    }
    return std::move(out_);
  }

 private:
  bool ConcernsGpus(const SymbolFault& fault) const {
    return rules_.GpuLibraryOf(fault.library) || rules_.GpuLibraryOf(NameOf(fault.asker));
  }
  static bool MayComeFromTheProgram(const SymbolFault& fault) {
    return fault.kind == SymbolFaultKind::kMissingSymbol && fault.library.empty();
  }
  void Take(const std::vector<SymbolFault>& faults) {
    for (const SymbolFault& fault : faults)
      if (said_.insert({fault.kind, fault.asker, fault.library}).second) out_.faults.push_back(fault);
  }

  const ImageFiles& image_;
  const SymbolRules& rules_;
  LoaderFiles* files_;
  LibraryIndex index_;
  FaultWriter writer_;
  SymbolJudgement out_;
  std::set<std::tuple<SymbolFaultKind, std::string, std::string>> said_;
};

}  // namespace

SymbolJudgement JudgeSymbols(const ImageFiles& image, const std::string& spec, const SymbolRules& rules,
                             LoaderFiles* files) {
  constexpr char kProgram[] = "program:";
  SymbolJudgement judgement;
  if (!image.interpreter.empty())
    judgement = PythonJudge(image, rules, files).Run();
  else if (StartsWith(spec, kProgram))
    judgement = NativeJudge(image, rules, files).OfProgram(spec.substr(sizeof kProgram - 1));
  else
    judgement = NativeJudge(image, rules, files).OfLibraries();
  for (const std::string& problem : files->problems())
    judgement.faults.push_back({SymbolFaultKind::kUndecided, problem, "", ""});
  return judgement;
}

}  // namespace cudnn_ci
