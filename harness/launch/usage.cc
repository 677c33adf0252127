// What the launcher's --help prints.
#include "launch/options.h"

namespace cudnn_ci::launch {

const char* Usage() {
  return R"(usage: cudnn-ci run [OPTIONS] IMAGE [-- ARGUMENTS FOR cudnn-ci...]
       cudnn-ci run [OPTIONS] IMAGE -- facts|list|plugins|explain|init|self-test [...]
cudnn-ci-run [OPTIONS] IMAGE [-- ...] does the same. To test the machine or container that you are in, use cudnn-ci
without `run`.

Starts a container of IMAGE with cudnn-ci mounted read-only, tests the image there, and writes junit.xml, report.json,
report.html, summary.md, journal.jsonl and launcher.json (what was started, and how it ended) to the output folder. The
files belong to the caller. The reports are made on this machine, from the container's journal. A command (facts, ...)
writes no reports: it prints, and its exit status is passed on. init writes its matrix to a file of this machine.
  --engine NAME       docker, podman or nerdctl, or a path to one (default: docker if DOCKER_HOST or DOCKER_CONTEXT is
                      set, podman if CONTAINER_HOST or CONTAINER_CONNECTION is, else the first one that answers)
  --engine-arg ARG    a further argument for the engine's `run`; repeatable
  --tool PATH         the installed tree with bin/cudnn-ci, or cudnn-ci as one file (default: that of this program)
  --output-dir DIR    folder for the reports (default: cudnn-ci-report)
  --matrix FILE|NAME  a matrix of this machine, whose folder and parents are mounted read-only, or a built-in one (cu12,
                      builtin:cu12); after --, the option can also name a file of the image
  --mount DIR         mount this folder read-only, at the same path; repeatable
  --gpus all|LIST     all, or indices or UUIDs with commas, with or without docker's device= before them (default: all)
  --no-gpu            pass no GPU, and test only what needs none: with the matrix static, or the static stage of
                      --matrix or --auto
  --gpu-way gpus|cdi  pass GPUs by --gpus or by --device nvidia.com/gpu=... (default: cdi for podman, else gpus)
  --keep-entrypoint   let the image's entrypoint start cudnn-ci (default: replace it)
  --user USER         run as this user; `caller` is the user who calls (default: the image's user)
  --env NAME          pass this variable too; repeatable
  --attestation       also write attestation.json, a statement on the image's digest that can be signed; a run without a
                      verdict on the whole image has none
  --summary           if GITHUB_STEP_SUMMARY is set, add summary.md to that page, below the verdict and the image
  --pull WHEN         missing, always or never (default: missing)
  --grace SECONDS     how long a cancelled run may take to finish its reports (default: 30)
  --dry-run           print the engine's command and run nothing
  --help              print this
Exit status, if a finished report of this run confirms it:
  0 passed, 1 image, 3 runner, 4 matrix, 5 cudnn-ci, 6 undetermined, 130, 142 and 143 interrupted
Otherwise, with the reason in a red junit.xml:
  1 the image's USER, WORKDIR or driver files keep every container from starting, or a kept entrypoint fails
  2 invalid usage or output folder, or an image for another processor
  3 no engine, no image, no GPU runtime or no driver, or the container was killed from outside
  5 cudnn-ci did not start, crashed or left no finished report
  6 the container ran out of memory
)";
}

const std::vector<std::string>& OwnOptions() {
  static const std::vector<std::string> kOptions = {
      "--engine",  "--engine-arg",      "--tool", "--mount", "--gpus",
      "--gpu-way", "--keep-entrypoint", "--user", "--env",   "--pull"};
  return kOptions;
}

}  // namespace cudnn_ci::launch
