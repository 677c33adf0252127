#include "image/symbols/symbols_weights.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cudnn_ci {
namespace {

using Kind = SymbolFaultKind;

bool IsOfLibraries(const SymbolFault& fault) {
  return fault.kind == Kind::kMissingLibrary || fault.kind == Kind::kOtherMajor;
}

void TurnInto(Kind kind, std::vector<SymbolFault>* faults) {
  for (SymbolFault& fault : *faults) fault.kind = kind;
}

}  // namespace

void FaultWeights::Add(const PythonFile& file, std::vector<SymbolFault> faults) {
  opened_.push_back({file, VariantOf(file.below, rules_->machines), std::move(faults)});
}

std::vector<SymbolFault> FaultWeights::Take(bool decided) {
  VariantSets sets;
  for (std::size_t i = 0; i < opened_.size(); ++i)
    if (!opened_[i].name.marks.empty()) sets[{opened_[i].file.package, opened_[i].name.key}].push_back(i);
  AddUnmarked(&sets);
  std::set<std::size_t> in_sets;
  for (const auto& [key, set] : sets) {
    if (set.size() < 2) continue;
    in_sets.insert(set.begin(), set.end());
    WeighSet(set, decided);
  }
  std::vector<SymbolFault> faults;
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    if (!in_sets.count(i)) Weigh(&opened_[i], decided);
    for (SymbolFault& fault : opened_[i].faults) faults.push_back(std::move(fault));
  }
  opened_.clear();
  return faults;
}

// The library without a mark beside those for one CUDA each is for one of these too: "libx.so" beside
// "libx_cu12.so".
void FaultWeights::AddUnmarked(VariantSets* sets) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>*> by_name;
  for (auto& [key, set] : *sets) {
    const VariantName& name = opened_[set.front()].name;
    const bool of_cuda = name.marks.size() == 1 && name.marks[0].machine == MachineKind::kCuda &&
                         !name.marks[0].number.empty() && name.key.ends_with("_#");
    if (of_cuda) by_name[{key.first, name.key.substr(0, name.key.size() - 2)}] = &set;
  }
  for (std::size_t i = 0; i < opened_.size(); ++i) {
    const Opened& opened = opened_[i];
    if (!opened.name.marks.empty() || opened.faults.empty()) continue;
    const auto set = by_name.find({opened.file.package, opened.name.key});
    if (set != by_name.end() && openers_.Of(opened.file.package, opened.file.path) != Opening::kSurely)
      set->second->push_back(i);
  }
}

// Only asked where something is wrong: it reads the package's sources.
bool FaultWeights::IsImported(const PythonFile& file) {
  return file.extension && imports_.Of(file.package).extensions.count(file.path) > 0;
}

bool FaultWeights::ConcernsGpus(const SymbolFault& fault) const {
  return IsOfLibraries(fault) && rules_->GpuLibraryOf(fault.library) != nullptr;
}

// Of a file that no other one can stand in for.
void FaultWeights::Weigh(Opened* opened, bool decided) {
  const PythonFile& file = opened->file;
  if (opened->faults.empty() || IsImported(file)) return;
  const Opening opening = openers_.Of(file.package, file.path);
  for (SymbolFault& fault : opened->faults) {
    // A symbol that none of its libraries is to give comes from a package that is imported before it, as
    // PyTorch's does for cuda-core.
    const bool open = fault.kind == Kind::kMissingSymbol && fault.library.empty();
    if (open && decided && (opening != Opening::kSurely || !file.extension)) fault.kind = Kind::kUndecided;
    if (opening == Opening::kSurely) continue;
    const bool warned = ConcernsGpus(fault) &&
                        (opening == Opening::kTried || (opening == Opening::kPerhaps && !file.extension));
    const bool broken = file.extension || file.linked;
    if (IsOfLibraries(fault) && !(broken && fault.other_major && ConcernsGpus(fault)))
      fault.kind = warned ? Kind::kOpenedLater : Kind::kUnused;
    else if (!broken)
      fault.kind = Kind::kUnused;
  }
}

// The one that the package would take on this PyTorch and CUDA.
void FaultWeights::WeighChosen(Opened* opened, Opening opening, bool decided) {
  if (opening == Opening::kNone && !opened->file.extension) return TurnInto(Kind::kUnused, &opened->faults);
  for (SymbolFault& fault : opened->faults) {
    if (decided && fault.kind == Kind::kMissingSymbol && fault.library.empty()) fault.kind = Kind::kUndecided;
    // Where the package goes on without, the program may show the loader the way.
    const bool shown = fault.hidden && fault.kind == Kind::kMissingLibrary && opening != Opening::kSurely;
    if (IsOfLibraries(fault) && (shown || !ConcernsGpus(fault))) fault.kind = Kind::kOpenedLater;
  }
}

void FaultWeights::WeighSet(const std::vector<std::size_t>& set, bool decided) {
  std::vector<Opened*> broken, chosen;
  bool sound = false;
  for (const std::size_t i : set) {
    Opened* opened = &opened_[i];
    if (opened->faults.empty()) {
      sound = true;
    } else if (!IsImported(opened->file)) {
      broken.push_back(opened);
      if (FitOf(opened->name, torch_) == VariantFit::kFits) chosen.push_back(opened);
    }
  }
  if (broken.empty()) return;
  const auto opening_of = [&](const Opened& opened) {
    return openers_.Of(opened.file.package, opened.file.path);
  };
  std::set<const Opened*> counted;
  if (!chosen.empty()) {
    for (Opened* opened : chosen) WeighChosen(opened, opening_of(*opened), decided);
    counted.insert(chosen.begin(), chosen.end());
  } else if (!sound) {
    // None resolves: what the one says that comes nearest stands for all.
    Opened* nearest = *std::min_element(broken.begin(), broken.end(), [](const Opened* a, const Opened* b) {
      return a->faults.size() < b->faults.size();
    });
    const Opening opening = opening_of(*nearest);
    const bool others = FitOf(nearest->name, torch_) == VariantFit::kOther;
    if (opening == Opening::kSurely && !others)
      WeighChosen(nearest, opening, decided);
    else if (!others)
      Weigh(nearest, decided);
    if (!others) counted.insert(nearest);
  }
  for (Opened* opened : broken)
    if (!counted.count(opened)) TurnInto(Kind::kUnused, &opened->faults);
}

}  // namespace cudnn_ci
