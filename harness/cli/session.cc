#include "cli/session.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/remove_tree.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/diagnostics.h"
#include "cli/process_setup.h"
#include "exec/plugins/validate.h"
#include "model/inventory/cudnn_copies.h"
#include "model/record/fact_keys.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxProblemsShown = 50;
constexpr double kLookS = 30;      // for files of the image; a slow disk takes one or two
constexpr double kLeastLookS = 2;  // also once --time-limit is over: what ran is reported with what was found
constexpr double kRemoveS = 10;    // for what checks have left in the scratch folder
constexpr char kSystem[] = "system";
constexpr size_t kMostEnvironmentsSaid = 4;

// Where the scratch folder may come to be, best first. Named before it is made, so that the guardian knows
// it; nobody can guess the name.
std::vector<std::string> ScratchPlaces() {
  const Result<uint64_t> bits = RandomBits();
  if (!bits.ok()) return {};
  std::vector<std::string> places;
  const char* tmp = getenv("TMPDIR");
  for (const char* base : {tmp ? tmp : "", "/tmp", "/dev/shm"})
    if (*base) places.push_back(base + std::string("/cudnn-ci-") + std::to_string(*bits));
  return places;
}

// The first that can be made; empty: none.
std::string MakeFirst(const std::vector<std::string>& places) {
  for (const std::string& place : places)
    if (mkdir(place.c_str(), S_IRWXU) == 0) return place;
  return {};
}

// A wheel needs what other packages bring, which only its interpreter finds.
std::string SubjectThatJudges(const CudnnCopyFacts& copy) {
  if (copy.path.find("-packages/") == std::string::npos)
    return "path:" + copy.path.substr(0, copy.path.rfind('/'));
  const std::string python = copy.path.substr(0, copy.path.find("/lib/python")) + "/bin/python3";
  return access(python.c_str(), X_OK) == 0 ? "python:" + python : "";
}

}  // namespace

Session::Session(const Options& options)
    : options_(options),
      start_ns_(MonotonicNs()),
      scratch_places_(ScratchPlaces()),
      guardian_(&control_, options.worker_path(), scratch_places_),
      scratch_dir_(MakeFirst(scratch_places_)) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : kHandledSignals) sigaddset(&set, s);
  signal_fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Session::~Session() {
  if (!scratch_dir_.empty() && !RemoveTree(scratch_dir_, kRemoveS))
    PrintDiagnostic(scratch_dir_ + " could not be removed whole; remove it");
}

double Session::TimeLeft() const {
  if (options_.time_limit_s <= 0) return std::numeric_limits<double>::infinity();
  return options_.time_limit_s - static_cast<double>(MonotonicNs() - start_ns_) / 1e9;
}

DiscoverOptions Session::DiscoveryOf(std::vector<SubjectInfo> subjects,
                                     const std::map<std::string, std::string>& contract) const {
  constexpr double kLeastS = 0.01;  // 0 would be no limit
  const double left = std::max(TimeLeft(), kLeastS);
  DiscoverOptions d;
  d.worker_path = options_.worker_path();
  d.scratch_dir = scratch_dir_;
  d.directories = options_.AllPluginDirs();
  d.subjects = std::move(subjects);
  d.contract = contract;
  d.load_timeout_s = std::min(options_.load_timeout_s, left);
  d.facts_timeout_s = std::min(d.facts_timeout_s, left);
  d.limits.grace_s = options_.grace_s;
  return d;
}

void Session::DiscoverPlugins(const std::vector<SubjectInfo>& subjects,
                              const std::map<std::string, std::string>& contract) {
  discovery_ = Discover(DiscoveryOf(subjects, contract), &control_, signal_fd_.get(), &interrupted_);
  for (PluginInfo& plugin : discovery_.catalog.plugins) {
    plugin.third_party = !options_.PluginOrigin(plugin.path).empty();
    for (CheckInfo& check : plugin.checks) check.third_party = plugin.third_party;
  }
  host_ = DecodeHostFacts(discovery_.facts);
}

void Session::DiscoverForChoice(const PackageNames& names) {
  DiscoverPlugins({{kSystem, "loader"}});
  if (MustEnd() || discovery_.facts.Find(kSystem, kCudnnPathFact)) return;
  const auto found = Look<EnvironmentLook>(
      [&](const LookingAt& looking_at) { return LookAtEnvironments(false, names, looking_at); });
  if (!found) return;
  environments_ = found->environments;
  if (found->subjects.empty() || !discovery_.abandoned.empty()) return;
  CollectFacts(DiscoveryOf(found->subjects, {}), &control_, signal_fd_.get(), &discovery_, &interrupted_);
  host_ = DecodeHostFacts(discovery_.facts);
}

void Session::CollectFactsFor(const std::vector<SubjectInfo>& subjects,
                              const std::map<std::string, std::string>& contract) {
  discovery_.facts = {};
  discovery_.fact_owners.clear();
  CollectFacts(DiscoveryOf(subjects, contract), &control_, signal_fd_.get(), &discovery_, &interrupted_);
  host_ = DecodeHostFacts(discovery_.facts);
}

