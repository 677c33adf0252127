#include "image/contents/environments.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>

#include "base/path.h"
#include "base/text.h"
#include "image/contents/environment_packages.h"
#include "image/contents/folder_list.h"
#include "image/contents/gpu_use.h"
#include "image/contents/python_packages.h"
#include "image/contents/resolve.h"
#include "image/packages/conda_environment.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostPrefixes = 500;
constexpr size_t kMostNameCharacters = 100;

// An interpreter and what it finds.
struct Candidate {
  std::string interpreter, prefix;  // "/opt/venv/bin/python", "/opt/venv"
  std::set<std::string> copies;     // folders that hold a cuDNN or use a GPU, links followed
  bool own = false;                 // the first of them lies below the prefix
};

// Gathers interpreters, each prefix once.
class Search {
 public:
  Search(const Variables& environment, const PackageNames& names, std::string root)
      : environment_(environment), names_(names), root_(std::move(root)) {}

  void Run() {
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
      if (const std::string prefix = ValueOf(environment_, variable); !prefix.empty()) LookAt(prefix);
    for (const std::string& folder : Split(ValueOf(environment_, "PATH"), ':'))
      if (!folder.empty() && folder[0] == '/') LookInto(folder);
    std::vector<std::string> places = {ValueOf(environment_, "HOME")};
    for (const char* place : {"", "/usr", "/usr/local", "/opt", "/srv", "/app", "/workspace", "/root"})
      places.push_back(root_ + place);
    for (const std::string& user : reader_.Names(root_ + "/home")) places.push_back(root_ + "/home/" + user);
    for (const std::string& place : places)
      if (!place.empty() || root_.empty()) LookAround(place);
  }

  std::vector<Candidate> Take() { return std::move(candidates_); }
  // Interpreters that come upon nothing but what the loader finds.
  std::vector<std::string> TakeOthers() { return std::move(others_); }
  bool complete() const { return reader_.complete() && seen_.size() < kMostPrefixes && !cut_; }

 private:
  // A place itself, what lies in it, and the usual names in that.
  void LookAround(const std::string& place) {
    if (!seen_places_.insert(RealPath(place)).second) return;
    LookAt(place);
    for (const std::string& name : reader_.Names(place.empty() ? "/" : place)) {
      const std::string inside = place + "/" + name;
      LookAt(inside);
      for (const char* usual : {"/venv", "/.venv"}) LookAt(inside + usual);
    }
  }

  // A prefix, and the environments of a conda installation.
  void LookAt(const std::string& prefix) {
    LookInto(prefix + "/bin");
    if (!IsCondaEnvironment(prefix)) return;
    for (const std::string& name : reader_.Names(prefix + "/envs"))
      LookInto(prefix + "/envs/" + name + "/bin");
  }

  void LookInto(const std::string& bin) {
    for (const char* name : {"/python3", "/python"}) {
      if (!Exists(bin + name)) continue;
      Take(bin + name);
      return;
    }
  }

  void Take(const std::string& interpreter) {
    if (seen_.size() >= kMostPrefixes) return;
    Candidate candidate;
    const PythonPackages python = FindPythonPackages(interpreter, environment_, &reader_);
    candidate.prefix = python.prefix;
    if (candidate.prefix.empty() || !seen_.insert(RealPath(candidate.prefix)).second) return;
    candidate.interpreter = Normal(interpreter);
    const SubjectInfo subject =
        ResolveSubject({"", "python:" + candidate.interpreter}, environment_, names_).subject;
    for (const auto& folders : {subject.folders, subject.late_folders})
      for (const std::string& folder : folders)
        if (HoldsCudnn(folder)) Add(folder, &candidate);
    for (const std::string& folder : python.folders)
      if (UsesGpu(folder)) Add(folder, &candidate);
    if (IsCondaEnvironment(candidate.prefix) && HasCudaLibrary(candidate.prefix + "/lib"))
      Add(candidate.prefix + "/lib", &candidate);
    if (candidate.copies.empty())
      others_.push_back(candidate.interpreter);
    else
      candidates_.push_back(std::move(candidate));
  }

