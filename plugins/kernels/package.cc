// kernels.package: what one package of the environment computes is right, or it refuses.
//
// The implementations of a package run in one process, or in several at the same time: what is judged of a
// process is judged of each. The runner reports values; what they mean is judged here, in the order in which
// one cause hides another: the package cannot be imported, it sees no GPU, it died, it broke the GPU; then
// call by call: refused, computed elsewhere, wrong.
#include <cudnn_ci/check.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "base/package_names.h"
#include "common/interpreter.h"
#include "common/judge.h"
#include "common/known_attention.h"
#include "common/program.h"
#include "common/shortage.h"
#include "kernels/findings.h"
#include "kernels/job.h"
#include "kernels/runner_run.h"

namespace cudnn_ci {
namespace {

struct PackageParams : Interpreter {
  std::string adapter;
};

constexpr char kOfProcess[] = " (process ";

// What became of the calls of one implementation, by their problems.
struct Tally {
  std::vector<std::string> right, refused, wrong;
  std::size_t calls = 0, allowed = 0;  // `allowed`: refusals that are no fault and no lack of memory
  std::string refusal;   // the first that is allowed, of a problem with an answer, on a GPU that it is for
  int within_bound = 0;  // of `right`: only by the bound of the implementation's arithmetic
  double first_s = 0,
         second_s = 0;  // of the first runs, in which what is compiled is compiled, and the second
};

class PackageCase {
 public:
  PackageCase(Context& ctx, const Adapter& adapter, const RunnerPackage& package, const PackageParams& p)
      : ctx_(ctx),
        adapter_(adapter),
        name_(adapter.title + " " + package.version),
        version_(NumbersOf(package.version)),
        p_(p) {}

  void Run(const std::string& python) {
    const std::string folder = ctx_.ScratchDir() + "/kernels";
    const auto takes = [&](const Implementation& one) {
      return one.versions.empty() || ctx_.Satisfies(version_, one.versions);
    };
    job_ = MakeKernelJob(adapter_, takes, MostKernelProcesses(RoomForProcesses(ctx_)));
    run_ = RunRunner(ctx_, python, folder, WriteKernelJob(folder, adapter_, job_), p_.timeout_s,
                     ProcessesOfCalls(job_));
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < answer().processes.size(); ++i)
      if (JudgeImport(i)) usable.push_back(i);
    if (!usable.empty()) {
      for (std::size_t i = 0; i < job_.calls.size(); ++i)
        if (std::count(usable.begin(), usable.end(), static_cast<std::size_t>(job_.calls[i].process)) > 0)
          JudgeCall(folder, static_cast<int>(i));
      Report();
      for (const std::size_t i : usable) JudgeEnd(i);
      JudgeUntraced();
    }
    JudgeRunnersEnd();
    Tell();
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }

 private:
  const RunnerAnswer& answer() const { return run_.answer; }
  const RunnerProcess& ProcessOf(const KernelCall& call) const {
    return answer().processes[static_cast<std::size_t>(call.process)];
  }
  bool HaveAllEnded() const {
    return std::all_of(answer().processes.begin(), answer().processes.end(),
                       [](const RunnerProcess& one) { return one.ended; });
  }

  // Of what several processes say alike, as of an import that fails in each of them, one finding.
  void Find(const char* finding, const std::string& where, const std::string& what) {
    all_sound_ = false;
    if (said_.insert({finding, where.substr(0, where.find(kOfProcess)) + what}).second)
      ctx_.Finding(finding, where + ": " + what);
  }

