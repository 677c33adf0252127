#include "exec/validate.h"

#include <map>
#include <memory>
#include <utility>

#include "base/text.h"
#include "exec/launch.h"
#include "exec/plugin_file.h"
#include "exec/pool.h"

namespace cudnn_ci {
namespace {

constexpr size_t kAhead = 32;             // questions asked and not answered, so that the plugin never waits
constexpr size_t kMostProblems = 10'000;  // of one plugin; nobody reads more
constexpr size_t kNameBytes = 200, kWhyBytes = 500;
constexpr int kProcessesAtOnce = 8;

int64_t Ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

}  // namespace

ValidateWorker::ValidateWorker(std::vector<const CasePlanned*> cases, double load_s, double hook_s,
                               WorkerLimits limits)
    : Worker(limits), cases_(std::move(cases)), load_ns_(Ns(load_s)), hook_ns_(Ns(hook_s)) {
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
    return OnGarbage("an answer to what was not asked", now_ns, out);
  if (!answer->failure.empty())
    return Terminate(ErrorKind::kProtocol, CleanText(answer->failure) + " " + Doing(), false, now_ns, out);
  for (const wire::ParamProblem& problem : answer->problems) {
    if (++problems_ > kMostProblems) break;
    invalid_[answered_].push_back(
        {CleanLine(problem.parameter, kNameBytes), CleanLine(problem.why, kWhyBytes)});
  }
  ++answered_;
  since_ns_ = now_ns;
  SendAhead(now_ns, out);
}

std::string ValidateWorker::Doing() const {
  if (idle()) return "after its last answer";
  return "while it judged the parameters of " + cases_[answered_]->ref.id;
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
  if (idle() && clean && !conviction_ && plugin_failure_.empty()) return;
  error_ = ErrorOfExit(status, out_of_memory, " " + Doing());
  if (const std::string printed = CleanLine(Trim(output_.Text()), 300); !printed.empty())
    error_->detail += " (it printed: " + printed + ")";
}

void ValidateWorker::OnAbandoned(int64_t, Effects*) {
  error_ = Errored{ErrorKind::kAbandoned, SurvivedSigkill() + " " + Doing()};
}

namespace {

// The questions to one plugin, and where they stand among all.
struct Share {
  const PluginInfo* plugin = nullptr;
  std::vector<const CasePlanned*> cases;
  std::vector<size_t> places;
};

class Judging : private PoolClient {
 public:
  Judging(const ValidateOptions& options, ProcessControl* control, int signal_fd, int* interrupted,
          Validation* validation)
      : options_(options),
        interrupted_(interrupted),
        validation_(*validation),
        pool_(control, signal_fd, options.scratch_dir, this) {}

  void Run(const std::vector<Share>& shares) {
    size_t next = 0;
    while (true) {
      while (*interrupted_ == 0 && next < shares.size() && pool_.live() < kProcessesAtOnce)
        Start(shares[next++]);
      if (pool_.live() == 0 && (*interrupted_ != 0 || next == shares.size())) break;
      pool_.Turn(INT64_MAX);
    }
    pool_.Sweep();
  }

 private:
  void Start(const Share& share) {
    if (const std::string change = ChangeOf(share.plugin->file, share.plugin->path); !change.empty())
      return Fail(share, change, "plugin-load");
    const std::vector<std::string> no_device;
    const WorkerCommand command{
        options_.worker_path, {share.plugin->path}, WorkerEnvironment(nullptr, &no_device), false};
    auto owned = std::make_unique<ValidateWorker>(share.cases, options_.load_timeout_s,
                                                  options_.hook_timeout_s, options_.limits);
    ValidateWorker* worker = owned.get();
    if (const Result<Worker*> started = pool_.Start(command, std::move(owned)); !started.ok())
      return Fail(share, started.error(), "worker-not-started");
    shares_[worker->id()] = &share;
    wire::Configure configure;
    configure.scratch_dir = pool_.Scratch(*worker).path();
    pool_.Do(worker, [&](int64_t now, Effects* out) { worker->Ask(configure, now, out); });
  }

  void OnEffect(Worker* worker, Effect effect) override {
    if (std::holds_alternative<Abandoned>(effect)) Take(worker);
  }
  void OnEnded(Worker* worker, const ExitStatus&) override { Take(worker); }
  void OnSignal(int signal) override {
    if (*interrupted_ == 0) *interrupted_ = signal;
    for (Worker* worker : pool_.workers())
      pool_.Do(worker, [&](int64_t now, Effects* out) {
        worker->Terminate(ErrorKind::kCancelled, "interrupted", true, now, out);
      });
  }

  void Take(Worker* w) {
    auto* worker = static_cast<ValidateWorker*>(w);
    const Share& share = *shares_.at(w->id());
    if (const Errored* error = worker->error())
      return Fail(share, CleanText(error->detail),
                  error->kind == ErrorKind::kAbandoned ? "abandoned" : "plugin-load");
    for (size_t i = 0; i < share.places.size(); ++i)
      validation_.invalid[share.places[i]] = std::move(worker->invalid()[i]);
  }

  void Fail(const Share& share, const std::string& why, const char* slug) {
    validation_.failed.push_back({share.plugin->name, share.plugin->path, why, slug});
  }

  const ValidateOptions& options_;
  int* const interrupted_;
  Validation& validation_;
  std::map<int64_t, const Share*> shares_;  // by worker id
  Pool pool_;
};

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
  Judging(options, control, signal_fd, interrupted, &validation).Run(shares);
  // Of what was cut short by the user nobody is to blame.
  if (*interrupted != 0) validation.failed.clear();
  return validation;
}

}  // namespace cudnn_ci
