#include "cli/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/random.h"
#include "base/remove_tree.h"
#include "base/time.h"
#include "cli/diagnostics.h"
#include "cli/plugin_folders.h"
#include "cli/process_setup.h"
#include "exec/plugins/validate.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMaxProblemsShown = 50;
constexpr double kLookS = 30;      // for files of the image; a slow disk takes one or two
constexpr double kLeastLookS = 2;  // also once --time-limit is over: what ran is reported with what was found
constexpr double kRemoveS = 10;    // for what checks have left in the scratch folder

// Where the scratch folder may come to be, best first. Named before it is made, so that the guardian knows
// it; the name cannot be guessed.
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

}  // namespace

Session::Session(SessionOptions options)
    : options_(std::move(options)),
      start_ns_(MonotonicNs()),
      scratch_places_(ScratchPlaces()),
      guardian_(&control_, options_.installation.worker_path(), scratch_places_),
      scratch_dir_(MakeFirst(scratch_places_)) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : kHandledSignals) sigaddset(&set, s);
  signal_fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Session::~Session() {
  if (!scratch_dir_.empty() && !RemoveTree(scratch_dir_, kRemoveS))
    PrintDiagnostic(scratch_dir_ + " could not be removed completely; remove it");
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
  d.worker_path = options_.installation.worker_path();
  d.scratch_dir = scratch_dir_;
  d.directories = AllPluginDirs(options_.installation, options_.discovery);
  d.subjects = std::move(subjects);
  d.contract = contract;
  d.load_timeout_s = std::min(options_.discovery.load_timeout_s, left);
  d.facts_timeout_s = std::min(d.facts_timeout_s, left);
  d.limits.grace_s = options_.grace_s;
  return d;
}

Discovery Session::DiscoverPlugins(const std::vector<SubjectInfo>& subjects,
                                   const std::map<std::string, std::string>& contract) {
  Discovery found = Discover(DiscoveryOf(subjects, contract), &control_, signal_fd_.get(), &interrupted_);
  for (PluginInfo& plugin : found.catalog.plugins) {
    plugin.third_party = !PluginOrigin(options_.installation, plugin.path).empty();
    for (CheckInfo& check : plugin.checks) check.third_party = plugin.third_party;
  }
  return found;
}

void Session::AddFacts(const std::vector<SubjectInfo>& subjects,
                       const std::map<std::string, std::string>& contract, Discovery* discovery) {
  CollectFacts(DiscoveryOf(subjects, contract), &control_, signal_fd_.get(), discovery, &interrupted_);
}

Validate Session::Validator(const Catalog& catalog) {
  return [this, &catalog](const std::vector<const CasePlanned*>& cases) {
    ValidateOptions v;
    v.worker_path = options_.installation.worker_path();
    v.scratch_dir = scratch_dir_;
    v.load_timeout_s = v.hook_timeout_s = options_.discovery.load_timeout_s;
    return ValidateParameters(v, catalog, cases, &control_, signal_fd_.get(), &interrupted_);
  };
}

bool Session::FinishLook(StartedCall* look, const std::function<bool(const std::string&)>& take) {
  const double limit_s = std::min(kLookS, std::max(TimeLeft(), kLeastLookS));
  const BoundedCall call = look->Finish(limit_s, signal_fd_.get(), &interrupted_);
  if (call.end == BoundedCall::End::kReturned && take(call.value)) return true;
  if (call.end == BoundedCall::End::kInterrupted) return false;
  unreadable_ = call.looking_at.empty() ? "the image" : call.looking_at;
  if (call.end == BoundedCall::End::kNoAnswer) {
    char text[80];
    snprintf(text, sizeof text, ": its files gave no answer within %.3g s", std::max(limit_s, 0.0));
    unreadable_ += text;
  } else {
    unreadable_ += ": the process that read its files ended early";
  }
  return false;
}

int Session::InspectionExitCode() const {
  if (interrupted_ != 0) return 128 + interrupted_;
  if (unreadable_.empty()) return 0;
  PrintDiagnostic(unreadable_ + "; look at the mounts of the container (findmnt)");
  return kExitUndetermined;
}

int PrintProblems(const std::vector<Problem>& problems) {
  for (size_t i = 0; i < problems.size() && i < kMaxProblemsShown; ++i)
    fprintf(stderr, "%s\n", DiagnosticLine(ToString(problems[i]), 1000).c_str());
  if (problems.size() > kMaxProblemsShown)
    fprintf(stderr, "and %zu more problems\n", problems.size() - kMaxProblemsShown);
  return 2;
}

}  // namespace cudnn_ci
