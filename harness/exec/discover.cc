#include "exec/discover.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <set>

#include "base/text.h"
#include "base/time.h"
#include "exec/output_tail.h"
#include "exec/worker_process.h"
#include "wire/message.h"

extern char** environ;

namespace cudnn_ci {
namespace {

constexpr char kSuffix[] = ".cci.so";
constexpr size_t kMaxSessions = 8;

struct PluginFile {
  std::string path, stem;
  std::string refused;  // why it must not be loaded; empty: it may
  std::string warning;
};

// A file others can write runs whatever they put into it.
void CheckOwner(PluginFile* file) {
  struct stat st {};
  if (stat(file->path.c_str(), &st) != 0) {
    file->refused = strerror(errno);
    return;
  }
  if (!S_ISREG(st.st_mode)) {
    file->refused = "not a regular file";
    return;
  }
  if ((st.st_mode & (S_IWGRP | S_IWOTH)) == 0) return;
  if (st.st_uid != geteuid())
    file->refused = "refused: writable by others and owned by user " + std::to_string(st.st_uid) +
                    ", not by user " + std::to_string(geteuid()) + "; chmod go-w it";
  else
    file->warning = file->path + " is writable by others: chmod go-w it";
}

std::vector<PluginFile> FindFiles(const std::vector<std::string>& directories) {
  std::vector<PluginFile> files;
  std::set<std::string> seen;
  for (const std::string& directory : directories) {
    DIR* d = opendir(directory.c_str());
    if (!d) continue;
    std::vector<std::string> names;
    while (const dirent* e = readdir(d)) names.emplace_back(e->d_name);
    closedir(d);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const size_t suffix = sizeof kSuffix - 1;
      if (name[0] == '.' || name.size() <= suffix || name.compare(name.size() - suffix, suffix, kSuffix) != 0)
        continue;
      PluginFile file{directory + "/" + name, name.substr(0, name.size() - suffix), "", ""};
      char real[PATH_MAX];
      // The same file by two ways is one plugin.
      if (!seen.insert(realpath(file.path.c_str(), real) ? real : file.path).second) continue;
      CheckOwner(&file);
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::vector<std::string> SubjectEnvironment(const SubjectInfo* subject) {
  std::vector<std::string> env;
  const bool path = subject && subject->spec.compare(0, 5, "path:") == 0;
  std::string before;
  for (char** e = environ; *e; ++e) {
    const std::string entry = *e;
    if (path && entry.compare(0, 16, "LD_LIBRARY_PATH=") == 0)
      before = entry.size() > 16 ? ":" + entry.substr(16) : "";
    else
      env.push_back(entry);
  }
  if (path) env.push_back("LD_LIBRARY_PATH=" + subject->spec.substr(5) + before);
  return env;
}

// One process, describing a plugin, collecting its facts for one subject, or both.
struct Session {
  PluginFile file;
  const SubjectInfo* subject = nullptr;  // whose facts; null: none wanted
  bool describe = true;
  WorkerProcess process;
  OutputTail output;
  PluginInfo info;
  FactMap facts;
  std::string failure;  // the worker's own words
  bool greeted = false, described = false, facts_done = false, timed_out = false, exited = false;
  int64_t deadline_ns = 0;
};

class Engine {
 public:
  Engine(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted)
      : options_(options), control_(control), signal_fd_(signal_fd), interrupted_(interrupted) {}

  void Run(std::vector<std::unique_ptr<Session>>* sessions) {
    size_t next = 0;
    std::vector<Session*> live;
    while (next < sessions->size() || !live.empty()) {
      if (*interrupted_ != 0) {
        for (Session* s : live) control_->Signal(s->process.pid(), SIGKILL);
        next = sessions->size();
      }
      while (next < sessions->size() && live.size() < kMaxSessions)
        if (Session* s = (*sessions)[next++].get(); Start(s)) live.push_back(s);
      Wait(live);
      for (Session* s : live) Service(s);
      live.erase(std::remove_if(live.begin(), live.end(), [](const Session* s) { return s->exited; }),
                 live.end());
    }
    for (int i = 0; i < 100 && control_->SweepStrays({}); ++i) usleep(1000);
  }

 private:
  bool Start(Session* s) {
    WorkerCommand command{options_.worker_path, {s->file.path}, SubjectEnvironment(s->subject), false};
    Result<WorkerProcess> process = WorkerProcess::Start(control_, command);
    if (!process.ok()) {
      s->failure = process.error();
      return false;
    }
    s->process = std::move(*process);
    const auto send = [&](const wire::ToWorker& m) { s->process.Send(wire::Encode(m)); };
    wire::Configure configure;
    configure.scratch_dir = options_.scratch_dir;
    if (s->subject) {
      configure.subject_name = s->subject->name;
      configure.subject_spec = s->subject->spec;
    }
    send(configure);
    if (s->describe) send(wire::Describe{});
    if (s->subject) send(wire::CollectFacts{});
    send(wire::Shutdown{});
    s->deadline_ns = MonotonicNs() + static_cast<int64_t>(options_.load_timeout_s * 1e9);
    return true;
  }

  void Wait(const std::vector<Session*>& live) {
    std::vector<pollfd> fds = {{signal_fd_, POLLIN, 0}};
    int64_t wake = MonotonicNs() + 500'000'000;
    for (const Session* s : live) {
      s->process.AddTo(&fds);
      wake = std::min(wake, s->deadline_ns);
    }
    poll(fds.data(), fds.size(),
         static_cast<int>(std::max<int64_t>(0, (wake - MonotonicNs()) / 1'000'000 + 1)));
    signalfd_siginfo info{};
    while (read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) *interrupted_ = static_cast<int>(info.ssi_signo);
  }

  void Receive(Session* s) {
    s->process.ReadOutput(1 << 20, [&](std::string_view b) { s->output.Append(b); });
    if (!s->process.control_open()) return;
    s->process.Receive(
        1000, [&](std::string_view packet) { OnPacket(s, packet); },
        [&](const std::string& why) { s->failure = why; });
  }

  void OnPacket(Session* s, std::string_view packet) {
    Result<wire::FromWorker> message = wire::DecodeFromWorker(packet);
    if (!message.ok()) {
      if (s->failure.empty()) s->failure = message.error();
      return;
    }
    if (std::get_if<wire::Hello>(&*message)) s->greeted = true;
    if (auto* failed = std::get_if<wire::PluginFailed>(&*message)) s->failure = failed->reason;
    if (auto* plugin = std::get_if<wire::PluginDescribed>(&*message)) s->info = std::move(plugin->info);
    if (auto* check = std::get_if<wire::CheckDescribed>(&*message))
      s->info.checks.push_back(std::move(check->check));
    if (auto* finding = std::get_if<wire::FindingDescribed>(&*message))
      s->info.findings.push_back(std::move(finding->finding));
    if (std::get_if<wire::DescribeEnd>(&*message)) {
      s->described = true;
      s->deadline_ns = MonotonicNs() + static_cast<int64_t>(options_.facts_timeout_s * 1e9);
    }
    if (auto* fact = std::get_if<wire::Fact>(&*message))
      s->facts[CleanLine(fact->key, 100)] = CleanLine(fact->value, 4000);
    if (auto* end = std::get_if<wire::FactsEnd>(&*message)) {
      s->facts_done = end->failure.empty();
      if (!s->facts_done) s->failure = end->failure;
    }
  }

  void Service(Session* s) {
    Receive(s);
    if (!s->timed_out && MonotonicNs() >= s->deadline_ns) {
      s->timed_out = true;
      control_->Signal(s->process.pid(), SIGKILL);
    }
    if (!control_->HasExited(s->process.pid())) return;
    control_->Signal(s->process.pid(), SIGKILL);  // its group, while the zombie pins the id
    Receive(s);
    const ExitStatus status = control_->Reap(s->process.pid());
    s->exited = true;
    Explain(s, status);
  }

  // Why a session did not bring what was asked of it.
  void Explain(Session* s, const ExitStatus& status) {
    if (!s->failure.empty()) return;
    const bool complete = (!s->describe || s->described) && (!s->subject || s->facts_done);
    if (complete) return;
    const std::string doing =
        s->describe && !s->described ? "while it was loaded and described" : "while it collected facts";
    if (s->timed_out) {
      s->failure = "hung " + doing + ": killed after " +
                   FixedSeconds(s->described ? options_.facts_timeout_s : options_.load_timeout_s) + " s";
    } else if (status.signaled) {
      s->failure = ToString(status) + " " + doing;
    } else {
      s->failure = "the process ended with exit status " + std::to_string(status.code) + " " + doing +
                   (status.code == 0 ? ": a static initialiser called exit" : "");
    }
    if (const std::string said = CleanLine(Trim(s->output.Text()), 300); !said.empty())
      s->failure += " (it printed: " + said + ")";
  }

  const DiscoverOptions& options_;
  ProcessControl* const control_;
  const int signal_fd_;
  int* const interrupted_;
};

void TakeFacts(Session* s, const std::vector<SubjectInfo>& subjects, Facts* facts) {
  if (!s->subject) return;
  // What does not depend on the subject holds for all.
  for (const SubjectInfo& subject : subjects) {
    if (s->info.facts_per_subject && subject.name != s->subject->name) continue;
    for (const auto& [key, value] : s->facts) facts->by_subject[subject.name][key] = value;
  }
  if (!s->facts_done && !s->failure.empty()) facts->problems[s->info.name] = s->failure;
}

}  // namespace

Discovery Discover(const DiscoverOptions& options, ProcessControl* control, int signal_fd, int* interrupted) {
  Discovery discovery;
  std::vector<std::unique_ptr<Session>> sessions;
  const std::vector<PluginFile> files = FindFiles(options.directories);
  for (const PluginFile& file : files) {
    if (!file.warning.empty()) discovery.warnings.push_back(file.warning);
    if (!file.refused.empty()) {
      discovery.catalog.broken.push_back({file.stem, file.path, file.refused});
      continue;
    }
    auto s = std::make_unique<Session>();
    s->file = file;
    if (!options.subjects.empty()) s->subject = options.subjects.data();
    sessions.push_back(std::move(s));
  }
  Engine(options, control, signal_fd, interrupted).Run(&sessions);
  for (auto& s : sessions) {
    if (!s->described) {
      discovery.catalog.broken.push_back({s->file.stem, s->file.path, CleanText(s->failure), !s->greeted});
      continue;
    }
    s->info.path = s->file.path;
    if (!s->file.warning.empty()) s->info.warnings.push_back(s->file.warning);
    TakeFacts(s.get(), options.subjects, &discovery.facts);
    discovery.catalog.plugins.push_back(s->info);
  }
  std::sort(discovery.catalog.plugins.begin(), discovery.catalog.plugins.end(),
            [](const PluginInfo& a, const PluginInfo& b) { return a.name < b.name; });
  if (options.subjects.size() > 1 && *interrupted == 0) {
    DiscoverOptions rest = options;
    rest.subjects.erase(rest.subjects.begin());
    CollectFacts(rest, control, signal_fd, &discovery, interrupted);
  }
  return discovery;
}

void CollectFacts(const DiscoverOptions& options, ProcessControl* control, int signal_fd,
                  Discovery* discovery, int* interrupted) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (const PluginInfo& plugin : discovery->catalog.plugins) {
    if (!plugin.has_facts) continue;
    for (const SubjectInfo& subject : options.subjects) {
      auto s = std::make_unique<Session>();
      s->file.path = plugin.path;
      s->file.stem = plugin.name;
      s->info = plugin;
      s->subject = &subject;
      s->describe = false;
      sessions.push_back(std::move(s));
      if (!plugin.facts_per_subject) break;
    }
  }
  DiscoverOptions patient = options;
  patient.load_timeout_s = options.facts_timeout_s;
  Engine(patient, control, signal_fd, interrupted).Run(&sessions);
  for (auto& s : sessions) TakeFacts(s.get(), options.subjects, &discovery->facts);
}

}  // namespace cudnn_ci
