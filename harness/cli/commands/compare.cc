// `cudnn-ci compare`: what changed from one run to another.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/answer.h"
#include "cli/commands/table.h"
#include "cli/diagnostics.h"
#include "report/text/pipeline_commands.h"
#include "review/compare.h"
#include "review/run_view.h"

namespace cudnn_ci {
namespace {

constexpr size_t kMostShown = 50;

class CompareRuns : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_option("RUN", compared_, "the old and the new run: journal.jsonl or report.json")
        ->type_name("OLD NEW")
        ->required()
        ->expected(2);
    app->add_option("--again", again_, "another run of the old image, to measure the noise; repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    CLI::Option* const json = app->add_flag("--json", json_, "print JSON");
    app->add_flag("--markdown", markdown_, "print Markdown for a merge request or a step summary")
        ->excludes(json);
  }
  // 0 when the new run is the same or better, 1 when it is worse, 2 when the two cannot be compared or read.
  int Run(const Invocation& invocation) override;

 private:
  std::vector<std::string> compared_, again_;  // old and new; more of the old
  bool json_ = false, markdown_ = false;
};

int CompareRuns::Run(const Invocation&) {
  std::vector<RunView> views;
  for (const auto& paths : {compared_, again_}) {
    for (const std::string& path : paths) {
      Result<RunView> view = ReadRun(path);
      if (!view.ok()) return Fail(view.error());
      views.push_back(std::move(*view));
    }
  }
  const std::vector<RunView> again(views.begin() + 2, views.end());
  const Comparison comparison = Compare(views[0], views[1], again);
  const std::string text = json_       ? WithoutPipelineCommands(CompareJson(comparison), kInJson)
                           : markdown_ ? WithoutPipelineCommands(CompareMarkdown(comparison, kMostShown))
                                       : WithoutPipelineCommands(CompareText(comparison, kMostShown));
  return PrintAnswer(text) ? ExitCodeOf(comparison) : 5;
}

}  // namespace

std::unique_ptr<Command> MakeCompare() { return std::make_unique<CompareRuns>(); }

}  // namespace cudnn_ci
