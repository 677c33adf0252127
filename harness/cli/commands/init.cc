// `cudnn-ci init`: a first matrix for this image, written from what is found in it.
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/image_look.h"
#include "cli/known.h"
#include "cli/option_checks.h"
#include "cli/preparation.h"
#include "cli/shared_options.h"
#include "cli/worker_obstacle.h"
#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/gpu_use.h"
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
  bool uses_gpu = false;  // its packages show it, or its program
  bool without_nvrtc = false;
};
template <class Io, Like<AskedSubject> T>
void Fields(Io& io, T& asked) {
  io("subject", asked.subject), io("problem", asked.problem), io("uses_gpu", asked.uses_gpu);
  io("without_nvrtc", asked.without_nvrtc);
}

std::string MajorOf(const std::string& version) { return version.substr(0, version.find('.')); }

// The matrix that comes with cudnn-ci for the toolkits' major; empty: none does. An image of which a subject
// has no toolkit or no cuDNN is held to less than that.
std::string ParentFor(const std::vector<FirstMatrixSubject>& subjects, const std::string& matrices) {
  const std::string major = MajorOf(subjects.front().toolkit_version);
  for (const FirstMatrixSubject& subject : subjects)
    if (subject.cudnn_version.empty() || subject.without_nvrtc || major.empty() ||
        MajorOf(subject.toolkit_version) != major)
      return {};
  const std::string name = "cu" + major;
  return IsBuiltinName(name) && FindBuiltin(name, matrices).ok() ? name : "";
}

AskedSubject Resolved(const SubjectInfo& subject, const PackageNames& names, const LookingAt& looking_at) {
  SubjectLook look = LookAtSubjects({subject}, names, looking_at);
  if (!look.problems.empty()) return {{}, look.problems.front().detail};
  AskedSubject asked{std::move(look.subjects.front()), ""};
  const std::string& spec = asked.subject.spec;
  const std::string path = spec.substr(spec.find(':') + 1);
  GpuUse use;
  if (spec.starts_with("python:"))
    use = DescribeEnvironment(path, OwnVariables(), names).gpu;
  else if (spec.starts_with("program:"))
    use = GpuUseOfFile(path, names.cuda);
  else if (spec.starts_with("path:"))
    use = FindGpuUse(asked.subject.folders, names.cuda);
  // A program that is named uses one.
  asked.uses_gpu = !use.example.empty() || spec.starts_with("program:");
  asked.without_nvrtc = spec != "loader" && !use.asks_for_nvrtc && !FindsLibrary("libnvrtc", asked.subject);
  return asked;
}

// What --subject means: what a matrix would call it, or a Python environment or program by the name that
// "auto" gives it. May block: see image_look.h.
AskedSubject FindSubject(const std::string& asked, const PackageNames& names, const LookingAt& looking_at) {
  if (asked == "system" || asked == "loader") return Resolved({"system", "loader"}, names, looking_at);
  if (asked.find(':') != std::string::npos) {
    if (const std::string problem = SubjectProblem(asked); !problem.empty())
      return {{}, "--subject: '" + asked + "' " + problem};
    std::string path = asked.substr(asked.find(':') + 1);
    // An interpreter is called after its environment, as "auto" does.
    const size_t bin = asked.rfind("python:", 0) == 0 ? path.rfind("/bin/") : std::string::npos;
    if (bin != std::string::npos) path.resize(bin);
    return Resolved({NameOfPrefix(path), asked}, names, looking_at);
  }
  std::vector<std::string> known;
  const CandidateLook look = LookAtCandidates(names, looking_at);
  for (const auto& candidates : {look.candidates, look.beside})
    for (const Candidate& found : candidates) {
      if (found.name == asked) return Resolved({found.name, found.spec}, names, looking_at);
      known.push_back(found.name);
    }
  const std::string near = DidYouMean(asked, known);
  return {{},
          "--subject: no Python environment or program that uses a GPU is called '" + asked + "'" +
              (known.empty() ? "; none was found" : ", only " + Join(known, ", ")) +
              (near.empty() ? "" : "; did you mean '" + near + "'?")};
}

// What is to be tested, and what was found of it.
struct Found {
  std::vector<SubjectInfo> subjects;
  Looked looked;
  std::set<std::string> use_gpu;  // by name, those whose files tell it
  std::set<std::string> without_nvrtc;
};

// An empty error: the session's InspectionExitCode says it.
Result<Found> FindAsked(const std::string& named, const PackageNames& names, Session* session) {
  const auto asked = session->Look<AskedSubject>(
      [&](const LookingAt& looking_at) { return FindSubject(named, names, looking_at); });
  if (!asked) return Error{""};
  if (!asked->problem.empty()) return Error{asked->problem};
  Found found{{asked->subject}, Looked::AtSubject(asked->subject, session), {}, {}};
  if (asked->without_nvrtc) found.without_nvrtc.insert(asked->subject.name);
  if (asked->uses_gpu) found.use_gpu.insert(asked->subject.name);
  return found;
}

