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
    app->add_option("FORMAT", format_, "man")->required()->check(CLI::IsMember({"man"}));
    // Of the whole program, whose other commands are declared when the line is parsed.
    app->callback([this, app] { page_ = ManPage(*app->get_parent(), ToolVersion()); });
  }
  int Run(const Invocation&) override { return PrintText(page_); }

 private:
  std::string format_, page_;
};

}  // namespace

std::unique_ptr<Command> MakeManual() { return std::make_unique<Manual>(); }

}  // namespace cudnn_ci
