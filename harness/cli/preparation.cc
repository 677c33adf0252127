#include "cli/preparation.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "cli/image_look.h"
#include "image/packages/sbom.h"
#include "model/record/fact_keys.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

constexpr char kSystem[] = "system";
constexpr size_t kMostCandidatesSaid = 4;

std::vector<DeviceInfo> VisibleDevices(const Facts& facts) {
  std::vector<DeviceInfo> out;
  for (const GpuFacts& gpu : DecodeHostFacts(facts).gpus)
    out.push_back({"gpu" + std::to_string(out.size()), gpu.uuid, gpu.model, gpu.compute_capability});
  return out;
}

// Why no GPU was found, in words.
std::string NoDeviceReason(const Facts& facts) {
  const HostFacts host = DecodeHostFacts(facts);
  std::string why = host.gpu_error;
  for (const FactsProblem& problem : facts.problems)
    if (why.empty() && !host.gpus_known)
      why = "the facts of " + problem.plugin + " are missing: " + problem.error.detail;
  return why.empty() ? "no GPU is visible" : why;
}

Session::StartedLook StartLookAtCandidates(const PackageNames& names, Session* session) {
  return session->StartLook<CandidateLook>(
      [&](const LookingAt& looking_at) { return LookAtCandidates(names, looking_at); });
}

}  // namespace

Looked Looked::AtPlugins(Session* session) {
  Looked looked;
  looked.discovery_ = session->DiscoverPlugins({}, {});
  return looked;
}

Looked Looked::AtSubject(const SubjectInfo& subject, Session* session) {
  Looked looked;
  looked.discovery_ = session->DiscoverPlugins({subject}, {});
  return looked;
}

Looked Looked::ForChoice(const PackageNames& names, Session* session) {
  Session::StartedLook started = StartLookAtCandidates(names, session);
  Looked looked = AtSubject({kSystem, "loader"}, session);
  looked.started_ = std::move(started);
  const Facts& facts = looked.discovery_.facts;
  const bool complete = facts.Find(kSystem, kCudnnPathFact) && facts.Find(kSystem, kToolkitPathFact);
  if (session->MustEnd() || complete) return looked;
  looked.candidates_ = session->Finish<CandidateLook>(std::move(looked.started_));
  if (looked.candidates_ && !looked.candidates_->in_loader.empty()) {
    const auto use = session->Look<GpuUse>([&](const LookingAt& looking_at) {
      looking_at("the libraries that the loader finds");
      return LookAtUseOfLoader(names);
    });
    if (use) looked.candidates_->loader_use = *use;
    if (!use) looked.candidates_.reset();
  }
  if (looked.candidates_ && !looked.candidates_->subjects.empty() && looked.discovery_.abandoned.empty())
    session->AddFacts(looked.candidates_->subjects, {}, &looked.discovery_);
  return looked;
}