  // Whether a process got as far as its calls.
  bool JudgeImport(std::size_t which) {
    const RunnerProcess& process = answer().processes[which];
    if (!process.lacks.empty())
      ctx_.Skip(CCI_SKIP_ABSENT, "what the adapter of " + adapter_.title + " needs", process.lacks);
    if (!process.error.empty()) {
      Find(kKernelsImportFailed, LastStep(which),
           process.error + WordsOfShortage(process.error) + "; by " + run_.python);
      return false;
    }
    ctx_.Expect(true, __FILE__, __LINE__, "it can be imported");
    if (!process.described) return JudgeEnd(which);
    if (process.devices > 0) {
      ctx_.Expect(true, __FILE__, __LINE__, "it sees a GPU");
      return true;
    }
    Find(kKernelsNoGpu, name_,
         "built " + (process.built.empty() ? "without CUDA" : "for CUDA " + process.built) +
             "; CUDA_VISIBLE_DEVICES='" + Environment("CUDA_VISIBLE_DEVICES") + "'");
    return false;
  }

  // "PyTorch 2.11.0, sdpa flash, attention/bfloat16_long, run 1", of what ran last in a process.
  std::string LastStep(std::size_t which) const {
    const auto [call, run] = answer().processes[which].step;
    if (call >= 0 && static_cast<std::size_t>(call) < job_.calls.size())
      return name_ + ", " + job_.calls[static_cast<std::size_t>(call)].Text(run);
    const std::string& name = job_.processes[which];
    return name_ + ", its import" + (name.empty() ? "" : kOfProcess + name + ")");
  }

  // Whether a process lived until it had answered. One of several says itself how it ended, by the one that
  // waits for all; the end of that one is the end of those that it did not wait for.
  bool JudgeEnd(std::size_t which) {
    const RunnerProcess& process = answer().processes[which];
    const bool waited_for = process.left || run_.end.timed_out;
    const std::string output =
        waited_for ? OutputOfProcess(run_.end.output, job_.processes, which) : run_.end.output;
    if (run_.end.timed_out && !process.left) {
      Find(kKernelsTimedOut, LastStep(which),
           "no answer within " + SecondsText(p_.timeout_s) + "; " + LastLine(output));
      return false;
    }
    ctx_.Expect(true, __FILE__, __LINE__, "it answers in time");
    if (!process.broken.empty()) {
      Find(kKernelsCrashed, LastStep(which),
           "the GPU cannot be used after it: " + process.broken.begin()->second);
      return false;
    }
    ChildResult end = run_.end;
    if (process.left) end.exit_status = process.exit_status, end.signal = process.signal;
    if (!process.ended || end.exit_status != 0) {
      Find(kKernelsCrashed, LastStep(which),
           run_.python + " " + HowEnded(end) + (process.ended ? " after its answer; " : "; ") +
               LastLine(output) + WordsOfShortage(output));
      return false;
    }
    ctx_.Expect(true, __FILE__, __LINE__, "its process lives until it has answered");
    return true;
  }

  // Of the one that waits for several, where the end of none of them says why.
  void JudgeRunnersEnd() {
    if (all_sound_ && run_.end.exit_status != 0)
      Find(kKernelsCrashed, name_, run_.python + " " + HowEnded(run_.end) + "; " + LastLine(run_.end.output));
  }

  void JudgeUntraced() {
    if (answer().results.empty()) return;
    for (const RunnerProcess& process : answer().processes)
      if (!process.untraced.empty()) return ctx_.Finding(kKernelsUntraced, name_ + ": " + process.untraced);
  }

  void JudgeCall(const std::string& folder, int index) {
    const KernelCall& call = job_.calls[static_cast<std::size_t>(index)];
    Tally& tally = tallies_[call.implementation->name];
    ++tally.calls;
    for (int run = 1; run <= kRunsOfACall; ++run) {
      const auto refused = answer().refused.find({index, run});
      if (refused != answer().refused.end()) {
        tally.refused.push_back(call.problem->name);
        return JudgeRefusal(call, run, refused->second);
      }
      const auto result = answer().results.find({index, run});
      if (result == answer().results.end()) {  // it did not get that far, or does not say
        if (ProcessOf(call).ended && ProcessOf(call).broken.empty())
          Fail(kKernelsCrashed, call, run, "its answer does not mention it");
        return;
      }
      (run == 1 ? tally.first_s : tally.second_s) += result->second.seconds;
      const bool right = JudgeResult(folder, call, {index, run}, result->second);
      if (!right) tally.wrong.push_back(call.problem->name);
      if (!right) return;
    }
    tally.right.push_back(call.problem->name);
    tally.within_bound += IsWithinBound(folder, job_, {index, 1}) ? 1 : 0;
  }

