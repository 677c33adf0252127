// What of the image a run tests, what it promises of that, and what is said of the rest. See preparation.h.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/preparation.h"
#include "model/inventory/cudnn_copies.h"
#include "model/inventory/inventory.h"
#include "model/inventory/kernel_packages.h"
#include "model/json/json_tree.h"
#include "model/record/fact_keys.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

constexpr char kSystem[] = "system";

// A promise of the image, and who shows whether a subject has what it is about.
struct ImagePromise {
  const char *key, *what, *path_fact;
  bool GpuUse::*asked_for;
};
const ImagePromise kImagePromises[] = {
    {"image.cudnn", "cuDNN", kCudnnPathFact, &GpuUse::asks_for_cudnn},
    {"image.toolkit", "CUDA runtime", kToolkitPathFact, &GpuUse::asks_for_runtime}};

// Which read the files of a subject and ask for nothing else.
constexpr const char* kChecksOfFiles[] = {"image.device_code", "image.symbols"};

std::string Described(const SubjectInfo& subject) { return subject.name + " (" + subject.spec + ")"; }

std::string DescribedAll(const std::vector<SubjectInfo>& subjects) {
  constexpr size_t kMost = 4;
  std::vector<std::string> all;
  for (size_t i = 0; i < subjects.size() && i < kMost; ++i) all.push_back(Described(subjects[i]));
  return Join(all, ", ") +
         (subjects.size() > kMost ? " and " + std::to_string(subjects.size() - kMost) + " more" : "");
}

// The member of a matrix that names them.
std::string LineOf(const std::vector<SubjectInfo>& subjects) {
  std::vector<std::string> members;
  for (const SubjectInfo& subject : subjects)
    members.push_back(Quote(subject.name) + ": " + Quote(subject.spec));
  return "\"subjects\": {" + Join(members, ", ") + "}";
}

// A wheel needs what other packages bring, which only its interpreter finds.
std::string SubjectThatTests(const CudnnCopyFacts& copy) {
  if (copy.path.find("-packages/") == std::string::npos)
    return "path:" + copy.path.substr(0, copy.path.rfind('/'));
  const std::string python = copy.path.substr(0, copy.path.find("/lib/python")) + "/bin/python3";
  return access(python.c_str(), X_OK) == 0 ? "python:" + python : "";
}

bool IsTested(const std::string& spec, const std::vector<SubjectInfo>& subjects) {
  return std::any_of(subjects.begin(), subjects.end(), [&](const SubjectInfo& s) { return s.spec == spec; });
}

bool IsOneOf(const SubjectInfo& subject, const std::vector<Candidate>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const Candidate& c) { return c.spec == subject.spec; });
}

}  // namespace

void Collected::ChooseSubjects(const std::vector<AdaptedPackage>& adapted, Session* session) {
  FindSubjects(session);
  Matrix& matrix = resolved_.chosen_.matrix_;
  if (!matrix.automatic_subjects && !matrix.default_subjects) return;
  for (const Candidate& candidate : resolved_.candidates_.candidates)
    if (IsTested(candidate.spec, matrix.subjects))
      matrix.adapters[candidate.name] = AdaptersFor(candidate, adapted);
}

void Collected::FindSubjects(Session* session) {
  DropSystemWithoutCuda();
  const Matrix& matrix = resolved_.chosen_.matrix_;
  if (!matrix.default_subjects) return;
  if (LoaderIsTested(discovery_.facts, resolved_.candidates_.Found())) {
    if (resolved_.chosen_.looked_) LeaveOutPromisesOfLoader();
    // Of all that the search left out, only this says that the image cannot use what it has.
    for (const Notice& notice : resolved_.candidates_.warnings)
      if (notice.code == NoticeCode::kFoldersUnreadable) resolved_.warnings_.push_back(notice);
    return;
  }
  if (session->MustEnd() || !discovery_.abandoned.empty()) return;
  UseCandidates(session);
  LeaveOutPromises();
  LeaveOutNvrtc();
  AddChecksOfFiles();
}