bool Session::LookApart(const std::function<std::string(const LookingAt&)>& look,
                        const std::function<bool(const std::string&)>& take) {
  if (!unreadable_.empty()) return false;  // it would not answer again
  const double limit_s = std::min(kLookS, std::max(TimeLeft(), kLeastLookS));
  const BoundedCall call = CallWithin(limit_s, look, &control_, signal_fd_.get(), &interrupted_);
  if (call.end == BoundedCall::End::kReturned && take(call.value)) return true;
  if (call.end == BoundedCall::End::kInterrupted) return false;
  unreadable_ = call.looking_at.empty() ? "the image" : call.looking_at;
  if (call.end == BoundedCall::End::kNoAnswer) {
    char text[80];
    snprintf(text, sizeof text, ": its files gave no answer within %.3g s", std::max(limit_s, 0.0));
    unreadable_ += text;
  } else {
    unreadable_ += ": the process that looked at its files ended before it was done";
  }
  return false;
}

int Session::EndOfLook() const {
  if (interrupted_ != 0) return 128 + interrupted_;
  if (unreadable_.empty()) return 0;
  PrintDiagnostic(unreadable_ + "; look at the mounts of the container (findmnt)");
  return kExitUndetermined;
}

void Session::ResolveSubjects(Matrix* matrix) {
  const auto look = Look<SubjectLook>([&](const LookingAt& looking_at) {
    return LookAtSubjects(matrix->subjects, matrix->automatic_subjects, looking_at);
  });
  if (!look) return;
  matrix->subjects = look->subjects;
  subject_problems_.insert(subject_problems_.end(), look->problems.begin(), look->problems.end());
  subject_warnings_.insert(subject_warnings_.end(), look->warnings.begin(), look->warnings.end());
}

void Session::DropSystemWithoutCudnn(Matrix* matrix) {
  Facts& facts = discovery_.facts;
  const auto has_cudnn = [&](const std::string& name) { return facts.Find(name, kCudnnPathFact) != nullptr; };
  const std::string system = kSystem;
  const bool needed = std::none_of(matrix->subjects.begin(), matrix->subjects.end(),
                                   [&](const SubjectInfo& s) { return has_cudnn(s.name); });
  if (!matrix->automatic_subjects || needed || has_cudnn(system)) return;
  std::erase_if(matrix->subjects, [&](const SubjectInfo& s) { return s.name == system; });
  // What does not depend on a subject stands under each of them.
  facts.by_subject.erase(system);
  host_ = DecodeHostFacts(facts);
}

