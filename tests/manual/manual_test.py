#!/usr/bin/env python3
"""The manual page and the completion for bash of an installed tree: they are what its program makes, tell of every option
that its --help tells of, and are valid for those who read them.

usage: manual_test.py --tree DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path()


def tool(*words):
    return subprocess.run([TREE / "bin/cudnn-ci", *words], check=True, capture_output=True, text=True).stdout


def page():
    return (TREE / "share/man/man1/cudnn-ci.1").read_text()


def completion():
    return TREE / "share/bash-completion/completions/cudnn-ci"


def commands():
    """Of --help, the gate itself as ''."""
    listed = re.findall(r"^  ([a-z][a-z-]+) ", tool("--help").partition("\nSubcommands:\n")[2], flags=re.MULTILINE)
    return ["", *listed]


def options(command):
    """The options that --help of a command lists."""
    text = tool(*command.split(), "--help")
    found = set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]+)", text, flags=re.MULTILINE))
    assert "--help" in found and len(found) > 0, text
    return found


def section(command):
    """The page's part on a command, as roff has it."""
    if not command:
        return page().partition("\n.SH OPTIONS\n")[2].partition("\n.SH")[0]
    name = command.replace("-", "\\-")
    return re.split(r"\n\.S[HS] ", page().partition(f"\n.SS {name}\n")[2])[0]


def complete(line, folder, names=()):
    """What bash offers at the end of a line, in a folder with these files ("x/" is a folder)."""
    for name in names:
        path = pathlib.Path(folder) / name
        path.mkdir(exist_ok=True) if name.endswith("/") else path.write_text("")
    # As readline splits a line, which makes words of = and :.
    words = re.findall(r"[=:]+|[^\s=:]+", line) + ([""] if line.endswith(" ") else [])
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _cudnn_ci cudnn-ci; '
              'complete -p cudnn-ci >/dev/null && printf "%s\\n" "${COMPREPLY[@]}"')
    run = subprocess.run(["bash", "-uc", script, "bash", completion().resolve(), *words], cwd=folder, capture_output=True, text=True,
                         check=False)
    assert run.returncode == 0 and run.stderr == "", run
    return sorted(filter(None, run.stdout.split("\n")))


class ManPage(unittest.TestCase):
    def test_is_what_the_program_makes(self):
        self.assertEqual(page(), tool("manual", "man"))

    def test_tells_of_every_option_of_every_command(self):
        self.assertGreater(len(commands()), 6)
        for command in commands():
            text = section(command)
            self.assertTrue(text, command)
            for option in options(command):
                with self.subTest(command=command, option=option):
                    self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", text)

    def test_is_read_without_a_warning(self):
        if not shutil.which("groff"):
            self.skipTest("needs groff")
        run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-b", "-P-c"], input=page(), capture_output=True, text=True, check=True)
        self.assertEqual(run.stderr, "")
        text = re.sub(r".\x08", "", run.stdout)
        for part in ("--matrix FILE", "cudnn-ci list [OPTIONS]", "'conv.*-*nhwc*'", "`docker image inspect`", "rich|strict",
                     "2 invalid use", "all, or static: only what needs no GPU"):
            self.assertIn(part, re.sub(r"\s+", " ", text))

    def test_has_no_request_in_its_text(self):
        for line in page().split("\n"):
            self.assertRegex(line, r"^(\.(TH|SH|SS|TP|PP|br|nh|hy|ad|\\\").*|[^.'].*|)$")


class Completion(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def offered(self, line, names=()):
        return complete(line, self.folder, names)

    def test_is_what_the_program_makes(self):
        self.assertEqual(completion().read_text(), tool("manual", "bash"))

    def test_offers_every_option_of_every_command(self):
        for command in commands():
            line = f"cudnn-ci {command} --" if command else "cudnn-ci --"
            with self.subTest(command=command):
                self.assertEqual(set(self.offered(line)), options(command))

    def test_completes_an_option(self):
        self.assertEqual(self.offered("cudnn-ci --ma"), ["--matrix", "--matrix-root"])
        self.assertEqual(self.offered("cudnn-ci list --ma"), ["--matrix", "--matrix-root"])
        self.assertEqual(self.offered("cudnn-ci plugins --ma"), [])

    def test_completes_a_command(self):
        self.assertEqual(self.offered("cudnn-ci "), sorted(commands()[1:]))
        self.assertEqual(self.offered("cudnn-ci fa"), ["facts"])
        self.assertEqual(self.offered("cudnn-ci --load-timeout 3 fa"), ["facts"])
        self.assertEqual(self.offered("cudnn-ci --load-timeout=3 fa"), ["facts"])
        self.assertEqual(self.offered("cudnn-ci facts fa"), [])

    def test_completes_files_and_folders(self):
        names = ["a b.json", "mine.json", "more/"]
        for line in ("cudnn-ci --matrix m", "cudnn-ci --matrix=m", "cudnn-ci list --matrix m", "cudnn-ci report m",
                     "cudnn-ci --auto --json m"):
            with self.subTest(line=line):
                self.assertEqual(self.offered(line, names), ["mine.json", "more"])
        self.assertEqual(self.offered("cudnn-ci --matrix=", names), ["a b.json", "mine.json", "more"])
        self.assertEqual(self.offered("cudnn-ci --matrix a", names), ["a b.json"])
        for line in ("cudnn-ci --output-dir m", "cudnn-ci copy-to m"):
            with self.subTest(line=line):
                self.assertEqual(self.offered(line, names), ["more"])

    def test_completes_the_words_of_a_list(self):
        self.assertEqual(self.offered("cudnn-ci --junit-profile "), ["rich", "strict"])
        self.assertEqual(self.offered("cudnn-ci --isolation=p"), ["process"])
        self.assertEqual(self.offered("cudnn-ci manual "), ["bash", "man"])

    def test_offers_nothing_for_a_value_of_the_users_own(self):
        for line in ("cudnn-ci --filter ", "cudnn-ci --jobs ", "cudnn-ci explain "):
            with self.subTest(line=line):
                self.assertEqual(self.offered(line, ["mine.json"]), [])

    def test_a_value_is_no_command(self):
        self.assertEqual(self.offered("cudnn-ci --filter list --ch"), [])
        self.assertEqual(self.offered("cudnn-ci --filter list plugins --ch"), ["--check"])

    def test_is_a_script_without_faults(self):
        if not shutil.which("shellcheck"):
            self.skipTest("needs shellcheck")
        # The words for compgen are split on purpose; options hold no blanks.
        run = subprocess.run(["shellcheck", "--shell=bash", completion()], capture_output=True, text=True, check=False)
        self.assertEqual(run.stdout, "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    TREE = known.tree
    unittest.main(argv=[sys.argv[0], *rest])
