#include "image/symbols/symbols_rules.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/knowledge_words.h"
#include "base/path.h"
#include "base/text.h"
#include "common/knowledge_rows.h"
#include "image/loader/loader_scope.h"

namespace cudnn_ci {
namespace {

using Row = nlohmann::json;

StepNeed NeedOf(const std::string& word) {
  if (word == "must") return StepNeed::kMust;
  if (word == "partly") return StepNeed::kPartly;
  return word == "together" ? StepNeed::kTogether : StepNeed::kTried;
}

std::vector<OpenStep> StepsOf(const Row& rule, const char* field) {
  std::vector<OpenStep> steps;
  if (const auto list = rule.find(field); list != rule.end())
    for (const Row& step : *list)
      steps.push_back({TextsOf(step, "in"), TextOf(step, "open"), TextsOf(step, "by"),
                       NeedOf(TextOf(step, "need")), FlagOf(step, "global"), FlagOf(step, "toolkit")});
  return steps;
}

MachineKind MachineOf(const std::string& word) {
  if (word == "cuda") return MachineKind::kCuda;
  if (word == "any_gpu") return MachineKind::kAnyGpu;
  return word == "cpu" ? MachineKind::kCpu : MachineKind::kOther;
}

PackageRule RuleOf(const Row& row) {
  PackageRule rule;
  rule.title = TextOf(row, "title");
  rule.import_name = TextOf(row, "import");
  rule.marker = TextOf(row, "marker");
  rule.marker_says = TextOf(row, "marker_says");
  rule.cuda_of = TextOf(row, "cuda_of");
  rule.cuda_major = row.value("cuda_major", 0);
  rule.after = TextOf(row, "after");
  rule.core = TextOf(row, "core");
  rule.whole = TextOf(row, "whole");
  rule.core_extra = TextOf(row, "core_extra");
  rule.versions_in = TextOf(row, "versions_in");
  rule.cuda_name = TextOf(row, "cuda_name");
  rule.cudnn_name = TextOf(row, "cudnn_name");
  rule.import_names = TextsOf(row, "packages");
  rule.for_gpu = TextsOf(row, "for_gpu");
  rule.for_cpu = TextsOf(row, "for_cpu");
  rule.libraries = TextsOf(row, "libraries");
  rule.same_cuda = TextsOf(row, "same_cuda");
  rule.same_cuda_major = TextsOf(row, "same_cuda_major");
  rule.first = StepsOf(row, "first");
  rule.main = StepsOf(row, "main");
  rule.main_begins = FlagOf(row, "main_begins") && !rule.main.empty();
  rule.later = StepsOf(row, "later");
  rule.added = FlagOf(row, "added");
  return rule;
}

// "libcurand.so.*", as rules write it, and "libcurand.so".
bool HasNoNumber(const std::string& library) {
  return library.find_first_of("0123456789", LibraryStem(library).size()) == std::string::npos;
}

}  // namespace

bool PackageRule::AppliesTo(const std::string& package_folder) const {
  const std::string path = package_folder + "/" + marker;
  return Exists(path) && (marker_says.empty() || ReadSmallFile(path).find(marker_says) != std::string::npos);
}

bool PackageRule::Concerns(const std::string& file, const std::string& package_folder,
                           const DynamicTable& table) const {
  const auto has = [](const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  if (!file.starts_with(package_folder + "/")) return false;
  const std::string below = file.substr(package_folder.size() + 1);
  return has(import_names, below.substr(0, std::min(below.find('/'), below.find('.')))) ||
         std::any_of(table.needed.begin(), table.needed.end(),
                     [&](const std::string& name) { return has(libraries, LibraryStem(name)); });
}

SymbolRules ReadSymbolRules(const TableEntry& entry) {
  SymbolRules rules;
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_IMPORT))
    rules.packages.push_back(RuleOf(row));
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_GPU_LIBRARY))
    rules.gpu_libraries.push_back({TextOf(row, "file"), TextOf(row, "package"), TextOf(row, "conda"),
                                   FlagOf(row, "suffix_in_13"), FlagOf(row, "numbered_as_cuda"),
                                   FlagOf(row, "linked_only"), FlagOf(row, "minor_in_name"),
                                   TextOf(row, "folder")});
  for (const Row& row : KnowledgeRows<Row>(entry, kKnowledgeNumber))
    rules.numbers.push_back({TextOf(row, "package"), TextOf(row, "number"), TextsOf(row, "packages"),
                             row.value("major", 0), row.value("unsuffixed", 0)});
  for (const Row& row : KnowledgeRows<Row>(entry, CCI_KNOWLEDGE_DRIVER_LIBRARY))
    rules.driver_libraries.push_back({TextOf(row, "file"), TextOf(row, "functions")});
  for (const Row& row : KnowledgeRows<Row>(entry, kKnowledgeWord)) {
    const std::string word = TextOf(row, "word"), means = TextOf(row, "means");
    if (means == "opener")
      rules.openers.insert(word);
    else
      rules.machines[word] = MachineOf(means);
  }
  return rules;
}

int SymbolRules::CudaMajorOf(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const GpuLibrary* known = GpuLibraryOf(name);
    if (!known || (!known->numbered_as_cuda && !known->minor_in_name)) continue;
    const std::size_t number = LibraryStem(name).size() + 1;
    if (const int major = number < name.size() ? std::atoi(name.c_str() + number) : 0; major > 0)
      return major;
  }
  return 0;
}

std::string GpuLibrary::PackageOf(int cuda_major) const {
  const bool suffix = cuda_major < 13 || suffix_in_13;
  return package + (suffix ? "-cu" + std::to_string(cuda_major) : "");
}

