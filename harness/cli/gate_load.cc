// What a run tests against: the matrix, what is known, the image's configuration. See gate.h.
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "cli/gate.h"
#include "cli/process_setup.h"
#include "cli/worker_obstacle.h"

namespace cudnn_ci {

bool Gate::Refuse(const std::vector<Problem>& problems) {
  RemoveReports(paths_);
  exit_code_ = PrintProblems(problems);
  return false;
}

std::optional<Matrix> Gate::LoadMatrixFile(const std::string& path) {
  auto loaded = LoadMatrix(path, installation_.matrices_dir(), options_.selection.matrix.root);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) {
    Refuse(*problems);
    return std::nullopt;
  }
  return std::move(std::get<Matrix>(loaded));
}

bool Gate::LoadWhatIsKnown() {
  auto loaded = LoadKnown(installation_, options_.discovery, options_.compatibility);
  if (const auto* problems = std::get_if<std::vector<Problem>>(&loaded)) return Refuse(*problems);
  known_ = std::move(std::get<Known>(loaded));
  own_warnings_.insert(own_warnings_.end(), known_.notices.begin(), known_.notices.end());
  return true;
}

bool Gate::Load() {
  if (session_.scratch_dir().empty()) return Invalid(kNoScratchFolder);
  if (const std::string missing = MissingMount(); !missing.empty()) return Invalid(missing);
  const Result<uint64_t> number = RandomBits();
  if (!number.ok()) return Invalid(number.error());
  number_ = *number;
  if (const std::string why = Installation::MissingFileText(installation_.worker_path(), X_OK); !why.empty())
    return Invalid(why);
  if (!options_.image_config.empty()) {
    Result<ImageConfig> config = ReadImageConfig(options_.image_config);
    if (!config.ok()) return Invalid("--image-config: " + config.error());
    image_ = std::move(*config);
  }
  if (!LoadWhatIsKnown()) return false;
  if (!options_.sbom.empty()) return LoadForSbom();
  if (options_.selection.matrix.name.empty()) return LoadByChoice();
  std::optional<Matrix> matrix = LoadMatrixFile(options_.selection.matrix.name);
  if (matrix) chosen_.emplace(std::move(*matrix));
  return matrix.has_value();
}

bool Gate::LoadByChoice() {
  if (const auto obstacle = ObstacleBeforeDiscovery(installation_.worker_path()))
    return Invalid(obstacle->detail);
  // What is there decides.
  Looked looked = Looked::ForChoice(known_.names, &session_);
  if (session_.interrupted() == 0 && !session_.unreadable().empty()) {
    RemoveReports(paths_);
    exit_code_ = session_.InspectionExitCode();
    return false;
  }
  if (session_.MustEnd()) return Interrupted();
  const Result<std::string> choice = AutoMatrixFile(looked, installation_);
  if (!choice.ok()) return Invalid(choice.error());
  // A launcher's reports are read on another machine, where the tool does not lie at its path in here.
  const bool is_launched = !options_.launcher.reports_at.empty();
  std::optional<Matrix> matrix =
      LoadMatrixFile(is_launched ? "builtin:" + looked.Choice().MatrixName() : *choice);
  if (!matrix) return false;
  chosen_.emplace(std::move(*matrix), std::move(looked));
  PrintNotices({*chosen_->automatic()});
  return true;
}

}  // namespace cudnn_ci
