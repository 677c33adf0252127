#include "cli/shared_options.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/option_checks.h"
#include "cli/shard.h"

namespace cudnn_ci {
namespace {

constexpr const char* kReproduceWith = "--reproduce-with";
constexpr const char* kReportsAt = "--reports-at";
constexpr const char* kMatrixRoot = "--matrix-root";
constexpr const char* kMatrixWithoutGpu = "builtin:static";

}  // namespace

void DeclareMatrix(CLI::App* app, MatrixOptions* o, const std::string& what) {
  app->add_option("--matrix", o->name, what + ": a file, or the name of a built-in one (cu12, builtin:cu12)")
      ->type_name("FILE")
      ->check(CheckPath());
  app->add_option(
         kMatrixRoot, o->root,
         "set by the launcher: the folder under which the host's files are mounted. Reports name the "
         "matrix and its parents without it")
      ->type_name("DIR")
      ->check(CheckPath());
}

void DeclareSelection(CLI::App* app, SelectionOptions* o) {
  DeclareMatrix(app, &o->matrix, "the matrix to test against");
  app->add_flag("--auto", o->auto_matrix,
                "choose the matrix by the CUDA version that the loader finds, or, if it finds no cuDNN, "
                "that of Python environments and programs; the default without --matrix");
  app->add_flag(
      "--no-gpu", o->no_gpu,
      "test only what needs no GPU: with the matrix static, or the static stage of --matrix or --auto");
  app->add_option("--filter", o->filter,
                  "run the matching cases and their prerequisites; GoogleTest syntax, as in 'conv.*-*nhwc*'")
      ->type_name("PATTERN")
      ->check(CheckNotEmpty("the pattern is empty"));
  app->add_option("--case", o->case_ids, "run this case and its prerequisites; repeatable")
      ->type_name("ID")
      ->check(CheckNotEmpty("the case id is empty"))
      ->allow_extra_args(false);
  app->add_option_function<std::string>(
         "--stage", [o](const std::string& v) { o->static_stage = v == "static"; },
         "all, or static: only what needs no GPU")
      ->check(CLI::IsMember({"all", "static"}));
  app->add_option("--shard", o->shard,
                  "run part I of N, counted from 1; auto, auto/N: take the part from the variables of the "
                  "CI or scheduler")
      ->type_name("I/N|auto|auto/N")
      ->check(CheckNotEmpty("write I/N, auto or auto/N"));
  app->add_option(
         "--nodes", o->nodes,
         "run as node I of N, where every node runs all cases; auto: take the node from the variables of "
         "Slurm, Kubernetes, MPI or torchrun")
      ->type_name("I/N|auto")
      ->check(CheckNotEmpty("write I/N or auto"));
  app->add_option("--device", o->device, "the GPUs to test: all, an index in PCI order, or a UUID")
      ->type_name("all|INDEX|UUID")
      ->check(CheckDevice());
  app->add_flag("--disturb", o->disturb, "also run checks that disturb other programs on the device");
}

Status CheckShard(SelectionOptions* o) {
  if (!o->shard.empty() && !o->nodes.empty()) return Error{"--shard and --nodes exclude each other"};
  if (!o->nodes.empty()) return ReadNodes(o->nodes, &o->shard_index, &o->shard_count);
  return o->shard.empty() ? Status() : ReadShard(o->shard, &o->shard_index, &o->shard_count);
}

Status SettleMatrixChoice(SelectionOptions* o) {
  if (!o->matrix.name.empty() && o->auto_matrix) return Error{"--matrix and --auto exclude each other"};
  if (!o->no_gpu) return {};
  if (o->matrix.name.empty() && !o->auto_matrix)
    o->matrix.name = kMatrixWithoutGpu;
  else
    o->static_stage = true;
  return {};
}

void DeclareDiscovery(CLI::App* app, DiscoveryOptions* o) {
  app->add_option("--plugin-dir", o->plugin_dirs, "search this folder for plugins too; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app->add_option("--knowledge", o->knowledge,
                  "file or folder with further knowledge of packages, faults and fixes; repeatable")
      ->type_name("DIR|FILE")
      ->check(CheckPath())
      ->allow_extra_args(false);
  app->add_flag("--allow-adapters", o->allow_adapters,
                "run adapters from added knowledge, which are code and test kernels of the image");
  app->add_option("--load-timeout", o->load_timeout_s,
                  "time limit in seconds for a plugin to load and describe itself")
      ->type_name("S")
      ->check(CheckSeconds());
}

Status CheckDiscovery(const DiscoveryOptions& o) {
  for (const std::string& dir : o.plugin_dirs)
    if (struct stat st{}; stat(dir.c_str(), &st) != 0 || !S_ISDIR(st.st_mode))
      return Error{"--plugin-dir " + CleanLine(dir, 500) + ": not a folder"};
  return {};
}

void DeclareLauncher(CLI::App* app, LauncherOptions* o) {
  const CLI::Validator not_empty = CheckNotEmpty("the text is empty");
  app->add_option(kReproduceWith, o->command,
                  "set by the launcher: the command that repeats this run from outside; reports show it")
      ->type_name("LINE")
      ->check(not_empty);
  app->add_option(kReportsAt, o->reports_at,
                  "set by the launcher: the host's folder of the reports; the summary names it")
      ->type_name("DIR")
      ->check(not_empty);
}

bool IsLaunchersOption(const std::string& name) {
  return name == kReproduceWith || name == kReportsAt || name == kMatrixRoot;
}

void DeclareColor(CLI::App* app, Color* color) {
  app->add_option_function<std::string>(
         "--color",
         [color](const std::string& v) {
           *color = v == "always" ? Color::kAlways : v == "never" ? Color::kNever : Color::kAuto;
         },
         "auto (follows NO_COLOR, FORCE_COLOR and the terminal), always, never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void DeclareJson(CLI::App* app, bool* json) { app->add_flag("--json", *json, "print JSON"); }

}  // namespace cudnn_ci
