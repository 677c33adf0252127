// Looking at the image. See image_look.h.
#include "cli/image_look.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/folder_list.h"
#include "image/contents/gpu_use.h"
#include "image/contents/other_processor.h"
#include "image/contents/programs.h"
#include "image/contents/resolve.h"
#include "image/contents/toolkits.h"
#include "image/contents/unreadable_folders.h"
#include "image/loader/loader_files.h"
#include "model/matrix/matrix.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

static_assert(kMostEnvironments == kMaxSubjects - 1);

constexpr size_t kMostOthers = 100;  // interpreters that use no GPU and are looked into
constexpr char kEnvironments[] = "the image's Python environments";

std::string NameOf(const SubjectInfo& subject) {
  return "the subject " + subject.name + " (" + subject.spec + ")";
}

// What bounds have left out of the search.
void AddCut(const FoundEnvironments& found, Notices* warnings) {
  if (found.count > kMostEnvironments)
    warnings->push_back({NoticeCode::kEnvironmentsCut,
                         {{"found", static_cast<int64_t>(found.count)},
                          {"judged", static_cast<int64_t>(kMostEnvironments)}}});
  else if (!found.complete)
    warnings->push_back({NoticeCode::kEnvironmentsNotSearched});
}

// Gives the subject its folders. Returns why the image lacks what it names; empty: it is there.
std::string Resolve(const Variables& variables, const PackageNames& names, SubjectInfo* subject,
                    Notices* warnings) {
  ResolvedSubject resolved = ResolveSubject(std::move(*subject), variables, names);
  *subject = std::move(resolved.subject);
  if (!resolved.left_out.empty())
    warnings->push_back({NoticeCode::kFolderNotSearched,
                         {{"subject", subject->name}, {"folder", std::move(resolved.left_out)}}});
  else if (!resolved.complete)
    warnings->push_back({NoticeCode::kSubjectTooLarge, {{"subject", subject->name}}});
  return std::move(resolved.problem);
}

// The files with a wanted name where the loader looks.
std::vector<std::string> LibrariesOfLoader(const std::string& library_path, const WantedName& wanted) {
  std::vector<std::string> found = LoaderCachePaths(wanted);
  FolderReader reader;
  std::vector<std::string> folders = SplitLibraryPath(library_path);
  for (const std::string& folder : DefaultLibraryDirectories()) folders.push_back(folder);
  for (const std::string& folder : folders)
    for (const std::string& name : reader.Names(folder))
      if (wanted(name)) found.push_back(folder + "/" + name);
  return found;
}

void AddOtherProcessor(const SubjectInfo& subject, const Variables& variables, const PackageNames& names,
                       std::vector<Finding>* problems) {
  if (std::string why = DescribeOtherProcessor(subject, variables, names.cuda); !why.empty())
    problems->push_back(HarnessFinding("subject-for-other-processor", std::move(why), subject.name));
}

void Take(SubjectInfo subject, Candidate candidate, const Variables& variables, const PackageNames& names,
          CandidateLook* look) {
  Resolve(variables, names, &subject, &look->warnings);
  AddOtherProcessor(subject, variables, names, &look->problems);
  candidate.has_runtime = FindsLibrary("libcudart", subject);
  candidate.has_nvrtc = FindsLibrary("libnvrtc", subject);
  look->subjects.push_back(std::move(subject));
  look->candidates.push_back(std::move(candidate));
}

// The prefixes of interpreters, whose folders are theirs.
std::vector<std::string> PrefixesOf(const FoundEnvironments& found) {
  std::vector<std::string> prefixes;
  const auto add = [&](const std::string& interpreter) {
    prefixes.push_back(DirectoryOf(DirectoryOf(interpreter)));
  };
  for (const SubjectInfo& subject : found.subjects) add(InterpreterOf(subject));
  for (const std::string& interpreter : found.others) add(interpreter);
  return prefixes;
}

