// What merging shards and merging types of GPU have in common. See merge_parts.h.
#include "model/merge/merge_parts.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/text.h"
#include "model/matrix/image_identity.h"
#include "model/record/fact_keys.h"
#include "model/record/notice_list.h"
#include "model/verdict/verdict.h"

namespace cudnn_ci {
namespace {

constexpr int64_t kMostApart = 86'400;  // seconds, between parts of an unnamed image

// What RunLevelFindings says of a run: of the merged one it may be something else.
constexpr std::array<const char*, 3> kRunLevelFindings = {"nothing-selected", "no-engine", "waiver-expired"};

bool IsRunLevelFinding(const Finding& finding) {
  return std::any_of(kRunLevelFindings.begin(), kRunLevelFindings.end(),
                     [&](const char* slug) { return finding.slug == slug; });
}

std::string FactOf(const RunStarted& run, const std::string& subject, const char* key) {
  const auto facts = run.facts.find(subject);
  if (facts == run.facts.end()) return "";
  const auto fact = facts->second.find(key);
  return fact == facts->second.end() ? "" : fact->second;
}

// Facts that are the image's, whatever machine it runs on. One that a run could not find out tells nothing.
std::string DifferentImageFact(const Part& a, const Part& b) {
  for (const SubjectInfo& subject : a.run().subjects) {
    for (const char* key : {kCudnnVersionFact, kCudnnPathFact, kToolkitVersionFact}) {
      const std::string one = FactOf(a.run(), subject.name, key), other = FactOf(b.run(), subject.name, key);
      if (one.empty() || other.empty() || one == other) continue;
      return "tested different images: " + std::string(key) + " of the subject " + subject.name + " is " +
             one + " in the first and " + other + " in the second";
    }
  }
  return "";
}

std::vector<std::pair<std::string, std::string>> PluginFiles(const RunStarted& run) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const PluginIdentity& plugin : run.plugins) files.emplace_back(plugin.name, plugin.sha256);
  return files;
}

std::vector<std::pair<std::string, std::string>> SubjectNames(const RunStarted& run) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const SubjectInfo& subject : run.subjects) names.emplace_back(subject.name, subject.spec);
  return names;
}

std::string MatrixText(const RunStarted& run) {
  return run.matrix_name + " (sha256 " + Beginning(run.matrix_sha256, 16) + ")";
}

// "filtered, shard 2/4, static stage" without what is said of the shard.
Notices PartialWithoutShard(const RunStarted& run) {
  Notices rest = run.partial;
  std::erase_if(rest, [](const Notice& notice) {
    return notice.code == NoticeCode::kShard || notice.code == NoticeCode::kNode;
  });
  return rest;
}

template <class T>
void AddMissing(const std::vector<T>& from, std::vector<T>* to) {
  for (const T& one : from)
    if (std::find(to->begin(), to->end(), one) == to->end()) to->push_back(one);
}

std::string JoinOnce(const std::vector<std::string>& texts) {
  std::vector<std::string> once;
  AddMissing(texts, &once);
  return Join(once, ", ");
}

// "2026-01-31T10:00:00Z" in seconds since 1970; nothing when it is no such time.
std::optional<int64_t> SecondsOf(const std::string& timestamp) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (sscanf(timestamp.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ", &year, &month, &day, &hour, &minute, &second) !=
      6)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86'400 + hour * 3600 +
         minute * 60 + second;
}

std::string DriverOf(const RunStarted& run) {
  for (const auto& [subject, facts] : run.facts)
    if (std::string version = FactOf(run, subject, kDriverVersionFact); !version.empty()) return version;
  return "";
}

// What the files of knowledge say, wherever they lie.
std::vector<std::string> Contents(const std::vector<KnowledgeFile>& files) {
  std::vector<std::string> hashes;
  for (const KnowledgeFile& file : files) hashes.push_back(file.sha256);
  return hashes;
}

}  // namespace

Result<std::vector<Part>> FoldParts(const std::vector<RecordedRun>& recorded) {
  std::vector<Part> parts;
  for (const RecordedRun& one : recorded) {
    if (!one.unknown_events.empty())
      return Error{one.name + ": has events of the type " + Join(one.unknown_events, ", ") +
                   ", which this cudnn-ci does not know and would lose in a merge; merge with the version "
                   "that wrote it"};
    Fold fold;
    for (const Event& event : one.events) fold.Apply(event);
    if (!fold.summary().run) return Error{one.name + ": does not name its run; nothing was planned"};
    parts.push_back({&one, std::move(*fold.mutable_summary())});
  }
  if (parts.empty()) return Error{"no journal to merge"};
  return parts;
}

const Part& FirstPlanned(const std::vector<Part>& parts) {
  const auto found = std::find_if(parts.begin(), parts.end(), [](const Part& p) { return p.planned(); });
  return found == parts.end() ? parts[0] : *found;
}