std::string Session::FoundInWords() const {
  const Facts& facts = discovery_.facts;
  const auto part = [](const char* label, const std::string& v) {
    return v.empty() ? std::string("no ") + label : std::string(label) + " " + v;
  };
  // What the loader finds, or the one subject that was asked for.
  const bool has_system = facts.by_subject.count(kSystem) > 0 || facts.by_subject.empty();
  const std::string subject = has_system ? kSystem : facts.by_subject.begin()->first;
  const auto fact = [&](const std::string& of, const char* key) {
    const std::string* value = facts.Find(of, key);
    return value == nullptr ? std::string() : *value;
  };
  std::string words = part("CUDA toolkit", fact(subject, kToolkitVersionFact)) + ", " +
                      part("cuDNN", fact(subject, kCudnnVersionFact));
  for (size_t i = 0; i < environments_.size() && i < kMostEnvironmentsSaid; ++i)
    words += ", and " + part("cuDNN", fact(environments_[i].name, kCudnnVersionFact)) +
             " in the Python environment " + environments_[i].prefix;
  const size_t gpus = host_.gpus.size();
  return words + ", " + part("driver", host_.driver_version) + ", " +
         (gpus == 0 ? "no GPU" : std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"));
}

std::string Session::PreloadProblem() const {
  const Catalog& catalog = discovery_.catalog;
  const auto silent = [](const BrokenPlugin& b) { return b.silent; };
  if (!catalog.plugins.empty() || catalog.broken.empty() ||
      !std::all_of(catalog.broken.begin(), catalog.broken.end(), silent))
    return {};
  std::vector<std::string> preloaded;
  for (const char* name : {"LD_PRELOAD", "LD_AUDIT"})
    if (const char* value = getenv(name); value && *value)
      preloaded.push_back(std::string(name) + "=" + value);
  constexpr char kFile[] = "/etc/ld.so.preload";
  if (const std::string listed(Trim(ReadSmallFile(kFile, 4096))); !listed.empty())
    preloaded.push_back(std::string(kFile) + ": " + listed);
  if (preloaded.empty()) return {};
  return "with " + Join(preloaded, ", ") + " no process reaches its main function; " +
         catalog.broken[0].stem + ": " + catalog.broken[0].reason;
}

Result<std::string> Session::MatrixFile(const AutoChoice& choice) const {
  if (!choice.problem.empty()) return Error{choice.problem};
  const std::string path = options_.matrices_dir() + "/" + choice.MatrixName() + ".json";
  if (access(path.c_str(), R_OK) != 0)
    return Error{"found CUDA " + choice.cuda + " (" + choice.because + "), but there is no " + path +
                 "; name a matrix with --matrix"};
  return path;
}

Result<std::string> Session::AutoMatrix() const {
  Result<std::string> file = MatrixFile(Choice());
  return file.ok() ? file : Error{"--auto: " + file.error()};
}

std::optional<Notice> Session::JudgeChosen(Matrix* matrix) const {
  const AutoChoice choice = Choice();
  if (choice.environments.empty()) return {};
  // They are found again, by the same rule, and with the folders of their libraries.
  matrix->automatic_subjects = true;
  return Notice{NoticeCode::kAutoElsewhere, {{"judged", choice.Judged()}}};
}

std::vector<DeviceInfo> Session::VisibleDevices() const {
  std::vector<DeviceInfo> out;
  for (const GpuFacts& gpu : host_.gpus)
    out.push_back({"gpu" + std::to_string(out.size()), gpu.uuid, gpu.model, gpu.compute_capability});
  return out;
}

Result<std::vector<DeviceInfo>> Session::SelectDevices() const {
  const std::vector<DeviceInfo> visible = VisibleDevices();
  // Without any, the driver's checks say why; an index is not to blame.
  if (visible.empty() || options_.device == "all") return visible;
  for (const DeviceInfo& d : visible)
    if (options_.device == d.uuid || "gpu" + options_.device == d.name || options_.device == d.name)
      return std::vector<DeviceInfo>{d};
  std::vector<std::string> known;
  for (const DeviceInfo& d : visible) known.push_back(d.name.substr(3) + " (" + d.uuid + ")");
  return Error{"--device " + options_.device + ": no such GPU; visible are " + Join(known, ", ")};
}

std::vector<DeviceInfo> Session::OtherDevices(const std::vector<DeviceInfo>& used) const {
  std::vector<DeviceInfo> out = VisibleDevices();
  std::erase_if(out,
                [&](const DeviceInfo& d) { return std::find(used.begin(), used.end(), d) != used.end(); });
  return out;
}

Notices Session::UnusedDevices(const std::vector<DeviceInfo>& used) const {
  Notices out;
  for (const DeviceInfo& d : OtherDevices(used))
    out.push_back({NoticeCode::kGpuNotUsed, {{"gpu", d.name}, {"model", d.model}}});
  return out;
}

Notices Session::UnusedCopies() const {
  Notices out;
  for (const CudnnCopyFacts& copy : UnusedCudnnCopies(discovery_.facts)) {
    Notice& notice =
        out.emplace_back(Notice{NoticeCode::kCudnnOfPackagesNotUsed,
                                {{"version", copy.version}, {"path", copy.path}, {"origin", copy.origin}}});
    if (std::string subject = SubjectThatJudges(copy); !subject.empty())
      notice.code = NoticeCode::kCudnnNotUsed, notice.args["subject"] = std::move(subject);
  }
  return out;
}

PlanOptions Session::MakePlanOptions(const std::vector<DeviceInfo>& devices) {
  PlanOptions p;
  p.devices = devices;
  p.filter = options_.filter;
  for (const std::string& id : options_.case_ids) p.cases.push_back(ParseDisplayId(id));
  p.shard_index = options_.shard_index;
  p.shard_count = options_.shard_count;
  p.static_stage = options_.static_stage;
  p.disturb = options_.disturb;
  if (devices.empty()) {
    p.no_device = host_.gpu_error;
    for (const FactsProblem& problem : discovery_.facts.problems)
      if (p.no_device.empty() && !host_.gpus_known)
        p.no_device = "the facts of " + problem.plugin + " are missing: " + problem.error.detail;
    if (p.no_device.empty()) p.no_device = "no GPU is visible";
  }
  p.facts_problems = discovery_.facts.problems;
  // Where a process could not be killed another one might not be either; the run is red already.
  if (discovery_.abandoned.empty() && interrupted_ == 0) {
    p.validate = [this](const std::vector<const CasePlanned*>& cases) {
      ValidateOptions v;
      v.worker_path = options_.worker_path();
      v.scratch_dir = scratch_dir_;
      v.load_timeout_s = v.hook_timeout_s = options_.load_timeout_s;
      return ValidateParameters(v, discovery_.catalog, cases, &control_, signal_fd_.get(), &interrupted_);
    };
  }
  return p;
}

int PrintProblems(const std::vector<Problem>& problems) {
  for (size_t i = 0; i < problems.size() && i < kMaxProblemsShown; ++i)
    fprintf(stderr, "%s\n", DiagnosticLine(ToString(problems[i]), 1000).c_str());
  if (problems.size() > kMaxProblemsShown)
    fprintf(stderr, "and %zu more problems\n", problems.size() - kMaxProblemsShown);
  return 2;
}

}  // namespace cudnn_ci
