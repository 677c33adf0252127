#!/usr/bin/env python3
"""README's first 15 minutes, tests/bundle/first_minutes, by a real docker daemon.

usage: first_minutes_test.py --archives DIR    what ci/bundle wrote; as root; exit status 77 without archives, dockerd, debootstrap or root
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import act_test  # noqa: E402: found beside
import docker_test  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archives", type=pathlib.Path, required=True)
    archives = parser.parse_args().archives
    if os.geteuid() != 0 or not all(map(shutil.which, ("dockerd", "docker", "debootstrap"))) or not list(archives.glob("*-linux-x86_64")):
        print(f"needs root, ci/deps clients, and the archives of ci/bundle in {archives}", file=sys.stderr)
        return 77
    with contextlib.closing(docker_test.Daemon()) as daemon:
        daemon.wait()
        act_test.import_bookworm(daemon)
        return subprocess.run([sys.executable, "-B", docker_test.ROOT / "tests/bundle/first_minutes", "--archives", archives,
                               "--docker", daemon.socket], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