Status CheckSameImage(const Part& a, const Part& b) {
  const RunStarted &x = a.run(), &y = b.run();
  const std::string both = a.name() + " and " + b.name() + " ";
  if (x.version != y.version)
    return Error{both + "were made by different versions of cudnn-ci: " + x.version + " and " + y.version};
  if (x.matrix_sha256 != y.matrix_sha256)
    return Error{both + "are of different matrices: " + MatrixText(x) + " and " + MatrixText(y)};
  if (x.image != y.image) return Error{both + "tested different images: " + x.image + " and " + y.image};
  const bool planned = a.planned() && b.planned();
  if (planned && PluginFiles(x) != PluginFiles(y)) return Error{both + "were made with different plugins"};
  if (x.compatibility.sha256 != y.compatibility.sha256)
    return Error{both + "used different version tables: sha256 " + Beginning(x.compatibility.sha256, 16) +
                 " and " + Beginning(y.compatibility.sha256, 16)};
  if (Contents(x.knowledge) != Contents(y.knowledge)) return Error{both + "used different knowledge files"};
  if (planned && SubjectNames(x) != SubjectNames(y)) return Error{both + "have different subjects"};
  const std::string fact = DifferentImageFact(a, b);
  return fact.empty() ? Status() : Error{both + fact};
}

Status CheckSameDay(const std::vector<RecordedRun>& recorded) {
  const std::pair<int64_t, std::string>*first = nullptr, *last = nullptr;
  std::vector<std::pair<int64_t, std::string>> begun;
  for (const RecordedRun& one : recorded)
    for (const Event& event : one.events)
      if (const auto* run = std::get_if<RunStarted>(&event.body); run && run->image == "unidentified")
        if (const std::optional<int64_t> seconds = SecondsOf(run->timestamp))
          begun.emplace_back(*seconds, one.name + " (" + run->timestamp + ")");
  for (const auto& one : begun) {
    if (!first || one.first < first->first) first = &one;
    if (!last || one.first > last->first) last = &one;
  }
  if (!first || last->first - first->first <= kMostApart) return {};
  return Error{first->second + " and " + last->second +
               " are more than a day apart, and may be of different images; give --subject-image"};
}

Status CheckSameRun(const Part& a, const Part& b) {
  if (Status same = CheckSameImage(a, b); !same) return same;
  const std::string both = a.name() + " and " + b.name() + " ";
  const auto &p = a.summary.plan_end, &q = b.summary.plan_end;
  if (p && q && (p->plan_sha256 != q->plan_sha256 || p->whole != q->whole))
    return Error{both + "are of different plans: sha256 " + Beginning(p->plan_sha256, 16) + " and " +
                 Beginning(q->plan_sha256, 16)};
  const std::string one = PartialText(PartialWithoutShard(a.run()));
  const std::string other = PartialText(PartialWithoutShard(b.run()));
  if (a.planned() && b.planned() && one != other)
    return Error{both + "are of different plans: " + (one.empty() ? "the whole" : one) + " and " +
                 (other.empty() ? "the whole" : other)};
  const std::vector<DeviceInfo>&of_a = a.run().devices, &of_b = b.run().devices;
  for (size_t i = 0; i < of_a.size() && i < of_b.size(); ++i)
    if (of_a[i].model != of_b[i].model)
      return Error{both + "ran on different GPUs: " + of_a[i].model + " and " + of_b[i].model +
                   "; all shards must run on one model (--require merges runs on several)"};
  return {};
}

RunPart DescribePart(const Part& part, const std::string& name) {
  const RunStarted& run = part.run();
  RunPart described;
  described.name = name;
  described.run_id = run.run_id;
  described.timestamp = run.timestamp;
  described.hostname = run.hostname;
  described.driver = DriverOf(run);
  for (const DeviceInfo& device : run.devices) described.gpus.push_back(device.model);
  described.command_line = WithoutShard(run.command_line);
  described.verdict = Name(Judge(part.summary).kind);
  if (part.summary.finished) described.seconds = part.summary.finished->seconds;
  return described;
}

RunPart MissingPart(const std::string& name) {
  RunPart missing;
  missing.name = name;
  missing.verdict = "missing";
  return missing;
}