void AddPrograms(const FoundEnvironments& found, const Variables& variables, const PackageNames& names,
                 const LookingAt& looking_at, CandidateLook* look) {
  looking_at("the image's programs");
  FoundPrograms programs = FindPrograms(variables, names.cuda, PrefixesOf(found), !look->in_loader.empty());
  if (!look->in_loader.empty()) {
    look->beside = std::move(programs.candidates);
    if (look->beside.size() > kMostEnvironments) look->beside.resize(kMostEnvironments);
    return;
  }
  const size_t count = look->subjects.size() + programs.candidates.size();
  if (count > kMostEnvironments)
    look->warnings.push_back(
        {NoticeCode::kEnvironmentsCut,
         {{"found", static_cast<int64_t>(count)}, {"judged", static_cast<int64_t>(kMostEnvironments)}}});
  else if (!programs.complete && count == 0)
    look->warnings.push_back({NoticeCode::kEnvironmentsNotSearched});
  for (Candidate& candidate : programs.candidates) {
    if (look->subjects.size() >= kMostEnvironments) return;
    const auto is_taken = [&](const SubjectInfo& s) { return s.name == candidate.name; };
    if (std::any_of(look->subjects.begin(), look->subjects.end(), is_taken))
      candidate.name += NumberOfPlace(candidate.place);
    const SubjectInfo subject{candidate.name, candidate.spec};
    looking_at(NameOf(subject));
    Take(subject, std::move(candidate), variables, names, look);
  }
}

// Where nothing is found, the reason may lie anywhere; else in what the image itself says is in use.
void AddUnreadable(const Variables& variables, CandidateLook* look) {
  const bool found = !look->subjects.empty() || !look->in_loader.empty();
  const std::vector<std::string> folders = UnreadableFolders(variables, !found);
  if (!folders.empty())
    look->warnings.push_back({NoticeCode::kFoldersUnreadable,
                              {{"user", static_cast<int64_t>(geteuid())}, {"folders", Join(folders, ", ")}}});
}

// The environments that use no GPU.
std::vector<PythonEnvironment> Others(const FoundEnvironments& found, const PackageNames& names,
                                      const LookingAt& looking_at) {
  std::vector<PythonEnvironment> others;
  for (size_t i = 0; i < found.others.size() && i < kMostOthers; ++i) {
    looking_at("the Python environment of " + found.others[i]);
    others.push_back(DescribeEnvironment(found.others[i], OwnVariables(), names));
  }
  return others;
}

void KeepThoseWithFrameworks(std::vector<PythonEnvironment>* environments) {
  std::erase_if(*environments, [](const PythonEnvironment& one) { return one.frameworks.empty(); });
}

// Those with a framework, of an image in which nothing but CUDA's libraries is for a GPU.
std::vector<PythonEnvironment> ForCpu(const FoundEnvironments& found, const PackageNames& names,
                                      const LookingAt& looking_at) {
  std::vector<PythonEnvironment> others = Others(found, names, looking_at);
  const auto uses = [](const PythonEnvironment& one) { return one.compiles || !one.gpu.example.empty(); };
  if (std::any_of(others.begin(), others.end(), uses)) return {};
  KeepThoseWithFrameworks(&others);
  if (others.empty()) return {};
  looking_at("the image's programs");
  const bool used = !LookAtUseOfLoader(names).example.empty() ||
                    !FindPrograms(OwnVariables(), names.cuda, PrefixesOf(found), false).candidates.empty();
  return used ? std::vector<PythonEnvironment>() : std::move(others);
}

FoundEnvironments FindImageEnvironments(const PackageNames& names, const LookingAt& looking_at) {
  looking_at(kEnvironments);
  return FindEnvironments(OwnVariables(), names);
}