std::string GpuLibrary::FolderOf(const std::string& of_package) const {
  constexpr std::string_view kVendor = "nvidia-";
  if (!folder.empty() || !package.starts_with(kVendor)) return folder;
  if (of_package == package) return "nvidia/cu13/lib";
  std::string name = package.substr(kVendor.size());
  std::replace(name.begin(), name.end(), '-', '_');
  return "nvidia/" + name + "/lib";
}

const GpuLibrary* SymbolRules::GpuLibraryOf(const std::string& name) const {
  const std::string stem = LibraryStem(name);
  const auto found = std::find_if(gpu_libraries.begin(), gpu_libraries.end(),
                                  [&](const GpuLibrary& library) { return stem == library.stem; });
  return found == gpu_libraries.end() ? nullptr : &*found;
}

const LibraryNumber* SymbolRules::NumberOf(const std::string& library) const {
  const GpuLibrary* known = GpuLibraryOf(library);
  const std::size_t at = LibraryStem(library).size() + 1;
  if (!known || at >= library.size()) return nullptr;
  const auto found = std::find_if(numbers.begin(), numbers.end(), [&](const LibraryNumber& one) {
    return one.package == known->package && one.number == library.substr(at);
  });
  return found == numbers.end() ? nullptr : &*found;
}

bool SymbolRules::MayBeOf(int cuda_major, const std::string& library, const GpuLibrary& known) const {
  const LibraryNumber* number = NumberOf(library);
  if (!number) return HasNoNumber(library) || known.numbered_as_cuda || known.minor_in_name;
  return std::find(number->packages.begin(), number->packages.end(), known.PackageOf(cuda_major)) !=
         number->packages.end();
}

bool SymbolRules::Serves(const std::string& library, int cuda_major, const std::string& cudnn) const {
  const GpuLibrary* known = GpuLibraryOf(library);
  if (!known || HasNoNumber(library)) return true;
  const std::string number = library.substr(LibraryStem(library).size() + 1);
  const std::string major = number.substr(0, number.find('.'));
  if (!cudnn.empty() && IsCudnn(library) && major != cudnn.substr(0, cudnn.find('.'))) return false;
  if (cuda_major == 0) return true;
  if (const int of = CudaMajorOf({library}); of != 0) return of == cuda_major;
  // "libcufft.so.11.3.0" has the number of "libcufft.so.11".
  const std::string short_name = LibraryStem(library) + "." + major;
  return !NumberOf(short_name) || MayBeOf(cuda_major, short_name, *known);
}

bool SymbolRules::IsOfLibraries(const std::string& package) const {
  return std::any_of(gpu_libraries.begin(), gpu_libraries.end(), [&](const GpuLibrary& library) {
    return package == library.package || package.starts_with(library.package + "-cu");
  });
}

std::string SymbolRules::ReleasesFor(const std::string& library, const std::string& package,
                                     int cuda_major) const {
  const GpuLibrary* known = GpuLibraryOf(library);
  if (!known || package != known->package) return "";
  if (known->numbered_as_cuda || known->minor_in_name)
    return cuda_major == 0 ? "" : std::to_string(cuda_major) + ".*";
  const LibraryNumber* const own = NumberOf(library);
  std::set<int> majors;
  for (const LibraryNumber& row : numbers)
    if (row.package == package && row.unsuffixed != 0 && (!own || own == &row)) majors.insert(row.unsuffixed);
  return majors.size() == 1 ? std::to_string(*majors.begin()) + ".*" : "";
}

std::string SymbolRules::FileIn(const GpuLibrary& known, const std::string& package,
                                const std::string& version) const {
  std::vector<std::string> named;
  for (const LibraryNumber& row : numbers) {
    const bool brings = row.package == known.package &&
                        std::find(row.packages.begin(), row.packages.end(), package) != row.packages.end();
    if (brings && (row.major == 0 || version.starts_with(row.Release() + ".")))
      named.push_back(known.stem + "." + row.number);
  }
  if (named.size() == 1) return named.front();
  const std::size_t suffix = package.rfind("-cu");
  if (!named.empty() || !known.numbered_as_cuda || suffix == std::string::npos) return "";
  return known.stem + "." + package.substr(suffix + 3);
}

std::string SymbolRules::PackageFor(const std::string& library) const {
  const GpuLibrary* known = GpuLibraryOf(library);
  if (!known) return "";
  if (const LibraryNumber* number = NumberOf(library)) {
    std::vector<std::string> all;
    for (const std::string& package : number->packages)
      all.push_back(package + (number->major == 0 ? "" : " " + number->Release() + ".*"));
    return Join(all, " or ");
  }
  if (!HasNoNumber(library) && !known->numbered_as_cuda && !known->minor_in_name) return "";
  const std::string& package = known->package;
  if (known->suffix_in_13) return package + "-cu13 or, for CUDA 12, " + package + "-cu12";
  return package + " or, for CUDA 12, " + package + "-cu12";
}

std::string SymbolRules::DriverFunctionsOf(const std::string& library) const {
  const std::string stem = LibraryStem(library);
  for (const DriverLibrary& known : driver_libraries)
    if (stem == known.stem) return known.prefix;
  return "";
}

bool IsCudnn(const std::string& library) { return library.starts_with("libcudnn"); }

bool IsDriverFunction(const std::string& symbol, const std::string& prefix) {
  if (symbol.compare(0, prefix.size(), prefix) != 0 || symbol.size() <= prefix.size()) return false;
  const char next = symbol[prefix.size()];
  return (next >= 'A' && next <= 'Z') || next == '_';
}

}  // namespace cudnn_ci
