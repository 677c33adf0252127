#!/usr/bin/env python3
"""The action and the component with `archive` and `sha256`, as their heads show them: act and gitlabci-local (gcil) download a release's
archive, or its single file, from an HTTPS server of this test, on this machine, and nothing is in /opt/cudnn-ci.

usage: pinned_test.py --tree DIR     the installed tree; as root; exit status 77 without dockerd, debootstrap, act, gcil (ci/deps clients),
                                     openssl, curl, zstd or root
"""
import argparse
import contextlib
import functools
import hashlib
import http.server
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import act_test  # noqa: E402: found beside
import docker_test  # noqa: E402
import gitlab_test  # noqa: E402
from bundling import archive, single  # noqa: E402: docker_test adds ci
from docker_test import ROOT  # noqa: E402

SINGLE = "cudnn-ci-0-linux-x86_64"
NAME = f"{SINGLE}.tar.gz"


class Handler(http.server.SimpleHTTPRequestHandler):
    """The files of a folder; below /moved and /plain a redirection to them, by HTTPS and by HTTP."""

    def do_GET(self):
        self.server.asked.append(self.path)
        place, _, name = self.path.strip("/").rpartition("/")
        targets = {"moved": f"https://localhost:{self.server.server_port}/{name}", "plain": f"http://localhost:{self.server.plain_port}/{name}"}
        if place in targets:
            self.send_response(302)
            self.send_header("Location", targets[place])
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


class Releases:
    """A folder with an archive and a single file, by HTTPS and, for who would fall for it, by HTTP. `authority` is the certificate that clients trust."""

    def __init__(self, tree):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-releases-"))
        self.sha256 = hashlib.sha256(archive.write(pathlib.Path(tree), self.dir / NAME, 1700000000).read_bytes()).hexdigest()
        self.single_sha256 = hashlib.sha256(single.write(tree, self.dir / SINGLE, 3).read_bytes()).hexdigest()
        self.authority, key = self.dir / "authority.pem", self.dir / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.authority], check=True, stderr=subprocess.DEVNULL)
        handler = functools.partial(Handler, directory=self.dir)
        self.plain, self.secure = (http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) for _ in range(2))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, key)
        self.secure.socket = context.wrap_socket(self.secure.socket, server_side=True)
        self.plain.asked, self.secure.asked, self.secure.plain_port = [], [], self.plain.server_port
        for server in (self.plain, self.secure):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = f"https://localhost:{self.secure.server_port}"

    def close(self):
        for server in (self.plain, self.secure):
            server.shutdown()
            server.server_close()
        shutil.rmtree(self.dir, ignore_errors=True)


def setUpModule():
    global RELEASES
    RELEASES = unittest.enterModuleContext(contextlib.closing(Releases(act_test.TREE)))


class Pinned:
    """What holds for both. `gate(address, sha256, trusted)` runs the gate and returns (whether it is green, what was printed)."""

    def setUp(self):
        RELEASES.plain.asked.clear()
        RELEASES.secure.asked.clear()

    def refused(self, green, said, why):
        self.assertFalse(green, said)
        self.assertIn(why, said)
        self.assertNotIn("verdict: ", said)

    def test_the_archive_is_downloaded_and_judges(self):
        green, said = self.gate(f"{RELEASES.address}/{NAME}", RELEASES.sha256)
        self.assertTrue(green, said)
        self.assertIn("verdict: passed (exit 0)", said)
        self.assertEqual(RELEASES.secure.asked, [f"/{NAME}"])

    def test_the_single_file_is_downloaded_and_judges(self):
        green, said = self.gate(f"{RELEASES.address}/{SINGLE}", RELEASES.single_sha256)
        self.assertTrue(green, said)
        self.assertIn("verdict: passed (exit 0)", said)
        self.assertEqual(RELEASES.secure.asked, [f"/{SINGLE}"])

    def test_a_redirection_is_followed(self):
        green, said = self.gate(f"{RELEASES.address}/moved/{NAME}", RELEASES.sha256)
        self.assertTrue(green, said)
        self.assertEqual(RELEASES.secure.asked, [f"/moved/{NAME}", f"/{NAME}"])

    def test_another_sum_is_not_run(self):
        other = RELEASES.sha256[:-1] + ("0" if RELEASES.sha256[-1] != "0" else "1")
        self.refused(*self.gate(f"{RELEASES.address}/{NAME}", other), "the archive is not the one whose SHA-256 is given")
        self.assertEqual(set(RELEASES.secure.asked), {f"/{NAME}"})  # gcil runs a red job once more, whatever its exit code

    def test_what_is_not_there_is_not_run(self):
        self.refused(*self.gate(f"{RELEASES.address}/none.tar.gz", RELEASES.sha256), "the archive cannot be had")

    def test_nothing_is_asked_of_http(self):
        self.refused(*self.gate(f"{RELEASES.address}/plain/{NAME}", RELEASES.sha256), "the archive cannot be had")
        self.refused(*self.gate(f"http://localhost:{RELEASES.plain.server_port}/{NAME}", RELEASES.sha256), "the archive's address must begin with https://")
        self.assertEqual(RELEASES.plain.asked, [])

    def test_a_server_that_nobody_vouches_for_is_not_asked(self):
        self.refused(*self.gate(f"{RELEASES.address}/{NAME}", RELEASES.sha256, trusted=False), "the archive cannot be had")
        self.assertEqual(RELEASES.secure.asked, [])


def with_inputs(text, **values):
    """The example with these inputs in place of its own; each must be there once."""
    for name, value in values.items():
        text, replaced = re.subn(rf"^( *{name}): .*", lambda line, value=value: f'{line[1]}: "{value}"', text, flags=re.M)
        assert replaced == 1, (name, replaced)
    return text


class Action(Pinned, act_test.ActTest):
    def gate(self, address, sha256, trusted=True):
        """The steps that the action's head shows."""
        shown = re.search(r"^#   (- uses: (?:.*\n#   )+.*)", (ROOT / "ci/github/action.yml").read_text(), re.M)[1]
        steps = with_inputs(re.sub(r"^#   ", "      ", shown, flags=re.M), image=act_test.IMAGE, archive=address, sha256=sha256)
        workflow = f"on: push\njobs:\n  gate:\n    runs-on: [self-hosted]\n    steps:\n      {steps}\n"
        status, said = self.act({"gate.yml": workflow}, act_test.PASSES, ["--env", f"CURL_CA_BUNDLE={RELEASES.authority}"] if trusted else [], tool=None)
        return status == 0, said


class Component(Pinned, gitlab_test.GitlabTest):
    def gate(self, address, sha256, trusted=True):
        """The include that the component's head shows, from the repository itself."""
        options = ["-e", f"CURL_CA_BUNDLE={RELEASES.authority}"] if trusted else []
        status, said = self.gcil(with_inputs(self.documented(), archive=address, sha256=sha256), "cudnn-ci", "-H", *options,
                                 team=act_test.PASSES, tool=None)
        return status == 0, said


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", required=True)
    arguments, rest = parser.parse_known_args()
    act_test.TREE = os.path.realpath(arguments.tree)
    if os.geteuid() != 0 or not act_test.ACT.exists() or not gitlab_test.GCIL.exists() or \
            not all(map(shutil.which, ("dockerd", "docker", "debootstrap", "openssl", "curl", "zstd"))):
        print("needs root and ci/deps clients", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