  void JudgeRefusal(const KernelCall& call, int run, const RunnerRefusal& refusal) {
    refusals_ += "refused: " + call.Text() + ": " + refusal.why + "\n";
    if (IsOutOfMemory(refusal.why)) {
      out_of_memory_ = call.Text() + ": " + refusal.why;
      return;
    }
    const std::string& least = call.implementation->capability;
    const std::string& capability = ProcessOf(call).capability;
    const bool able =
        least.empty() || capability.empty() || ctx_.Satisfies(NumbersOf(capability), ">=" + least);
    if (able && first_refusal_.empty()) first_refusal_ = call.Text(run) + ": " + refusal.why;
    const bool broken = (call.implementation->Promises(call.problem->name) && able) || run > 1;
    if (broken) return Fail(kKernelsRefused, call, run, refusal.why);
    Tally& tally = tallies_[call.implementation->name];
    ++tally.allowed;
    if (able && !call.problem->outputs.empty() && tally.refusal.empty())
      tally.refusal = call.Text(run) + ": " + refusal.why;
    ctx_.Expect(true, __FILE__, __LINE__, call.Text() + ": refused, as allowed");
  }

  bool JudgeResult(const std::string& folder, const KernelCall& call, RunnerAnswer::Call which,
                   const RunnerResult& result) {
    if (call.problem->outputs.empty()) {
      Fail(kKernelsNotRefused, call, which.second, "it returned a result");
      return false;
    }
    const std::string elsewhere = WhyElsewhere(call, result);
    const auto [output, wrong] = WrongWith(folder, job_, which, result);
    if (!elsewhere.empty()) Fail(kKernelsNotOnGpu, call, which.second, elsewhere);
    if (!wrong.empty())
      Fail(kKernelsWrong, call, which.second, wrong + KnownOf(call, output) + Kernels(result));
    if (!elsewhere.empty() || !wrong.empty()) return false;
    ctx_.Expect(true, __FILE__, __LINE__, call.Text() + ": right");
    return true;
  }

  // What is known of it: of this release of the package, and of the cuDNN that it calls.
  std::string KnownOf(const KernelCall& call, const std::string& output) const {
    std::string known;
    for (const KernelFault& fault : call.implementation->faults)
      if (fault.Hits(call.problem->name) && ctx_.Satisfies(version_, fault.versions)) known += fault.Text();
    const RunnerProcess& process = ProcessOf(call);
    if (!call.implementation->calls_cudnn || !call.problem->attention || process.cudnn_version.empty())
      return known;
    AttentionProblemSpec pass = *call.problem->attention;
    pass.backward = output != "o";
    return "; with cuDNN " + process.cudnn_version + " (" + process.cudnn_file + ")" + known +
           KnownOfAttention(ctx_, process.cudnn_version, pass);
  }

  // One finding for each kind and implementation: its first problem, and the names of the others.
  void Fail(const char* finding, const KernelCall& call, int run, const std::string& why) {
    details_ += std::string(finding) + ": " + call.Text(run) + ": " + why + "\n";
    std::pair<std::string, std::string>& failed = failures_[{finding, call.implementation->name}];
    if (failed.first.empty())
      failed.first = name_ + ", " + call.Text(run) + ": " + why;
    else
      failed.second += (failed.second.empty() ? "; also: " : ", ") + call.problem->name;
  }

