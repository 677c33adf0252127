#!/usr/bin/env python3
"""What ci/bundle wrote: the archives' entries, sums and sizes, the licences in them, and that the same sources give the same
bytes elsewhere. Which symbols and libraries the programs need is judged by install_test.

usage: archives_test.py --archives DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ARCHIVES = pathlib.Path()


def archives():
    found = sorted(ARCHIVES.glob("cudnn-ci-*-linux-*.tar.gz"))
    assert len(found) == 2, found
    return found


def single_files():
    return [path.with_name(path.name.removesuffix(".tar.gz")) for path in archives()]


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Archives(unittest.TestCase):
    def test_sums_are_those_of_the_files(self):
        sums = dict(reversed(line.split("  ")) for line in (ARCHIVES / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(sums, {path.name: sha256(path) for path in [*archives(), *single_files(), *ARCHIVES.glob("*.whl"), *ARCHIVES.glob("*-oci.tar")]})

    def test_are_small(self):
        for path, most in [*((path, 8_000_000) for path in archives()), *((path, 7_500_000) for path in single_files())]:
            self.assertLess(path.stat().st_size, most, path)

    def test_entries_say_nothing_of_who_made_them(self):
        for path in archives():
            with tarfile.open(path) as tar:
                entries = tar.getmembers()
            self.assertEqual([e.name for e in entries][1:], sorted((e.name for e in entries[1:]), key=pathlib.PurePosixPath))
            self.assertEqual({(e.uid, e.gid, e.uname, e.gname) for e in entries}, {(0, 0, "root", "root")})
            self.assertEqual(len({e.mtime for e in entries}), 1)
            self.assertEqual({e.mode for e in entries if e.isdir()}, {0o755})
            programs = {e.name.partition("/")[2] for e in entries if e.isfile() and e.mode == 0o755}
            self.assertLessEqual({"bin/cudnn-ci", "bin/cudnn-ci-run", "libexec/cudnn-ci-worker"}, programs)
            self.assertLessEqual({e.mode for e in entries if e.isfile()}, {0o755, 0o644})

    def test_hold_no_path_of_this_machine(self):
        places = [os.fsencode(place) for place in (ROOT, ARCHIVES, pathlib.Path.home()) if len(str(place)) > 1]
        for path in archives():
            with tarfile.open(path) as tar:
                for entry in filter(tarfile.TarInfo.isfile, tar.getmembers()):
                    content = tar.extractfile(entry).read()
                    if content.startswith(b"\x7fELF"):
                        self.assertEqual([p for p in places if p + b"/" in content], [], entry.name)

    def test_bring_the_licences_of_what_is_linked_in(self):
        for path in archives():
            with tarfile.open(path) as tar:
                texts = {pathlib.PurePosixPath(e.name).name: e.size for e in tar.getmembers() if "/licenses/" in e.name}
                notices = tar.extractfile(f"{path.name[:-7]}/share/doc/cudnn-ci/THIRD_PARTY_NOTICES").read().decode()
            self.assertEqual(sorted(texts), ["cudnn-frontend.txt", "glibc.txt", "libcxx.txt", "libcxxabi.txt", "libunwind.txt", "musl.txt", "zig.txt"])
            for name, size in texts.items():
                self.assertGreater(size, 500, name)
                self.assertIn(name, notices)

    def test_bring_the_same_manual(self):
        texts = set()
        for path in archives():
            with tarfile.open(path) as tar:
                texts.add(tar.extractfile(f"{path.name[:-7]}/share/man/man1/cudnn-ci.1").read())
        self.assertEqual([b"--matrix" in text.replace(b"\\-", b"-") for text in texts], [True])

    def test_come_out_the_same_elsewhere(self):
        with tarfile.open(archives()[1]) as tar:
            date = tar.next().mtime
        with tempfile.TemporaryDirectory(prefix="another folder") as folder:
            old = os.umask(0o077)
            try:
                copy = pathlib.Path(folder) / "sources"
                names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                                       stdout=subprocess.PIPE).stdout.decode().split("\0")
                for name in filter(None, names):
                    if (ROOT / name).exists():
                        (copy / name).parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(ROOT / name, copy / name)
                        (copy / name).chmod((ROOT / name).stat().st_mode & 0o700)
                shutil.copytree(ROOT / ".deps", copy / ".deps")
                environment = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(date)}
                subprocess.run([copy / "ci/bundle", "--arch", "x86_64", "--out", pathlib.Path(folder) / "out"], check=True, env=environment)
            finally:
                os.umask(old)
            for given in (archives()[1], single_files()[1]):
                self.assertEqual(sha256(pathlib.Path(folder) / "out" / given.name), sha256(given), given.name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--archives", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    ARCHIVES = known.archives
    unittest.main(argv=[sys.argv[0], *rest])
