#!/usr/bin/env python3
"""The line for a Dockerfile that how-to.md shows, by the BuildKit of a real docker daemon: with the single file, and from the tool's image.

usage: dockerfile_test.py --tree DIR --fakes DIR     the installed tree, and the tests' fake libraries; as root; exit status 77 without
                                                     dockerd, Debian's docker, debootstrap, zstd or root
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
import act_test  # noqa: E402: found beside
import docker_test  # noqa: E402
from bundling import single  # noqa: E402: docker_test adds ci
from docker_test import ROOT  # noqa: E402

DOCKER = "/usr/bin/docker"  # of docker.io, which needs no plug-in for BuildKit
# What an image with CUDA 13 and cuDNN 9 has, without a driver.
CUDA = """FROM {base}
COPY cuda /usr/local/cuda/lib
RUN echo /usr/local/cuda/lib >/etc/ld.so.conf.d/cuda.conf && ldconfig && useradd app
"""
FAULT = "RUN rm /usr/local/cuda/lib/libcudnn_ops.so*\n"


def shown():
    """(the line with the file, the mount from an image, the program of that)."""
    text = (ROOT / "harness/docs/how-to.md").read_text()
    line = re.search(r"^    (RUN --mount=type=bind,source=.*)$", text, re.M)[1]
    mount, program = re.search(r"^`(--mount=type=bind,from=\S+)` and\n`(\S+)`", text, re.M).groups()
    return line, mount, program


class Dockerfile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = docker_test.Daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.wait()
        act_test.import_bookworm(cls.daemon)
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-dockerfile-"))
        cls.addClassCleanup(shutil.rmtree, cls.dir, True)
        for name in ("cudart13", "cudnn", "nvrtc"):
            shutil.copytree(FAKES / name, cls.dir / "cuda", symlinks=True, dirs_exist_ok=True)
        single.write(TREE, cls.dir / "cudnn-ci", 3)

    def build(self, text, context=None, tag="judged"):
        (self.dir / "Dockerfile").write_text(text)
        done = subprocess.run([DOCKER, "-H", self.daemon.socket, "build", "--network", "none", "--progress", "plain", "--tag", tag,
                               "-f", self.dir / "Dockerfile", context or self.dir],
                              env={**os.environ, "DOCKER_BUILDKIT": "1"}, capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, done.stdout + done.stderr

    def test_an_image_that_may_ship_is_built_and_nothing_is_left_in_it(self):
        for user in ("", "USER app\n"):
            status, said = self.build(CUDA.format(base=act_test.IMAGE) + user + shown()[0])
            self.assertEqual(status, 0, said)
            self.assertIn("verdict: passed (exit 0)", said)
        found = self.daemon.docker("run", "--rm", "--network", "none", "judged", "find", "/", "-xdev", "-newer", "/etc/ld.so.cache", "-type", "f",
                                   "-not", "-path", "/proc/*", "-not", "-path", "/sys/*")
        self.assertEqual([path for path in found.stdout.split() if "cudnn-ci" in path or "report" in path or path.startswith("/tmp")], [], found.stderr)

    def test_one_that_is_at_fault_is_not_built(self):
        status, said = self.build(CUDA.format(base=act_test.IMAGE) + FAULT + "USER app\n" + shown()[0], tag="broken")
        self.assertNotEqual(status, 0, said)
        self.assertIn("verdict: failed (exit 1)", said)
        self.assertNotEqual(self.daemon.docker("image", "inspect", "broken").returncode, 0)

    def test_nor_is_one_that_has_nothing_to_judge(self):
        status, said = self.build(f"FROM {act_test.IMAGE}\n" + shown()[0])
        self.assertNotEqual(status, 0, said)
        self.assertIn("verdict: not_gated (exit 4)", said)

    def test_the_tool_comes_from_its_image(self):
        status, said = self.build("FROM scratch\nCOPY . /opt/cudnn-ci\n", context=TREE, tag="registry.example/cudnn-ci")
        self.assertEqual(status, 0, said)
        line, mount, program = shown()
        line = line.replace("--mount=type=bind,source=cudnn-ci,target=/cudnn-ci", mount.replace("REGISTRY/cudnn-ci@sha256:DIGEST", "registry.example/cudnn-ci"))
        line, replaced = re.subn('"/cudnn-ci"', f'"{program}"', line)
        self.assertEqual(replaced, 1)
        for fault, verdict in (("", "passed (exit 0)"), (FAULT, "failed (exit 1)")):
            status, said = self.build(CUDA.format(base=act_test.IMAGE) + fault + line)
            self.assertEqual(status == 0, not fault, said)
            self.assertIn(f"verdict: {verdict}", said)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--fakes", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    TREE, FAKES = arguments.tree.resolve(), arguments.fakes.resolve()
    if os.geteuid() != 0 or not pathlib.Path(DOCKER).exists() or not all(map(shutil.which, ("dockerd", "docker", "debootstrap", "zstd"))):
        print("needs root and ci/deps clients", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