  void Report() {
    for (const auto& [what, failed] : failures_)
      ctx_.Finding(what.first.c_str(), failed.first + failed.second);
    // Who refuses everything has shown nothing, whatever it promises.
    const bool any_right = std::any_of(tallies_.begin(), tallies_.end(),
                                       [](const auto& tally) { return !tally.second.right.empty(); });
    if (failures_.empty() && !any_right && out_of_memory_.empty() && HaveAllEnded()) ReportNothingRight();
    // Of an implementation that refused every problem a green result says nothing.
    for (const auto& [name, tally] : tallies_)
      if (any_right && all_sound_ && tally.allowed == tally.calls && !tally.refusal.empty())
        ctx_.Finding(kKernelsNotCovered, name_ + ", " + tally.refusal + "; it refused every problem");
  }

  void ReportNothingRight() {
    if (!first_refusal_.empty())
      ctx_.Finding(kKernelsRefused, name_ + ", " + first_refusal_ + "; it refused every problem");
    else
      nothing_for_ = Told().capability.empty() ? "this GPU" : "compute capability " + Told().capability;
  }

  // The first process that told what it runs on; they have one GPU and one package.
  const RunnerProcess& Told() const {
    const auto told = std::find_if(answer().processes.begin(), answer().processes.end(),
                                   [](const RunnerProcess& one) { return one.described; });
    return told != answer().processes.end() ? *told : answer().processes.front();
  }

  static std::string Kernels(const RunnerResult& result) {
    constexpr std::size_t kShown = 3, kMostOfAName = 120;
    std::string text;
    for (std::size_t i = 0; i < result.launches.size() && i < kShown; ++i)
      text += (i == 0 ? "; kernels: " : ", ") + result.launches[i].substr(0, kMostOfAName);
    return text;
  }

  // Why nothing shows that the GPU computed the result in this way; empty: something does, or nobody knows.
  std::string WhyElsewhere(const KernelCall& call, const RunnerResult& result) const {
    const Implementation& implementation = *call.implementation;
    for (const auto& [name, output] : result.outputs)
      if (output.device.find("cpu") != std::string::npos || output.device.find("Cpu") != std::string::npos)
        return name + " is on " + output.device;
    if (!ProcessOf(call).untraced.empty()) return "";
    if (result.launches.empty()) return "it launched no kernel";
    const auto is_its = [&](const std::string& launched) {
      return std::any_of(implementation.kernels.begin(), implementation.kernels.end(),
                         [&](const std::string& part) { return launched.find(part) != std::string::npos; });
    };
    if (implementation.kernels.empty() || std::any_of(result.launches.begin(), result.launches.end(), is_its))
      return "";
    return "none of its kernels is known to belong to this implementation" + Kernels(result);
  }

