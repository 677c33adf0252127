#include "image/symbols/symbols_native.h"

#include <set>
#include <tuple>
#include <utility>

#include "image/symbols/symbols_copies.h"
#include "image/symbols/symbols_process.h"
#include "image/symbols/symbols_remedy.h"

namespace cudnn_ci {
namespace {

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class NativeJudge {
 public:
  NativeJudge(const ImageFiles& image, const SymbolRules& rules, LoaderFiles* files)
      : image_(image),
        rules_(rules),
        files_(files),
        index_(image, files),
        remedies_(&image, &rules, files, {}),
        writer_(&image, &index_, files, &rules, &remedies_) {}

  SymbolJudgement OfProgram(const std::string& program) {
    SymbolProcess process(LoaderScope(files_, program), &writer_, program);
    process.JudgeProgram();
    if (process.scope().program().root < 0)
      out_.faults.push_back(
          {SymbolFaultKind::kUndecided, program + " is not a dynamically linked program", "", ""});
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
  SymbolRemedies remedies_;
  FaultWriter writer_;
  SymbolJudgement out_;
  std::set<std::tuple<SymbolFaultKind, std::string, std::string>> said_;
};

}  // namespace

SymbolJudgement JudgeProgram(const ImageFiles& image, const std::string& program, const SymbolRules& rules,
                             LoaderFiles* files) {
  return NativeJudge(image, rules, files).OfProgram(program);
}

SymbolJudgement JudgeLibraries(const ImageFiles& image, const SymbolRules& rules, LoaderFiles* files) {
  return NativeJudge(image, rules, files).OfLibraries();
}

}  // namespace cudnn_ci
