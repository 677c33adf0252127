// Names of severity, blame and layer, and the findings that only the harness reports.
#include "model/finding.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "model/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kSeverities[] = {"error", "warning", "note"};
constexpr const char* kBlames[] = {"image", "runner", "harness", "matrix", "undetermined"};
constexpr const char* kLayers[] = {"driver", "toolkit", "cudnn", "init", "convolution", "framework", "other"};

// Where a command is typed, and how a page says so.
constexpr std::pair<const char*, const char*> kPlaces[] = {
    {"image", "Dockerfile"}, {"host", "on the host"}, {"matrix", "in matrix"}};

struct Declaration {
  const char* slug;
  Severity severity;
  Blame blame;
  const char* summary;
  const char* remedy;
  const char* host_command = "";  // for a shell of the runner
};

constexpr Severity kError = Severity::kError;
constexpr Severity kWarning = Severity::kWarning;

// Blame is the declaration's; the runner of the harness changes it where the case's layer or a failed
// canary says otherwise.
constexpr Declaration kDeclarations[] = {
    {"crashed", kError, Blame::kUndetermined, "the check's process was ended by a signal",
     "Look at the module, the frames and the step in the evidence, then run the case alone with the line "
     "under "
     "\"reproduce\". Image owner: a library that is truncated or of the wrong version crashes this way. "
     "Plugin "
     "author: mend what is the plugin's own code. Runner owner: compare the driver with the toolkit, and "
     "look for "
     "Xid messages in the kernel log."},
    {"timed-out", kError, Blame::kImage, "the check did not end within its time limit",
     "Image owner: look at the step and the wait channel in the evidence. If the case is only slow, give its "
     "matrix entry a larger \"timeout_s\"."},
    {"exited-early", kError, Blame::kHarness, "the check's process exited before it gave its verdict",
     "Plugin author: find what calls exit() in the check or in a library it uses, and report it from there."},
    {"protocol-violation", kError, Blame::kHarness, "the worker sent what is not a message",
     "Plugin author: something writes to file descriptor 3 or overwrites the worker's memory; run the case "
     "under a sanitizer."},
    {"out-of-memory", kError, Blame::kImage, "the check used more host memory than the container has",
     "Image owner: give the job more memory, or take smaller shapes; the evidence says how much was used."},
    {"out-of-device-memory-shared", kError, Blame::kRunner,
     "device memory ran out while other processes held part of it",
     "Runner owner: end the other processes on this GPU, or schedule one job per GPU."},
    {"output-limit", kError, Blame::kHarness, "the check wrote more output than is kept",
     "Plugin author: write less to stdout and stderr; results belong in expectations and measurements."},
    {"process-limit", kError, Blame::kHarness, "the check started more processes than a check may",
     "Plugin author: start children only through run_child, and end them before the check returns."},
    {"plugin-load", kError, Blame::kHarness, "a check plugin could not be loaded",
     "Harness owner: read the loader's words; build the plugin against the same SDK, or remove the file from "
     "the plugin folder if it is not meant to run."},
    {"plugin-invalid", kError, Blame::kHarness,
     "what a check plugin declares is malformed or contradicts another plugin",
     "Plugin author: repair the declaration the detail names; `cudnn-ci plugins --check` judges it without a "
     "run. Where two files declare the same name, remove or rename one."},
    {"device-lost", kError, Blame::kRunner, "the GPU stopped answering",
     "Runner owner: look for Xid messages in the kernel log, drain the machine and reset the GPU; run the "
     "job "
     "elsewhere meanwhile."},
    {kGpuComputesWrong, kError, Blame::kRunner,
     "the GPU gives wrong answers that another one does not, or not the same answer twice",
     "Runner owner: take the GPU out and run its vendor's diagnosis (dcgmi diag -r 3; nvidia-smi -q -d ECC, "
     "ROW_REMAPPER; Xid messages in the kernel log); the detail has element, bits and counts. Run the job "
     "elsewhere meanwhile.",
     "dcgmi diag -r 3"},
    {kFailsOnAnotherGpu, kError, Blame::kImage, "the case fails on a second GPU of the same model, too",
     "Image owner: two GPUs agree, so that neither is to blame; look at what the case itself found."},
    {"abandoned", kError, Blame::kRunner, "a process could not be killed: it hangs in the driver",
     "Runner owner: the machine needs a driver reload or a reboot; run the job elsewhere meanwhile."},
    {"killed-from-outside", kError, Blame::kUndetermined, "the check's process was killed by somebody else",
     "Runner owner: find out who sends the signal (an operator, a job limit, the host's memory killer), and "
     "run the "
     "job again."},
    {"cancelled", kError, Blame::kUndetermined, "the run was cancelled while the case was running",
     "Pipeline owner: run again; nothing was found out about this case."},
    {"expectation-failed", kError, Blame::kImage, "an expectation of the check did not hold",
     "Image owner: the failed expectation says what was expected and what was seen."},
    {"uncaught-exception", kError, Blame::kHarness, "an exception escaped from the check",
     "Plugin author: catch it where it is understood and report what it means."},
    {"checked-nothing", kError, Blame::kHarness, "the check ended without evaluating one expectation",
     "Plugin author: state at least one expectation on every path, or skip with what is needed and was "
     "seen."},
    {"undeclared-finding", kError, Blame::kHarness,
     "the check reported a finding its plugin does not declare",
     "Plugin author: declare the finding with severity, blame, summary and remedy."},
    {"order-dependent", kError, Blame::kUndetermined,
     "the case failed in a shared process and passed in one of its own",
     "Image owner: run the gate once more with --isolation process; if it is green there, an earlier case in "
     "the same process breaks this one."},
    {"flaky", kError, Blame::kUndetermined, "the case failed and then passed when it was tried again",
     "Image owner: find out why the result changes; \"allow_flaky\" in the matrix entry accepts it."},
    {"slower-than-baseline", kError, Blame::kUndetermined,
     "the case is slower than in the baseline by more than the matrix allows, alone on an idle machine, too",
     "Image owner: where the detail names a library that changed, try the one before. Runner owner: look at "
     "the "
     "GPU's clocks, temperature and other users (nvidia-smi -q -d CLOCK,PERFORMANCE,PIDS). Where it is "
     "meant, "
     "name a newer run with --baseline, or raise \"max_slowdown_percent\".",
     "nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,PIDS"},
    {"slower-not-repeated", kWarning, Blame::kUndetermined,
     "the case was slower than in the baseline and was not repeated, so that it is not held against it",
     "Pipeline owner: run it alone with --case and the same --baseline, if it matters by itself."},
    {"time-limit", kError, Blame::kUndetermined, "the time limit of the whole run was reached",
     "Pipeline owner: raise --time-limit, or deal the plan over several jobs with --shard."},
    {"waiver-expired", kError, Blame::kMatrix, "a waiver is past its last day",
     "Matrix owner: remove the waiver if the failure is gone, or agree on a new date with its owner."},
    {"skip-not-allowed", kError, Blame::kMatrix, "a required case was skipped",
     "Matrix owner: make what it needs available on the runner, or add the kind of skip to \"allow_skip\"."},
    {"no-engine", kError, Blame::kImage, "nothing of a matrix entry could run for one shape and type",
     "Image owner: install every cuDNN sub-library; a missing one looks like an unsupported convolution."},
    {"nothing-selected", kError, Blame::kMatrix, "the plan holds no case",
     "Matrix owner: check --filter, --case, --stage and the matrix's \"checks\"; a gate that runs nothing is "
     "not green."},
    {"context-broken", kError, Blame::kImage, "the check left a broken CUDA context behind",
     "Image owner: an asynchronous error came after the verdict; run the case with CUDA_LAUNCH_BLOCKING=1 to "
     "see which call it belongs to."},
    {"worker-not-started", kError, Blame::kRunner, "no process could be started for a check",
     "Runner owner: raise the limits of processes, open files, stack and memory (ulimit -u, ulimit -n, "
     "ulimit -s, the container's pids)."},
    {"loader-missing", kError, Blame::kImage,
     "the image has no glibc, which CUDA, cuDNN and cudnn-ci-worker need",
     "Image owner: build on an image with glibc 2.17 or later (Debian, Ubuntu, RHEL); NVIDIA does not make "
     "CUDA for "
     "musl (Alpine) or for an empty root. Pipeline owner: where the detail names another processor, take the "
     "cudnn-ci "
     "for that one."},
    {"preload-breaks-processes", kError, Blame::kImage,
     "what the image preloads into every process ends it before it begins",
     "Image owner: remove the library from LD_PRELOAD, LD_AUDIT or /etc/ld.so.preload, or repair it."},
    {"subject-missing", kError, Blame::kImage, "what a subject of the matrix names is not in the image",
     "Image owner: install it there, or name the right folder, interpreter or program in the matrix's "
     "\"subjects\"."},
    {"worker-exit", kError, Blame::kHarness, "a shared worker did not end cleanly after its last case",
     "Plugin author: something fails in a destructor or an exit handler; the worker's last case was run "
     "again "
     "alone."},
    {"not-run", kError, Blame::kUndetermined, "a planned case has no outcome",
     "Pipeline owner: the run ended early; the last lines of the journal say why. Run again."},
    {"part-missing", kError, Blame::kUndetermined,
     "a shard of the run, or the run on a required type of GPU, is missing or did not come to its end",
     "Pipeline owner: look at the job that should have written its journal; run that part again, and merge "
     "again."},
    {"leaked-process", kWarning, Blame::kHarness, "the check left a process running",
     "Plugin author: wait for children before the check returns; start them through run_child."},
    {"report-not-written", kError, Blame::kHarness, "a report could not be written",
     "Pipeline owner: look at the free space and the owner of the output folder; the journal may still be "
     "whole, and `cudnn-ci report` makes the reports from it."},
    {"evidence-dropped", Severity::kNote, Blame::kHarness, "the check reported more than is kept",
     "Plugin author: report what matters; the rest was counted, and is in no report."},
};

