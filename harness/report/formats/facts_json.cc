#include "report/formats/facts_json.h"

#include <map>
#include <set>

#include "base/text.h"
#include "report/text/json_text.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostText = 16 << 10;  // as a worker's texts are cut

void Put(JsonText* out, const char* key, const std::string& value) { out->Key(key).String(CleanText(value)); }

void PutList(JsonText* out, const char* key, const std::vector<std::string>& values) {
  out->Key(key).BeginArray();
  for (const std::string& value : values) out->String(CleanText(value));
  out->EndArray();
}

// What is not known is null.
void PutOrNull(JsonText* out, const char* key, const std::string& value) {
  out->Key(key).StringOrNull(CleanText(value));
}

void PutOrNull(JsonText* out, const char* key, const std::optional<int64_t>& value) {
  out->Key(key);
  value ? out->Int(*value) : out->Null();
}

void PutMap(JsonText* out, const std::string& key, const std::map<std::string, std::string>& map) {
  out->Key(key).BeginObject();
  std::set<std::string> seen;  // two keys may look alike once they are cleaned
  for (const auto& [name, value] : map)
    if (std::string clean = CleanLine(name, 1000); seen.insert(clean).second) Put(out, clean.c_str(), value);
  out->EndObject();
}

void PutDriver(JsonText* out, const FoundDriver& driver) {
  out->Key("driver").BeginObject();
  PutOrNull(out, "version", driver.version);
  PutOrNull(out, "source", driver.source);
  PutOrNull(out, "cuda", driver.cuda);
  PutOrNull(out, "library", driver.library);
  out->Key("compat").Bool(driver.compat);
  PutOrNull(out, "module_version", driver.module_version);
  PutOrNull(out, "nvml", driver.nvml);
  PutOrNull(out, "fabric_wait_s", driver.fabric_wait_s);
  out->EndObject();
}

void PutGpus(JsonText* out, const Inventory& inventory) {
  out->Key("gpus").BeginArray();
  for (size_t i = 0; i < inventory.gpus.size(); ++i) {
    const GpuFacts& gpu = inventory.gpus[i];
    out->BeginObject();
    Put(out, "device", "gpu" + std::to_string(i));
    Put(out, "uuid", gpu.uuid);
    PutOrNull(out, "name", gpu.model);
    PutOrNull(out, "compute_capability", gpu.compute_capability);
    PutOrNull(out, "pci_bus_id", gpu.pci_bus_id);
    PutOrNull(out, "memory_bytes", gpu.memory_bytes);
    PutOrNull(out, "memory_free_bytes", gpu.memory_free_bytes);
    PutOrNull(out, "compute_mode", gpu.compute_mode);
    out->EndObject();
  }
  out->EndArray();
  PutOrNull(out, "gpu_error", inventory.gpu_error);
}

void PutViews(JsonText* out, const std::vector<SubjectView>& views) {
  out->Key("views").BeginArray();
  for (const SubjectView& view : views) {
    out->BeginObject();
    Put(out, "name", view.subject.name);
    Put(out, "spec", view.subject.spec);
    out->Key("judged").Bool(view.judged);
    PutList(out, "folders", view.subject.folders);
    PutList(out, "late_folders", view.subject.late_folders);
    PutOrNull(out, "toolkit_version", view.toolkit_version);
    PutOrNull(out, "toolkit_path", view.toolkit_path);
    PutOrNull(out, "cudnn_version", view.cudnn_version);
    PutOrNull(out, "cudnn_cuda", view.cudnn_cuda);
    PutOrNull(out, "cudnn_path", view.cudnn_path);
    out->EndObject();
  }
  out->EndArray();
}

