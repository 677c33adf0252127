#include "image/symbols/symbols_compare.h"

#include <string>
#include <utility>

#include "base/package_names.h"
#include "common/install_line.h"
#include "image/symbols/symbols_remedy.h"
#include "image/symbols/symbols_variants.h"

namespace cudnn_ci {
namespace {

// Packages that compare their CUDA with this one's.
void CompareCuda(const PackageRule& rule, const ImageFiles& image, std::vector<SymbolFault>* faults) {
  for (const std::string& folder : image.folders) {
    const BuiltWith own = ReadBuiltWith(folder + "/" + rule.import_name + "/version.py");
    if (own.cuda.empty()) continue;
    for (const auto& [others, parts] : {std::pair(&rule.same_cuda, 2), std::pair(&rule.same_cuda_major, 1)})
      for (const std::string& other : *others) {
        const BuiltWith built = ReadBuiltWith(folder + "/" + other + "/version.py");
        const std::string cuda = CudaDigitsOf(built.version), wanted = VersionDigits(own.cuda, parts);
        if (cuda.empty() || cuda == wanted || (parts == 1 && cuda.compare(0, wanted.size(), wanted) == 0))
          continue;
        faults->push_back({SymbolFaultKind::kOtherCuda,
                           other + " " + built.version + " is built for another CUDA than " + rule.title +
                               " " + own.version + ", which has " + own.cuda + ": `import " + other +
                               "` raises a RuntimeError; install the build of " + other + " for CUDA " +
                               own.cuda + " from the index of " + rule.title,
                           "", other});
      }
  }
}

// The package that has the libraries wants the one with its sources on record, of the same version.
void CompareParts(const PackageRule& rule, const ImageFiles& image, std::vector<SymbolFault>* faults) {
  for (const Package& core : image.packages.packages()) {
    if (rule.core.empty() || core.manager != PackageManager::kPython || !NameMatches(rule.core, core.name))
      continue;
    const Package* whole = image.packages.Python(rule.whole);
    if (whole && whole->version == core.version) continue;
    const std::string extra =
        rule.core_extra + core.name.substr(core.name.find_last_not_of("0123456789") + 1);
    InstalledPackage wanted = {Manager::kPip, rule.whole, core.version, ""};
    for (const std::string& folder : image.folders)
      if (wanted.python.empty()) wanted.python = PythonOf(folder);
    faults->push_back(
        {SymbolFaultKind::kPartMissing,
         "import " + rule.import_name + " of " + core.Text() + " raises an AssertionError: " +
             (whole ? whole->Text() + " has another version" : rule.whole + " is not installed") +
             "; pip install '" + rule.whole + "[" + extra + "]==" + core.version + "'",
         "", core.name, ExtrasLine(wanted, {extra})});
    return;
  }
}

}  // namespace

std::vector<SymbolFault> ComparedAtImport(const PackageRule& rule, const ImageFiles& image) {
  std::vector<SymbolFault> faults;
  CompareCuda(rule, image, &faults);
  CompareParts(rule, image, &faults);
  return faults;
}

}  // namespace cudnn_ci