// What the launcher (ci/cudnn-ci-run) says where no finished report stands for the run. Its own words, with
// the evidence, are in junit.xml; blame is the image's where a kept entrypoint started the tool.
constexpr Declaration kOfLauncher[] = {
    {"engine-missing", kError, Blame::kRunner, "there is no container engine",
     "Runner owner: install docker, podman or nerdctl, or name the engine with --engine."},
    {"engine-failed", kError, Blame::kRunner,
     "the container engine does not answer, or could not run the container",
     "Runner owner: see the engine's words. Start its daemon; where its socket says \"permission denied\", "
     "put "
     "the user into the socket's group or take a rootless engine. An engine that is named (--engine, "
     "DOCKER_HOST, "
     "DOCKER_CONTEXT, CONTAINER_HOST) is never changed for another."},
    {"image-missing", kError, Blame::kRunner, "the image is not on the machine and could not be pulled",
     "Pipeline owner: check the image's name, the registry, and this runner's login; --pull never needs an "
     "image "
     "that was loaded before."},
    {"no-gpu-runtime", kError, Blame::kRunner, "the container engine cannot pass a GPU",
     "Runner owner: install the NVIDIA Container Toolkit and configure it for the engine (docker: nvidia-ctk "
     "runtime "
     "configure --runtime=docker, then restart docker; podman: nvidia-ctk cdi generate "
     "--output=/etc/cdi/nvidia.yaml), or choose with --gpu-way. Checks that need no GPU run with --no-gpu."},
    {"container-killed", kError, Blame::kRunner, "the container was killed from outside",
     "Runner owner: find out who ended it: a time limit, the runner, its host, or memory that ran out "
     "without the "
     "engine noticing."},
    {"tool-not-started", kError, Blame::kHarness, "cudnn-ci could not be started in the container",
     "Pipeline owner: take the archive for the image's processor; where the engine runs on another machine, "
     "the tree "
     "has to lie there. Image owner: a kept entrypoint has to exist and be executable."},
    {"tool-crashed", kError, Blame::kHarness, "cudnn-ci, or a kept entrypoint, was ended by a signal",
     "Pipeline owner: report it, with the words in junit.xml. Image owner: where the entrypoint is kept, run "
     "it "
     "alone."},
    {"no-finished-report", kError, Blame::kHarness,
     "the container ended and no finished report of this run is there",
     "Image owner: an entrypoint that is kept must end with exec \"$@\". Pipeline owner: without one, see "
     "the words "
     "in junit.xml, and report them."},
    {"invalid-use", kError, Blame::kMatrix, "cudnn-ci refused its command line, matrix or output folder",
     "Matrix owner: see its words, which name the place and what is expected there."},
    {"not-started", kError, Blame::kHarness, "the launcher was ended before it could start the container",
     "Pipeline owner: run it again; look at who ended the job."},
    {"not-finished", kError, Blame::kHarness, "the launcher was ended before the container was",
     "Pipeline owner: run it again; look at who ended the job (a time limit, the runner)."},
};

}  // namespace

