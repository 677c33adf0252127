// `cudnn-ci list`: the cases of the plan, as `cudnn-ci --dry-run` prints them, or as JSON.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/known.h"
#include "cli/plan_listing.h"
#include "cli/preparation.h"
#include "cli/shared_options.h"
#include "cli/worker_obstacle.h"
#include "model/plan/catalog_rules.h"

namespace cudnn_ci {
namespace {

class List : public Command {
 public:
  void Declare(CLI::App* app) override {
    DeclareSelection(app, &selection_);
    DeclareJson(app, &json_);
    DeclareDiscovery(app, &discovery_);
  }
  Status Check() override {
    if (Status s = CheckShard(&selection_); !s.ok()) return s;
    if (Status s = CheckDiscovery(discovery_); !s.ok()) return s;
    return SettleMatrixChoice(&selection_);
  }
  int Run(const Invocation& invocation) override;

 private:
  SelectionOptions selection_;
  DiscoveryOptions discovery_;
  bool json_ = false;
};

int List::Run(const Invocation& invocation) {
  const Installation& installation = invocation.installation;
  if (const auto obstacle = ObstacleBeforeDiscovery(installation.worker_path()))
    return Fail(obstacle->detail);
  const auto known = LoadKnown(installation, discovery_);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&known)) return PrintProblems(*problems);
  PrintNotices(std::get<Known>(known).notices);
  Session session({installation, discovery_});
  MatrixOptions matrix = selection_.matrix;
  std::optional<Looked> looked;
  if (matrix.name.empty()) {
    looked = Looked::ForChoice(std::get<Known>(known).names, &session);
    if (const int code = session.InspectionExitCode(); code != 0) return code;
    Result<std::string> choice = AutoMatrixFile(*looked, installation);
    if (!choice.ok()) return Fail(choice.error());
    matrix.name = std::move(*choice);
  }
  auto loaded = LoadMatrix(matrix.name, installation.matrices_dir(), matrix.root);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return PrintProblems(*problems);
  Matrix& contract = std::get<Matrix>(loaded);
  Chosen chosen = looked ? Chosen(std::move(contract), std::move(*looked)) : Chosen(std::move(contract));
  if (chosen.automatic()) PrintNotices({*chosen.automatic()});
  Resolved resolved(std::move(chosen), std::get<Known>(known).names, &session);
  if (const int code = session.InspectionExitCode(); code != 0) return code;
  Collected collected = Collected::ForMatrix(std::move(resolved), &session);
  collected.ChooseSubjects(std::get<Known>(known).names.adapted, &session);
  if (session.interrupted() != 0) return 128 + session.interrupted();
  const Catalog& catalog = collected.discovery().catalog;
  if (const auto problems = CatalogProblems(catalog); !problems.empty()) {
    PrintProblems(problems);
    return 5;
  }
  if (const auto problems = RemedyProblems(std::get<Known>(known), catalog); !problems.empty())
    return PrintProblems(problems);
  const Result<std::vector<DeviceInfo>> devices = collected.SelectDevices(selection_.device);
  if (!devices.ok()) return Fail(devices.error());
  const auto planned =
      MakePlan(collected.matrix(), catalog, collected.MakePlanOptions(selection_, *devices, &session));
  if (session.interrupted() != 0) return 128 + session.interrupted();
  if (const auto* problems = std::get_if<std::vector<Problem>>(&planned)) return PrintProblems(*problems);
  return PrintPlan(std::get<Plan>(planned), json_);
}

}  // namespace

std::unique_ptr<Command> MakeList() { return std::make_unique<List>(); }

}  // namespace cudnn_ci
