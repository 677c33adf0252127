// What the image has the loader put into the checks' processes. See gate.h.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/variables.h"
#include "cli/gate.h"
#include "cli/image_look.h"
#include "cli/loader_findings.h"
#include "cli/worker_obstacle.h"
#include "exec/schedule/launch.h"
#include "image/elf/elf_dynamic.h"

namespace cudnn_ci {
namespace {

// Of the processes that the checks of a subject run in; null: of those that only ask plugins what they are.
std::string LibraryPathOf(const SubjectInfo* subject) {
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  for (const std::string& entry : WorkerEnvironment(subject, nullptr))
    if (entry.starts_with(kName)) return entry.substr(kName.size());
  return {};
}

}  // namespace

std::vector<std::string> Gate::LibraryPaths() const {
  std::vector<std::string> paths = {LibraryPathOf(nullptr)};
  for (const SubjectInfo& subject : collected_->matrix().subjects) paths.push_back(LibraryPathOf(&subject));
  return paths;
}

std::vector<Finding> Gate::PreloadFindings() const {
  const std::vector<std::string> paths = LibraryPaths();
  std::vector<std::string> preloaded;
  const auto wanted = [this] {
    std::set<std::string> names = ReadDynamicSymbols(installation_.worker_path()).from_c_library;
    for (const PluginInfo& plugin : collected_->discovery().catalog.plugins)
      names.merge(ReadDynamicSymbols(plugin.path).from_c_library);
    return names;
  };
  std::vector<Finding> findings;
  for (const Preload& preload : FindPreloads(OwnVariables(), paths, wanted)) {
    if (preload.problem.empty() && !preload.file.empty()) preloaded.push_back(preload.file);
    findings.push_back(FindingOf(preload, collected_->matrix().allowed_preloads));
  }
  for (const ForeignDriver& driver : FindForeignDrivers(paths, preloaded))
    findings.push_back(FindingOf(driver, collected_->matrix().allowed_driver_libraries));
  return findings;
}

std::optional<Finding> Gate::ObstacleOfTheLoader() {
  const auto found = session_.Look<std::vector<Finding>>([](const LookingAt& looking_at) {
    looking_at("the folders where the loader looks for libraries");
    // A subject's folders are put before those by us, and its libraries are loaded in its own cases.
    const std::optional<BlockingLibrary> blocking = FindBlockingLibrary({LibraryPathOf(nullptr)});
    return blocking ? std::vector{FindingOf(*blocking)} : std::vector<Finding>{};
  });
  if (!found) return Unreadable();
  return found->empty() ? std::nullopt : std::optional<Finding>(found->front());
}

std::optional<Finding> Gate::Unreadable() const {
  if (session_.unreadable().empty()) return std::nullopt;
  return HarnessFinding("subject-unreadable", session_.unreadable());
}

// Why nothing can be tested though plugins were asked. Where no process reaches its main function and a mount
// is among what is preloaded, it is the runner's, or undetermined if the image has one besides.
std::optional<Finding> Gate::ObstacleBehindPlugins() {
  std::optional<Finding> obstacle = ObstacleOf(collected_->discovery(), installation_.worker_path());
  const std::string problem = collected_->PreloadProblem();
  if (obstacle || problem.empty()) return obstacle;
  // The first that is a mount, and the first that the image has in its layers; empty: there is none.
  const auto found = session_.Look<std::vector<std::string>>([this](const LookingAt& looking_at) {
    looking_at("the libraries that the image preloads");
    std::vector<std::string> whose(2);
    for (const Preload& preload :
         FindPreloads(OwnVariables(), LibraryPaths(), [] { return std::set<std::string>{}; })) {
      if (!preload.mounted.empty())
        whose[0] = preload.mounted;
      else if (preload.ignored.empty() && (!preload.file.empty() || !preload.problem.empty()))
        whose[1] = preload.name;
    }
    return whose;
  });
  if (!found || found->size() != 2 || found->front().empty()) return std::nullopt;
  const bool own = !found->back().empty();
  Finding finding = HarnessFinding(own ? "preload-breaks-processes" : "runner-preload-breaks-processes",
                                   problem + "; " + SingleLine(found->front(), 1000) + " is a mount");
  if (own) finding.blame = Blame::kUndetermined;
  return finding;
}

void Gate::ReportPreloads() {
  looked_at_loader_ = true;
  auto findings = session_.Look<std::vector<Finding>>([this](const LookingAt& looking_at) {
    looking_at("the libraries that the image preloads");
    return PreloadFindings();
  });
  if (!findings) findings.emplace();
  if (std::optional<Finding> unreadable = Unreadable(); unreadable && !obstacle_)
    findings->push_back(std::move(*unreadable));
  for (Finding& finding : *findings)
    if (reported_.insert(finding.detail).second) Emit(FindingReported{{}, std::move(finding)});
}

}  // namespace cudnn_ci
