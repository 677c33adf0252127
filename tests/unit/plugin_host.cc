// A cci_host over plain containers.
#include "plugin_host.h"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <sstream>

namespace cudnn_ci::testing {
namespace {

struct RunningCase {
  const CheckInput* input = nullptr;
  const cci_plugin* plugin = nullptr;
  CheckReport report;
  std::mutex mutex;  // checks may report from any thread
  std::map<std::string, std::vector<const char*>> string_lists;
};

RunningCase& Of(cci_case* c) { return *reinterpret_cast<RunningCase*>(c); }

template <class T>
int Find(cci_case* c, const char* name, const T** out) {
  const auto& params = Of(c).input->params;
  const auto it = params.find(name);
  if (it == params.end()) return CCI_E_UNKNOWN;
  *out = std::get_if<T>(&it->second);
  return *out ? CCI_OK : CCI_E_TYPE;
}

template <class T, class Out>
int GetScalar(cci_case* c, const char* name, Out* out) {
  const T* value = nullptr;
  const int result = Find(c, name, &value);
  if (result == CCI_OK) *out = static_cast<Out>(*value);
  return result;
}

int GetString(cci_case* c, const char* name, const char** out) {
  const std::string* value = nullptr;
  const int result = Find(c, name, &value);
  if (result == CCI_OK) *out = value->c_str();
  return result;
}

int GetI64List(cci_case* c, const char* name, const int64_t** out, size_t* count) {
  const std::vector<int64_t>* value = nullptr;
  const int result = Find(c, name, &value);
  if (result == CCI_OK) {
    *out = value->data();
    *count = value->size();
  }
  return result;
}

int GetStringList(cci_case* c, const char* name, const char* const** out, size_t* count) {
  const std::vector<std::string>* value = nullptr;
  const int result = Find(c, name, &value);
  if (result == CCI_OK) {
    auto& list = Of(c).string_lists[name];
    list.clear();
    for (const auto& s : *value) list.push_back(s.c_str());
    *out = list.data();
    *count = list.size();
  }
  return result;
}

const char* Lookup(const std::map<std::string, std::string>& table, const char* key) {
  const auto it = table.find(key);
  return it == table.end() ? nullptr : it->second.c_str();
}

void ReportFinding(cci_case* c, const char* slug, const char* detail) {
  RunningCase& running = Of(c);
  const std::lock_guard<std::mutex> lock(running.mutex);
  CheckReport::Finding finding{slug, detail, -1, -1};
  for (auto* f = running.plugin->findings; f && *f; ++f) {
    if (finding.slug != (*f)->slug) continue;
    finding.severity = static_cast<int>((*f)->severity);
    finding.blame = static_cast<int>((*f)->blame);
  }
  running.report.findings.push_back(finding);
}

template <class F>
void Locked(cci_case* c, F&& f) {
  RunningCase& running = Of(c);
  const std::lock_guard<std::mutex> lock(running.mutex);
  f(running.report);
}

cci_host MakeHost() {
  cci_host h{};
  h.struct_size = sizeof h;
  h.abi_minor = CCI_ABI_MINOR;
  h.get_bool = [](cci_case* c, const char* n, int* out) { return GetScalar<bool>(c, n, out); };
  h.get_i64 = [](cci_case* c, const char* n, int64_t* out) { return GetScalar<int64_t>(c, n, out); };
  h.get_f64 = [](cci_case* c, const char* n, double* out) { return GetScalar<double>(c, n, out); };
  h.get_string = GetString;
  h.get_i64_list = GetI64List;
  h.get_string_list = GetStringList;
  h.contract = [](cci_case* c, const char* key) { return Lookup(Of(c).input->contract, key); };
  h.fact = [](cci_case* c, const char* key) { return Lookup(Of(c).input->facts, key); };
  h.satisfies = [](cci_case*, const char* v, const char* r) { return VersionSatisfies(v, r); };
  h.subject_name = [](cci_case* c) { return Of(c).input->subject_name.c_str(); };
  h.subject_spec = [](cci_case* c) { return Of(c).input->subject_spec.c_str(); };
  h.device_uuid = [](cci_case* c) { return Of(c).input->device_uuid.c_str(); };
  h.scratch_dir = [](cci_case* c) { return Of(c).input->scratch_dir.c_str(); };
  h.seed = [](cci_case* c) { return Of(c).input->seed; };
  h.deadline_ms = [](cci_case*) { return int64_t{60000}; };
  h.step = [](cci_case* c, const char* n) { Locked(c, [&](auto& r) { r.steps.emplace_back(n); }); };
  h.should_skip_step = [](cci_case*, const char*) { return 0; };
  h.expect = [](cci_case* c, int held, const char* file, int line, const char* what) {
    Locked(c, [&](auto& r) { r.expectations.push_back({held != 0, file, what, line}); });
  };
  h.finding = ReportFinding;
  h.skip = [](cci_case* c, uint32_t kind, const char* need, const char* seen) {
    Locked(c, [&](auto& r) { r.skips.push_back({kind, need, seen}); });
  };
  h.measure = [](cci_case* c, const char* name, double value, const char* unit, uint32_t) {
    Locked(c, [&](auto& r) { r.measurements.push_back({name, unit, value}); });
  };
  h.attach = [](cci_case* c, const char* name, const char*, const void*, size_t) {
    Locked(c, [&](auto& r) { r.attachments.emplace_back(name); });
  };
  h.log = [](cci_case* c, uint32_t, const char* t) { Locked(c, [&](auto& r) { r.logs.emplace_back(t); }); };
  h.poison = [](cci_case* c, const char* t) { Locked(c, [&](auto& r) { r.poison.emplace_back(t); }); };
  h.uncaught = [](cci_case* c, const char* t) { Locked(c, [&](auto& r) { r.uncaught.emplace_back(t); }); };
  h.fact_report = [](cci_case* c, const char* key, const char* value) {
    Locked(c, [&](auto& r) { r.facts[key] = value; });
  };
  h.run_child = [](cci_case*, const cci_child*, cci_child_result*) { return int{CCI_E_SYSTEM}; };
  return h;
}

const cci_plugin* Load(const std::string& file, std::string* error) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    *error = dlerror();
    return nullptr;
  }
  void* entry = dlsym(handle, CCI_PLUGIN_SYMBOL);
  if (!entry) {
    *error = dlerror();
    return nullptr;
  }
  return reinterpret_cast<const cci_plugin* (*)()>(entry)();
}

