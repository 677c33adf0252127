#include "exec/plugins/validate.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "exec/schedule/launch.h"
#include "exec/system/plugin_file.h"
#include "exec/workers/batch.h"

namespace cudnn_ci {
namespace {

constexpr size_t kAhead = 32;             // questions asked and not answered, so that the plugin never waits
constexpr size_t kMostProblems = 10'000;  // of one plugin
constexpr size_t kNameBytes = 200, kWhyBytes = 500;

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

}  // namespace

ValidateWorker::ValidateWorker(std::vector<const CasePlanned*> cases, double load_s, double hook_s,
                               WorkerLimits limits)
    : AskedWorker(limits), cases_(std::move(cases)), load_ns_(Ns(load_s)), hook_ns_(Ns(hook_s)) {
  invalid_.resize(cases_.size());
}

void ValidateWorker::Ask(const wire::Configure& configure, int64_t now_ns, Effects* out) {
  since_ns_ = now_ns;
  Send(configure, out);
  SendAhead(now_ns, out);
}

void ValidateWorker::SendAhead(int64_t now_ns, Effects* out) {
  for (; sent_ < cases_.size() && sent_ < answered_ + kAhead; ++sent_) {
    const CasePlanned& c = *cases_[sent_];
    Send(wire::Validate{static_cast<int64_t>(sent_) + 1, c.check, c.params}, out);
  }
  if (answered_ == cases_.size()) Shutdown(now_ns, out);
}

void ValidateWorker::OnMessage(const wire::FromWorker& message, int64_t now_ns, Effects* out) {
  const auto* answer = std::get_if<wire::Validated>(&message);
  if (answer == nullptr || answered_ == sent_ || answer->serial != static_cast<int64_t>(answered_) + 1)
    return OnGarbage("an answer to a question that was not asked", now_ns, out);
  if (!answer->failure.empty())
    return Terminate(ErrorKind::kProtocol, answer->failure + " " + Doing(), false, now_ns, out);
  for (const wire::ParamProblem& problem : answer->problems) {
    if (++problems_ > kMostProblems) break;
    invalid_[answered_].push_back(
        {SingleLine(problem.parameter, kNameBytes), SingleLine(problem.why, kWhyBytes)});
  }
  ++answered_;
  since_ns_ = now_ns;
  SendAhead(now_ns, out);
}

std::string ValidateWorker::Doing() const {
  if (idle()) return "after its last answer";
  return "while it checked the parameters of " + cases_[answered_]->ref.id;
}

void ValidateWorker::CheckTask(int64_t now_ns, Effects* out) {
  if (idle() || now_ns < TaskDeadlineNs()) return;
  const double limit_s = static_cast<double>(answered_ == 0 ? load_ns_ : hook_ns_) / 1e9;
  Terminate(ErrorKind::kTimedOut, "hung " + Doing() + ": killed after " + FixedSeconds(limit_s) + " s", true,
            now_ns, out);
}

int64_t ValidateWorker::TaskDeadlineNs() const {
  return idle() ? INT64_MAX : since_ns_ + (answered_ == 0 ? load_ns_ : hook_ns_);
}

void ValidateWorker::OnEnded(const ExitStatus& status, bool out_of_memory, bool, int64_t, Effects*) {
  const bool clean = !status.signaled && status.code == 0;
  if (idle() && clean && !termination_ && plugin_failure_.empty()) return;
  Fail(ErrorOfExit(status, out_of_memory, " " + Doing()));
}

namespace {

// The questions to one plugin, and where they stand among all.
struct Share {
  const PluginInfo* plugin = nullptr;
  std::vector<const CasePlanned*> cases;
  std::vector<size_t> places;
};

void Fail(const Share& share, const std::string& why, const char* slug, Validation* validation) {
  validation->failed.push_back({share.plugin->name, share.plugin->path, why, slug});
}

void Take(const Share& share, ValidateWorker* worker, Validation* validation) {
  if (const Errored* error = worker->error())
    return Fail(share, error->detail, error->kind == ErrorKind::kAbandoned ? "abandoned" : "plugin-load",
                validation);
  for (size_t i = 0; i < share.places.size(); ++i)
    validation->invalid[share.places[i]] = std::move(worker->invalid()[i]);
}

std::optional<BatchJob> JobOf(const Share& share, const ValidateOptions& options, Validation* validation) {
  if (const std::string change = ChangeOf(share.plugin->file, share.plugin->path); !change.empty()) {
    Fail(share, change, "plugin-load", validation);
    return std::nullopt;
  }
  const std::vector<std::string> no_device;
  BatchJob job;
  job.command = {options.worker_path, {share.plugin->path}, WorkerEnvironment(nullptr, &no_device), false};
  auto worker = std::make_unique<ValidateWorker>(share.cases, options.load_timeout_s, options.hook_timeout_s,
                                                 options.limits);
  job.ended = [&share, validation, asked = worker.get()] { Take(share, asked, validation); };
  job.no_start = [&share, validation](const std::string& why) {
    Fail(share, why, "worker-not-started", validation);
  };
  job.worker = std::move(worker);
  return job;
}

}  // namespace

Validation ValidateParameters(const ValidateOptions& options, const Catalog& catalog,
                              const std::vector<const CasePlanned*>& cases, ProcessControl* control,
                              int signal_fd, int* interrupted) {
  std::map<std::string, Share> by_plugin;
  for (size_t i = 0; i < cases.size(); ++i) {
    Share& share = by_plugin[cases[i]->plugin];
    share.cases.push_back(cases[i]);
    share.places.push_back(i);
  }
  std::vector<Share> shares;
  for (auto& [name, share] : by_plugin) {
    share.plugin = catalog.FindPlugin(name);
    if (share.plugin != nullptr) shares.push_back(std::move(share));
  }
  Validation validation;
  validation.invalid.resize(cases.size());
  Batch(control, signal_fd, options.scratch_dir, interrupted).Run(shares.size(), [&](size_t i) {
    return JobOf(shares[i], options, &validation);
  });
  // What the user cut short has no blame.
  if (*interrupted != 0) validation.failed.clear();
  return validation;
}

}  // namespace cudnn_ci
