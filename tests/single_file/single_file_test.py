#!/usr/bin/env python3
"""The single executable file: what it carries, that it answers and gates as the tree does that it was made of, where it unpacks
itself, and what it says where it cannot.

usage: single_file_test.py --tree DIR [--file FILE] --fixtures DIR --fakes DIR [ARGUMENTS FOR unittest...]

DIR is a tree; without FILE the single file is made of it, packed less. --fixtures has plugins and programs of the tests, --fakes a driver and
libraries. Without zstd: exit 77. What needs root (mounts, another user) is skipped without.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from bundling import single  # noqa: E402: found by the line above

OPTIONS = None
INHERITED = {name: value for name, value in os.environ.items() if not name.startswith(("CUDNN_CI_", "CUDA_"))}
NO_MEMORY_FILES = "without_memfd_create"  # of the fixtures: runs a command for which memfd_create is refused


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def files_in(folder):
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file()}


class SingleFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="cudnn-ci-single-")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.folder.chmod(0o755)
        cls.file = cls.folder / "cudnn-ci"
        if OPTIONS.file:
            shutil.copy(OPTIONS.file, cls.file)
        else:
            single.write(OPTIONS.tree, cls.file, level=3)

    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.place.chmod(0o777)
        (self.place / "tmp").mkdir()
        (self.place / "tmp").chmod(0o777)

    def run_words(self, words, **more):
        """Exit status and output of a command in the test's own folder, whose temporary files go to tmp/."""
        environment = {**INHERITED, "TMPDIR": str(self.place / "tmp"), **more}
        ended = subprocess.run(list(map(str, words)), cwd=self.place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        return ended.returncode, ended.stdout.decode(errors="replace")

    def write_matrix(self, *checks, **more):
        (self.place / "team.json").write_text(json.dumps({"schema": "cudnn-ci/matrix/1", "name": "team", "checks": list(checks), **more}))
        return self.place / "team.json"

    def gate_words(self, program=None):
        return [program or self.file, "--matrix", "team.json", "--plugin-dir", OPTIONS.fixtures / "fixture", "--output-dir", self.place / "report"]

    def gate(self, before=(), program=None, **more):
        """Runs team.json; returns (exit status, output, report.json)."""
        status, output = self.run_words([*before, *self.gate_words(program)], **more)
        report = self.place / "report/report.json"
        return status, output, json.loads(report.read_text()) if report.is_file() else None

    def pass_is_green(self, before=(), program=None, **more):
        self.write_matrix({"check": "fixture.pass"}, {"check": "exec.run", "name": "true", "params": {"argv": ["true"]}})
        status, output, report = self.gate(before, program, **more)
        self.assertEqual(status, 0, output)
        return report

    def in_mounts(self, script, *words):
        """Words that run a command after a shell script in mounts of its own."""
        return ["unshare", "-m", "sh", "-ec", f'{script}\nexec "$@"', "sh", *words]

    # What it carries.

    def test_the_same_tree_gives_the_same_bytes(self):
        parts = self.folder / "small"
        for name in ("bin/cudnn-ci", "libexec/cudnn-ci-worker", "plugins/x.cci.so", "matrices/a.json", "knowledge/findings/b.json",
                     "share/doc/cudnn-ci/LICENSE"):
            (parts / name).parent.mkdir(parents=True, exist_ok=True)
            (parts / name).write_text(name)
        made = [single.write(parts, self.place / name).read_bytes() for name in ("one", "two")]
        self.assertEqual(made[0], made[1])
        self.assertTrue(made[0].startswith(b"bin/cudnn-ci"))

    def test_copy_to_gives_the_tree_that_it_was_made_of(self):
        status, output = self.run_words([self.file, "copy-to", "tree"])
        self.assertEqual(status, 0, output)
        for part, pattern in (("bin", "cudnn-ci"), ("libexec", "cudnn-ci-worker"), ("libexec", "cudnn-ci-plant.so"), ("plugins", "*.cci.so"),
                              ("matrices", "*.json"), ("knowledge", "*.json"), ("knowledge/findings", "*.json")):
            given = {path.name: sha256(path) for path in (OPTIONS.tree / part).glob(pattern)}
            self.assertEqual({path.name: sha256(path) for path in (self.place / "tree" / part).glob(pattern)}, given, part)
            self.assertTrue(given, part)
        self.assertEqual(oct((self.place / "tree/bin/cudnn-ci").stat().st_mode), "0o100755")
        self.assertEqual(oct((self.place / "tree/matrices/cu13.json").stat().st_mode), "0o100644")
        self.pass_is_green(program=self.place / "tree/bin/cudnn-ci")

    def test_damage_is_told(self):
        whole = self.file.read_bytes()
        program = (OPTIONS.tree / "bin/cudnn-ci").stat().st_size
        middle, entry = program + (len(whole) - program) // 2, whole.index(b"matrices/cu13.json") + 60
        header = whole.rindex(b"PK\x01\x02")  # of the last file, in the index
        for name, content in {"cut": whole[:middle], "index": whole[:header] + b"\0" + whole[header + 1:]}.items():
            broken = self.place / name
            broken.write_bytes(content)
            broken.chmod(0o755)
            status, output = self.run_words([broken, "list", "--matrix", "cu13"])
            self.assertEqual((name, status), (name, 2), output)
            self.assertIn("this executable is damaged", output)
        (self.place / "part").write_bytes(whole[:entry] + bytes([whole[entry] ^ 0xff]) + whole[entry + 1:])
        (self.place / "part").chmod(0o755)
        status, output = self.run_words([self.place / "part", "list", "--matrix", "cu13"])
        self.assertEqual(status, 2, output)
        self.assertIn("this executable is damaged", output)

    def test_a_file_that_lost_what_it_carries_says_so(self):
        whole = self.file.read_bytes()
        program = (OPTIONS.tree / "bin/cudnn-ci").stat().st_size
        # Cut within the table of sections, which nothing that runs reads; stripped.
        for name, content, said in (("cut", whole[:program - 100], "this executable is damaged (its end is missing)"),
                                    ("stripped", whole[:program], "is incomplete: it carries no files")):
            broken = self.place / name / "cudnn-ci"
            broken.parent.mkdir()
            broken.write_bytes(content)
            broken.chmod(0o755)
            for words in (["--matrix", "static", "--output-dir", "report"], ["run", "--matrix", "static", "image"]):
                with self.subTest(name=name, words=words):
                    status, output = self.run_words([broken, *words])
                    self.assertEqual(status, 2, output)
                    self.assertIn(said, output)
                    self.assertIn("download it again", output)

    # It answers as the tree does.

    def test_answers_are_those_of_the_tree(self):
        for words in (["list", "--matrix", "cu13", "--json"], ["list", "--matrix", "builtin:cu12"], ["knowledge"], ["plugins"], ["plugins", "--check"],
                      ["explain", "crashed"], ["explain", "--all"], ["list", "--matrix", "cu14"], ["facts", "--json"]):
            with self.subTest(words=words):
                given = self.run_words([OPTIONS.tree / "bin/cudnn-ci", *words])
                status, output = self.run_words([self.file, *words])
                self.assertEqual((status, output.replace(str(self.file), str(OPTIONS.tree))), given)

    def test_a_plan_and_its_plugins_have_the_hashes_of_the_tree(self):
        reports, hashes = [], []
        for program in (OPTIONS.tree / "bin/cudnn-ci", self.file):
            self.write_matrix({"check": "fixture.pass"}, extends="builtin:cu13")
            status, output = self.run_words([program, "--matrix", "team.json", "--stage", "static", "--plugin-dir", OPTIONS.fixtures / "fixture",
                                             "--output-dir", self.place / "report"])
            self.assertIn(status, (0, 1, 3), output)
            reports.append(json.loads((self.place / "report/report.json").read_text()))
            hashes.append(re.findall(r'"plan_sha256":"([0-9a-f]{64})"', (self.place / "report/journal.jsonl").read_text())[0])
        given, own = reports
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual({p["name"]: p["sha256"] for p in own["plugins"]}, {p["name"]: p["sha256"] for p in given["plugins"]})
        conv = next(p for p in own["plugins"] if p["name"] == "conv")
        self.assertEqual((conv["path"], conv["sha256"]), (f"{self.file}/plugins/conv.cci.so", sha256(OPTIONS.tree / "plugins/conv.cci.so")))

    def test_a_team_adds_plugins_and_knowledge(self):
        self.write_matrix({"check": "fixture.fail"})
        (self.place / "more.json").write_text(json.dumps({"schema": "cudnn-ci/packages/1", "as_of": "2026-01-01", "libraries": []}))
        status, output = self.run_words([*self.gate_words(), "--knowledge", "more.json"])
        self.assertEqual(status, 1, output)
        report = json.loads((self.place / "report/report.json").read_text())
        self.assertEqual(report["root_cause"]["case"], "fixture.fail[i=0]")
        status, output = self.run_words([self.file, "knowledge", "--knowledge", "more.json"])
        self.assertEqual(status, 0, output)
        self.assertIn("cudnn-ci/packages/1  2026-01-01  0 rows  more.json  (--knowledge)", output)

    def test_a_crash_of_a_plugin_is_known_for_one(self):
        self.assertEqual(self.run_words([self.file, "copy-to", "tree"])[0], 0)
        shutil.copy(OPTIONS.fixtures / "fixture/fixture.cci.so", self.place / "tree/plugins")
        own = single.write(self.place / "tree", self.place / "own", level=3)
        self.write_matrix({"check": "fixture.crash", "params": {"how": "segv"}})
        for before in ([], [OPTIONS.fixtures / NO_MEMORY_FILES]):
            status, output = self.run_words([*before, own, "--matrix", "team.json", "--output-dir", self.place / "report"])
            self.assertEqual(status, 5, output)
            cause = json.loads((self.place / "report/report.json").read_text())["root_cause"]
            self.assertEqual((cause["blame"], cause["slug"]), ("harness", "crashed"))
            self.assertIn(f"{own}/plugins/fixture.cci.so", output)

    def test_self_test_notices_faults(self):
        library_path = ":".join(str(OPTIONS.fakes / name) for name in ("libcuda", "nvml", "cudart13", "nvrtc", "cudnn"))
        status, output = self.run_words([self.file, "self-test", "crash", "missing-device"], LD_LIBRARY_PATH=library_path)
        self.assertEqual(status, 0, output)
        self.assertIn("faults: 2 noticed, 0 not noticed, 0 impossible here", output)

    def test_it_may_have_any_name_and_be_a_link(self):
        shutil.copy(self.file, self.place / "gate of ours")
        (self.place / "link").symlink_to("gate of ours")
        report = self.pass_is_green(program=self.place / "link")
        self.assertEqual(next(p["path"] for p in report["plugins"] if p["name"] == "exec"), str(self.place / "gate of ours/plugins/exec.cci.so"))

    # Where it unpacks itself.

    def test_nothing_is_written_where_the_kernel_keeps_files_in_memory(self):
        self.pass_is_green()
        self.assertEqual(files_in(self.place / "tmp"), set())

    def test_runs_as_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        self.pass_is_green(before=["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"])

    def test_runs_without_files_in_memory(self):
        self.pass_is_green(before=[OPTIONS.fixtures / NO_MEMORY_FILES])
        self.assertEqual(files_in(self.place / "tmp"), set())

    def test_runs_from_a_read_only_root_without_an_executable_folder(self):
        if not may_mount():
            self.skipTest("needs the right to mount")
        script = f"""mount -t tmpfs -o noexec,size=16m tmpfs /dev/shm
mount --bind {shlex.quote(str(self.place))} {shlex.quote(str(self.place))}
mount -o remount,bind,noexec {shlex.quote(str(self.place))}
mount -o remount,bind,ro /"""
        self.pass_is_green(before=self.in_mounts(script), TMPDIR="")

    def unexecutable(self):
        """Mounts in which no folder that is tried may be executed from."""
        inner = shlex.quote(str(self.place))
        hidden = "".join(f"mkdir -p {inner}{place}\nmount --bind {inner}{place} {place}\n" for place in ("/run", "/dev/shm"))
        # The single file itself stays executable; what is below /tmp is not.
        return f"""mount --make-rprivate /
mount --bind {inner} {inner}
mount -o remount,bind,noexec {inner}
{hidden}mount -o remount,bind,noexec /run
mount -o remount,bind,noexec /dev/shm"""

    def test_says_where_it_tried_and_what_to_do_where_nothing_works(self):
        if not may_mount():
            self.skipTest("needs the right to mount")
        if str(self.folder).startswith("/tmp/"):
            # /tmp itself must not be executed from, and the single file lies in it.
            program = self.folder / "cudnn-ci"
            bare = f"mkdir -p /mnt/single && mount -t tmpfs tmpfs /mnt/single && cp {shlex.quote(str(program))} /mnt/single/cudnn-ci\nmount --bind /tmp /tmp && mount -o remount,bind,noexec /tmp\n"
        else:
            self.skipTest("the temporary folder is not /tmp")
        self.write_matrix({"check": "fixture.pass"})
        before = self.in_mounts(bare + self.unexecutable(), OPTIONS.fixtures / NO_MEMORY_FILES)
        status, output, report = self.gate(before, program="/mnt/single/cudnn-ci")
        self.assertEqual(status, 3, output)
        cause = report["root_cause"]
        self.assertEqual((cause["blame"], cause["slug"]), ("runner", "not-unpacked"))
        for tried in ("memfd_create", f"{self.place}/tmp", "/tmp", "/dev/shm", "/run"):
            self.assertIn(tried, cause["detail"])
        self.assertIn("copy-to", cause["remedy"])
        self.assertIn("runner.not-unpacked", (self.place / "report/junit.xml").read_text())
        for words, status in ((["list", "--matrix", "cu13"], 2), (["knowledge"], 0), (["explain", "crashed"], 0)):
            said = self.run_words([*before, "/mnt/single/cudnn-ci", *words])
            self.assertEqual(said[0], status, said[1])

    def start_and_kill(self, before, look):
        """Starts a run that sleeps, calls `look` while it does, and kills it."""
        self.write_matrix({"check": "exec.run", "name": "sleeps", "params": {"argv": ["sleep", "987"]}})
        words = list(map(str, [*before, *self.gate_words()]))
        process = subprocess.Popen(words, cwd=self.place, env={**INHERITED, "TMPDIR": str(self.place / "tmp")}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            self.wait_until(lambda: self.ours("sleep"))
            look()
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.wait_until(lambda: not self.ours(""))

    def test_nothing_is_left_when_it_is_killed_and_what_ran_is_what_was_hashed(self):
        seen = {}
        for before, look in (([], lambda: seen.update(self.sealed_files())), ([OPTIONS.fixtures / NO_MEMORY_FILES], lambda: None)):
            self.start_and_kill(before, look)
            self.wait_until(lambda: not list((self.place / "tmp").iterdir()))
        given = {path.name: sha256(path) for part in ("libexec", "plugins") for path in (OPTIONS.tree / part).iterdir()}
        if os.geteuid() == 0:  # who else may not look into a worker
            self.assertLessEqual({"cudnn-ci-worker", "exec.cci.so"}, set(seen))
        self.assertEqual(seen, {name: given[name] for name in seen})

    def sealed_files(self):
        """Files in memory that the run's processes execute and map, with their hashes; none of them can be written."""
        found = {}
        for pid in self.ours("") if os.geteuid() == 0 else []:
            for place in [f"/proc/{pid}/exe", *map(str, pathlib.Path(f"/proc/{pid}/map_files").glob("*"))]:
                if name := re.match(r"/memfd:(\S+)", os.readlink(place)):
                    found[name[1]] = sha256(place)
                    with self.assertRaises(OSError):
                        pathlib.Path(place).write_bytes(b"x")
        return found

    def ours(self, word):
        """Processes with the test's folder in their environment, and the word in their command."""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if str(self.place).encode() in (path / "environ").read_bytes() and word.encode() in (path / "cmdline").read_bytes():
                    found.append(path.name)
            except OSError:
                continue
        return found

    def wait_until(self, condition):
        end = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("--fixtures", type=pathlib.Path, required=True)
    parser.add_argument("--fakes", type=pathlib.Path, required=True)
    OPTIONS, rest = parser.parse_known_args()
    OPTIONS.tree, OPTIONS.fixtures, OPTIONS.fakes = (path.resolve() for path in (OPTIONS.tree, OPTIONS.fixtures, OPTIONS.fakes))
    if shutil.which("zstd") is None:
        print("skipped: no zstd: run ci/deps test")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