std::string Looked::FoundInWords() const {
  const Facts& facts = discovery_.facts;
  const HostFacts host = DecodeHostFacts(facts);
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
  const std::vector<Candidate> found = candidates_ ? candidates_->candidates : std::vector<Candidate>();
  for (size_t i = 0; i < found.size() && i < kMostCandidatesSaid; ++i)
    words += ", and " + part("cuDNN", fact(found[i].name, kCudnnVersionFact)) +
             (found[i].spec.starts_with("python:") ? " in the Python environment " : " in ") + found[i].place;
  const size_t gpus = host.gpus.size();
  return words + ", " + part("driver", host.driver_version) + ", " +
         (gpus == 0 ? "no GPU" : std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs"));
}

Result<std::string> MatrixFileOf(const AutoChoice& choice, const Installation& installation) {
  if (!choice.problem.empty()) return Error{choice.problem};
  const std::string path = installation.matrices_dir() + "/" + choice.MatrixName() + ".json";
  if (!Installation::MissingFileText(path, R_OK).empty())
    return Error{"found CUDA " + choice.cuda + " (" + choice.because + "), but there is no " + path +
                 "; name a matrix with --matrix"};
  return path;
}

Result<std::string> AutoMatrixFile(const Looked& looked, const Installation& installation) {
  Result<std::string> file = MatrixFileOf(looked.Choice(), installation);
  return file.ok() ? file : Error{"--auto: " + file.error()};
}

Chosen::Chosen(Matrix matrix, Looked looked) : matrix_(std::move(matrix)), looked_(std::move(looked)) {
  const AutoChoice choice = looked_->Choice();
  automatic_ =
      Notice{NoticeCode::kAutoTaken,
             {{"matrix", choice.MatrixName()}, {"because", choice.because}, {"judged", choice.Judged()}}};
}

Resolved::Resolved(Chosen chosen, const PackageNames& names, Session* session) : chosen_(std::move(chosen)) {
  Matrix& matrix = chosen_.matrix_;
  auto look = session->Look<SubjectLook>(
      [&](const LookingAt& looking_at) { return LookAtSubjects(matrix.subjects, names, looking_at); });
  if (!look) return;
  matrix.subjects = std::move(look->subjects);
  problems_ = std::move(look->problems);
  warnings_ = std::move(look->warnings);
  const bool judges_document = std::any_of(matrix.subjects.begin(), matrix.subjects.end(),
                                           [](const auto& s) { return s.spec.starts_with(kSbomSubject); });
  if (judges_document) return;
  if (chosen_.looked_ && chosen_.looked_->candidates())
    candidates_ = *chosen_.looked_->candidates();
  else
    started_ = chosen_.looked_ && chosen_.looked_->started_ ? std::move(chosen_.looked_->started_)
                                                            : StartLookAtCandidates(names, session);
  if (!matrix.automatic_subjects) return;
  FinishLook(session);
  matrix.subjects.insert(matrix.subjects.end(), candidates_.subjects.begin(), candidates_.subjects.end());
  problems_.insert(problems_.end(), candidates_.problems.begin(), candidates_.problems.end());
  warnings_.insert(warnings_.end(), candidates_.warnings.begin(), candidates_.warnings.end());
}

void Resolved::FinishLook(Session* session) {
  if (!started_) return;
  if (auto found = session->Finish<CandidateLook>(std::move(started_))) candidates_ = std::move(*found);
}

Collected::Collected(Resolved resolved) : resolved_(std::move(resolved)) {
  if (const std::optional<Looked>& looked = resolved_.chosen_.looked_) discovery_ = looked->discovery();
}

Collected Collected::ForMatrix(Resolved resolved, Session* session) {
  const std::vector<SubjectInfo> subjects = resolved.subjects();
  return ForSubjects(subjects, std::move(resolved), session);
}

Collected Collected::ForSubjects(const std::vector<SubjectInfo>& subjects, Resolved resolved,
                                 Session* session) {
  Collected collected(std::move(resolved));
  const std::map<std::string, std::string>& contract = collected.matrix().contract;
  Discovery& discovery = collected.discovery_;
  if (!collected.resolved_.chosen_.looked_) {
    discovery = session->DiscoverPlugins(subjects, contract);
  } else if (subjects != std::vector<SubjectInfo>{{kSystem, "loader"}} || !contract.empty()) {
    discovery.facts = {};
    discovery.fact_owners.clear();
    session->AddFacts(subjects, contract, &discovery);
  }
  collected.resolved_.FinishLook(session);
  return collected;
}

std::string Collected::PreloadProblem() const {
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

Result<std::vector<DeviceInfo>> Collected::SelectDevices(const std::string& device) const {
  const std::vector<DeviceInfo> visible = VisibleDevices(discovery_.facts);
  // Without any, the driver's checks say why; an index is not to blame.
  if (visible.empty() || device == "all") return visible;
  for (const DeviceInfo& d : visible)
    if (device == d.uuid || "gpu" + device == d.name || device == d.name) return std::vector<DeviceInfo>{d};
  std::vector<std::string> known;
  for (const DeviceInfo& d : visible) known.push_back(d.name.substr(3) + " (" + d.uuid + ")");
  return Error{"--device " + device + ": no such GPU; visible are " + Join(known, ", ")};
}

std::vector<DeviceInfo> Collected::OtherDevices(const std::vector<DeviceInfo>& used) const {
  std::vector<DeviceInfo> out = VisibleDevices(discovery_.facts);
  std::erase_if(out,
                [&](const DeviceInfo& d) { return std::find(used.begin(), used.end(), d) != used.end(); });
  return out;
}

Notices Collected::UnusedDevices(const std::vector<DeviceInfo>& used) const {
  Notices out;
  for (const DeviceInfo& d : OtherDevices(used))
    out.push_back({NoticeCode::kGpuNotUsed, {{"gpu", d.name}, {"model", d.model}}});
  return out;
}

PlanOptions Collected::MakePlanOptions(const SelectionOptions& selection,
                                       const std::vector<DeviceInfo>& devices, Session* session) const {
  PlanOptions p;
  p.devices = devices;
  p.filter = selection.filter;
  for (const std::string& id : selection.case_ids) p.cases.push_back(ParseDisplayId(id));
  p.shard_index = selection.shard_index;
  p.shard_count = selection.shard_count;
  p.is_node = !selection.nodes.empty();
  p.static_stage = selection.static_stage;
  p.disturb = selection.disturb;
  if (devices.empty()) p.no_device = NoDeviceReason(discovery_.facts);
  p.facts_problems = discovery_.facts.problems;
  // Where a process could not be killed another one might not be either; the run is red already.
  if (discovery_.abandoned.empty() && session->interrupted() == 0)
    p.validate = session->Validator(discovery_.catalog);
  return p;
}

void Collected::ForgetEntries() {
  Matrix& matrix = resolved_.chosen_.matrix_;
  matrix.entries = {};
  matrix.shapes = {};
}

}  // namespace cudnn_ci
