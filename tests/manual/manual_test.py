#!/usr/bin/env python3
"""The manual page of an installed tree: it is what its program makes, tells of every option that its --help tells of, and
groff reads it without a warning. The site's page of options, which is made of it, tells of every option too.

usage: manual_test.py --tree DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "ci"))

from documentation import program_pages  # noqa: E402: found by the line above

TREE = pathlib.Path()


def tool(*words):
    return subprocess.run([TREE / "bin/cudnn-ci", *words], check=True, capture_output=True, text=True).stdout


def page():
    return (TREE / "share/man/man1/cudnn-ci.1").read_text()


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


class PageOfOptions(unittest.TestCase):
    def test_tells_of_every_option_of_every_command(self):
        parts = re.split(r"^## cudnn-ci *(.*)$", program_pages.options_page(page()), flags=re.MULTILINE)
        of_command = dict(zip(parts[1::2], parts[2::2]))
        self.assertEqual(set(of_command), set(commands()))
        for command, text in of_command.items():
            for option in options(command):
                with self.subTest(command=command, option=option):
                    self.assertRegex(text, re.escape(option) + r"(?![a-z-])")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    TREE = known.tree
    unittest.main(argv=[sys.argv[0], *rest])
