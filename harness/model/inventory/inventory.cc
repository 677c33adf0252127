#include "model/inventory/inventory.h"

#include <cudnn_ci/facts.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
#include "model/inventory/cudnn_copies.h"
#include "model/inventory/inventory_promises.h"

namespace cudnn_ci {
namespace {

std::string FactOf(const Facts& facts, const std::string& subject, const char* key) {
  const std::string* fact = facts.Find(subject, key);
  return fact == nullptr ? std::string() : *fact;
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

bool HasFolder(const std::string& path, const std::string& name) {
  return path.find("/" + name + "/") != std::string::npos;
}

FoundDriver Driver(const Facts& facts) {
  FoundDriver driver;
  driver.version = facts.Any(CCI_FACT_DRIVER_VERSION);
  driver.source = facts.Any(CCI_FACT_DRIVER_SOURCE);
  driver.cuda = facts.Any(CCI_FACT_DRIVER_CUDA);
  driver.library = facts.Any(CCI_FACT_DRIVER_LIBRARY);
  driver.module_version = facts.Any(CCI_FACT_DRIVER_MODULE);
  driver.nvml = facts.Any(CCI_FACT_DRIVER_NVML);
  driver.fabric_wait_s = facts.Any(CCI_FACT_DRIVER_FABRIC_WAIT);
  driver.compat = HasFolder(driver.library, "compat");
  return driver;
}

bool IsAmong(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Each copy with its users; one that a subject uses and that the search for copies did not come upon is
// added.
std::vector<FoundCudnn> Copies(const InventoryInput& input) {
  std::vector<FoundCudnn> found;
  for (CudnnCopyFacts& copy : CudnnCopiesOf(input.facts))
    found.push_back({copy.version, CudaOfOrigin(copy.origin), copy.path, copy.origin, copy.used_by, false});
  for (const SubjectInfo& subject : input.subjects) {
    const std::string path = FactOf(input.facts, subject.name, CCI_FACT_CUDNN_PATH);
    if (path.empty()) continue;
    auto row = std::find_if(found.begin(), found.end(),
                            [&](const FoundCudnn& c) { return IsAmong(subject.name, c.used_by); });
    if (row == found.end()) {
      row = std::find_if(found.begin(), found.end(), [&](const FoundCudnn& c) { return c.path == path; });
      if (row == found.end())
        row = found.insert(
            row, {FactOf(input.facts, subject.name, CCI_FACT_CUDNN_VERSION), "", path, "", {}, false});
      row->used_by.push_back(subject.name);
    }
    if (const std::string cuda = FactOf(input.facts, subject.name, CCI_FACT_CUDNN_CUDART); !cuda.empty())
      row->cuda = cuda;
    row->gated = row->gated || IsAmong(subject.name, input.judged);
  }
  const auto rank = [](const FoundCudnn& c) { return c.gated ? 0 : c.used_by.empty() ? 2 : 1; };
  std::stable_sort(found.begin(), found.end(),
                   [&](const FoundCudnn& a, const FoundCudnn& b) { return rank(a) < rank(b); });
  return found;
}

// Packages of an environment tell for which CUDA their cuDNN is where its files do not.
void AddCudaOfEnvironments(const std::vector<PythonEnvironment>& environments,
                           std::vector<FoundCudnn>* copies) {
  for (FoundCudnn& copy : *copies)
    for (const PythonEnvironment& environment : environments) {
      if (environment.cudnn.empty() || environment.cudnn != FolderOf(copy.path)) continue;
      if (copy.cuda.empty()) copy.cuda = environment.cuda;
      // It lies on the loader's path for its own subject alone.
      if (copy.origin.empty() || copy.origin == "loader path")
        copy.origin = "Python environment " + environment.prefix;
    }
}

std::vector<SubjectView> Views(const InventoryInput& input, const std::vector<FoundCudnn>& copies) {
  std::vector<SubjectView> views;
  for (const SubjectInfo& subject : input.subjects) {
    const auto fact = [&](const char* key) { return FactOf(input.facts, subject.name, key); };
    SubjectView view;
    view.subject = subject;
    view.judged = IsAmong(subject.name, input.judged);
    view.toolkit_version = fact(CCI_FACT_TOOLKIT_VERSION);
    view.toolkit_path = fact(CCI_FACT_TOOLKIT_PATH);
    view.cudnn_version = fact(CCI_FACT_CUDNN_VERSION);
    view.cudnn_path = fact(CCI_FACT_CUDNN_PATH);
    for (const FoundCudnn& copy : copies)
      if (IsAmong(subject.name, copy.used_by)) view.cudnn_cuda = copy.cuda;
    views.push_back(std::move(view));
  }
  return views;
}

// "13.0" and "/a/libcudart.so.13.0.96" of "13.0 /a/libcudart.so.13.0.96, 12.8 /b/libcudart.so.12". A path may
// hold ", " itself.
std::vector<std::pair<std::string, std::string>> RuntimesOf(const std::string& all) {
  std::vector<std::pair<std::string, std::string>> runtimes;
  for (const std::string& part : Split(all, ',')) {
    const std::string text(Trim(part));
    const size_t slash = text.find(" /");
    const bool begins = slash != std::string::npos && text.find_first_not_of("0123456789.") == slash;
    if (begins)
      runtimes.emplace_back(text.substr(0, slash), text.substr(slash + 1));
    else if (!runtimes.empty())
      runtimes.back().second += "," + part;
  }
  return runtimes;
}

// Those that were found in files, and further ones that a loader finds; each with the subjects that take it.
std::vector<FoundToolkit> Toolkits(const InventoryInput& input) {
  std::vector<FoundToolkit> found = input.toolkits;
  const auto row = [&](const std::string& version, const std::string& path) -> FoundToolkit& {
    const std::string folder = FolderOf(path);
    const auto known = std::find_if(found.begin(), found.end(),
                                    [&](const FoundToolkit& t) { return IsAmong(folder, t.libraries); });
    if (known != found.end()) {
      // A file may be called after its major alone; the library itself tells more.
      if (version.compare(0, known->version.size() + 1, known->version + ".") == 0) known->version = version;
      return *known;
    }
    found.push_back({version, folder, "loader path", {folder}, {}});
    return found.back();
  };
  for (const SubjectInfo& subject : input.subjects) {
    for (const auto& [version, path] : RuntimesOf(FactOf(input.facts, subject.name, CCI_FACT_TOOLKIT_ALL)))
      row(version, path);
    const std::string taken = FactOf(input.facts, subject.name, CCI_FACT_TOOLKIT_PATH);
    if (taken.empty()) continue;
    row(FactOf(input.facts, subject.name, CCI_FACT_TOOLKIT_VERSION), taken).taken_by.push_back(subject.name);
  }
  std::stable_sort(found.begin(), found.end(), [](const FoundToolkit& a, const FoundToolkit& b) {
    return !a.taken_by.empty() && b.taken_by.empty();
  });
  return found;
}

// Which ones may be shown is the plugins' business. A worker's LD_LIBRARY_PATH has the folders of its subject
// around the user's own; any other value than the one that was told might be a secret.
std::map<std::string, std::string> VariablesOf(const InventoryInput& input) {
  const std::string prefix = CCI_FACT_ENVIRONMENT;
  std::map<std::string, std::string> variables;
  for (const auto& [subject, facts] : input.facts.by_subject)
    for (const auto& [key, value] : facts) {
      if (key.compare(0, prefix.size(), prefix) != 0) continue;
      const std::string name = key.substr(prefix.size());
      const auto own = input.variables.find(name);
      const bool told = own != input.variables.end() && value.find(own->second) != std::string::npos;
      const bool of_subject = name == "LD_LIBRARY_PATH" && own == input.variables.end();
      if (!of_subject) variables.emplace(name, told ? own->second : value);
    }
  return variables;
}

std::vector<std::string> Unknown(const InventoryInput& input, const HostFacts& host) {
  std::vector<std::string> unknown = input.unknown;
  const auto add = [&](const std::string& text) {
    if (!IsAmong(text, unknown)) unknown.push_back(text);
  };
  if (!host.gpus_known && host.gpu_error.empty()) add("GPUs: could not be counted");
  if (host.driver_version.empty() && !input.facts.Any(CCI_FACT_DRIVER_LIBRARY).empty())
    add("the driver's version: neither NVML, nor the kernel module, nor the name of libcuda's file tells it");
  for (const SubjectInfo& subject : input.subjects) {
    const std::string path = FactOf(input.facts, subject.name, CCI_FACT_CUDNN_PATH);
    if (!path.empty() && FactOf(input.facts, subject.name, CCI_FACT_CUDNN_VERSION).empty())
      add("the version of the cuDNN at " + path + ": its files do not tell it");
    if (const std::string why = FactOf(input.facts, subject.name, CCI_FACT_CUDNN_COPIES); !why.empty())
      add("copies of cuDNN: " + why);
  }
  for (const FactsProblem& problem : input.facts.problems)
    add("plugin " + problem.plugin + ", subject " + problem.subject + ": " + problem.error.detail);
  return unknown;
}

}  // namespace

bool IsOf(const SubjectInfo& subject, const PythonEnvironment& environment) {
  const std::string bin = "python:" + environment.prefix + "/bin/";
  return subject.spec.compare(0, bin.size(), bin) == 0;
}

bool IsOf(const SubjectInfo& subject, const Candidate& candidate) {
  return subject.spec == candidate.spec || (candidate.spec.starts_with("python:") &&
                                            subject.spec.starts_with("python:" + candidate.place + "/bin/"));
}

Inventory MakeInventory(InventoryInput input) {
  const HostFacts host = DecodeHostFacts(input.facts);
  Inventory inventory;
  inventory.driver = Driver(input.facts);
  inventory.gpus = host.gpus;
  inventory.gpu_error = host.gpu_error;
  inventory.cudnn = Copies(input);
  AddCudaOfEnvironments(input.environments, &inventory.cudnn);
  inventory.subjects = Views(input, inventory.cudnn);
  inventory.toolkits = Toolkits(input);
  inventory.variables = VariablesOf(input);
  inventory.promises = Compare(input.contract, host, !inventory.driver.library.empty(), inventory.subjects);
  inventory.unknown = Unknown(input, host);
  inventory.environments = std::move(input.environments);
  inventory.matrix = std::move(input.matrix);
  inventory.choice = std::move(input.choice);
  return inventory;
}

}  // namespace cudnn_ci
