// cudnn-ci-worker: the process in which checks run. It loads its plugin and serves the harness on
// descriptor 3 until it is told to stop or the harness goes away. Started by cudnn-ci only:
//
//   cudnn-ci-worker MARK PLUGIN_FILE...             serve; MARK is the run's, "PARENT_PID-..."
//   cudnn-ci-worker MARK --descriptor N PLUGIN_FILE...    the same, of files that no folder has: descriptor N
//   is open on the file; they are 4, 5, ... in this order
//   cudnn-ci-worker --open MARK PLUGIN_FILE...      the same, for a debugger (--isolation none): several
//   plugins, and others may look in
//   cudnn-ci-worker --exec PARENT_PID COMMAND...    become COMMAND, dying with the parent
//   cudnn-ci-worker --exec-mapped FILE COMMAND...   run COMMAND, and write which files it had mapped at its
//   end cudnn-ci-worker --guard PARENT_PID MARK SCRATCH...      end what a killed harness left behind
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "wire/message.h"
#include "wire/socket.h"
#include "worker/child.h"
#include "worker/crash_handler.h"
#include "worker/cuda_device.h"
#include "worker/describe.h"
#include "worker/guard.h"
#include "worker/guard_run.h"
#include "worker/host.h"
#include "worker/mapped_files.h"
#include "worker/plugin_library.h"

namespace {

using namespace cudnn_ci;  // NOLINT: this file is the program

constexpr int kControl = 3, kFirstPlugin = 4;
constexpr int64_t kAwakeNs = 50'000;  // in which the next case comes, if there is one

class MessageLoop {
 public:
  explicit MessageLoop(std::vector<const cci_plugin*> plugins)
      : plugins_(std::move(plugins)), host_(kControl) {}

  // Until shutdown, or until the harness is gone.
  int Run() {
    std::string packet;
    while (!done_) {
      wire::WaitAwake(kControl, awake_ns_);
      awake_ns_ = 0;
      const wire::Io io = wire::Receive(kControl, &packet);
      if (io != wire::Io::kOk) return 0;  // the harness closed its end
      Result<wire::ToWorker> message = wire::DecodeToWorker(packet);
      if (!message.ok()) {
        fprintf(stderr, "cudnn-ci-worker: %s\n", message.error().c_str());
        return 70;
      }
      std::visit([this](const auto& m) { Handle(m); }, *message);
    }
    return 0;
  }

 private:
  void Handle(const wire::Describe&) {
    const Status s = worker::DescribePlugin(
        plugins_.front(), [](const wire::FromWorker& m) { worker::SendToHarness(kControl, m); });
    if (!s.ok()) worker::SendToHarness(kControl, wire::PluginFailed{s.error()});
  }
  void Handle(const wire::CollectFacts&) { host_.CollectFacts(plugins_.front()); }
  void Handle(const wire::Configure& m) { host_.Configure(m); }
  void Handle(const wire::Known& m) { host_.Know(m); }
  void Handle(const wire::Warm&) { worker::WarmContext(); }
  void Handle(const wire::Prepare&) { worker::PrepareDriver(); }
  void Handle(const wire::PrepareCase& m) { host_.PrepareCase(OwnerOf(m.check), m); }
  void Handle(const wire::Canary&) {
    bool tested = false;
    const std::string error = worker::Canary(&tested);
    worker::SendToHarness(kControl, wire::CanaryDone{error.empty(), tested ? error : "no device to test"});
  }
  void Handle(const wire::Run& m) {
    // After a broken context, a leak or poison nothing more may run here; the harness sends no more once it
    // reads the verdict, and what it had queued is left unanswered for another worker.
    if (clean_) clean_ = host_.RunCase(OwnerOf(m.check), m);
    awake_ns_ = kAwakeNs;
  }
  void Handle(const wire::Validate& m) { host_.Validate(OwnerOf(m.check), m); }
  void Handle(const wire::Shutdown&) { done_ = true; }

  const cci_plugin* OwnerOf(const std::string& check) const {
    for (const cci_plugin* p : plugins_)
      if (check.compare(0, strlen(p->name) + 1, std::string(p->name) + ".") == 0) return p;
    return plugins_.front();
  }

  std::vector<const cci_plugin*> plugins_;
  worker::Host host_;
  bool clean_ = true, done_ = false;
  int64_t awake_ns_ = 0;
};

// The arguments behind the mark.
std::vector<worker::PluginToLoad> PluginsToLoad(int argc, char** argv) {
  std::vector<worker::PluginToLoad> plugins;
  for (int i = 2; i < argc; ++i) {
    const bool handed_over = i + 2 < argc && strcmp(argv[i], "--descriptor") == 0;
    const int descriptor = handed_over ? static_cast<int>(strtol(argv[i + 1], nullptr, 10)) : -1;
    if (handed_over) i += 2;
    plugins.push_back({argv[i], descriptor});
  }
  return plugins;
}

// The lowest descriptor above those that are handed over.
int FirstClosed(const std::vector<worker::PluginToLoad>& plugins) {
  int first = kFirstPlugin;
  for (const worker::PluginToLoad& plugin : plugins) first = std::max(first, plugin.descriptor + 1);
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && strcmp(argv[1], "--exec") == 0) worker::ExecChild(argc, argv);
  if (argc >= 2 && strcmp(argv[1], "--exec-mapped") == 0) worker::ExecMapped(argc, argv);
  if (argc >= 2 && strcmp(argv[1], "--guard") == 0) worker::GuardRun(argc, argv);
  const bool open = argc >= 2 && strcmp(argv[1], "--open") == 0;
  if (open) ++argv, --argc;
  if (argc < 3) {
    fprintf(stderr, "cudnn-ci-worker is started by cudnn-ci; run cudnn-ci instead\n");
    return 64;
  }
  prctl(PR_SET_NAME, "cudnn-ci-worker");  // the kernel knows one without a path by a number
  const std::vector<worker::PluginToLoad> files = PluginsToLoad(argc, argv);
  worker::GuardProcess(static_cast<pid_t>(strtol(argv[1], nullptr, 10)), FirstClosed(files), !open);
  worker::InstallCrashHandler(kControl);
  worker::SendToHarness(kControl, wire::Hello{wire::kVersion, getpid()});
  std::vector<const cci_plugin*> plugins;
  for (const worker::PluginToLoad& file : files) {
    const Result<const cci_plugin*> plugin = worker::LoadPlugin(file);
    if (!plugin.ok()) {
      worker::SendToHarness(kControl, wire::PluginFailed{plugin.error()});
      return 65;
    }
    plugins.push_back(*plugin);
  }
  return MessageLoop(std::move(plugins)).Run();
}
