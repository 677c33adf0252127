#include "worker/host.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <mutex>
#include <set>

#include "base/time.h"
#include "model/version.h"
#include "wire/socket.h"
#include "worker/child.h"
#include "worker/cuda_device.h"
#include "worker/describe.h"
#include "worker/guard.h"

using cudnn_ci::Params;
using cudnn_ci::Value;
namespace wire = cudnn_ci::wire;
namespace worker = cudnn_ci::worker;

// Behind the ABI's opaque pointer. What the plugin may read is constant while it runs; what it writes goes
// through `mutex`.
struct cci_case {
  int control_fd = -1;
  const wire::Configure* configuration = nullptr;
  wire::Run run;
  int64_t deadline_ns = 0;
  std::map<std::string, std::vector<const char*>> string_tables;  // for get_string_list

  std::mutex mutex;
  std::set<std::string> asked_steps;  // should_skip_step was called for them
  int64_t evaluated = 0;
  bool skipped = false, poisoned = false;
  cudnn_ci::Skipped skip;
  int attachments = 0;
  worker::ChildOutcome child;  // what run_child last returned
};

namespace {

std::string Text(const char* s) { return s ? s : ""; }

void Send(cci_case* c, const wire::FromWorker& message) { worker::SendToHarness(c->control_fd, message); }

// Finds a parameter of type T.
template <class T>
int Find(cci_case* c, const char* name, const T** out) {
  if (!name) return CCI_E_ARGUMENT;
  const auto it = c->run.params.find(name);
  if (it == c->run.params.end()) return CCI_E_UNKNOWN;
  *out = std::get_if<T>(&it->second);
  return *out ? CCI_OK : CCI_E_TYPE;
}

int GetBool(cci_case* c, const char* name, int* out) {
  const bool* v = nullptr;
  const int r = Find(c, name, &v);
  if (r == CCI_OK) *out = *v ? 1 : 0;
  return r;
}
int GetI64(cci_case* c, const char* name, int64_t* out) {
  const int64_t* v = nullptr;
  const int r = Find(c, name, &v);
  if (r == CCI_OK) *out = *v;
  return r;
}
int GetF64(cci_case* c, const char* name, double* out) {
  const double* v = nullptr;
  const int r = Find(c, name, &v);
  if (r == CCI_OK) *out = *v;
  return r;
}
int GetString(cci_case* c, const char* name, const char** out) {
  const std::string* v = nullptr;
  const int r = Find(c, name, &v);
  if (r == CCI_OK) *out = v->c_str();
  return r;
}
int GetI64List(cci_case* c, const char* name, const int64_t** out, size_t* count) {
  const std::vector<int64_t>* v = nullptr;
  const int r = Find(c, name, &v);
  if (r != CCI_OK) return r;
  *out = v->data();
  *count = v->size();
  return CCI_OK;
}
int GetStringList(cci_case* c, const char* name, const char* const** out, size_t* count) {
  const std::vector<std::string>* v = nullptr;
  const int r = Find(c, name, &v);
  if (r != CCI_OK) return r;
  std::lock_guard lock(c->mutex);
  auto& table = c->string_tables[name];
  if (table.empty()) {
    for (const std::string& s : *v) table.push_back(s.c_str());
    table.push_back(nullptr);
  }
  *out = table.data();
  *count = v->size();
  return CCI_OK;
}

const char* Lookup(const std::map<std::string, std::string>& map, const char* key) {
  if (!key) return nullptr;
  const auto it = map.find(key);
  return it == map.end() ? nullptr : it->second.c_str();
}
const char* Contract(cci_case* c, const char* key) { return Lookup(c->configuration->contract, key); }
const char* FactOf(cci_case* c, const char* key) { return Lookup(c->configuration->facts, key); }

int Satisfies(cci_case*, const char* version, const char* range) {
  std::string error;
  const auto v = cudnn_ci::ParseVersion(Text(version));
  const auto r = cudnn_ci::ParseRange(Text(range), &error);
  if (!v || !r) return -1;
  return cudnn_ci::Contains(*r, *v) ? 1 : 0;
}

const char* SubjectName(cci_case* c) { return c->configuration->subject_name.c_str(); }
const char* SubjectSpec(cci_case* c) { return c->configuration->subject_spec.c_str(); }
const char* DeviceUuid(cci_case* c) { return c->configuration->device_uuid.c_str(); }
const char* ScratchDir(cci_case* c) { return c->configuration->scratch_dir.c_str(); }
uint64_t Seed(cci_case* c) { return c->run.seed; }
int64_t DeadlineMs(cci_case* c) {
  return std::max<int64_t>(0, (c->deadline_ns - cudnn_ci::MonotonicNs()) / 1'000'000);
}

void Step(cci_case* c, const char* name) {
  bool skippable = false;
  {
    std::lock_guard lock(c->mutex);
    skippable = c->asked_steps.count(Text(name)) != 0;
  }
  Send(c, wire::Step{c->run.serial, Text(name), skippable});
}
int ShouldSkipStep(cci_case* c, const char* name) {
  std::lock_guard lock(c->mutex);
  c->asked_steps.insert(Text(name));
  const auto& skip = c->run.skip_steps;
  return std::find(skip.begin(), skip.end(), Text(name)) != skip.end() ? 1 : 0;
}

void Expect(cci_case* c, int held, const char* file, int line, const char* what) {
  {
    std::lock_guard lock(c->mutex);
    ++c->evaluated;
  }
  // Millions may hold: only their number travels.
  if (!held) Send(c, wire::Expectation{c->run.serial, Text(file), line, Text(what)});
}
void FindingSaid(cci_case* c, const char* slug, const char* detail) {
  Send(c, wire::FindingSaid{c->run.serial, Text(slug), Text(detail)});
}
void Skip(cci_case* c, uint32_t kind, const char* need, const char* seen) {
  std::lock_guard lock(c->mutex);
  c->skipped = true;
  c->skip = {static_cast<cudnn_ci::SkipKind>(std::min<uint32_t>(kind, CCI_SKIP_VERSION)), Text(need),
             Text(seen)};
}
void Measure(cci_case* c, const char* name, double value, const char* unit, uint32_t goal) {
  const char* const goals[] = {"", "lower", "higher"};
  Send(c, wire::Measurement{c->run.serial, Text(name), value, Text(unit),
                            goals[goal <= CCI_GOAL_HIGHER ? goal : 0]});
}
void Attach(cci_case* c, const char* name, const char* mime, const void* data, size_t size) {
  int number = 0;
  {
    std::lock_guard lock(c->mutex);
    number = ++c->attachments;
  }
  // The name is the plugin's; the file name is ours, so that it can neither escape nor collide.
  const std::string path = c->configuration->scratch_dir + "/attachment-" + std::to_string(getpid()) + "-" +
                           std::to_string(c->run.serial) + "-" + std::to_string(number);
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  if (file)
    Send(c, wire::Attachment{c->run.serial, Text(name), Text(mime), path});
  else
    Send(c, wire::Log{c->run.serial, CCI_LOG_WARNING,
                      "attachment '" + Text(name) + "' could not be written to " + path});
}
void LogLine(cci_case* c, uint32_t level, const char* text) {
  Send(c, wire::Log{c->run.serial, static_cast<int>(std::min<uint32_t>(level, CCI_LOG_ERROR)), Text(text)});
}
void Poison(cci_case* c, const char* reason) {
  {
    std::lock_guard lock(c->mutex);
    c->poisoned = true;
  }
  Send(c, wire::Poisoned{c->run.serial, Text(reason)});
}
void UncaughtException(cci_case* c, const char* what) { Send(c, wire::Uncaught{c->run.serial, Text(what)}); }
void FactReport(cci_case* c, const char* key, const char* value) {
  Send(c, wire::Fact{Text(key), Text(value)});
}

int RunChild(cci_case* c, const cci_child* child, cci_child_result* result) {
  if (!child || !result || !child->argv || !child->argv[0]) return CCI_E_ARGUMENT;
  worker::ChildRequest request;
  for (const char* const* a = child->argv; *a; ++a) request.argv.emplace_back(*a);
  for (const char* const* e = child->env; e && *e; ++e) request.env.emplace_back(*e);
  const double left = static_cast<double>(DeadlineMs(c)) / 1000;
  request.timeout_s = child->timeout_s > 0 ? std::min(child->timeout_s, left) : left;
  c->child = {};
  if (!worker::RunChild(request, &c->child)) return CCI_E_SYSTEM;
  result->exit_status = c->child.exit_status;
  result->signal = c->child.signal;
  result->timed_out = c->child.timed_out ? 1 : 0;
  result->output = c->child.output.c_str();
  result->output_size = c->child.output.size();
  return CCI_OK;
}

constexpr cci_host kHost = {
    sizeof(cci_host), CCI_ABI_MINOR, GetBool,           GetI64,     GetF64,     GetString,
    GetI64List,       GetStringList, Contract,          FactOf,     Satisfies,  SubjectName,
    SubjectSpec,      DeviceUuid,    ScratchDir,        Seed,       DeadlineMs, Step,
    ShouldSkipStep,   Expect,        FindingSaid,       Skip,       Measure,    Attach,
    LogLine,          Poison,        UncaughtException, FactReport, RunChild};

}  // namespace

