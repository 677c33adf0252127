// `cudnn-ci facts`: what host and image are, and what a matrix promises beside it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/image_look.h"
#include "cli/known.h"
#include "cli/preparation.h"
#include "cli/shared_options.h"
#include "cli/worker_obstacle.h"
#include "image/contents/environment_packages.h"
#include "image/contents/environments.h"
#include "image/contents/resolve.h"
#include "image/contents/toolkits.h"
#include "model/inventory/inventory.h"
#include "report/formats/console.h"
#include "report/formats/facts_json.h"
#include "report/formats/facts_screen.h"

namespace cudnn_ci {
namespace {

constexpr size_t kWidth = 100;

// What the matrix does not name: what it has is shown too, and not tested.
std::vector<SubjectInfo> FurtherSubjects(const CandidateLook& look, const std::vector<SubjectInfo>& known) {
  std::vector<SubjectInfo> further;
  for (size_t i = 0; i < look.candidates.size(); ++i) {
    const Candidate& candidate = look.candidates[i];
    const bool named = std::any_of(known.begin(), known.end(), [&](const SubjectInfo& subject) {
      return subject.name == candidate.name || IsOf(subject, candidate);
    });
    if (!named) further.push_back(look.subjects[i]);
  }
  return further;
}

// Those that a run would test. `matrix` has lost "system" where a run would leave it out.
std::vector<std::string> NamesOf(const std::vector<SubjectInfo>& subjects) {
  std::vector<std::string> names;
  for (const SubjectInfo& subject : subjects) names.push_back(subject.name);
  return names;
}

std::vector<std::string> TestedBy(const AutoChoice& choice) {
  if (!choice.problem.empty()) return {};
  std::vector<std::string> names;
  for (const Candidate& candidate : choice.candidates) names.push_back(candidate.name);
  return names.empty() ? std::vector<std::string>{"system"} : names;
}

std::vector<std::string> Unknown(const Collected& collected, const std::string& worker_path) {
  std::vector<std::string> unknown;
  for (const Finding& problem : collected.subject_problems()) unknown.push_back(problem.detail);
  const std::vector<std::string> warnings = SentencesOf(collected.subject_warnings());
  unknown.insert(unknown.end(), warnings.begin(), warnings.end());
  // What keeps all plugins from being asked is said once.
  std::optional<Finding> obstacle = ObstacleBeforeDiscovery(worker_path);
  if (!obstacle) obstacle = ObstacleOf(collected.discovery(), worker_path);
  if (obstacle) {
    unknown.push_back("no plugin could be asked: " + obstacle->detail);
    return unknown;
  }
  for (const BrokenPlugin& b : collected.discovery().catalog.broken)
    unknown.push_back("plugin " + b.stem + " could not be loaded: " + b.reason);
  return unknown;
}

std::string Title(bool every_fact) {
  return std::string("cudnn-ci ") + ToolVersion() + ": facts about host and image" +
         (every_fact ? ", in full" : "") + "\n\n";
}

class ShowFacts : public Command {
 public:
  void Declare(CLI::App* app) override {
    DeclareMatrix(app, &matrix_, "show the promises of this matrix beside the facts");
    app->add_flag("--all", all_, "print lists in full, and every fact with its key");
    DeclareJson(app, &json_);
    DeclareDiscovery(app, &discovery_);
  }
  Status Check() override { return CheckDiscovery(discovery_); }
  int Run(const Invocation& invocation) override;

 private:
  int Print(const Inventory& inventory, const Facts& facts) const;

  MatrixOptions matrix_;  // without one, what the loader finds and every environment
  DiscoveryOptions discovery_;
  bool all_ = false, json_ = false;
};

int ShowFacts::Run(const Invocation& invocation) {
  const Installation& installation = invocation.installation;
  const auto known = LoadKnown(installation, discovery_);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
  PrintNotices(std::get<Known>(known).notices);
  const PackageNames& names = std::get<Known>(known).names;
  Session session({installation, discovery_});
  Matrix matrix;
  matrix.subjects = {{"system", "loader"}};
  matrix.automatic_subjects = true;
  if (!matrix_.name.empty()) {
    auto loaded = LoadMatrix(matrix_.name, installation.matrices_dir(), matrix_.root);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return PrintProblems(*problems);
    matrix = std::move(std::get<Matrix>(loaded));
  }
  Resolved resolved(Chosen(std::move(matrix)), names, &session);
  const auto look = session.Look<EnvironmentLook>(
      [&](const LookingAt& looking_at) { return LookAtEnvironments(names, looking_at); });
  if (const int code = session.InspectionExitCode(); !look || code != 0) return code;
  InventoryInput input;
  input.variables = OwnVariables();
  input.subjects = resolved.subjects();
  for (SubjectInfo& subject : FurtherSubjects(look->found, resolved.subjects()))
    input.subjects.push_back(std::move(subject));
  Collected collected = Collected::ForSubjects(input.subjects, std::move(resolved), &session);
  const Facts facts = collected.discovery().facts;
  input.facts = facts;
  input.environments = look->environments;
  input.environments.insert(input.environments.end(), look->others.begin(), look->others.end());
  input.toolkits = look->toolkits;
  if (matrix_.name.empty()) {
    input.choice = ChooseMatrix(facts, look->found.Found());
    if (const auto file = MatrixFileOf(*input.choice, installation); !file.ok())
      input.choice->problem = file.error();
    input.judged = TestedBy(*input.choice);
  } else {
    collected.ChooseSubjects(names.adapted, &session);
    const Matrix& judged = collected.matrix();
    input.judged = NamesOf(judged.subjects);
    input.matrix = MatrixIdentity{judged.name, judged.path, judged.sha256};
    input.contract = judged.contract;
  }
  input.unknown = Unknown(collected, installation.worker_path());
  return Print(MakeInventory(std::move(input)), facts);
}

int ShowFacts::Print(const Inventory& inventory, const Facts& facts) const {
  if (json_) return PrintJson(FactsJson(inventory, facts, ToolVersion()));
  const ConsoleOptions console = DetectConsole(STDOUT_FILENO);
  FactsScreenOptions screen;
  screen.width = std::min(console.terminal ? console.width : kWidth, kWidth);
  screen.bounded = !all_;
  const std::string text = Title(all_) + FactsScreen(inventory, screen);
  return PrintText(all_ ? text + "\n" + FactsList(facts) : text);
}

}  // namespace

std::unique_ptr<Command> MakeFacts() { return std::make_unique<ShowFacts>(); }

}  // namespace cudnn_ci