// *described gets the environments among the candidates.
CandidateLook Candidates(const FoundEnvironments& found, const PackageNames& names,
                         const LookingAt& looking_at, std::vector<PythonEnvironment>* described) {
  const Variables variables = OwnVariables();
  CandidateLook look;
  looking_at("the libraries that the loader finds");
  const std::string library_path = ValueOf(variables, "LD_LIBRARY_PATH");
  std::vector<std::string> of_cuda =
      LibrariesOfLoader(library_path, [&](const std::string& name) { return names.cuda.Has(name); });
  std::stable_partition(of_cuda.begin(), of_cuda.end(), [](const std::string& path) {
    return IsToolkitLibrary(path.substr(path.rfind('/') + 1));
  });
  if (!of_cuda.empty()) look.in_loader = of_cuda.front();
  AddCut(found, &look.warnings);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = ValueOf(variables, variable); !prefix.empty() && found.complete)
      for (const std::string& interpreter : found.others)
        if (LiesIn(interpreter, Normal(prefix))) look.idle.push_back(interpreter);
  for (const SubjectInfo& subject : found.subjects) {
    looking_at(NameOf(subject));
    PythonEnvironment environment = DescribeEnvironment(InterpreterOf(subject), variables, names);
    environment.name = subject.name;
    Take(subject, CandidateOf(environment), variables, names, &look);
    described->push_back(std::move(environment));
  }
  AddPrograms(found, variables, names, looking_at, &look);
  AddUnreadable(variables, &look);
  const bool cuda_alone = !look.in_loader.empty() && look.subjects.empty() && look.beside.empty();
  if (cuda_alone) look.for_cpu = ForCpu(found, names, looking_at);
  return look;
}

}  // namespace

SubjectLook LookAtSubjects(const std::vector<SubjectInfo>& subjects, const PackageNames& names,
                           const LookingAt& looking_at) {
  const Variables variables = OwnVariables();
  SubjectLook look;
  look.subjects = subjects;
  for (SubjectInfo& subject : look.subjects) {
    looking_at(NameOf(subject));
    std::string problem = Resolve(variables, names, &subject, &look.warnings);
    if (!problem.empty())
      look.problems.push_back(HarnessFinding("subject-missing", std::move(problem), subject.name));
    else
      AddOtherProcessor(subject, variables, names, &look.problems);
  }
  return look;
}

CandidateLook LookAtCandidates(const PackageNames& names, const LookingAt& looking_at) {
  std::vector<PythonEnvironment> described;
  return Candidates(FindImageEnvironments(names, looking_at), names, looking_at, &described);
}

bool FindsLibrary(const std::string& stem, const SubjectInfo& subject) {
  FolderReader reader;
  for (const auto& folders : {subject.folders, subject.late_folders})
    for (const std::string& folder : folders)
      for (const std::string& name : reader.Names(folder))
        if (name.starts_with(stem + ".so.")) return true;
  const std::string library_path = ValueOf(OwnVariables(), "LD_LIBRARY_PATH");
  return !LibrariesOfLoader(library_path, [&](const std::string& name) {
            return name.starts_with(stem + ".so.");
          }).empty();
}

GpuUse LookAtUseOfLoader(const PackageNames& names) {
  const std::string library_path = ValueOf(OwnVariables(), "LD_LIBRARY_PATH");
  GpuUse use;
  const auto is_there = [&](const char* stem) {
    return !LibrariesOfLoader(library_path, [&](const std::string& name) {
              return name.starts_with(stem);
            }).empty();
  };
  use.asks_for_cudnn = is_there("libcudnn");
  use.asks_for_nvrtc = is_there("libnvrtc");
  const auto is_other = [&](const std::string& name) {
    return name.find(".so") != std::string::npos && !names.cuda.Has(name);
  };
  for (const std::string& path : LibrariesOfLoader(library_path, is_other)) {
    const GpuUse one = GpuUseOfFile(path, names.cuda);
    if (use.example.empty()) use.example = one.example;
    use.asks_for_cudnn = use.asks_for_cudnn || one.asks_for_cudnn;
    use.asks_for_runtime = use.asks_for_runtime || one.asks_for_runtime;
    use.asks_for_nvrtc = use.asks_for_nvrtc || one.asks_for_nvrtc;
  }
  return use;
}

EnvironmentLook LookAtEnvironments(const PackageNames& names, const LookingAt& looking_at) {
  const Variables variables = OwnVariables();
  EnvironmentLook look;
  const FoundEnvironments found = FindImageEnvironments(names, looking_at);
  look.found = Candidates(found, names, looking_at, &look.environments);
  look.others = Others(found, names, looking_at);
  KeepThoseWithFrameworks(&look.others);
  looking_at("the image's CUDA toolkits");
  std::vector<PythonEnvironment> all = look.environments;
  all.insert(all.end(), look.others.begin(), look.others.end());
  look.toolkits = FindToolkits(all, variables);
  return look;
}

}  // namespace cudnn_ci