// As --auto chooses. An empty error as above.
Result<Found> FindByChoice(const PackageNames& names, Session* session) {
  Looked looked = Looked::ForChoice(names, session);
  if (!session->unreadable().empty()) return Error{""};
  const AutoChoice choice = looked.Choice();
  if (choice.contradictory) return Error{choice.problem};
  std::vector<SubjectInfo> subjects;
  std::set<std::string> without_nvrtc;
  for (const Candidate& candidate : choice.candidates) {
    subjects.push_back({candidate.name, candidate.spec});
    if (!candidate.has_nvrtc && !candidate.gpu.asks_for_nvrtc) without_nvrtc.insert(candidate.name);
  }
  std::set<std::string> use_gpu;
  for (const SubjectInfo& subject : subjects) use_gpu.insert(subject.name);
  if (subjects.empty()) {
    subjects.push_back({"system", "loader"});
    if (looked.candidates() && !looked.candidates()->in_loader.empty()) use_gpu.insert("system");
  }
  return Found{std::move(subjects), std::move(looked), std::move(use_gpu), std::move(without_nvrtc)};
}

std::vector<FirstMatrixSubject> WithVersions(const Found& found) {
  const Facts& facts = found.looked.discovery().facts;
  std::vector<FirstMatrixSubject> result;
  for (const SubjectInfo& subject : found.subjects) {
    const auto fact = [&](const char* key) {
      const std::string* value = facts.Find(subject.name, key);
      return value == nullptr ? std::string() : *value;
    };
    const bool has_runtime = !fact(kToolkitPathFact).empty();
    const bool uses_gpu = found.use_gpu.count(subject.name) > 0 || !fact(kToolkitVersionFact).empty() ||
                          !fact(kCudnnPathFact).empty();
    result.push_back({subject.name, subject.spec, has_runtime ? fact(kToolkitVersionFact) : "",
                      fact(kCudnnVersionFact), uses_gpu, found.without_nvrtc.count(subject.name) > 0});
    // An existing one is not absent.
    if (result.back().cudnn_version.empty() && !fact(kCudnnPathFact).empty())
      result.back().cudnn_version = "an unknown version";
  }
  return result;
}

class Init : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_option("FILE", file_, "file to write; - for stdout (default cudnn-ci.json)");
    app->add_option("--name", name_, "name of the matrix in reports (default image)")
        ->type_name("NAME")
        ->check(CheckNotEmpty("the name is empty"));
    app->add_option("--subject", subject_,
                    "the subject of the matrix: a Python environment or program by name, or as in a matrix: "
                    "python:/opt/venv/bin/python")
        ->type_name("SUBJECT")
        ->check(CheckNotEmpty("the subject is empty"));
    DeclareDiscovery(app, &discovery_);
  }
  Status Check() override { return CheckDiscovery(discovery_); }
  int Run(const Invocation& invocation) override {
    const auto known = LoadKnown(invocation.installation, discovery_);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
    PrintNotices(std::get<Known>(known).notices);
    Session session({invocation.installation, discovery_});
    const Result<std::string> said = Write(invocation.installation, std::get<Known>(known).names, &session);
    if (said.ok()) return PrintText(*said, file_ == "-" ? kInJson : kInText);
    const int code = session.InspectionExitCode();
    return code != 0 ? code : Fail(said.error());
  }

 private:
  // Returns what to print: the matrix itself for "-". An existing file is never replaced: an error.
  Result<std::string> Write(const Installation& installation, const PackageNames& names,
                            Session* session) const;

  std::string file_ = "cudnn-ci.json", name_ = "image";
  std::string subject_;  // empty: as --auto chooses
  DiscoveryOptions discovery_;
};

Result<std::string> Init::Write(const Installation& installation, const PackageNames& names,
                                Session* session) const {
  struct stat there {};
  if (file_ != "-" && lstat(file_.c_str(), &there) == 0)
    return Error{file_ + " already exists; name another file, or remove it first"};
  if (const auto obstacle = ObstacleBeforeDiscovery(installation.worker_path()))
    return Error{obstacle->detail};
  const Result<Found> found =
      subject_.empty() ? FindByChoice(names, session) : FindAsked(subject_, names, session);
  if (!found.ok()) return Error{found.error()};
  const Facts& facts = found->looked.discovery().facts;
  FirstMatrixInput input;
  input.name = name_;
  input.host = DecodeHostFacts(facts);
  input.subjects = WithVersions(*found);
  input.parent = ParentFor(input.subjects, installation.matrices_dir());
  const std::string text = FirstMatrix(input);
  if (file_ == "-") return text;
  if (const Status written = WriteFileAtomically(file_, text); !written.ok()) return Error{written.error()};
  return "found " + found->looked.FoundInWords() + "\nwrote " + file_ +
         "; read it, then: cudnn-ci --matrix " + ShellQuote(file_) + "\n";
}

}  // namespace

std::unique_ptr<Command> MakeInit() { return std::make_unique<Init>(); }

}  // namespace cudnn_ci
