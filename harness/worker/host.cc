#include "worker/host.h"

#include <stdio.h>
#include <unistd.h>

#include <utility>

#include "base/time.h"
#include "wire/socket.h"
#include "worker/crash_handler.h"
#include "worker/cuda_device.h"
#include "worker/describe.h"
#include "worker/guard.h"
#include "worker/plugin_call.h"
#include "worker/running_case.h"

namespace cudnn_ci::worker {
namespace {

constexpr int64_t kFactsNs = 60'000'000'000;

// Calls a plugin's function. False: an exception left it, and nothing more should run in this process.
bool Call(void (*function)(const cci_host*, cci_case*), cci_case* c) {
  const std::optional<std::string> exception = ExceptionOf(function, HostFunctions(), c);
  if (!exception) return true;
  c->Fail("an exception left the plugin's C function" + (exception->empty() ? "" : ": " + *exception));
  return false;
}

}  // namespace

void SendToHarness(int control_fd, const wire::FromWorker& message) {
  WaitForCrash();
  if (wire::Send(control_fd, wire::Encode(message)) != wire::Io::kOk) _exit(0);
}

void Host::Configure(const wire::Configure& configuration) {
  for (const auto& [k, v] : configuration.contract) configuration_.contract[k] = v;
  for (const auto& [k, v] : configuration.facts) configuration_.facts[k] = v;
  configuration_.subject_name = configuration.subject_name;
  configuration_.subject_spec = configuration.subject_spec;
  configuration_.subject_folders = configuration.subject_folders;
  configuration_.device_uuid = configuration.device_uuid;
  configuration_.scratch_dir = configuration.scratch_dir;
}

void Host::Open(Phase phase, cci_case* c) const {
  c->phase = phase;
  c->control_fd = control_fd_;
  c->configuration = &configuration_;
  c->known = &known_;
}

void Host::CollectFacts(const cci_plugin* plugin) {
  cci_case c;
  Open(Phase::kFacts, &c);
  c.deadline_ns = MonotonicNs() + kFactsNs;
  if (plugin->facts) Call(plugin->facts, &c);
  fflush(stdout);
  SendToHarness(control_fd_, wire::FactsEnd{c.failure});
}

void Host::Validate(const cci_plugin* plugin, const wire::Validate& request) {
  cci_case c;
  Open(Phase::kValidate, &c);
  c.run.serial = request.serial;
  c.run.check = request.check;
  c.run.params = request.params;
  const cci_check* check = FindCheck(plugin, request.check);
  if (!check)
    c.Fail("the plugin has no check " + request.check);
  else if (const auto validate = ValidateOf(check))
    Call(validate, &c);
  // It would live on, and see the plan being made.
  if (HasLiveChildren()) c.Fail("validate left a process behind");
  fflush(stdout);
  SendToHarness(control_fd_, wire::Validated{request.serial, std::move(c.problems), std::move(c.failure)});
}

void Host::PrepareCase(const cci_plugin* plugin, const wire::PrepareCase& request) {
  cci_case c;
  Open(Phase::kPrepare, &c);
  c.run.check = request.check;
  c.run.params = request.params;
  c.run.seed = request.seed;
  const cci_check* check = FindCheck(plugin, request.check);
  const auto prepare = check ? PrepareOf(check) : nullptr;
  if (!prepare) return;
  const bool returned = Call(prepare, &c);
  // A case shall find no trace of what went wrong before it began. A child is no error of the case.
  if (!returned || !ContextError().empty()) _exit(1);
  if (HasLiveChildren()) _exit(0);
}

bool Host::RunCase(const cci_plugin* plugin, const wire::Run& run) {
  cci_case c;
  Open(Phase::kRun, &c);
  c.run = run;
  c.deadline_ns = MonotonicNs() + static_cast<int64_t>(run.timeout_s * 1e9);
  // Of the first one: later ones are sent to a process that waits for them.
  if (!std::exchange(began_, true)) SendToHarness(control_fd_, wire::CaseStarted{run.serial});
  wire::CaseFinished finished;
  finished.serial = run.serial;
  if (const cci_check* check = FindCheck(plugin, run.check)) {
    if (!Call(check->run, &c)) {
      c.poisoned = true;
      SendToHarness(control_fd_, wire::Poisoned{run.serial, "an exception left the plugin's C function"});
    }
  } else {
    c.Fail("the plugin has no check " + run.check);
  }
  // Before the verdict is sent, still inside the deadline: kernels run asynchronously.
  finished.context_error = ContextError();
  finished.leaked = HasLiveChildren();
  fflush(stdout);
  finished.evaluated = c.evaluated;
  finished.skip = c.skip;
  SendToHarness(control_fd_, finished);
  return !c.poisoned && !finished.leaked && finished.context_error.empty();
}

}  // namespace cudnn_ci::worker