void PutLibraries(JsonText* out, const Inventory& inventory) {
  out->Key("toolkits").BeginArray();
  for (const FoundToolkit& toolkit : inventory.toolkits) {
    out->BeginObject();
    PutOrNull(out, "version", toolkit.version);
    Put(out, "folder", toolkit.folder);
    PutOrNull(out, "origin", toolkit.origin);
    PutList(out, "libraries", toolkit.libraries);
    PutList(out, "taken_by", toolkit.taken_by);
    out->EndObject();
  }
  out->EndArray().Key("cudnn").BeginArray();
  for (const FoundCudnn& copy : inventory.cudnn) {
    out->BeginObject();
    PutOrNull(out, "version", copy.version);
    PutOrNull(out, "cuda", copy.cuda);
    Put(out, "path", copy.path);
    PutOrNull(out, "origin", copy.origin);
    PutList(out, "used_by", copy.used_by);
    out->Key("gated").Bool(copy.gated);
    out->EndObject();
  }
  out->EndArray();
}

void PutEnvironments(JsonText* out, const std::vector<PythonEnvironment>& environments) {
  out->Key("environments").BeginArray();
  for (const PythonEnvironment& environment : environments) {
    out->BeginObject();
    PutOrNull(out, "name", environment.name);
    Put(out, "interpreter", environment.interpreter);
    PutOrNull(out, "prefix", environment.prefix);
    PutOrNull(out, "cudnn", environment.cudnn);
    PutOrNull(out, "cuda", environment.cuda);
    out->Key("frameworks").BeginArray();
    for (const PythonPackage& package : environment.frameworks) {
      out->BeginCompactObject();
      Put(out, "title", package.title);
      Put(out, "distribution", package.distribution);
      Put(out, "version", package.version);
      out->EndObject();
    }
    out->EndArray().EndObject();
  }
  out->EndArray();
}

void PutContract(JsonText* out, const Inventory& inventory) {
  out->Key("matrix");
  if (!inventory.matrix) {
    out->Null();
  } else {
    out->BeginObject();
    Put(out, "name", inventory.matrix->name);
    Put(out, "path", inventory.matrix->path);
    Put(out, "sha256", inventory.matrix->sha256);
    out->Key("promises").BeginArray();
    for (const FoundPromise& p : inventory.promises) {
      out->BeginObject();
      Put(out, "promise", p.promise);
      Put(out, "range", p.range);
      PutOrNull(out, "subject", p.subject);
      Put(out, "found", p.found);
      out->Key("fits");
      p.fits ? out->Bool(*p.fits) : out->Null();
      out->EndObject();
    }
    out->EndArray().EndObject();
  }
  out->Key("auto");
  if (!inventory.choice) {
    out->Null();
    return;
  }
  const AutoChoice& choice = *inventory.choice;
  out->BeginObject();
  PutOrNull(out, "matrix", choice.problem.empty() ? choice.MatrixName() : "");
  PutOrNull(out, "cuda", choice.cuda);
  PutOrNull(out, "because", choice.because);
  PutOrNull(out, "problem", choice.problem);
  out->EndObject();
}

}  // namespace

std::string FactsJson(const Inventory& inventory, const Facts& facts, const std::string& version) {
  JsonText out(2, kMostText);
  out.BeginObject();
  Put(&out, "schema", "cudnn-ci/facts/1");
  Put(&out, "version", version);
  PutDriver(&out, inventory.driver);
  PutGpus(&out, inventory);
  PutViews(&out, inventory.subjects);
  PutLibraries(&out, inventory);
  PutEnvironments(&out, inventory.environments);
  PutMap(&out, "variables", inventory.variables);
  PutContract(&out, inventory);
  PutList(&out, "unknown", inventory.unknown);
  out.Key("subjects").BeginObject();
  for (const auto& [subject, map] : facts.by_subject) PutMap(&out, CleanLine(subject), map);
  out.EndObject();
  std::map<std::string, std::string> problems;
  for (const FactsProblem& problem : facts.problems) problems[problem.plugin] = problem.error.detail;
  PutMap(&out, "problems", problems);
  out.EndObject();
  return out.text() + "\n";
}

}  // namespace cudnn_ci
