// Names of severity, blame and layer, and the findings that only the harness reports.
#include "model/record/finding.h"

#include <cassert>
#include <utility>

#include "base/text.h"
#include "model/record/names.h"

namespace cudnn_ci {

namespace {

constexpr const char* kSeverities[] = {"error", "warning", "note"};
constexpr const char* kBlames[] = {"image", "runner", "harness", "matrix", "undetermined"};
constexpr const char* kLayers[] = {"driver", "toolkit", "cudnn", "init", "convolution", "framework", "other"};

constexpr const char* kWheres[] = {"", "image", "host", "matrix"};
// How a page says it.
constexpr const char* kPlaces[] = {"command", "Dockerfile", "on the host", "in matrix"};

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
     "\"reproduce\". Image owner: a truncated library, or one of the wrong version, causes such crashes. "
     "Plugin author: fix the code where it is the plugin's own. Runner owner: check that the driver fits the "
     "toolkit, and look for "
     "Xid messages in the kernel log."},
    {"timed-out", kError, Blame::kImage, "the check did not end within its time limit",
     "Look at the step and the frames in the evidence: they say whose code did not end. If the case is only "
     "slow, give its matrix entry a larger \"timeout_s\"."},
    {"exited-early", kError, Blame::kHarness, "the check's process exited before it gave its verdict",
     "Plugin author: find what calls exit() in the check or in a library it uses, and report it from there."},
    {"protocol-violation", kError, Blame::kHarness, "the worker sent something that is not a valid message",
     "Plugin author: something writes to file descriptor 3 or overwrites the worker's memory; run the case "
     "under a sanitizer."},
    {"out-of-memory", kError, Blame::kImage, "the check used more host memory than the container has",
     "Image owner: give the job more memory (docker run --memory, the pod's limit, Slurm's --mem), or let "
     "the "
     "check use less: smaller shapes, fewer processes. The detail has the limit."},
    {"processes-refused", kError, Blame::kRunner,
     "a command could not start another process because a limit of the runner was reached",
     "Runner owner: raise the limit named in the detail: the container's (docker run --pids-limit, the pod's "
     "limit) or the user's (ulimit -u)."},
    {"out-of-device-memory-shared", kError, Blame::kRunner,
     "device memory ran out while other processes held part of it",
     "Runner owner: end the other processes on this GPU, or schedule one job per GPU."},
    {"output-limit", kError, Blame::kHarness, "the check wrote more output than cudnn-ci keeps",
     "Plugin author: write less to stdout and stderr; results belong in expectations and measurements."},
    {"process-limit", kError, Blame::kHarness, "the check started too many processes",
     "Image owner: if the detail names a command, make it start fewer processes. Plugin author: otherwise, "
     "start children only through run_child, and end them before the check returns."},
    {"plugin-load", kError, Blame::kHarness, "a check plugin could not be loaded",
     "Harness owner: read the loader's message; build the plugin against the same SDK, or remove the file "
     "from the plugin folder if it should not run."},
    {"plugin-invalid", kError, Blame::kHarness,
     "what a check plugin declares is malformed or contradicts another plugin",
     "Plugin author: fix the declaration named in the detail; `cudnn-ci plugins --check` checks it without a "
     "run. If two files declare the same name, remove or rename one."},
    {"device-lost", kError, Blame::kRunner, "the GPU stopped answering",
     "Runner owner: look for Xid messages in the kernel log, drain the machine and reset the GPU; run the "
     "job "
     "elsewhere meanwhile."},
    {kGpuComputesWrong, kError, Blame::kRunner,
     "the GPU computes wrong results where another GPU does not, or different results for the same input",
     "Runner owner: take the GPU out of service and run the vendor's diagnostics (dcgmi diag -r 3; "
     "nvidia-smi -q -d ECC, "
     "ROW_REMAPPER; Xid messages in the kernel log); the detail has the element, its bits and the counts. "
     "Run the job "
     "elsewhere meanwhile.",
     "dcgmi diag -r 3"},
    {kFailsOnAnotherGpu, kError, Blame::kImage, "the case also fails on a second GPU of the same model",
     "Image owner: two GPUs agree, so neither is to blame; see what the case itself found."},
    {"abandoned", kError, Blame::kRunner, "a process could not be killed: it hangs in the driver",
     "Runner owner: the machine needs a driver reload or a reboot; run the job elsewhere meanwhile."},
    {"killed-from-outside", kError, Blame::kUndetermined,
     "something outside cudnn-ci killed the check's process",
     "Runner owner: find out what sends the signal (an operator, a job limit, the host's out-of-memory "
     "killer), and run the job again."},
    {"cancelled", kError, Blame::kUndetermined, "the run was cancelled while the case was running",
     "Pipeline owner: run again; nothing was found out about this case."},
    {"expectation-failed", kError, Blame::kImage, "an expectation of the check did not hold",
     "Image owner: the failed expectation says what was expected and what was seen."},
    {"uncaught-exception", kError, Blame::kHarness, "an exception escaped from the check",
     "Plugin author: catch it where it is understood and report what it means."},
    {"checked-nothing", kError, Blame::kHarness, "the check ended without evaluating a single expectation",
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
     "the case is slower than the baseline by more than the matrix allows, even when it runs alone",
     "Image owner: if the detail names a library that changed, try the previous version. Runner owner: check "
     "the GPU's clocks, temperature and other users (nvidia-smi -q -d CLOCK,PERFORMANCE,PIDS). If the "
     "slowdown is expected, pass a newer run with --baseline, or raise \"max_slowdown_percent\".",
     "nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE,PIDS"},
    {"slower-not-repeated", kWarning, Blame::kUndetermined,
     "the case was slower than the baseline; it was not run again, so it does not fail for that",
     "Pipeline owner: if it matters, run the case alone with --case and the same --baseline."},
    {"time-limit", kError, Blame::kUndetermined, "the time limit of the whole run was reached",
     "Pipeline owner: raise --time-limit, or split the plan over several jobs with --shard."},
    {"run-paused", kWarning, Blame::kRunner, "cudnn-ci was stopped for a while and then continued",
     "Runner owner: find out what stopped it: a suspended machine, a frozen container, SIGSTOP, no processor "
     "time. The time limits of cases were extended by the pause; --time-limit was not."},
    {"waiver-expired", kError, Blame::kMatrix, "a waiver has expired",
     "Matrix owner: remove the waiver if the failure is gone, or agree on a new date with its owner."},
    {"skip-not-allowed", kError, Blame::kMatrix, "a required case was skipped",
     "Matrix owner: provide what it needs on the runner, or add the kind of skip to \"allow_skip\"."},
    {"blocked-by-waived", kError, Blame::kUndetermined,
     "a case could not run because of a failure that is waived",
     "Matrix owner: the waiver accepts the failure, but not what it stops. Remove the blocked cases, set "
     "\"required\": false in their entries, or have the failure fixed and remove its waiver."},
    {"no-engine", kError, Blame::kImage, "no case of a matrix entry could run for one shape and type",
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
     "Image owner: base the image on a distribution with glibc 2.17 or later. NVIDIA has no libraries for "
     "musl "
     "(Alpine), and an image from scratch has no C library at all. Pipeline owner: check on a machine of the "
     "image's processor, with the cudnn-ci for it; do not gate images that need no CUDA."},
    {"libc-unfit", kError, Blame::kImage, "the image's C library cannot run cudnn-ci-worker",
     "Image owner: the detail quotes the loader. Install a complete glibc, 2.17 or later, and remove from "
     "LD_LIBRARY_PATH whatever replaces its files. Harness owner: if the loader asks for a newer glibc, "
     "build cudnn-ci with ci/bundle."},
    {"library-not-a-file", kError, Blame::kImage,
     "where the loader looks for libraries there is a FIFO or a device: what loads it waits",
     "Image owner: take the FIFO or device out of the folder, or the folder out of LD_LIBRARY_PATH."},
    {"preload-breaks-processes", kError, Blame::kImage,
     "what the image preloads into every process ends it before it begins",
     "Image owner: remove the library from LD_PRELOAD, LD_AUDIT or /etc/ld.so.preload, or repair it."},
    {"preload-interposes", kError, Blame::kImage,
     "what the image preloads may change what every check sees and says",
     "Image owner: take the library out of LD_PRELOAD, LD_AUDIT or /etc/ld.so.preload. Matrix owner: where "
     "it "
     "is meant (an allocator such as libtcmalloc or libjemalloc), name it in the matrix: \"image\": "
     "{ \"allow_preload\": [\"libjemalloc.so*\"] }. A library that is named there is trusted like the gate "
     "itself."},
    {"preloaded", kWarning, Blame::kImage, "the image preloads a library into every process",
     "Image owner: nothing to do where it is meant; a name that the loader does not find is better removed."},
    {"driver-library-of-image", kError, Blame::kImage,
     "a libcuda.so.1 of the image is used, though the host's driver is mounted",
     "Image owner: remove libcuda.so.1 from the image, or its folder from LD_LIBRARY_PATH and "
     "/etc/ld.so.conf.d; the driver comes with the host. Newer CUDA on an older driver is what a cuda-compat "
     "package is for. Matrix owner: where it is meant, name it in the matrix: \"image\": "
     "{ \"allow_driver_library\": [\"PATH\"] }."},
    {"driver-library-allowed", kWarning, Blame::kImage,
     "a libcuda.so.1 of the image is used in place of the host's, as the matrix allows",
     "Image owner: nothing to do where it is meant."},
    {"subject-missing", kError, Blame::kImage, "what a subject of the matrix names is not in the image",
     "Image owner: install it there, or name the right folder, interpreter or program in the matrix's "
     "\"subjects\"."},
    {"subject-unreadable", kError, Blame::kUndetermined,
     "files of the image did not answer: a mount (FUSE, NFS) hangs, or the machine is overloaded",
     "Runner owner: look at the mounts of the container (findmnt) and at the load of the machine; take out "
     "or "
     "repair the mount that hangs. Run again."},
    {"worker-exit", kError, Blame::kHarness, "a shared worker did not end cleanly after its last case",
     "Plugin author: something fails in a destructor or an exit handler; the worker's last case was run "
     "again "
     "alone."},
    {"not-run", kError, Blame::kUndetermined, "a planned case has no outcome",
     "Pipeline owner: the run ended early; the last lines of the journal say why. Run again."},
    {"part-missing", kError, Blame::kUndetermined,
     "a shard of the run, or the run on a required type of GPU, is missing or did not finish",
     "Pipeline owner: look at the job that should have written its journal; run that part again, and merge "
     "again."},
    {"leaked-process", kWarning, Blame::kHarness, "the check left a process running",
     "Plugin author: wait for children before the check returns; start them through run_child."},
    {"report-not-written", kError, Blame::kHarness, "a report could not be written",
     "Pipeline owner: check the free space and the owner of the output folder. If the journal is complete, "
     "`cudnn-ci report` makes the other reports from it."},
    {"evidence-dropped", kWarning, Blame::kHarness, "the check reported more than cudnn-ci keeps",
     "Plugin author: report only what matters; the rest was counted and is in no report."},
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
const char* Name(Where where) { return NameOf(kWheres, where); }
bool Parse(const std::string& name, Layer* out) { return ParseName(kLayers, name, out); }
bool Parse(const std::string& name, Where* out) { return ParseName(kWheres, name, out); }

const char* PlaceOf(Where where) { return NameOf(kPlaces, where); }

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
                      command.empty() ? Where::kNone : Where::kHost});
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

bool MayBeReported(const std::string& slug) {
  return slug == kGpuComputesWrong || slug == "out-of-memory" || slug == "processes-refused";
}

Finding HarnessFinding(const std::string& slug, std::string detail) {
  const FindingInfo* info = FindHarnessFinding(slug);
  assert(info != nullptr);
  if (info == nullptr) return {slug, Severity::kError, Blame::kHarness, std::move(detail), "", "", ""};
  return MakeFinding(*info, std::move(detail));
}

Finding HarnessFinding(const std::string& slug, std::string detail, std::string subject) {
  Finding finding = HarnessFinding(slug, std::move(detail));
  finding.subject = std::move(subject);
  return finding;
}

}  // namespace cudnn_ci
