#include "cli/compare_command.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/diagnostics.h"
#include "report/text/pipeline_commands.h"
#include "review/compare.h"
#include "review/run_view.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostShown = 50;

}  // namespace

int CompareRuns(const Options& options) {
  std::vector<RunView> views;
  for (const auto& paths : {options.compared, options.again}) {
    for (const std::string& path : paths) {
      Result<RunView> view = ReadRun(path);
      if (!view.ok()) {
        PrintDiagnostic(view.error());
        return 2;
      }
      views.push_back(std::move(*view));
    }
  }
  const std::vector<RunView> again(views.begin() + 2, views.end());
  const Comparison comparison = Compare(views[0], views[1], again);
  const std::string text = options.json ? WithoutPipelineCommands(CompareJson(comparison), kInJson)
                           : options.markdown
                               ? WithoutPipelineCommands(CompareMarkdown(comparison, kMostShown))
                               : WithoutPipelineCommands(CompareText(comparison, kMostShown));
  return PrintAnswer(text) ? ExitCodeOf(comparison) : 5;
}

}  // namespace cudnn_ci
