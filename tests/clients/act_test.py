#!/usr/bin/env python3
"""ci/github/action.yml by act, as GitHub's runner would take it: checkout, a matrix of the repository, real containers of docker_test's daemon.

usage: act_test.py --tree DIR     the installed tree; as root; exit status 77 without dockerd, debootstrap, act (ci/deps clients) or root
"""
import argparse
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
        with: { image: "%s", matrix: "%s", tool: "%s" }
      - if: always()
        env: { VERDICT: "${{ steps.gate.outputs.verdict }}", CAUSE: "${{ steps.gate.outputs.root-cause }}" }
        run: echo "verdict=$VERDICT cause=$CAUSE"
"""


class Action(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = docker_test.Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.wait()
        root = cls.daemon.dir / "bookworm"
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(f"tar -C {root} -c . | docker -H {cls.daemon.socket} import - {IMAGE}", shell=True, check=True, stdout=subprocess.DEVNULL)

    def push(self, matrix):
        """What act prints of a push to a repository with team.json and the action."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-act-"))
        self.addCleanup(shutil.rmtree, folder, True)
        repository = folder / "repository"
        (repository / ".github/workflows").mkdir(parents=True)
        (repository / ".github/actions/cudnn-ci").mkdir(parents=True)
        shutil.copy(ROOT / "ci/github/action.yml", repository / ".github/actions/cudnn-ci")
        (repository / "team.json").write_text(re.search(r"```json\n(.*?)```", (ROOT / "README.md").read_text(), re.S)[1])
        (repository / ".github/workflows/gate.yml").write_text(WORKFLOW % (IMAGE, matrix, TREE))
        (folder / "bin").mkdir()
        docker = folder / "bin/docker"
        docker.write_text(WITHOUT_GPU.format(docker=shutil.which("docker")))
        docker.chmod(0o755)
        environment = {**os.environ, "HOME": str(folder), "DOCKER_HOST": self.daemon.socket, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first"]):
            subprocess.run(["git", *words], cwd=repository, env=environment, check=True)
        (folder / ".config/act").mkdir(parents=True)
        (folder / ".config/act/actrc").write_text("")
        done = subprocess.run([ACT, "push", "-P", "self-hosted=-self-hosted"], cwd=repository, env=environment, capture_output=True,
                              text=True, check=False, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def test_the_matrix_is_a_file_of_the_repository(self):
        status, said = self.push("team.json")
        self.assertEqual(status, 1, said)
        self.assertIn("| verdict=failed cause=image.toolkit-runtime-missing", said)

    def test_the_matrix_is_a_name(self):
        status, said = self.push("cu13")
        self.assertEqual(status, 1, said)
        self.assertIn("| verdict=failed cause=image.toolkit-runtime-missing", said)

    def test_a_matrix_that_is_not_there_is_red(self):
        status, said = self.push("nowhere.json")
        self.assertEqual(status, 1, said)
        self.assertIn("nowhere.json: no such file", said)


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
