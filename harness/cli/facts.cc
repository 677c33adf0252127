#include "cli/facts.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/known.h"
#include "cli/session.h"
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

// The environments that the matrix does not name: what they have is shown too, and not judged.
std::vector<SubjectInfo> FurtherSubjects(const EnvironmentLook& look, const std::vector<SubjectInfo>& known) {
  std::vector<SubjectInfo> further;
  for (size_t i = 0; i < look.environments.size(); ++i) {
    const PythonEnvironment& environment = look.environments[i];
    const bool named = std::any_of(known.begin(), known.end(), [&](const SubjectInfo& subject) {
      return subject.name == environment.name || IsOf(subject, environment);
    });
    if (!named) further.push_back(look.subjects[i]);
  }
  return further;
}

// Those that a run would judge. `matrix` has lost "system" where a run would leave it out.
std::vector<std::string> NamesOf(const std::vector<SubjectInfo>& subjects) {
  std::vector<std::string> names;
  for (const SubjectInfo& subject : subjects) names.push_back(subject.name);
  return names;
}

std::vector<std::string> JudgedBy(const AutoChoice& choice) {
  if (!choice.problem.empty()) return {};
  std::vector<std::string> names;
  for (const PythonEnvironment& environment : choice.environments) names.push_back(environment.name);
  return names.empty() ? std::vector<std::string>{"system"} : names;
}

std::vector<std::string> Unknown(const Options& options, const Session& session) {
  std::vector<std::string> unknown;
  for (const Finding& problem : session.subject_problems()) unknown.push_back(problem.detail);
  const std::vector<std::string> warnings = SentencesOf(session.subject_warnings());
  unknown.insert(unknown.end(), warnings.begin(), warnings.end());
  // What keeps all plugins from being asked is said once.
  std::optional<Finding> obstacle = ObstacleBeforeDiscovery(options.worker_path());
  if (!obstacle) obstacle = ObstacleOf(session.discovery(), options.worker_path());
  if (obstacle) {
    unknown.push_back("no plugin could be asked: " + obstacle->detail);
    return unknown;
  }
  for (const BrokenPlugin& b : session.discovery().catalog.broken)
    unknown.push_back("plugin " + b.stem + " could not be loaded: " + b.reason);
  return unknown;
}

std::string Title(const Options& options) {
  return std::string("cudnn-ci ") + ToolVersion() + ": what host and image are" +
         (options.all_facts ? ", every fact" : "") + "\n\n";
}

}  // namespace

std::optional<std::string> FactsText(const Options& options, int* exit_code) {
  auto loaded_known = LoadKnown(options);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded_known)) {
    *exit_code = PrintProblems(*problems);
    return std::nullopt;
  }
  const PackageNames& names = std::get<Known>(loaded_known).names;
  Session session(options);
  // Without one, what the loader finds and every environment.
  Matrix matrix;
  matrix.subjects = {{"system", "loader"}};
  matrix.automatic_subjects = true;
  if (!options.matrix.empty()) {
    auto loaded = LoadMatrix(options.matrix, options.matrices_dir(), options.matrix_root);
    if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
      *exit_code = PrintProblems(*problems);
      return std::nullopt;
    }
    matrix = std::move(std::get<Matrix>(loaded));
  }
  session.ResolveSubjects(&matrix);
  const auto look = session.Look<EnvironmentLook>(
      [&](const LookingAt& looking_at) { return LookAtEnvironments(true, names, looking_at); });
  if (*exit_code = session.EndOfLook(); !look || *exit_code != 0) return std::nullopt;
  InventoryInput input;
  input.variables = OwnVariables();
  input.subjects = matrix.subjects;
  for (SubjectInfo& subject : FurtherSubjects(*look, matrix.subjects))
    input.subjects.push_back(std::move(subject));
  session.DiscoverPlugins(input.subjects, matrix.contract);
  const Facts facts = session.discovery().facts;
  input.facts = facts;
  input.environments = look->environments;
  input.environments.insert(input.environments.end(), look->others.begin(), look->others.end());
  input.toolkits = look->toolkits;
  if (options.matrix.empty()) {
    input.choice = ChooseMatrix(facts, look->environments);
    if (const auto file = session.MatrixFile(*input.choice); !file.ok()) input.choice->problem = file.error();
    input.judged = JudgedBy(*input.choice);
  } else {
    session.DropSystemWithoutCudnn(&matrix);
    input.judged = NamesOf(matrix.subjects);
    input.matrix = MatrixIdentity{matrix.name, matrix.path, matrix.sha256};
    input.contract = matrix.contract;
  }
  input.unknown = Unknown(options, session);
  const Inventory inventory = MakeInventory(std::move(input));
  if (options.json) return FactsJson(inventory, facts, ToolVersion());
  const ConsoleOptions console = DetectConsole(STDOUT_FILENO);
  FactsScreenOptions screen;
  screen.width = std::min(console.terminal ? console.width : kWidth, kWidth);
  screen.bounded = !options.all_facts;
  std::string text = Title(options) + FactsScreen(inventory, screen);
  return options.all_facts ? text + "\n" + FactsList(facts) : text;
}

}  // namespace cudnn_ci
