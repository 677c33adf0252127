#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string_view>
#include <type_traits>

#include "base/time.h"
#include "model/record/version.h"
#include "worker/describe.h"
#include "worker/host.h"
#include "worker/running_case.h"
#include "worker/skip_words.h"

namespace wire = cudnn_ci::wire;
namespace worker = cudnn_ci::worker;
using worker::Phase;

namespace {

constexpr const char* kPhaseNames[] = {"run", "facts", "validate", "prepare"};

std::string Text(const char* s) { return s ? s : ""; }

void Send(cci_case* c, const wire::FromWorker& message) { worker::SendToHarness(c->control_fd, message); }

// Whether a function that belongs to one phase may be called now; if not, the call is a failure.
bool Allowed(cci_case* c, Phase phase, const char* function) {
  if (c->phase == phase) return true;
  c->Fail(std::string(kPhaseNames[static_cast<int>(c->phase)]) + " called " + function +
          ", which belongs to " + kPhaseNames[static_cast<int>(phase)]);
  return false;
}

// Finds a parameter of type T.
template <class T>
int Find(cci_case* c, const char* name, const T** out) {
  if (!name) return CCI_E_ARGUMENT;
  const auto it = c->run.params.find(name);
  if (it == c->run.params.end()) return CCI_E_UNKNOWN;
  *out = std::get_if<T>(&it->second);
  return *out ? CCI_OK : CCI_E_TYPE;
}

template <class T, class Out>
int GetScalar(cci_case* c, const char* name, Out* out) {
  const T* v = nullptr;
  const int r = Find(c, name, &v);
  if (r == CCI_OK) *out = static_cast<Out>(*v);
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
const char* CompatibilityOf(cci_case* c, const char* key) { return c->known->Find(key); }
const char* FactOf(cci_case* c, const char* key) { return Lookup(c->configuration->facts, key); }

int Satisfies(cci_case*, const char* version, const char* range) {
  std::string error;
  const auto v = cudnn_ci::ParseVersion(Text(version));
  const auto r = cudnn_ci::ParseRange(Text(range), &error);
  if (!v || !r) return -1;
  return cudnn_ci::Contains(*r, *v) ? 1 : 0;
}

const char* SubjectSpec(cci_case* c) { return c->configuration->subject_spec.c_str(); }
int SubjectFolders(cci_case* c, const char* const** out, size_t* count) {
  if (!out || !count) return CCI_E_ARGUMENT;
  const std::vector<std::string>& folders = c->configuration->subject_folders;
  std::lock_guard lock(c->mutex);
  if (c->folder_table.empty()) {
    for (const std::string& folder : folders) c->folder_table.push_back(folder.c_str());
    c->folder_table.push_back(nullptr);
  }
  *out = c->folder_table.data();
  *count = folders.size();
  return CCI_OK;
}
const char* DeviceUuid(cci_case* c) { return c->configuration->device_uuid.c_str(); }
const char* ScratchDir(cci_case* c) { return c->configuration->scratch_dir.c_str(); }
uint64_t Seed(cci_case* c) { return c->run.seed; }

void Step(cci_case* c, const char* name) {
  if (!Allowed(c, Phase::kRun, "step")) return;
  bool skippable = false;
  {
    std::lock_guard lock(c->mutex);
    skippable = c->asked_steps.count(Text(name)) != 0;
  }
  Send(c, wire::Step{c->run.serial, Text(name), skippable});
}
int ShouldSkipStep(cci_case* c, const char* name) {
  if (!Allowed(c, Phase::kRun, "should_skip_step")) return 0;
  std::lock_guard lock(c->mutex);
  c->asked_steps.insert(Text(name));
  const auto& skip = c->run.skip_steps;
  return std::find(skip.begin(), skip.end(), Text(name)) != skip.end() ? 1 : 0;
}

void Expect(cci_case* c, int held, const char* file, int line, const char* what) {
  if (!Allowed(c, Phase::kRun, "expect")) return;
  // Millions may hold: only their number travels.
  if (!held) Send(c, wire::Expectation{c->run.serial, Text(file), line, Text(what)});
  std::lock_guard lock(c->mutex);
  ++c->evaluated;
}
void FindingSaid(cci_case* c, const char* slug, const char* detail) {
  if (!Allowed(c, Phase::kRun, "finding")) return;
  Send(c, wire::FindingSaid{c->run.serial, Text(slug), Text(detail)});
}
void FindingWithCommand(cci_case* c, const char* slug, const char* detail, uint32_t where,
                        const char* command) {
  if (!Allowed(c, Phase::kRun, "finding_with_command")) return;
  wire::FindingSaid said{c->run.serial, Text(slug), Text(detail)};
  // Here, where its bytes are still the plugin's: what was made valid on the way is another line.
  const cudnn_ci::Where place = worker::PlaceOfNumber(where);
  if (const std::string line = Text(command); cudnn_ci::IsCommand(line) && place != cudnn_ci::Where::kNone) {
    said.command = line;
    said.where = place;
  }
  Send(c, said);
}
void Skip(cci_case* c, uint32_t kind, const char* need, const char* seen) {
  if (!Allowed(c, Phase::kRun, "skip")) return;
  if (kind > CCI_SKIP_VERSION) return c->Fail("skip of the unknown kind " + std::to_string(kind));
  std::lock_guard lock(c->mutex);
  cudnn_ci::Skipped& skip = c->skip.emplace();
  skip = {static_cast<cudnn_ci::SkipKind>(kind), Text(need), Text(seen)};
  if (kind == CCI_SKIP_MEMORY) skip.resource = worker::MemoryInWords(skip.need, skip.seen);
}
void SkipMemory(cci_case* c, uint32_t memory, const char* need, const char* seen) {
  if (!Allowed(c, Phase::kRun, "skip_memory")) return;
  if (memory > CCI_MEMORY_HOST) return c->Fail("skip for the unknown memory " + std::to_string(memory));
  std::lock_guard lock(c->mutex);
  c->skip.emplace() = {
      cudnn_ci::SkipKind::kMemory, Text(need), Text(seen),
      memory == CCI_MEMORY_HOST ? cudnn_ci::Resource::kHostMemory : cudnn_ci::Resource::kDeviceMemory};
}
void Measure(cci_case* c, const char* name, double value, const char* unit, uint32_t goal) {
  if (!Allowed(c, Phase::kRun, "measure")) return;
  const char* const goals[] = {"", "lower", "higher"};
  Send(c, wire::Measurement{c->run.serial, Text(name), value, Text(unit),
                            goals[goal <= CCI_GOAL_HIGHER ? goal : 0]});
}
void Attach(cci_case* c, const char* name, const char* mime, const void* data, size_t size) {
  if (!Allowed(c, Phase::kRun, "attach")) return;
  int number = 0;
  {
    std::lock_guard lock(c->mutex);
    number = ++c->attachments;
  }
  // The name is the plugin's; the file name is ours, so that it can neither escape nor collide.
  const std::string file_name = "attachment-" + std::to_string(c->run.serial) + "-" + std::to_string(number);
  const std::string path = c->configuration->scratch_dir + "/" + file_name;
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  if (file)
    Send(c, wire::Attachment{c->run.serial, Text(name), Text(mime), file_name});
  else
    Send(c, wire::Log{c->run.serial, CCI_LOG_WARNING,
                      "attachment '" + Text(name) + "' could not be written to " + path});
}
void LogLine(cci_case* c, uint32_t level, const char* text) {
  if (c->phase != Phase::kRun) {  // outside a case its output is the only evidence
    fprintf(stderr, "%s\n", Text(text).c_str());
    return;
  }
  Send(c, wire::Log{c->run.serial, static_cast<int>(std::min<uint32_t>(level, CCI_LOG_ERROR)), Text(text)});
}
void Poison(cci_case* c, const char* reason) {
  if (!Allowed(c, Phase::kRun, "poison")) return;
  {
    std::lock_guard lock(c->mutex);
    c->poisoned = true;
  }
  Send(c, wire::Poisoned{c->run.serial, Text(reason)});
}
void UncaughtException(cci_case* c, const char* what) { c->Fail(Text(what)); }
void FactReport(cci_case* c, const char* key, const char* value) {
  if (!Allowed(c, Phase::kFacts, "fact_report")) return;
  Send(c, wire::Fact{Text(key), Text(value)});
}
void Invalid(cci_case* c, const char* parameter, const char* why) {
  if (!Allowed(c, Phase::kValidate, "invalid")) return;
  std::lock_guard lock(c->mutex);
  if (c->problems.size() < wire::kMaxProblems) c->problems.push_back({Text(parameter), Text(why)});
}

int RunChild(cci_case* c, const cci_child* child, cci_child_result* result) {
  if (!Allowed(c, Phase::kRun, "run_child")) return CCI_E_ARGUMENT;
  if (!child || !result || !CCI_HAS(cci_child, child, timeout_s) ||
      !CCI_HAS(cci_child_result, result, output_size) || !child->argv || !child->argv[0])
    return CCI_E_ARGUMENT;
  worker::ChildRequest request;
  for (const char* const* a = child->argv; *a; ++a) request.argv.emplace_back(*a);
  for (const char* const* e = child->env; e && *e; ++e) request.env.emplace_back(*e);
  const double left =
      static_cast<double>(std::max<int64_t>(0, c->deadline_ns - cudnn_ci::MonotonicNs())) / 1e9;
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

// A host function as plugins see it: an exception must not cross into a plugin, which may be written in C. It
// fails the case instead, and the function returns `kFailure`.
template <auto kFunction, int kFailure>
struct Guarded;
template <class R, class... A, R (*kFunction)(cci_case*, A...), int kFailure>
struct Guarded<kFunction, kFailure> {
  static R Call(cci_case* c, A... arguments) noexcept {
    try {
      return kFunction(c, arguments...);
    } catch (const std::exception& e) {
      Explain(c, e.what());
    } catch (...) {
      Explain(c, "an exception that is not a std::exception");
    }
    if constexpr (std::is_pointer_v<R>)
      return nullptr;
    else if constexpr (!std::is_void_v<R>)
      return static_cast<R>(kFailure);
  }

  static void Explain(cci_case* c, const char* what) noexcept {
    try {
      c->Fail(std::string("in a host function: ") + what);
    } catch (...) {
      // Not even the message could be made. A crash with these words is better than a pass.
      constexpr std::string_view kWords = "cudnn-ci-worker: out of memory while reporting a failure\n";
      [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, kWords.data(), kWords.size());
      abort();
    }
  }
};

template <auto kFunction, int kFailure = CCI_E_SYSTEM>
constexpr auto kGuarded = &Guarded<kFunction, kFailure>::Call;

constexpr cci_host kHost = {
    sizeof(cci_host),
    CCI_ABI_MINOR,
    kGuarded<GetScalar<bool, int>>,
    kGuarded<GetScalar<int64_t, int64_t>>,
    kGuarded<GetScalar<double, double>>,
    kGuarded<GetString>,
    kGuarded<GetI64List>,
    kGuarded<GetStringList>,
    kGuarded<Contract>,
    kGuarded<FactOf>,
    kGuarded<Satisfies, -1>,
    kGuarded<SubjectSpec>,
    kGuarded<DeviceUuid>,
    kGuarded<ScratchDir>,
    kGuarded<Seed>,
    kGuarded<Step>,
    kGuarded<ShouldSkipStep, 0>,
    kGuarded<Expect>,
    kGuarded<FindingSaid>,
    kGuarded<Skip>,
    kGuarded<Measure>,
    kGuarded<Attach>,
    kGuarded<LogLine>,
    kGuarded<Poison>,
    kGuarded<UncaughtException>,
    kGuarded<FactReport>,
    kGuarded<RunChild>,
    kGuarded<Invalid>,
    kGuarded<CompatibilityOf>,
    kGuarded<SubjectFolders>,
    kGuarded<FindingWithCommand>,
    kGuarded<SkipMemory>,
};

}  // namespace

void cci_case::Fail(const std::string& why) {
  if (phase == Phase::kRun) return Send(this, wire::Uncaught{run.serial, why});
  std::lock_guard lock(mutex);
  if (failure.empty()) failure = why;
}

namespace cudnn_ci::worker {

const cci_host* HostFunctions() { return &kHost; }

}  // namespace cudnn_ci::worker
