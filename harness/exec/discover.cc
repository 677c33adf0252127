#include "exec/discover.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "exec/launch.h"
#include "exec/plugin_file.h"
#include "exec/pool.h"
#include "exec/query_worker.h"
#include "model/reasons.h"

namespace cudnn_ci {
namespace {

constexpr int kProcessesAtOnce = 8;
constexpr int64_t kOutputBytes = 16 << 20;

using Task = QueryWorker::Task;

// What one process is asked, and what came of it.
struct Query {
  std::string path;
  const SubjectInfo* subject = nullptr;  // whose facts; null: none wanted
  bool describe = false;
  PluginInfo info;
  FactMap facts;
  std::optional<Errored> error;
  bool not_started = false, greeted = false, described = false, facts_complete = false;
};

// Runs queries, some at a time, as the client of a pool.
class Inquiry : private PoolClient {
 public:
  Inquiry(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted)
      : options_(options), interrupted_(interrupted), pool_(control, signal_fd, options.scratch_dir, this) {}

  void Run(std::vector<Query>* queries) {
    size_t next = 0;
    while (true) {
      while (*interrupted_ == 0 && next < queries->size() && pool_.live() < kProcessesAtOnce)
        Start(&(*queries)[next++]);
      if (pool_.live() == 0 && (*interrupted_ != 0 || next == queries->size())) break;
      pool_.Turn(INT64_MAX);
    }
    pool_.Sweep();
  }

 private:
  void Start(Query* query) {
    std::vector<std::pair<Task, double>> tasks;
    if (query->describe) tasks.emplace_back(Task::kDescribe, options_.load_timeout_s);
    if (query->subject) tasks.emplace_back(Task::kFacts, options_.facts_timeout_s);
    WorkerLimits limits = options_.limits;
    limits.output_bytes = kOutputBytes;
    const WorkerCommand command{
        options_.worker_path, {query->path}, WorkerEnvironment(query->subject, nullptr), false};
    auto owned = std::make_unique<QueryWorker>(std::move(tasks), limits);
    QueryWorker* worker = owned.get();
    if (const Result<Worker*> started = pool_.Start(command, std::move(owned)); !started.ok()) {
      query->not_started = true;
      query->error = Errored{ErrorKind::kExited, started.error()};
      return;
    }
    queries_[worker->id()] = query;
    wire::Configure configure;
    configure.scratch_dir = pool_.Scratch(*worker).path();
    if (query->subject) {
      configure.subject_name = query->subject->name;
      configure.subject_spec = query->subject->spec;
    }
    pool_.Do(worker, [&](int64_t now, Effects* out) { worker->Ask({configure}, now, out); });
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
    auto* worker = static_cast<QueryWorker*>(w);
    Query* query = queries_.at(w->id());
    query->greeted = worker->greeted();
    if (worker->error()) query->error = *worker->error();
    query->described = query->describe && !worker->unfinished(Task::kDescribe);
    query->facts_complete = query->subject && !worker->unfinished(Task::kFacts) && !query->error;
    if (query->describe) query->info = std::move(worker->info());
    query->facts = std::move(worker->facts());
  }

