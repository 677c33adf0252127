// Looking at the image. See image_look.h.
#include "cli/image_look.h"

#include <utility>

#include "base/path.h"
#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/folder_list.h"
#include "image/contents/gpu_use.h"
#include "image/contents/resolve.h"
#include "image/contents/toolkits.h"
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
std::string Resolve(const Variables& variables, SubjectInfo* subject, Notices* warnings) {
  ResolvedSubject resolved = ResolveSubject(std::move(*subject), variables);
  *subject = std::move(resolved.subject);
  if (!resolved.left_out.empty())
    warnings->push_back({NoticeCode::kFolderNotSearched,
                         {{"subject", subject->name}, {"folder", std::move(resolved.left_out)}}});
  else if (!resolved.complete)
    warnings->push_back({NoticeCode::kSubjectTooLarge, {{"subject", subject->name}}});
  return std::move(resolved.problem);
}

// A library of CUDA where the loader looks, by name alone; empty: there is none.
std::string CudaLibraryOfLoader(const std::string& library_path) {
  const std::vector<std::string> cached = LoaderCachePaths(IsCudaLibrary);
  if (!cached.empty()) return cached.front();
  FolderReader reader;
  std::vector<std::string> folders = SplitLibraryPath(library_path);
  for (const std::string& folder : DefaultLibraryDirectories()) folders.push_back(folder);
  for (const std::string& folder : folders)
    for (const std::string& name : reader.Names(folder))
      if (IsCudaLibrary(name)) return folder + "/" + name;
  return {};
}

}  // namespace

SubjectLook LookAtSubjects(const std::vector<SubjectInfo>& subjects, const LookingAt& looking_at) {
  const Variables variables = OwnVariables();
  SubjectLook look;
  look.subjects = subjects;
  for (SubjectInfo& subject : look.subjects) {
    looking_at(NameOf(subject));
    std::string problem = Resolve(variables, &subject, &look.warnings);
    if (!problem.empty())
      look.problems.push_back(HarnessFinding("subject-missing", std::move(problem), subject.name));
  }
  return look;
}

CandidateLook LookAtCandidates(const PackageNames& names, const LookingAt& looking_at) {
  const Variables variables = OwnVariables();
  CandidateLook look;
  looking_at("the libraries that the loader finds");
  look.in_loader = CudaLibraryOfLoader(ValueOf(variables, "LD_LIBRARY_PATH"));
  looking_at(kEnvironments);
  const FoundEnvironments found = FindEnvironments(variables);
  AddCut(found, &look.warnings);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = ValueOf(variables, variable); !prefix.empty())
      for (const std::string& interpreter : found.others)
        if (LiesIn(interpreter, Normal(prefix))) look.idle.push_back(interpreter);
  for (SubjectInfo subject : found.subjects) {
    looking_at(NameOf(subject));
    look.environments.push_back(DescribeEnvironment(InterpreterOf(subject), variables, names));
    look.environments.back().name = subject.name;
    Resolve(variables, &subject, &look.warnings);
    look.subjects.push_back(std::move(subject));
  }
  return look;
}

EnvironmentLook LookAtEnvironments(bool whole, const PackageNames& names, const LookingAt& looking_at) {
  const Variables variables = OwnVariables();
  EnvironmentLook look;
  looking_at(kEnvironments);
  const FoundEnvironments found = FindEnvironments(variables);
  for (const SubjectInfo& subject : found.subjects) {
    looking_at(NameOf(subject));
    look.subjects.push_back(ResolveSubject(subject, variables).subject);
    look.environments.push_back(DescribeEnvironment(InterpreterOf(subject), variables, names));
    look.environments.back().name = subject.name;
  }
  if (!whole) return look;
  for (size_t i = 0; i < found.others.size() && i < kMostOthers; ++i) {
    looking_at("the Python environment of " + found.others[i]);
    PythonEnvironment other = DescribeEnvironment(found.others[i], variables, names);
    if (!other.frameworks.empty()) look.others.push_back(std::move(other));
  }
  looking_at("the image's CUDA toolkits");
  std::vector<PythonEnvironment> all = look.environments;
  all.insert(all.end(), look.others.begin(), look.others.end());
  look.toolkits = FindToolkits(all, variables);
  return look;
}

}  // namespace cudnn_ci