void Collected::DropSystemWithoutCuda() {
  Facts& facts = discovery_.facts;
  std::vector<SubjectInfo>& subjects = resolved_.chosen_.matrix_.subjects;
  const auto has_cudnn = [&](const SubjectInfo& s) { return facts.Find(s.name, kCudnnPathFact) != nullptr; };
  const bool others_do = std::any_of(subjects.begin(), subjects.end(), has_cudnn) ||
                         (subjects.size() > 1 && resolved_.candidates_.in_loader.empty());
  if (!matrix().automatic_subjects || !others_do || has_cudnn({kSystem, ""})) return;
  std::erase_if(subjects, [&](const SubjectInfo& s) { return s.name == kSystem; });
  std::erase_if(resolved_.problems_, [](const Finding& f) { return f.subject == kSystem; });
  // What does not depend on a subject stands under each of them.
  facts.by_subject.erase(kSystem);
}

void Collected::UseCandidates(Session* session) {
  Matrix& matrix = resolved_.chosen_.matrix_;
  const CandidateLook& candidates = resolved_.candidates_;
  const auto toolkit = matrix.contract.find("image.toolkit");
  std::vector<Candidate> judged = candidates.candidates;
  if (toolkit != matrix.contract.end()) judged = OfOneCuda(discovery_.facts, judged, toolkit->second);
  matrix.subjects.clear();
  for (const SubjectInfo& subject : candidates.subjects)
    if (IsOneOf(subject, judged)) matrix.subjects.push_back(subject);
  std::erase_if(resolved_.problems_, [](const Finding& f) { return f.subject == kSystem; });
  for (const Finding& problem : candidates.problems)
    if (std::any_of(matrix.subjects.begin(), matrix.subjects.end(),
                    [&](const SubjectInfo& s) { return s.name == problem.subject; }))
      resolved_.problems_.push_back(problem);
  resolved_.warnings_.insert(resolved_.warnings_.end(), candidates.warnings.begin(),
                             candidates.warnings.end());
  if (!resolved_.chosen_.looked_)
    resolved_.warnings_.push_back(
        {NoticeCode::kSubjectsFound,
         {{"judged", DescribedAll(matrix.subjects)}, {"line", LineOf(matrix.subjects)}}});
  Facts& facts = discovery_.facts;
  facts.by_subject.erase(kSystem);
  std::vector<SubjectInfo> unasked;
  for (const SubjectInfo& subject : matrix.subjects)
    if (facts.by_subject.count(subject.name) == 0) unasked.push_back(subject);
  if (!unasked.empty()) session->AddFacts(unasked, matrix.contract, &discovery_);
}

void Collected::LeaveOutPromises() {
  Matrix& matrix = resolved_.chosen_.matrix_;
  for (const ImagePromise& promise : kImagePromises) {
    const auto range = matrix.contract.find(promise.key);
    if (range == matrix.contract.end() || range->second == "absent") continue;
    for (const Candidate& candidate : resolved_.candidates_.candidates) {
      const bool has = discovery_.facts.Find(candidate.name, promise.path_fact) != nullptr;
      if (!has && !(candidate.gpu.*promise.asked_for) && IsTested(candidate.spec, matrix.subjects))
        matrix.unpromised[candidate.name].insert(promise.key);
    }
  }
}

void Collected::LeaveOutNvrtc() {
  Matrix& matrix = resolved_.chosen_.matrix_;
  const auto toolkit = matrix.contract.find("image.toolkit");
  if (toolkit == matrix.contract.end() || toolkit->second == "absent") return;
  for (const Candidate& candidate : resolved_.candidates_.candidates)
    if (!candidate.has_nvrtc && !candidate.gpu.asks_for_nvrtc && IsTested(candidate.spec, matrix.subjects))
      matrix.unpromised[candidate.name].insert(kWithoutNvrtc);
}

void Collected::LeaveOutPromisesOfLoader() {
  Matrix& matrix = resolved_.chosen_.matrix_;
  const Facts& facts = discovery_.facts;
  const CandidateLook& look = resolved_.candidates_;
  const bool has_cudnn = facts.Find(kSystem, kCudnnPathFact) != nullptr;
  // A cuDNN without a CUDA runtime is no install.
  if (has_cudnn || look.in_loader.empty()) return;
  for (const ImagePromise& promise : kImagePromises)
    if (matrix.contract.count(promise.key) > 0 && facts.Find(kSystem, promise.path_fact) == nullptr &&
        !(look.loader_use.*promise.asked_for))
      matrix.unpromised[kSystem].insert(promise.key);
  if (matrix.contract.count("image.toolkit") > 0 && !look.loader_use.asks_for_nvrtc)
    matrix.unpromised[kSystem].insert(kWithoutNvrtc);
}

