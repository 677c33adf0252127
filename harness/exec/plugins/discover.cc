#include "exec/plugins/discover.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text.h"
#include "exec/schedule/launch.h"
#include "exec/system/plugin_file.h"
#include "exec/workers/batch.h"
#include "exec/workers/query_worker.h"
#include "model/verdict/attribution.h"

namespace cudnn_ci {
namespace {

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
  std::string printed;
  bool not_started = false, greeted = false, described = false, facts_complete = false;
};

void Take(QueryWorker* worker, Query* query) {
  query->greeted = worker->greeted();
  if (worker->error()) query->error = *worker->error();
  query->printed = worker->printed();
  query->described = query->describe && !worker->unfinished(Task::kDescribe);
  query->facts_complete = query->subject && !worker->unfinished(Task::kFacts) && !query->error;
  if (query->describe) query->info = std::move(worker->info());
  query->facts = std::move(worker->facts());
}

BatchJob JobOf(const DiscoverOptions& options, Query* query) {
  std::vector<std::pair<Task, double>> tasks;
  if (query->describe) tasks.emplace_back(Task::kDescribe, options.load_timeout_s);
  if (query->subject) tasks.emplace_back(Task::kFacts, options.facts_timeout_s);
  WorkerLimits limits = options.limits;
  limits.output_bytes = kOutputBytes;
  BatchJob job;
  job.command = {options.worker_path, {query->path}, WorkerEnvironment(query->subject, nullptr), false};
  if (query->subject) {
    job.configure.subject_name = query->subject->name;
    job.configure.subject_spec = query->subject->spec;
    job.configure.subject_folders = FoldersOf(*query->subject);
    job.configure.contract = options.contract;  // a handful of ranges of 200 characters: one packet
  }
  auto worker = std::make_unique<QueryWorker>(std::move(tasks), limits);
  job.ended = [query, asked = worker.get()] { Take(asked, query); };
  job.no_start = [query](const std::string& why) {
    query->not_started = true;
    query->error = Errored{ErrorKind::kExited, why};
  };
  job.worker = std::move(worker);
  return job;
}

void Run(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted,
         std::vector<Query>* queries) {
  Batch(control, signal_fd, options.scratch_dir, interrupted).Run(queries->size(), [&](size_t i) {
    return JobOf(options, &(*queries)[i]);
  });
}

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
  // What rests on facts cannot be tested when plugins say different things; neither is believed more.
  if (!contradicted.empty())
    discovery->facts.problems.push_back({q.info.name,
                                         q.subject->name,
                                         "plugin-invalid",
                                         {ErrorKind::kPluginLoad, "it reports a different " + contradicted}});
  else if (!q.facts_complete && q.error)
    discovery->facts.problems.push_back(
        {q.info.name, q.subject->name, SlugOf(q), {q.error->kind, q.error->detail, q.error->site}});
}

// GPUs that cannot be are as red as facts that are missing: what rests on them cannot be tested.
void CheckGpuFacts(Discovery* discovery) {
  std::vector<FactsProblem>& problems = discovery->facts.problems;
  for (const auto& [subject, facts] : discovery->facts.by_subject) {
    const FactsContradiction found = FindGpuContradiction(facts);
    if (found.why.empty()) continue;
    const std::string& owner = discovery->fact_owners.at({subject, found.key});
    // What is incomplete is red already, and once is enough.
    if (std::any_of(problems.begin(), problems.end(),
                    [&](const FactsProblem& known) { return known.plugin == owner; }))
      continue;
    problems.push_back(
        {owner, subject, "plugin-invalid", {ErrorKind::kPluginLoad, SingleLine(found.why, 500)}});
  }
}

void NoteAbandoned(const Query& q, Discovery* discovery) {
  if (q.error && q.error->kind == ErrorKind::kAbandoned && discovery->abandoned.empty())
    discovery->abandoned = q.path + ": " + q.error->detail;
}

// Facts for all of options.subjects.
void AddFacts(const DiscoverOptions& options, ProcessControl* control, int signal_fd, Discovery* discovery,
              int* interrupted) {
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
  Run(options, control, signal_fd, interrupted, &queries);
  for (const Query& q : queries) {
    NoteAbandoned(q, discovery);
    TakeFacts(q, options.subjects, discovery);
  }
}

}  // namespace

Discovery Discover(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted) {
  Discovery discovery;
  std::vector<PluginFile> files = FindPluginFiles(options.directories, [&] {
    if (*interrupted == 0) *interrupted = TakeSignal(signal_fd);
    return *interrupted != 0;
  });
  for (const PluginFile& file : files) {
    discovery.warnings.insert(discovery.warnings.end(), file.warnings.begin(), file.warnings.end());
    if (!file.refused.empty())
      discovery.catalog.broken.push_back({file.stem, file.path, file.refused, file.slug});
  }
  std::erase_if(files, [](const PluginFile& file) { return !file.refused.empty(); });
  std::vector<Query> queries(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    queries[i].path = files[i].path;
    queries[i].describe = true;
    if (!options.subjects.empty()) queries[i].subject = options.subjects.data();
  }
  Run(options, control, signal_fd, interrupted, &queries);
  for (size_t i = 0; i < files.size(); ++i) {
    Query& q = queries[i];
    NoteAbandoned(q, &discovery);
    const std::string change = ChangeOf(files[i].identity, files[i].path);
    if (!q.described || !change.empty()) {
      const bool failed = !q.described && q.error;
      std::string reason = failed ? q.error->detail : change;
      if (reason.empty()) reason = "interrupted before it was described";
      discovery.catalog.broken.push_back({files[i].stem, files[i].path, std::move(reason),
                                          failed ? SlugOf(q) : "plugin-load",
                                          failed && !q.not_started && !q.greeted, q.printed});
      continue;
    }
    q.info.path = files[i].path;
    q.info.file = files[i].identity;
    q.info.warnings = files[i].warnings;
    TakeFacts(q, options.subjects, &discovery);
    discovery.catalog.plugins.push_back(std::move(q.info));
  }
  std::sort(discovery.catalog.plugins.begin(), discovery.catalog.plugins.end(),
            [](const PluginInfo& a, const PluginInfo& b) { return a.name < b.name; });
  if (options.subjects.size() > 1 && *interrupted == 0 && discovery.abandoned.empty()) {
    DiscoverOptions rest = options;
    rest.subjects.erase(rest.subjects.begin());
    AddFacts(rest, control, signal_fd, &discovery, interrupted);
  }
  CheckGpuFacts(&discovery);
  return discovery;
}

void CollectFacts(const DiscoverOptions& options, ProcessControl* control, int signal_fd,
                  Discovery* discovery, int* interrupted) {
  AddFacts(options, control, signal_fd, discovery, interrupted);
  CheckGpuFacts(discovery);
}

}  // namespace cudnn_ci
