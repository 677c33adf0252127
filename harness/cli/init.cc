#include "cli/init.h"

#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/image_look.h"
#include "cli/worker_obstacle.h"
#include "image/contents/environments.h"
#include "image/contents/resolve.h"
#include "model/matrix/builtin_matrices.h"
#include "model/matrix/first_matrix.h"
#include "model/record/fact_keys.h"

namespace cudnn_ci {
namespace {

// The subject with its folders; or why there is none.
struct AskedSubject {
  SubjectInfo subject;
  std::string problem;
};
template <class Io, journal::Like<AskedSubject> T>
void Fields(Io& io, T& asked) {
  io("subject", asked.subject), io("problem", asked.problem);
}

std::string MajorOf(const std::string& version) { return version.substr(0, version.find('.')); }

// The matrix that comes with cudnn-ci for the toolkits' major; empty: none does. An image of which a subject
// has no toolkit or no cuDNN is held to less than that.
std::string ParentFor(const std::vector<FirstMatrixSubject>& subjects, const std::string& matrices) {
  const std::string major = MajorOf(subjects.front().toolkit_version);
  for (const FirstMatrixSubject& subject : subjects)
    if (subject.cudnn_version.empty() || major.empty() || MajorOf(subject.toolkit_version) != major)
      return {};
  const std::string name = "cu" + major;
  return IsBuiltinName(name) && FindBuiltin(name, matrices).ok() ? name : "";
}

AskedSubject Resolved(const SubjectInfo& subject, const LookingAt& looking_at) {
  SubjectLook look = LookAtSubjects({subject}, false, looking_at);
  if (!look.problems.empty()) return {{}, look.problems.front().detail};
  return {std::move(look.subjects.front()), ""};
}

// What --subject means: what a matrix would call it, or a Python environment by the name that "auto" gives
// it. May block: see image_look.h.
AskedSubject FindSubject(const std::string& asked, const LookingAt& looking_at) {
  if (asked == "system" || asked == "loader") return Resolved({"system", "loader"}, looking_at);
  if (asked.find(':') != std::string::npos) {
    if (const std::string problem = SubjectProblem(asked); !problem.empty())
      return {{}, "--subject: '" + asked + "' " + problem};
    std::string path = asked.substr(asked.find(':') + 1);
    // An interpreter is called after its environment, as "auto" does.
    const size_t bin = asked.rfind("python:", 0) == 0 ? path.rfind("/bin/") : std::string::npos;
    if (bin != std::string::npos) path.resize(bin);
    return Resolved({NameOfPrefix(path), asked}, looking_at);
  }
  std::vector<std::string> names;
  looking_at("the image's Python environments");
  for (const SubjectInfo& found : FindEnvironments(OwnVariables()).subjects) {
    if (found.name == asked) return Resolved(found, looking_at);
    names.push_back(found.name);
  }
  const std::string near = DidYouMean(asked, names);
  return {{},
          "--subject: no Python environment with a cuDNN is called '" + asked + "'" +
              (names.empty() ? "; none was found" : ", only " + Join(names, ", ")) +
              (near.empty() ? "" : "; did you mean '" + near + "'?")};
}

// What is to be judged, with its facts collected. An empty error: the session's EndOfLook says it.
Result<std::vector<SubjectInfo>> Subjects(const Options& options, const PackageNames& names,
                                          Session* session) {
  if (!options.init_subject.empty()) {
    const auto asked = session->Look<AskedSubject>(
        [&](const LookingAt& looking_at) { return FindSubject(options.init_subject, looking_at); });
    if (!asked) return Error{""};
    if (!asked->problem.empty()) return Error{asked->problem};
    session->DiscoverPlugins({asked->subject});
    return std::vector<SubjectInfo>{asked->subject};
  }
  session->DiscoverForChoice(names);
  if (!session->unreadable().empty()) return Error{""};
  const AutoChoice choice = session->Choice();
  if (choice.contradictory) return Error{choice.problem};
  std::vector<SubjectInfo> subjects;
  for (const PythonEnvironment& environment : choice.environments)
    subjects.push_back({environment.name, "python:" + environment.interpreter});
  if (subjects.empty()) subjects.push_back({"system", "loader"});
  return subjects;
}

std::vector<FirstMatrixSubject> WithVersions(const std::vector<SubjectInfo>& subjects, const Facts& facts) {
  std::vector<FirstMatrixSubject> result;
  for (const SubjectInfo& subject : subjects) {
    const auto fact = [&](const char* key) {
      const std::string* value = facts.Find(subject.name, key);
      return value == nullptr ? std::string() : *value;
    };
    result.push_back({subject.name, subject.spec, fact(kToolkitVersionFact), fact(kCudnnVersionFact)});
    // One that is there is not absent.
    if (result.back().cudnn_version.empty() && !fact(kCudnnPathFact).empty())
      result.back().cudnn_version = "an unknown version";
  }
  return result;
}

}  // namespace

Result<std::string> WriteFirstMatrix(const Options& options, const PackageNames& names, Session* session) {
  const std::string& file = options.init_file;
  struct stat there {};
  if (file != "-" && lstat(file.c_str(), &there) == 0)
    return Error{file + " is there already; name another file, or take it away first"};
  if (const auto obstacle = ObstacleBeforeDiscovery(options.worker_path())) return Error{obstacle->detail};
  const Result<std::vector<SubjectInfo>> subjects = Subjects(options, names, session);
  if (!subjects.ok()) return Error{subjects.error()};
  const Facts& facts = session->discovery().facts;
  FirstMatrixInput input;
  input.name = options.init_name;
  input.host = DecodeHostFacts(facts);
  input.subjects = WithVersions(*subjects, facts);
  input.parent = ParentFor(input.subjects, options.matrices_dir());
  const std::string text = FirstMatrix(input);
  if (file == "-") return text;
  if (const Status written = WriteFileAtomically(file, text); !written.ok()) return Error{written.error()};
  return "found " + session->FoundInWords() + "\nwrote " + file + "; read it, then: cudnn-ci --matrix " +
         ShellQuote(file) + "\n";
}

}  // namespace cudnn_ci