void Collected::AddChecksOfFiles() {
  Matrix& matrix = resolved_.chosen_.matrix_;
  std::vector<std::string> unread;
  const auto lacks_all = [](const std::set<std::string>& keys) {
    return std::all_of(std::begin(kImagePromises), std::end(kImagePromises),
                       [&](const ImagePromise& promise) { return keys.count(promise.key) > 0; });
  };
  for (const auto& [subject, keys] : matrix.unpromised)
    if (lacks_all(keys)) unread.push_back(subject);
  if (unread.empty()) return;
  const std::vector<std::string> known = discovery_.catalog.CheckNames();
  for (const char* check : kChecksOfFiles) {
    const bool listed = std::any_of(matrix.entries.begin(), matrix.entries.end(),
                                    [&](const Entry& entry) { return entry.check == check; });
    if (listed || std::find(known.begin(), known.end(), check) == known.end()) continue;
    Entry entry;
    entry.check = check;
    entry.allow_skip = {SkipKind::kAbsent};
    entry.subjects = unread;
    entry.position = entry.check_position = {matrix.path, 0, 0};
    matrix.entries.push_back(std::move(entry));
  }
}

namespace {

// "torch 2.8.0+cpu (PyTorch) of /opt/venv has no file that uses a GPU; ...".
std::string DescribedForCpu(const PythonEnvironment& environment) {
  std::string text;
  for (const PythonPackage& package : environment.frameworks)
    text += (text.empty() ? "" : ", ") + package.distribution + " " + package.version + " (" + package.title +
            ")";
  return text + " of " + environment.prefix +
         ": no file of this environment uses a GPU, and apart from CUDA's own libraries no other file that "
         "was searched does";
}

}  // namespace

std::vector<Finding> Collected::MatrixProblems() const {
  std::vector<Finding> problems;
  const Matrix& judged = matrix();
  const auto is_of_no_use = [&](const ImagePromise& promise) {
    return std::all_of(judged.subjects.begin(), judged.subjects.end(), [&](const SubjectInfo& subject) {
      const auto lacks = judged.unpromised.find(subject.name);
      return lacks != judged.unpromised.end() && lacks->second.count(promise.key) > 0;
    });
  };
  // --auto has promised nothing.
  if (!resolved_.chosen_.looked_)
    for (const SubjectInfo& subject : judged.subjects)
      if (const auto lacks = judged.unpromised.find(subject.name); lacks != judged.unpromised.end())
        for (const ImagePromise& promise : kImagePromises)
          if (is_of_no_use(promise))
            problems.push_back(HarnessFinding("promise-without-use",
                                              std::string(promise.key) + " " +
                                                  judged.contract.at(promise.key) + " is promised by " +
                                                  judged.name + "; " + Described(subject) + " has no " +
                                                  promise.what + ", and nothing in it needs one",
                                              subject.name));
  const bool promises_of_image =
      std::any_of(judged.contract.begin(), judged.contract.end(),
                  [](const auto& p) { return p.first.compare(0, 6, "image.") == 0; });
  const bool nothing = judged.automatic_subjects && resolved_.candidates_.subjects.empty() &&
                       resolved_.candidates_.in_loader.empty() && !promises_of_image &&
                       !discovery_.facts.Find(kSystem, kCudnnPathFact) &&
                       !discovery_.facts.Find(kSystem, kToolkitPathFact);
  const Notices& warnings = resolved_.candidates_.warnings;
  const bool cut = std::any_of(warnings.begin(), warnings.end(), [](const Notice& notice) {
    return notice.code == NoticeCode::kEnvironmentsNotSearched;
  });
  if (nothing)
    problems.push_back(HarnessFinding(
        "nothing-to-judge",
        std::string("no CUDA library and no device code was found on the loader's path, or in Python "
                    "environments and programs in the usual places and on PATH") +
            (cut ? "; the image has more folders and files than were searched" : "")));
  // Where --auto has found CUDA's libraries alone, what the loader finds is all that it tests.
  if (judged.automatic_subjects || (resolved_.chosen_.looked_ && judged.default_subjects))
    for (const PythonEnvironment& environment : resolved_.candidates_.for_cpu)
      problems.push_back(HarnessFinding("frameworks-for-cpu", DescribedForCpu(environment)));
  return problems;
}