  static void Add(const std::string& folder, Candidate* candidate) {
    const std::string real = RealPath(folder), prefix = RealPath(candidate->prefix) + "/";
    if (candidate->copies.empty()) candidate->own = real.compare(0, prefix.size(), prefix) == 0;
    candidate->copies.insert(real);
  }

  bool HasCudaLibrary(const std::string& folder) {
    const std::vector<std::string> names = reader_.Names(folder);
    return std::any_of(names.begin(), names.end(),
                       [this](const std::string& name) { return names_.cuda.Has(name); });
  }

  // Several environments may share a folder of packages.
  bool UsesGpu(const std::string& folder) {
    const auto [known, added] = uses_gpu_.emplace(RealPath(folder), false);
    if (added) known->second = HoldsGpuUse(folder, names_.cuda, &cut_);
    return known->second;
  }

  const Variables& environment_;
  const PackageNames& names_;
  const std::string root_;
  FolderReader reader_;
  std::map<std::string, bool> uses_gpu_;      // folders of packages, links followed
  std::set<std::string> seen_, seen_places_;  // prefixes and places, links followed
  std::vector<Candidate> candidates_;
  std::vector<std::string> others_;
  bool cut_ = false;  // a folder of packages holds more than is looked at, and nothing for a GPU in that
};

// An environment that sees the packages of another and brings none itself would be tested twice.
void DropThoseThatOnlyBorrow(std::vector<Candidate>* candidates, std::vector<std::string>* dropped) {
  std::set<std::string> owned;
  for (const Candidate& c : *candidates)
    if (c.own) owned.insert(c.copies.begin(), c.copies.end());
  std::erase_if(*candidates, [&](const Candidate& c) {
    if (c.own) return false;
    const bool known = std::includes(owned.begin(), owned.end(), c.copies.begin(), c.copies.end());
    owned.insert(c.copies.begin(), c.copies.end());
    if (known) dropped->push_back(c.interpreter);
    return known;
  });
}

}  // namespace

std::string NumberOfPlace(const std::string& place) {
  char digits[24];
  snprintf(digits, sizeof digits, "_%08" PRIx32, static_cast<uint32_t>(Fnv1a(place)));
  return digits;
}

std::string NameOfPrefix(const std::string& prefix) {
  std::string name;
  for (const char c : prefix) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool kept = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (kept)
      name += lower;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty() || name[0] < 'a') name = "python" + (name.empty() ? "" : "_" + name);
  // The end of a long path tells more than its beginning.
  if (name.size() > kMostNameCharacters)
    name = "python_" + name.substr(name.size() - kMostNameCharacters) + NumberOfPlace(prefix);
  // What the loader finds is called so.
  return name == "system" ? name + NumberOfPlace(prefix) : name;
}

std::string InterpreterOf(const SubjectInfo& subject) {
  return subject.spec.substr(subject.spec.find(':') + 1);
}

FoundEnvironments FindEnvironments(const Variables& environment, const PackageNames& names,
                                   const std::string& root) {
  Search search(environment, names, root);
  search.Run();
  std::vector<Candidate> candidates = search.Take();
  // By path alone, so that what is found does not depend on the order in which a folder is read.
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.prefix < b.prefix; });
  FoundEnvironments found;
  found.others = search.TakeOthers();
  DropThoseThatOnlyBorrow(&candidates, &found.others);
  std::sort(found.others.begin(), found.others.end());
  std::map<std::string, int> uses;
  for (const Candidate& c : candidates) ++uses[NameOfPrefix(c.prefix)];
  for (const Candidate& c : candidates) {
    std::string name = NameOfPrefix(c.prefix);
    if (uses[name] > 1) name += NumberOfPlace(c.prefix);
    found.subjects.push_back({name, "python:" + c.interpreter});
  }
  std::sort(found.subjects.begin(), found.subjects.end(),
            [](const SubjectInfo& a, const SubjectInfo& b) { return a.name < b.name; });
  found.count = found.subjects.size();
  found.complete = search.complete();
  if (found.count > kMostEnvironments) found.subjects.resize(kMostEnvironments);
  return found;
}

}  // namespace cudnn_ci
