#!/usr/bin/env python3
"""ci/github/action.yml and gate.yml by act, as GitHub's runner would take them: checkout, a matrix of the repository, real containers of
docker_test's daemon. The checkout is act's own, upload-artifact a stand-in: neither action can be had without GitHub.

usage: act_test.py --tree DIR     the installed tree; as root; exit status 77 without dockerd, debootstrap, act (ci/deps clients) or root
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import docker_test  # noqa: E402: found beside
from docker_test import ROOT  # noqa: E402

ACT = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "cudnn-ci/clients/bin/act"
TREE = None
IMAGE = "localhost/bookworm"
# This machine has no GPU, and the daemon no network.
WITHOUT_GPU = """#!/bin/sh
[ "$1" = run ] || exec {docker} "$@"
shift
last=
for word in "$@"; do
  shift
  case $word,$last in --gpus,* | *,--gpus) ;; *) set -- "$@" "$word" ;; esac
  last=$word
done
exec {docker} run --network none "$@"
"""
WORKFLOW = """on: push
jobs:
  gate:
    runs-on: [self-hosted]
    steps:
      - uses: actions/checkout@v4
      - id: gate
        uses: ./.github/actions/cudnn-ci
        with: { image: "%s", matrix: "%s" }
      - if: always()
        env: { VERDICT: "${{ steps.gate.outputs.verdict }}", CAUSE: "${{ steps.gate.outputs.root-cause }}" }
        run: echo "verdict=$VERDICT cause=$CAUSE"
"""


def import_bookworm(daemon):
    """Debian 12 as IMAGE, without CUDA."""
    root = daemon.dir / "bookworm"
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(f"tar -C {root} -c . | docker -H {daemon.socket} import - {IMAGE}", shell=True, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(root)


def documented_matrix():
    return re.search(r"```json\n(.*?)```", (ROOT / "harness/docs/next-steps.md").read_text(), re.S)[1]


def client_environment(folder, socket):
    """Variables of a client whose `docker` is the daemon's, without GPU and network."""
    (folder / "bin").mkdir()
    docker = folder / "bin/docker"
    docker.write_text(WITHOUT_GPU.format(docker=shutil.which("docker")))
    docker.chmod(0o755)
    return {**os.environ, "HOME": str(folder), "DOCKER_HOST": socket, "PATH": f"{folder}/bin:{os.environ['PATH']}"}


def commit(repository, environment):
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=repository, env=environment, check=True)


def in_opt(words, tree):
    """A command that sees the tree in /opt/cudnn-ci, as the files for pipelines name it, or with None nothing there; nobody else does."""
    link = 'ln -s "$0" /opt/cudnn-ci; ' if tree else ""
    return ["unshare", "-m", "sh", "-euc", f'mount -t tmpfs none /opt; {link}exec "$@"', str(tree), *map(str, words)]


# As strict as upload-artifact is: a name is taken once, and no files are no error only where the workflow says so.
UPLOAD = """name: upload-artifact
inputs: { name: { required: true }, path: { required: true }, if-no-files-found: { default: warn } }
runs:
  using: composite
  steps:
    - shell: bash
      env: { NAME: "${{ inputs.name }}", FILES: "${{ inputs.path }}", NONE: "${{ inputs.if-no-files-found }}" }
      run: |
        if [ ! -e "$FILES" ]; then [ "$NONE" = ignore ]; exit; fi
        mkdir "%s/$NAME" && cp -r "$FILES/." "%s/$NAME"
"""
# What needs no CUDA, so that the image of the test can pass; and what only a runner with a driver can pass.
PASSES = {"schema": "cudnn-ci/matrix/1", "name": "first", "checks": [{"check": "exec.run", "name": "true", "params": {"argv": ["true"]}}]}
NEEDS_A_DRIVER = {"schema": "cudnn-ci/matrix/1", "name": "first", "checks": [{"check": "driver.load"}]}


class ActTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = docker_test.Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.wait()
        import_bookworm(cls.daemon)

    def act(self, workflows, team=None, more=(), tool="/opt/cudnn-ci"):
        """What act prints of a push to a repository with these workflows, the action and team.json: next-steps.md's, or another. The tree is in
        /opt/cudnn-ci; with no tool nothing is."""
        folder = self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-act-"))
        self.addCleanup(shutil.rmtree, folder, True)
        repository = folder / "repository"
        (repository / ".github/workflows").mkdir(parents=True)
        (repository / ".github/actions/cudnn-ci").mkdir(parents=True)
        shutil.copy(ROOT / "ci/github/action.yml", repository / ".github/actions/cudnn-ci")
        (repository / "team.json").write_text(json.dumps(team) if team else documented_matrix())
        for name, text in workflows.items():
            (repository / ".github/workflows" / name).write_text(text)
        environment = client_environment(folder, self.daemon.socket)
        commit(repository, environment)
        (folder / ".config/act").mkdir(parents=True)
        (folder / ".config/act/actrc").write_text("")
        done = subprocess.run(in_opt([ACT, "push", "-P", "self-hosted=-self-hosted", *more], tool and TREE), cwd=repository, env=environment,
                              capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, done.stdout + done.stderr


class Action(ActTest):
    def push(self, matrix):
        return self.act({"gate.yml": WORKFLOW % (IMAGE, matrix)})

    def test_the_matrix_is_a_file_of_the_repository(self):
        status, said = self.push("team.json")
        self.assertEqual(status, 1, said)
        self.assertIn("| verdict=failed cause=image.toolkit-runtime-missing", said)

    def test_the_matrix_is_a_name(self):
        status, said = self.push("cu13")
        self.assertEqual(status, 1, said)
        self.assertIn("| verdict=failed cause=image.toolkit-runtime-missing", said)

    def test_an_image_alone_is_enough(self):
        status, said = self.act({"gate.yml": WORKFLOW.replace(', matrix: "%s"', "") % IMAGE})
        self.assertEqual(status, 1, said)
        self.assertIn("| verdict=not_gated cause=matrix.nothing-to-judge", said)

    def test_a_matrix_that_is_not_there_is_red(self):
        status, said = self.push("nowhere.json")
        self.assertEqual(status, 1, said)
        self.assertIn("nowhere.json: no such file", said)


# The last job of a pipeline, by pipelines.md's line: the images come from a list, not from the job matrix. Without a job the matrix is
# passed over, as pipelines do it. Reports lie where download-artifact would put them.
LISTED = """on: push
jobs:
  gate:
    if: ${{ '%s' != '[]' }}
    runs-on: [self-hosted]
    strategy: { matrix: { name: %s } }
    steps:
      - uses: actions/checkout@v4
      - uses: ./.github/actions/cudnn-ci
        with: { image: "localhost/${{ matrix.name }}", matrix: team.json, report: "%s/cudnn-ci-report-${{ matrix.name }}" }
  all:
    needs: gate
    if: always()
    runs-on: [self-hosted]
    steps:
      - run: %s/bin/cudnn-ci report --expect localhost/bookworm,localhost/trixie %s/*/ --output-dir %s/all
"""


class List(ActTest):
    def push(self, names):
        reports = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-all-"))
        self.addCleanup(shutil.rmtree, reports, True)
        self.daemon.docker("tag", IMAGE, "localhost/trixie")
        status, said = self.act({"gate.yml": LISTED % (json.dumps(names), json.dumps(names), reports / "each", TREE, reports / "each", reports)}, PASSES)
        return status, said, (reports / "all/images.xml").read_text()

    def test_all_that_were_expected_passed(self):
        status, said, junit = self.push(["bookworm", "trixie"])
        self.assertEqual(status, 0, said)
        self.assertIn('tests="2" failures="0" errors="0"', junit)

    def test_the_job_matrix_lacks_one(self):
        status, said, junit = self.push(["bookworm"])
        self.assertEqual(status, 1, said)
        self.assertIn("missing      localhost/trixie  matrix.image-not-judged", said)
        self.assertIn('tests="2" failures="0" errors="1"', junit)

    def test_the_job_matrix_is_empty(self):
        status, said, junit = self.push([])
        self.assertEqual(status, 1, said)
        self.assertIn("verdict: not_gated (exit 4)", said)
        self.assertIn('tests="2" failures="0" errors="2"', junit)


class Workflow(ActTest):
    """gate.yml, called as pipelines.md shows it, for one image; what it uploads is looked at."""

    def push(self, matrix, team=None):
        page = (ROOT / "harness/docs/pipelines.md").read_text().split("```yaml\n")[1].split("```")[0]
        caller = "on: push\n" + page.replace("cuda: [cu12, cu13]", "cuda: [cu13]").replace("matrix: ${{ matrix.cuda }}", f"matrix: {matrix}")
        caller, replaced = re.subn(r"image: .*", f"image: {IMAGE}", caller)
        self.assertEqual(replaced, 1)
        uploaded = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-artifacts-"))
        self.addCleanup(shutil.rmtree, uploaded, True)
        self.artifacts = uploaded / "artifacts"
        self.artifacts.mkdir()
        (uploaded / "action").mkdir()
        (uploaded / "action/action.yml").write_text(UPLOAD % (self.artifacts, self.artifacts))
        gate = (ROOT / "ci/github/gate.yml").read_text()
        pinned = set(re.findall(r"actions/upload-artifact@\w+", gate))
        self.assertEqual(len(pinned), 1)
        return self.act({"caller.yml": caller, "cudnn-ci.yml": gate}, team,
                        ["-W", ".github/workflows/caller.yml", "--local-repository", f"{pinned.pop()}={uploaded}/action"])

    def uploads(self):
        """The exit code that each artifact's launcher.json says; the reports lie beside it."""
        said = {}
        for folder in sorted(self.artifacts.iterdir()):
            self.assertLessEqual({"junit.xml", "report.json", "report.html", "summary.md", "journal.jsonl"}, {p.name for p in folder.iterdir()})
            said[folder.name] = json.loads((folder / "launcher.json").read_text())["exit_code"]
        return said

    def test_the_image_is_at_fault(self):
        status, said = self.push("team.json")
        self.assertEqual(status, 1, said)
        self.assertIn("image.toolkit-runtime-missing", said)
        self.assertIn("first: failure 1; elsewhere: skipped", said)
        self.assertEqual(self.uploads(), {"cudnn-ci-report-cu13-1-first": 1}, said)

    def test_the_runner_is_at_fault_here_and_elsewhere(self):
        status, said = self.push("team.json", NEEDS_A_DRIVER)
        self.assertEqual(status, 1, said)
        self.assertIn("first: success 3; elsewhere: failure", said)
        self.assertEqual(self.uploads(), {"cudnn-ci-report-cu13-1-first": 3, "cudnn-ci-report-cu13-1-elsewhere": 3}, said)

    def test_the_image_may_ship(self):
        status, said = self.push("team.json", PASSES)
        self.assertEqual(status, 0, said)
        self.assertIn("first: success 0; elsewhere: skipped", said)
        self.assertEqual(self.uploads(), {"cudnn-ci-report-cu13-1-first": 0}, said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", required=True)
    parser.add_argument("--act", type=pathlib.Path, default=ACT)
    arguments, rest = parser.parse_known_args()
    TREE, ACT = os.path.realpath(arguments.tree), arguments.act
    if os.geteuid() != 0 or not ACT.exists() or not all(map(shutil.which, ("dockerd", "docker", "debootstrap"))):
        print("needs root and ci/deps clients", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