CheckReport Run(const std::string& file, const std::string* check, const CheckInput& input) {
  static const cci_host host = MakeHost();
  RunningCase running;
  running.input = &input;
  running.plugin = Load(file, &running.report.load_error);
  if (!running.plugin) return running.report;
  auto* handle = reinterpret_cast<cci_case*>(&running);
  if (!check) {
    if (running.plugin->facts) running.plugin->facts(&host, handle);
    return running.report;
  }
  for (auto* c = running.plugin->checks; *c; ++c) {
    if (*check != (*c)->name) continue;
    (*c)->run(&host, handle);
    return running.report;
  }
  running.report.load_error = file + " has no check " + *check;
  return running.report;
}

bool ParseVersion(const std::string& text, std::vector<long>* out) {
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, '.');) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) return false;
    out->push_back(std::stol(part));
  }
  while (!out->empty() && out->back() == 0) out->pop_back();
  return !text.empty() && text.back() != '.';
}

}  // namespace

std::string CheckReport::Verdict() const {
  bool failed = !load_error.empty() || !uncaught.empty();
  for (const auto& e : expectations) failed = failed || !e.held;
  for (const auto& f : findings) failed = failed || f.severity <= CCI_SEVERITY_ERROR;
  if (failed) return "failed";
  if (!skips.empty()) return "skipped";
  return expectations.empty() ? "failed" : "passed";
}

CheckReport RunCheck(const std::string& plugin_file, const std::string& check, const CheckInput& input) {
  return Run(plugin_file, &check, input);
}

CheckReport RunFacts(const std::string& plugin_file, const CheckInput& input) {
  return Run(plugin_file, nullptr, input);
}

int VersionSatisfies(const std::string& version, const std::string& range) {
  std::vector<long> found;
  if (!ParseVersion(version, &found)) return -1;
  std::istringstream conditions(range);
  bool all = true, any = false;
  for (std::string condition; conditions >> condition; any = true) {
    const size_t digits = condition.find_first_of("0123456789");
    if (digits == std::string::npos) return -1;
    const std::string op = condition.substr(0, digits);
    std::vector<long> bound;
    if (!ParseVersion(condition.substr(digits), &bound)) return -1;
    if (op == ">=") {
      all = all && found >= bound;
    } else if (op == "<") {
      all = all && found < bound;
    } else if (op == "<=") {
      all = all && found <= bound;
    } else if (op == ">") {
      all = all && found > bound;
    } else if (op == "==") {
      all = all && found == bound;
    } else {
      return -1;
    }
  }
  return any ? (all ? 1 : 0) : -1;
}

}  // namespace cudnn_ci::testing