void Collected::NameSubjectThatCures(const CasePlanned& planned, Finding* finding) const {
  const std::vector<SubjectInfo>& subjects = matrix().subjects;
  const auto subject = std::find_if(subjects.begin(), subjects.end(),
                                    [&](const SubjectInfo& s) { return s.name == planned.subject; });
  const bool of_toolkit = planned.layer == Layer::kToolkit, of_cudnn = planned.layer == Layer::kCudnn;
  if (finding->severity != Severity::kError || finding->blame != Blame::kImage || subject == subjects.end() ||
      subject->spec != "loader" || (!of_toolkit && !of_cudnn) ||
      discovery_.facts.Find(subject->name, of_cudnn ? kCudnnPathFact : kToolkitPathFact) != nullptr)
    return;
  std::vector<SubjectInfo> curing;
  for (const auto& list : {resolved_.candidates_.candidates, resolved_.candidates_.beside})
    for (const Candidate& candidate : list)
      if (of_cudnn ? !candidate.cudnn.empty() : candidate.has_runtime)
        curing.push_back({candidate.name, candidate.spec});
  if (curing.empty()) return;
  finding->remedy = "The loader does not find it, but " + DescribedAll(curing) +
                    " has one: test that with the line below in the matrix, or with cudnn-ci --auto. If the "
                    "loader should find it: " +
                    finding->remedy;
  finding->command = LineOf(curing);
  finding->where = Where::kMatrix;
}

Notices Collected::UnusedCopies() const {
  Notices out;
  for (const CudnnCopyFacts& copy : UnusedCudnnCopies(discovery_.facts)) {
    Notice& notice =
        out.emplace_back(Notice{NoticeCode::kCudnnOfPackagesNotUsed,
                                {{"version", copy.version}, {"path", copy.path}, {"origin", copy.origin}}});
    if (std::string subject = SubjectThatTests(copy); !subject.empty())
      notice.code = NoticeCode::kCudnnNotUsed, notice.args["subject"] = std::move(subject);
  }
  return out;
}

Notices Collected::NotTested(const std::vector<AdaptedPackage>& adapted) const {
  Notices out = UnusedCopies();
  const std::vector<SubjectInfo>& subjects = matrix().subjects;
  const std::vector<CudnnCopyFacts> unused = UnusedCudnnCopies(discovery_.facts);
  const CandidateLook& candidates = resolved_.candidates_;
  for (const auto& list : {candidates.candidates, candidates.beside})
    for (const Candidate& candidate : list) {
      const bool judged = std::any_of(subjects.begin(), subjects.end(),
                                      [&](const SubjectInfo& s) { return IsOf(s, candidate); });
      const bool said = std::any_of(unused.begin(), unused.end(), [&](const CudnnCopyFacts& copy) {
        return copy.path.starts_with(candidate.place + "/");
      });
      if (judged || said) continue;
      const bool python = candidate.spec.starts_with("python:");
      out.push_back({python ? NoticeCode::kEnvironmentNotJudged : NoticeCode::kProgramNotJudged,
                     {{python ? "prefix" : "path", candidate.place},
                      {"example", candidate.gpu.example},
                      {"subject", candidate.spec}}});
    }
  if (resolved_.chosen_.looked_)
    if (std::optional<Notice> kernels = KernelsNotTested(candidates.candidates, adapted))
      out.push_back(std::move(*kernels));
  for (const std::string& interpreter : candidates.idle)
    if (std::none_of(subjects.begin(), subjects.end(),
                     [&](const SubjectInfo& s) { return s.spec == "python:" + interpreter; }))
      out.push_back({NoticeCode::kEnvironmentIdle, {{"interpreter", interpreter}}});
  for (const ImagePromise& promise : kImagePromises)
    for (const auto& [subject, keys] : matrix().unpromised)
      if (keys.count(promise.key) > 0)
        out.push_back({NoticeCode::kPromiseNotHeld,
                       {{"key", promise.key}, {"subject", subject}, {"what", promise.what}}});
  return out;
}

}  // namespace cudnn_ci