namespace cudnn_ci::worker {

void SendToHarness(int control_fd, const wire::FromWorker& message) {
  if (wire::Send(control_fd, wire::Encode(message)) != wire::Io::kOk) _exit(0);
}

void Host::Configure(const wire::Configure& configuration) {
  for (const auto& [k, v] : configuration.contract) configuration_.contract[k] = v;
  for (const auto& [k, v] : configuration.facts) configuration_.facts[k] = v;
  configuration_.subject_name = configuration.subject_name;
  configuration_.subject_spec = configuration.subject_spec;
  configuration_.device_uuid = configuration.device_uuid;
  configuration_.scratch_dir = configuration.scratch_dir;
}

void Host::CollectFacts(const cci_plugin* plugin) {
  cci_case c;
  c.control_fd = control_fd_;
  c.configuration = &configuration_;
  c.deadline_ns = MonotonicNs() + 60'000'000'000;
  if (plugin->facts) plugin->facts(&kHost, &c);
  fflush(stdout);
  SendToHarness(control_fd_, wire::FactsEnd{});
}

bool Host::RunCase(const cci_plugin* plugin, const wire::Run& run) {
  cci_case c;
  c.control_fd = control_fd_;
  c.configuration = &configuration_;
  c.run = run;
  c.deadline_ns = MonotonicNs() + static_cast<int64_t>(run.timeout_s * 1e9);
  SendToHarness(control_fd_, wire::CaseStarted{run.serial});
  wire::CaseFinished finished;
  finished.serial = run.serial;
  if (const cci_check* check = FindCheck(plugin, run.check))
    check->run(&kHost, &c);
  else
    SendToHarness(control_fd_, wire::Uncaught{run.serial, "the plugin has no check " + run.check});
  // Before the verdict is sent, still inside the deadline: kernels run asynchronously.
  finished.context_error = ContextError();
  finished.leaked = HasLiveChildren();
  fflush(stdout);
  finished.evaluated = c.evaluated;
  finished.skipped = c.skipped;
  finished.skip = c.skip;
  SendToHarness(control_fd_, finished);
  return !c.poisoned && !finished.leaked && finished.context_error.empty();
}

}  // namespace cudnn_ci::worker