RunStarted CommonRunStarted(const std::vector<Part>& parts) {
  RunStarted run = FirstPlanned(parts).run();
  std::vector<std::string> ids, hosts;
  for (const Part& part : parts) {
    const RunStarted& other = part.run();
    ids.push_back(other.run_id);
    hosts.push_back(other.hostname);
    // The last day counts: a waiver that ran out while one of them waited has run out.
    run.timestamp = std::max(run.timestamp, other.timestamp);
    run.report_only = run.report_only && other.report_only;
    // The engines of all parts have said so, or it was told.
    if (other.digest_from != run.digest_from) run.digest_from = kDigestTold;
    AddMissing(other.warnings, &run.warnings);
    AddMissing(other.not_gated, &run.not_gated);
    for (const auto& [subject, facts] : other.facts) run.facts[subject].insert(facts.begin(), facts.end());
    run.environment.insert(other.environment.begin(), other.environment.end());
  }
  std::string moment = run.timestamp;
  std::erase_if(moment, [](char c) { return c == '-' || c == ':'; });
  run.run_id = moment + "-" + Sha256Hex(Join(ids, "\n")).substr(0, 8);
  run.token_sha256.clear();  // of a word that the merged record does not tell
  run.hostname = JoinOnce(hosts);
  run.command_line = WithoutShard(run.command_line);
  run.container_command = WithoutShard(run.container_command);
  run.partial = PartialWithoutShard(run);
  run.shard_index = run.shard_count = 0;
  if (run.image == "unidentified" && parts.size() > 1)
    run.warnings.push_back({NoticeCode::kImageUnidentified});
  return run;
}

bool IsNode(const RunStarted& run) {
  return std::any_of(run.partial.begin(), run.partial.end(),
                     [](const Notice& notice) { return notice.code == NoticeCode::kNode; });
}

std::string WithoutShard(const std::string& command_line) {
  std::string rest = command_line;
  for (const std::string option : {" --shard ", " --shard=", " --nodes ", " --nodes="}) {
    const size_t at = rest.find(option);
    if (at == std::string::npos) continue;
    const size_t end = rest.find(' ', at + option.size());
    rest.erase(at, end == std::string::npos ? end : end - at);
  }
  return rest;
}

void Merged::Add(int64_t t_ms, EventBody body) {
  events_.push_back({static_cast<int64_t>(events_.size()) + 1, t_ms, std::move(body)});
  fold_.Apply(events_.back());
}

void Merged::AddWorkers(const Part& part) {
  worker_offset_ = highest_worker_;
  for (const Event& event : part.recorded->events) {
    if (ScopeOf(event.body) != Scope::kWorker) continue;
    EventBody moved = Moved(event.body, {}, worker_offset_, "");
    if (const auto* started = std::get_if<WorkerStarted>(&moved))
      highest_worker_ = std::max(highest_worker_, started->worker);
    Add(event.t_ms, std::move(moved));
  }
}

std::string DeviceOnType(const std::string& device, const std::string& type) {
  return device.empty() || device == "gpu0" ? type : type + "." + device;
}

void Merged::AddAboutRun(const Part& part, const std::string& type) {
  for (const Event& event : part.recorded->events) {
    if (IsOfCase(part, event)) continue;
    if (ScopeOf(event.body) == Scope::kRun) {
      EventBody body = event.body;
      if (auto* lost = std::get_if<DeviceLost>(&body); lost && !type.empty())
        lost->device = DeviceOnType(lost->device, type);
      Add(event.t_ms, std::move(body));
    } else if (const auto* reported = std::get_if<FindingReported>(&event.body)) {
      if (type.empty() && IsRunLevelFinding(reported->finding)) continue;
      FindingReported moved{{}, reported->finding};
      // Behind what it says: the beginning may tell which subject it is about.
      if (!type.empty()) moved.finding.detail += " (on " + type + ")";
      Add(event.t_ms, std::move(moved));
    }
  }
}

void Merged::Finish(const std::vector<Part>& parts, bool all_there) {
  for (const Finding& finding : RunLevelFindings(summary())) Add(0, FindingReported{{}, finding});
  double seconds = 0;
  for (const Part& part : parts) {
    if (!part.summary.finished || !part.planned()) all_there = false;
    if (part.summary.finished) seconds = std::max(seconds, part.summary.finished->seconds);
  }
  if (all_there) Add(static_cast<int64_t>(seconds * 1000), RunFinished{seconds});
}

const CaseRef* RefOf(const EventBody& body) {
  return std::visit(
      [](const auto& e) -> const CaseRef* {
        using Body = std::decay_t<decltype(e)>;  // clang takes no constant from the reference `e`
        if constexpr (Body::kScope == Scope::kCase || Body::kScope == Scope::kCaseOrRun) return &e.ref;
        return nullptr;
      },
      body);
}

bool IsOfCase(const Part& part, const Event& event) {
  const CaseRef* const ref = RefOf(event.body);
  return ref && part.summary.Find(*ref);
}

EventBody Moved(EventBody body, const CaseRef& ref, int64_t worker_offset, const std::string& attachments) {
  std::visit(
      [&](auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (requires { e.ref; }) e.ref = ref;
        if constexpr (requires { e.worker; })
          if (e.worker > 0) e.worker += worker_offset;
        if constexpr (std::is_same_v<E, Attached>) e.path = attachments + e.path;
      },
      body);
  return body;
}

}  // namespace cudnn_ci
