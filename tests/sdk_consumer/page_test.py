#!/usr/bin/env python3
"""harness/docs/a-check-in-ten-minutes.md as a reader follows it: every command of the installed page, in an empty folder, against what the
page shows; and then the example's checks against NCCLs that the page does not have.

usage: page_test.py (--tree DIR | --build DIR --cmake PROGRAM) [ARGUMENTS FOR unittest...]

DIR is an installed tree (an unpacked archive), or a build folder that is installed first. Needs a C and a C++ compiler, cmake and objdump.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

DOC = "share/doc/cudnn-ci"
PAGE = f"{DOC}/harness/docs/a-check-in-ten-minutes.md"
TREE = pathlib.Path()
MARK = "@@ended@@"
NCCL = 'int ncclGetVersion(int* version); int ncclGetVersion(int* version) {{ *version = {version}; return {result}; }}\n'


def blocks(text):
    """The fenced blocks of a page: (kind, file that it quotes or "", content)."""
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.M | re.S)


def commands(text):
    """The commands of the page's console blocks, each with the lines that it shows."""
    found = []
    for kind, _, content in blocks(text):
        for line in content.splitlines() if kind == "console" else []:
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line and line != "[...]":
                found[-1][1].append(line)
    return found


def expected_status(shown):
    """What the page says a command ends with: the verdict's exit code, 2 for an error of the matrix, else 0."""
    said = re.search(r"^verdict: .*\(exit (\d+)\)$", "\n".join(shown), re.M)
    return int(said[1]) if said else 2 if any(": error: " in line for line in shown) else 0


def pattern(line):
    """A shown line as a regular expression: [...] is any text, and times vary."""
    parts = [re.escape(re.sub(r"\d+\.\d{3} s$", "TIME", part)) for part in line.split("[...]")]
    return re.compile(".*".join(parts).replace("TIME", r"\d+\.\d{3} s"))


def make_nccl(folder, version, result=0):
    """A stand-in for NCCL; returns its folder."""
    folder.mkdir()
    source = folder / "nccl.c"
    source.write_text(NCCL.format(version=version, result=result))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "libnccl.so.2", source], check=True)
    return folder


def follow(folder, environment):
    """Runs all commands of the page in one shell; returns (command, shown, printed, status) of each."""
    listed = commands((TREE / PAGE).read_text())
    script = "".join(f"{command.replace('/opt/cudnn-ci', str(TREE))}\nprintf '\\n{MARK} %s\\n' $?\n" for command, _ in listed)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    printed = re.findall(rf"(.*?)\n{MARK} (\d+)\n", done.stdout, re.S)
    return [(command, shown, text, int(status)) for (command, shown), (text, status) in zip(listed, printed)], len(listed)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="cudnn-ci-page-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = pathlib.Path(cls.folder.name)
        good = make_nccl(cls.dir / "good", 22703)
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith(("CUDNN_CI", "CMAKE", "CUDA_"))}
        cls.environment |= {"LD_LIBRARY_PATH": str(good), "LC_ALL": "C"}
        (cls.dir / "empty").mkdir()
        cls.steps, cls.count = follow(cls.dir / "empty", cls.environment)
        cls.team = cls.dir / "empty/team"

    def test_every_command_does_what_the_page_shows(self):
        self.assertEqual(len(self.steps), self.count)
        self.assertGreater(self.count, 10)
        for command, shown, printed, status in self.steps:
            with self.subTest(command):
                self.assertEqual(status, expected_status(shown), printed)
                left = printed.splitlines()
                for line in shown:
                    found = next((one for one in left if pattern(line).fullmatch(one)), None)
                    self.assertIsNotNone(found, f"{line!r} was not printed:\n{printed}")
                    left.remove(found)

    def test_quotes_the_example_as_it_is(self):
        quoted = [(name, content) for _, name, content in blocks((TREE / PAGE).read_text()) if name]
        self.assertGreater(len(quoted), 2)
        for name, content in quoted:
            self.assertIn(content, (TREE / DOC / "examples/team" / name).read_text())

    def gate(self, library, matrix="team.json"):
        process = subprocess.run([TREE / "bin/cudnn-ci", "--matrix", matrix, "--plugin-dir", "plain"], cwd=self.team,
                                 env={**self.environment, "LD_LIBRARY_PATH": str(library)}, capture_output=True, text=True, check=False)
        return process.returncode, process.stdout

    def assert_red(self, library, slug, detail):
        status, said = self.gate(library)
        self.assertEqual(status, 1, said)
        self.assertIn(f"root cause  {slug}", said)
        self.assertIn(detail, said)

    def test_an_nccl_outside_the_promise_is_red(self):
        self.assert_red(make_nccl(self.dir / "older", 2804), "image.nccl-outside-promise", "NCCL 2.8.4 found, >=2.20 <3 promised")
        self.assert_red(make_nccl(self.dir / "later", 30000), "image.nccl-outside-promise", "NCCL 3.0.0 found")

    def test_an_nccl_that_cannot_be_used_is_red(self):
        garbage = self.dir / "garbage"
        garbage.mkdir()
        (garbage / "libnccl.so.2").write_text("garbage")
        self.assert_red(garbage, "image.nccl-unusable", "garbage/libnccl.so.2")
        self.assert_red(make_nccl(self.dir / "failing", 22703, result=3), "image.expectation-failed", "failing/libnccl.so.2")

    def test_plugins_by_one_line_of_a_compiler_export_one_function(self):
        for plugin in [*self.team.glob("plain/*.cci.so"), *self.team.glob("build/*.cci.so")]:
            said = subprocess.run(["nm", "-D", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
            self.assertEqual([line.split()[-1] for line in said.splitlines()], ["cudnn_ci_plugin_v1"], plugin)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--cmake", default="cmake")
    known, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="cudnn-ci-page-tree-") as installed:
        TREE = known.tree or pathlib.Path(installed)
        if not known.tree:
            subprocess.run([known.cmake, "--install", known.build, "--prefix", TREE], check=True, stdout=subprocess.DEVNULL)
        TREE = TREE.resolve()
        result = unittest.main(argv=[sys.argv[0], *rest], exit=False).result
    sys.exit(0 if result.wasSuccessful() else 1)
