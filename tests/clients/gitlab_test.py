#!/usr/bin/env python3
"""ci/gitlab's job and component by gitlabci-local (gcil), on real containers of docker_test's daemon: no GPU, no network.

usage: gitlab_test.py --tree DIR     the installed tree; as root; exit status 77 without dockerd, debootstrap, gcil (ci/deps clients) or root
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
import act_test  # noqa: E402: found beside
import docker_test  # noqa: E402
from docker_test import ROOT  # noqa: E402

GCIL = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "cudnn-ci/clients/bin/gcil"
IMAGE = "registry.example.com/team/cuda12"


class GitlabTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = docker_test.Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.wait()
        act_test.import_bookworm(cls.daemon)

    def gcil(self, pipeline, job, *options, team=None, tool="/opt/cudnn-ci"):
        """What gcil prints of a job of a repository with this .gitlab-ci.yml, the component and team.json: next-steps.md's, or another. The
        tree is in /opt/cudnn-ci; with no tool nothing is."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-gitlab-"))
        self.addCleanup(shutil.rmtree, folder, True)
        self.repository = folder / "repository"
        (self.repository / "templates").mkdir(parents=True)
        shutil.copy(ROOT / "ci/gitlab/templates/gate.yml", self.repository / "templates")
        (self.repository / ".gitlab-ci.yml").write_text(pipeline)
        (self.repository / "team.json").write_text(json.dumps(team) if team else act_test.documented_matrix())
        environment = act_test.client_environment(folder, self.daemon.socket)
        act_test.commit(self.repository, environment)
        sha = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.repository, env=environment, check=True, capture_output=True, text=True)
        image = f"{IMAGE}:{sha.stdout.strip()}"
        self.assertEqual(self.daemon.docker("tag", act_test.IMAGE, image).returncode, 0)
        environment["CI_COMMIT_SHA"] = sha.stdout.strip()
        words = [GCIL, "--no-color", "-R", "-E", "docker", "--privileged", "false", "-n", "none", "-e", "CI_COMMIT_SHA",
                 "-e", "PATH", *options, "--", job]
        done = subprocess.run(act_test.in_opt(words, tool and act_test.TREE), cwd=self.repository, env=environment, capture_output=True, text=True, check=False,
                              timeout=300, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    def documented(self):
        """The include that the component's head shows, from the repository itself, with the image of gcil()."""
        shown = re.search(r"^#   (include:\n(?:#   .*\n)+)", (ROOT / "ci/gitlab/templates/gate.yml").read_text(), re.M)[1]
        include = re.sub(r"^#   ", "", shown, flags=re.M)
        include, replaced = re.subn(r"component: .*", "local: /templates/gate.yml", include)
        self.assertEqual(replaced, 1)
        include, replaced = re.subn(r"image: .*", f"image: {IMAGE}:$CI_COMMIT_SHA", include)
        self.assertEqual(replaced, 1)
        return include


class Jobs(GitlabTest):
    def report(self):
        folder = self.repository / "cudnn-ci-report"
        self.assertTrue((folder / "junit.xml").is_file())
        data = json.loads((folder / "report.json").read_text())
        return data["exit_code"], (data["root_cause"] or {}).get("slug")

    def job(self, job, *options, team=None):
        return self.gcil((ROOT / "ci/gitlab/gate.gitlab-ci.yml").read_text(), job, *options, team=team)

    def inside(self, team=None):
        return self.job("gate", "-v", f"{act_test.TREE}:/opt/cudnn-ci:ro", team=team)

    def test_the_job_in_the_image_is_red_for_the_image(self):
        status, said = self.inside()
        self.assertNotEqual(status, 0, said)
        self.assertIn("verdict: failed (exit 1)", said)
        self.assertEqual(self.report(), (1, "toolkit-runtime-missing"), said)

    def test_the_job_in_the_image_is_green(self):
        status, said = self.inside(act_test.PASSES)
        self.assertEqual(status, 0, said)
        self.assertEqual(self.report(), (0, None), said)

    def test_the_job_with_the_launcher_is_red_for_the_image(self):
        status, said = self.job("gate:launcher", "-H")
        self.assertNotEqual(status, 0, said)
        self.assertEqual(self.report(), (1, "toolkit-runtime-missing"), said)

    def test_the_job_with_the_launcher_is_green(self):
        status, said = self.job("gate:launcher", "-H", team=act_test.PASSES)
        self.assertEqual(status, 0, said)
        self.assertEqual(self.report(), (0, None), said)

    def component(self, team=None):
        # The tool of this machine; pinned_test downloads an archive.
        include, taken_out = re.subn(r"^ +(archive|sha256): .*\n", "", self.documented(), flags=re.M)
        self.assertEqual(taken_out, 2)
        return self.gcil(include, "cudnn-ci", "-H", team=team)

    def test_the_component_is_red_for_the_image(self):
        status, said = self.component()
        self.assertNotEqual(status, 0, said)
        self.assertEqual(self.report(), (1, "toolkit-runtime-missing"), said)
        self.assertIn("CUDNN_CI_ROOT_CAUSE=image.toolkit-runtime-missing", (self.repository / "gate.env").read_text())
        self.assertIn("section_start:", said)

    def test_the_component_is_green(self):
        status, said = self.component(act_test.PASSES)
        self.assertEqual(status, 0, said)
        self.assertIn("CUDNN_CI_VERDICT=passed", (self.repository / "gate.env").read_text())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", required=True)
    arguments, rest = parser.parse_known_args()
    act_test.TREE = os.path.realpath(arguments.tree)
    if os.geteuid() != 0 or not GCIL.exists() or not all(map(shutil.which, ("dockerd", "docker", "debootstrap"))):
        print("needs root and ci/deps clients", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
