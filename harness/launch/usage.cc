// What the launcher's --help prints.
#include "launch/options.h"

namespace cudnn_ci::launch {

const char* Usage() {
  return R"(usage: cudnn-ci run [OPTIONS] IMAGE [-- ARGUMENTS FOR cudnn-ci...]
       cudnn-ci run [OPTIONS] IMAGE -- facts|list|plugins|explain|init|self-test [...]
cudnn-ci-run [OPTIONS] IMAGE [-- ...] does the same. The machine or container that it runs in is judged by cudnn-ci
without `run`.

Puts cudnn-ci read-only into a container of IMAGE, runs the gate there, and leaves junit.xml, report.json, report.html,
summary.md and journal.jsonl, owned by the caller, and launcher.json (what was started, and how it ended) in the output
folder. The reports are made on this machine, from the container's journal. A command that asks (facts, ...) leaves no
reports: it prints, and its exit status is the launcher's; what init finds in the image goes to a file of this machine.
  --engine NAME       docker, podman or nerdctl, or a path to one (default: docker where DOCKER_HOST or DOCKER_CONTEXT is
                      set, podman where CONTAINER_HOST or CONTAINER_CONNECTION is, else the first of them that answers)
  --engine-arg ARG    one more argument for the engine's `run`; repeatable
  --tool PATH         the installed tree with bin/cudnn-ci, or cudnn-ci as one file (default: what this program is of)
  --output-dir DIR    where the reports go (default: cudnn-ci-report)
  --matrix FILE|NAME  a matrix of this machine, whose folder and parents are mounted read-only, or one of the tool's own:
                      cu12, builtin:cu12; behind -- it means the same, and there also a file of the image
  --mount DIR         mount this folder read-only, at the same path; repeatable
  --gpus all|LIST     all, or indices or UUIDs with commas, with or without docker's device= before them (default: all);
                      --no-gpu passes none, and without a matrix it judges what the image's files say, by the matrix static
  --gpu-way gpus|cdi  --gpus, or --device nvidia.com/gpu=... (default: cdi for podman, gpus for the others)
  --keep-entrypoint   let the image's entrypoint start cudnn-ci (default: it is replaced)
  --user USER         run as this user; `caller` is who called (default: the image's own)
  --env NAME          pass this variable too; repeatable
  --attestation       leave attestation.json too, a statement on the image's digest that can be signed; there is none of a
                      run that is no verdict on the image
  --summary           where GITHUB_STEP_SUMMARY is set, that page gets summary.md, below the verdict and the image
  --pull WHEN         missing, always or never (default: missing)
  --grace SECONDS     how long a cancelled run may take to finish its reports (default: 30)
  --dry-run           print the engine's command, run nothing
  --help              print this
Exit status: that of cudnn-ci, when a finished report of this run confirms it:
  0 passed, 1 the image, 3 the runner, 4 the matrix, 5 cudnn-ci, 6 undetermined, 130, 142 and 143 interrupted
or the launcher's own: 1 the image's USER, WORKDIR or files of the driver keep every container from starting; 2 invalid
use or output folder, or an image of another processor; 3 no engine, no image, no GPU runtime, no driver, or the
container was killed from outside; 6 it ran out of memory;
5 cudnn-ci could not start or crashed (1: below a kept entrypoint), or
there is no finished report. Then junit.xml is red with the reason.
)";
}

const std::vector<std::string>& OwnOptions() {
  static const std::vector<std::string> kOptions = {
      "--engine",  "--engine-arg",      "--tool", "--mount", "--gpus",
      "--gpu-way", "--keep-entrypoint", "--user", "--env",   "--pull"};
  return kOptions;
}

}  // namespace cudnn_ci::launch