  const DiscoverOptions& options_;
  int* const interrupted_;
  std::map<int64_t, Query*> queries_;  // by worker id
  Pool pool_;
};

// The finding that stands for what went wrong: the runner's, when no process could be started.
std::string SlugOf(const Query& query) {
  if (query.not_started) return "worker-not-started";
  if (query.error->kind == ErrorKind::kAbandoned) return "abandoned";
  return query.describe && !query.described ? "plugin-load" : SlugOf(query.error->kind);
}

void TakeFacts(const Query& q, const std::vector<SubjectInfo>& subjects, Discovery* discovery) {
  if (!q.subject) return;
  std::string contradicted;
  // What does not depend on the subject holds for all.
  for (const SubjectInfo& subject : subjects) {
    if (q.info.facts_per_subject && subject.name != q.subject->name) continue;
    FactMap& known = discovery->facts.by_subject[subject.name];
    for (const auto& [key, value] : q.facts)
      if (std::string& owner = discovery->fact_owners[{subject.name, key}];
          owner.empty() || owner == q.info.name) {
        owner = q.info.name;
        known[key] = value;
      } else if (known[key] != value) {
        contradicted = key + " than " + owner;
      }
  }
  // What rests on facts cannot be judged when plugins say different things; neither is believed more.
  if (!contradicted.empty())
    discovery->facts.problems.push_back({q.info.name,
                                         q.subject->name,
                                         "plugin-invalid",
                                         {ErrorKind::kPluginLoad, "it reports another " + contradicted}});
  else if (!q.facts_complete && q.error)
    discovery->facts.problems.push_back(
        {q.info.name, q.subject->name, SlugOf(q), {q.error->kind, CleanText(q.error->detail)}});
}

void NoteAbandoned(const Query& q, Discovery* discovery) {
  if (q.error && q.error->kind == ErrorKind::kAbandoned && discovery->abandoned.empty())
    discovery->abandoned = q.path + ": " + q.error->detail;
}

}  // namespace

Discovery Discover(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted) {
  Discovery discovery;
  std::vector<PluginFile> files = FindPluginFiles(options.directories);
  for (const PluginFile& file : files) {
    if (!file.warning.empty()) discovery.warnings.push_back(file.warning);
    if (!file.refused.empty()) discovery.catalog.broken.push_back({file.stem, file.path, file.refused});
  }
  std::erase_if(files, [](const PluginFile& file) { return !file.refused.empty(); });
  std::vector<Query> queries(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    queries[i].path = files[i].path;
    queries[i].describe = true;
    if (!options.subjects.empty()) queries[i].subject = options.subjects.data();
  }
  Inquiry(options, control, signal_fd, interrupted).Run(&queries);
  for (size_t i = 0; i < files.size(); ++i) {
    Query& q = queries[i];
    NoteAbandoned(q, &discovery);
    const std::string change = ChangeOf(files[i].identity, files[i].path);
    if (!q.described || !change.empty()) {
      const bool failed = !q.described && q.error;
      std::string reason = failed ? CleanText(q.error->detail) : change;
      if (reason.empty()) reason = "interrupted before it was described";
      discovery.catalog.broken.push_back({files[i].stem, files[i].path, std::move(reason),
                                          failed ? SlugOf(q) : "plugin-load",
                                          failed && !q.not_started && !q.greeted});
      continue;
    }
    q.info.path = files[i].path;
    q.info.file = files[i].identity;
    if (!files[i].warning.empty()) q.info.warnings.push_back(files[i].warning);
    TakeFacts(q, options.subjects, &discovery);
    discovery.catalog.plugins.push_back(std::move(q.info));
  }
  std::sort(discovery.catalog.plugins.begin(), discovery.catalog.plugins.end(),
            [](const PluginInfo& a, const PluginInfo& b) { return a.name < b.name; });
  if (options.subjects.size() > 1 && *interrupted == 0 && discovery.abandoned.empty()) {
    DiscoverOptions rest = options;
    rest.subjects.erase(rest.subjects.begin());
    CollectFacts(rest, control, signal_fd, &discovery, interrupted);
  }
  return discovery;
}

void CollectFacts(const DiscoverOptions& options, ProcessControl* control, int signal_fd,
                  Discovery* discovery, int* interrupted) {
  std::vector<Query> queries;
  for (const PluginInfo& plugin : discovery->catalog.plugins) {
    if (!plugin.has_facts) continue;
    for (const SubjectInfo& subject : options.subjects) {
      Query q;
      q.path = plugin.path;
      q.info = plugin;
      q.subject = &subject;
      queries.push_back(std::move(q));
      if (!plugin.facts_per_subject) break;
    }
  }
  Inquiry(options, control, signal_fd, interrupted).Run(&queries);
  for (const Query& q : queries) {
    NoteAbandoned(q, discovery);
    TakeFacts(q, options.subjects, discovery);
  }
}

}  // namespace cudnn_ci