const char* Name(Severity severity) { return NameOf(kSeverities, severity); }
const char* Name(Blame blame) { return NameOf(kBlames, blame); }
const char* Name(Layer layer) { return NameOf(kLayers, layer); }
bool Parse(const std::string& name, Severity* out) { return ParseName(kSeverities, name, out); }
bool Parse(const std::string& name, Blame* out) { return ParseName(kBlames, name, out); }
bool Parse(const std::string& name, Layer* out) { return ParseName(kLayers, name, out); }

std::string PlaceOf(const std::string& where) {
  for (const auto& [name, words] : kPlaces)
    if (where == name) return words;
  return "command";
}

bool IsPlace(const std::string& where) {
  return std::any_of(std::begin(kPlaces), std::end(kPlaces),
                     [&](const auto& one) { return where == one.first; });
}

bool IsCommand(const std::string& command) {
  return !command.empty() && CleanLine(command, kMostCommand) == command;
}

Finding MakeFinding(const FindingInfo& info, std::string detail) {
  return {info.slug,   info.severity, info.blame,   std::move(detail), info.summary,
          info.remedy, info.link,     info.command, info.where};
}

const std::vector<FindingInfo>& HarnessFindings() {
  static const std::vector<FindingInfo> kFindings = [] {
    std::vector<FindingInfo> list;
    const auto add = [&](const Declaration& d, const char* declared_by) {
      const std::string command = d.host_command;
      list.push_back({d.slug, d.severity, d.blame, d.summary, d.remedy, "", declared_by, command,
                      command.empty() ? "" : "host"});
    };
    for (const Declaration& d : kDeclarations) add(d, "cudnn-ci");
    for (const Declaration& d : kOfLauncher) add(d, "cudnn-ci-run");
    return list;
  }();
  return kFindings;
}

const FindingInfo* FindHarnessFinding(const std::string& slug) {
  for (const FindingInfo& info : HarnessFindings()) {
    if (info.slug == slug) return &info;
  }
  return nullptr;
}

Finding HarnessFinding(const std::string& slug, std::string detail) {
  const FindingInfo* info = FindHarnessFinding(slug);
  assert(info != nullptr);
  if (info == nullptr) return {slug, Severity::kError, Blame::kHarness, std::move(detail), "", "", ""};
  return MakeFinding(*info, std::move(detail));
}

}  // namespace cudnn_ci
