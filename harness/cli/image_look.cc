// Looking at the image. See image_look.h.
#include "cli/image_look.h"

#include <utility>

#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/resolve.h"
#include "image/contents/toolkits.h"
#include "model/matrix/matrix.h"
#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

static_assert(kMostEnvironments == kMaxSubjects - 1);

constexpr size_t kMostOthers = 100;  // interpreters without a cuDNN that are looked into
constexpr char kEnvironments[] = "the image's Python environments";

std::string NameOf(const SubjectInfo& subject) {
  return "the subject " + subject.name + " (" + subject.spec + ")";
}

}  // namespace

SubjectLook LookAtSubjects(const std::vector<SubjectInfo>& subjects, bool automatic,
                           const LookingAt& looking_at) {
  const Variables variables = OwnVariables();
  SubjectLook look;
  look.subjects = subjects;
  if (automatic) {
    looking_at(kEnvironments);
    FoundEnvironments found = FindEnvironments(variables);
    look.subjects.insert(look.subjects.end(), found.subjects.begin(), found.subjects.end());
    if (found.count > kMostEnvironments)
      look.warnings.push_back({NoticeCode::kEnvironmentsCut,
                               {{"found", static_cast<int64_t>(found.count)},
                                {"judged", static_cast<int64_t>(kMostEnvironments)}}});
    else if (!found.complete)
      look.warnings.push_back({NoticeCode::kEnvironmentsNotSearched});
  }
  for (SubjectInfo& subject : look.subjects) {
    looking_at(NameOf(subject));
    ResolvedSubject resolved = ResolveSubject(std::move(subject), variables);
    subject = std::move(resolved.subject);
    if (!resolved.problem.empty())
      look.problems.push_back(HarnessFinding("subject-missing", std::move(resolved.problem), subject.name));
    if (!resolved.left_out.empty())
      look.warnings.push_back({NoticeCode::kFolderNotSearched,
                               {{"subject", subject.name}, {"folder", std::move(resolved.left_out)}}});
    else if (!resolved.complete)
      look.warnings.push_back({NoticeCode::kSubjectTooLarge, {{"subject", subject.name}}});
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
