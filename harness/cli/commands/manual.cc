// `cudnn-ci manual`: the manual page, made from the options themselves.
#include "cli/manual.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/answer.h"
#include "cli/commands/table.h"

namespace cudnn_ci {
namespace {

class Manual : public Command {
 public:
  void Declare(CLI::App* app) override {
    app->add_option("FORMAT", format_, "man or bash")->required()->check(CLI::IsMember({"man", "bash"}));
    // Of the whole program, whose other commands are declared when the line is parsed.
    app->callback([this, app] {
      const CLI::App& program = *app->get_parent();
      text_ = format_ == "man" ? ManPage(program, ToolVersion()) : BashCompletion(program);
    });
  }
  int Run(const Invocation&) override { return PrintText(text_); }

 private:
  std::string format_, text_;
};

}  // namespace

std::unique_ptr<Command> MakeManual() { return std::make_unique<Manual>(); }

}  // namespace cudnn_ci
