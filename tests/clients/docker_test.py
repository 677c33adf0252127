#!/usr/bin/env python3
"""What is shipped against a real docker daemon: Debian's docker.io, in a folder and on a socket of this test's own, without a network.

usage: docker_test.py     as root; exit status 77 without dockerd or root
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))
from bundling import oci  # noqa: E402: found in ci


class Daemon:
    """dockerd on a socket of its own; nothing of it is left behind."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-docker-"))
        self.socket = f"unix://{self.dir}/socket"
        with open(self.dir / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "dockerd", "--iptables=false", "--bridge=none", "--storage-driver=vfs", "--data-root", self.dir / "data",
                 "--exec-root", self.dir / "exec", "--pidfile", self.dir / "pid", "-H", self.socket,
                 "--default-ulimit", "nofile=1024:1024", "--default-ulimit", "nproc=1000:1000"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def wait(self):
        until = time.monotonic() + 120
        while self.docker("version").returncode != 0:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("dockerd does not answer:\n" + (self.dir / "log").read_text()[-3000:])
            time.sleep(0.2)

    def docker(self, *words, **how):
        return subprocess.run(["docker", "-H", self.socket, *map(str, words)], capture_output=True, text=True, check=False, **how)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)  # it ends its containers and its containerd
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


DAEMON = None


def setUpModule():
    global DAEMON
    DAEMON = Daemon()
    unittest.addModuleCleanup(DAEMON.close)
    DAEMON.wait()


class Archive(unittest.TestCase):
    """cudnn-ci-VERSION-oci.tar: of a program that only says that it ran."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-oci-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        (self.dir / "tree/bin").mkdir(parents=True)
        shutil.copy(shutil.which("busybox"), self.dir / "tree/bin/cudnn-ci")

    def load(self, *processors):
        tar = self.dir / "oci.tar"
        oci.write({p: self.dir / "tree" for p in processors}, tar, "1.2.3", 1700000000)
        done = DAEMON.docker("load", "-i", tar)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("Loaded image: "))

    def image(self, name):
        return json.loads(DAEMON.docker("image", "inspect", name).stdout)[0]

    def test_docker_loads_both_processors(self):
        self.assertEqual(self.load("x86_64", "aarch64"), ["cudnn-ci:1.2.3", "cudnn-ci:1.2.3-amd64", "cudnn-ci:1.2.3-arm64"])
        self.assertEqual(self.image("cudnn-ci:1.2.3")["Architecture"], "amd64")
        self.assertEqual(self.image("cudnn-ci:1.2.3-arm64")["Architecture"], "arm64")

    def test_docker_loads_one_processor(self):
        self.assertEqual(self.load("aarch64"), ["cudnn-ci:1.2.3", "cudnn-ci:1.2.3-arm64"])
        self.assertEqual(self.image("cudnn-ci:1.2.3")["Config"]["Entrypoint"], ["/opt/cudnn-ci/bin/cudnn-ci"])

    def test_what_was_loaded_holds_the_tree(self):
        self.load("x86_64")
        box = DAEMON.docker("create", "cudnn-ci:1.2.3").stdout.strip()
        self.addCleanup(DAEMON.docker, "rm", box)
        done = DAEMON.docker("cp", f"{box}:/opt/cudnn-ci/bin/cudnn-ci", self.dir / "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "out").read_bytes(), (self.dir / "tree/bin/cudnn-ci").read_bytes())


if __name__ == "__main__":
    if os.geteuid() != 0 or shutil.which("dockerd") is None or shutil.which("docker") is None:
        print("needs root and Debian's docker.io (ci/deps clients)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