  // What was seen stays with the case, whatever its outcome.
  void Tell() {
    std::string text = name_ +
                       (Told().built.empty() ? ", built without CUDA" : ", built for CUDA " + Told().built) +
                       (Told().device.empty() ? "" : ", on " + Told().device) + "\n";
    if (!adapter_.known_good.empty()) text += "known to be right: " + adapter_.known_good + "\n";
    if (!adapter_.known_bad.empty()) text += "known to be wrong: " + adapter_.known_bad + "\n";
    double right = 0, within_bound = 0, refused = 0, wrong = 0, first_s = 0, second_s = 0;
    for (const auto& [name, tally] : tallies_) {
      char times[100];
      std::snprintf(times, sizeof times, "first runs %.3f s, second runs %.3f s", tally.first_s,
                    tally.second_s);
      text += name + ": right " + std::to_string(tally.right.size()) +
              (tally.within_bound > 0 ? ", of these " + std::to_string(tally.within_bound) + " within a bound"
                                      : "") +
              ", refused " + std::to_string(tally.refused.size()) + ", wrong " +
              std::to_string(tally.wrong.size()) + "; " + times + "\n";
      within_bound += tally.within_bound;
      right += static_cast<double>(tally.right.size()), refused += static_cast<double>(tally.refused.size());
      wrong += static_cast<double>(tally.wrong.size()), first_s += tally.first_s, second_s += tally.second_s;
    }
    for (const auto& [call, result] : answer().results)
      if (call.second == 1 && static_cast<std::size_t>(call.first) < job_.calls.size())
        text +=
            "computed: " + job_.calls[static_cast<std::size_t>(call.first)].Text() + Kernels(result) + "\n";
    ctx_.Attach("kernels.txt", "text/plain", text + refusals_ + details_);
    ctx_.Measure("right", right, "");
    ctx_.Measure("within_bound", within_bound, "");
    ctx_.Measure("refused", refused, "");
    ctx_.Measure("wrong", wrong, "");
    ctx_.Measure("first_runs", first_s, "s");
    ctx_.Measure("second_runs", second_s, "s");
    ctx_.Measure("processes", static_cast<double>(job_.processes.size()), "");
    ctx_.Measure("wall", run_.wall_s, "s");
    if (!nothing_for_.empty())
      ctx_.Skip(CCI_SKIP_VERSION, "a GPU for which " + name_ + " has kernels", nothing_for_);
    if (!out_of_memory_.empty())
      ctx_.SkipMemory(CCI_MEMORY_DEVICE, "device memory for small problems by " + name_, out_of_memory_);
  }

  Context& ctx_;
  const Adapter& adapter_;
  const std::string name_, version_;  // "PyTorch 2.11.0+cu130", "2.11.0"
  const PackageParams& p_;
  KernelJob job_;
  RunnerRun run_;
  std::map<std::string, Tally> tallies_;  // by implementation
  std::set<std::pair<std::string, std::string>> said_;
  bool all_sound_ = true;  // every process, as far as its import and its end tell
  // By finding and implementation.
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> failures_;
  std::string refusals_, details_, out_of_memory_;  // a line each; the last one: why, empty: it had enough
  std::string first_refusal_;                       // on a GPU that the implementation is for
  std::string nothing_for_;                         // the GPU that no implementation is for
};

struct OfPackage {
  using Params = PackageParams;
  static void Describe(Schema<Params>& s) {
    s.Summary("the results of a package's own kernels are right, or the package refuses the problem")
        .Devices(CCI_DEVICES_ONE)
        .Concurrent()
        .Requires("driver.canary");
    s.Param("adapter", &Params::adapter).Summary("adapter for the package, such as \"torch\"");
    DescribeInterpreter(s, 240);
  }
  static void Validate(const Params& p, Problems& problems) { ValidateInterpreter(p, problems); }

  static void Run(Context& ctx, const Params& p) {
    const std::vector<Adapter> adapters = AdaptersOf(ctx);
    const auto adapter = std::find_if(adapters.begin(), adapters.end(),
                                      [&](const Adapter& one) { return one.name == p.adapter; });
    if (adapter == adapters.end()) return ctx.Finding(kKernelsAdapterUnknown, p.adapter);
    const std::string python = RunnersPython(ctx, p.python);
    const RunnerAnswer look = ListPackages(ctx, python, adapter->distributions, false, 60);
    RunnerPackage package;
    for (const std::string& name : adapter->distributions)
      for (const RunnerPackage& found : look.packages)
        if (package.name.empty() && found.name == name) package = found;
    if (package.name.empty())
      ctx.Skip(CCI_SKIP_ABSENT, adapter->title + " in " + python,
               "no package " + adapter->distributions.front());
    const std::string version = NumbersOf(package.version);
    if (!ctx.Satisfies(version, adapter->versions))
      ctx.Skip(CCI_SKIP_VERSION, adapter->title + " " + adapter->versions + ", which its adapter supports",
               package.name + " " + package.version);
    PackageCase(ctx, *adapter, package, p).Run(python);
  }
};

CCI_REGISTER(OfPackage, "package")

}  // namespace
}  // namespace cudnn_ci
