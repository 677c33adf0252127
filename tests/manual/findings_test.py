#!/usr/bin/env python3
"""harness/docs/findings.md is what `cudnn-ci explain --all` says. CUDNN_CI_UPDATE_GOLDEN=1 takes the new page.

usage: findings_test.py --tree DIR --page FILE [ARGUMENTS FOR unittest...]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import unittest

TREE, PAGE = pathlib.Path(), pathlib.Path()

HEAD = """# Findings

What can be wrong, whose fault it is, and what to do: every finding of cudnn-ci and of the plugins
that come with it. `cudnn-ci explain --all` lists them and `cudnn-ci explain FINDING` shows one,
without a network. A test keeps this page true. To start from the message of another tool, see
[errors.md](errors.md).

An error makes its case red; a warning and a note do not. If the case's layer or the place of a
crash says more, a report blames accordingly ([design](../DESIGN.md#4-verdict-and-blame)).

| finding | what it means | severity | blame | of |
|---|---|---|---|---|
"""


def cell(text):
    """As text of Markdown in a table's cell."""
    for special in "\\|*_<>[]`":
        text = text.replace(special, "\\" + special)
    return text.replace("\n", " ")


def page(findings):
    rows = [f"| [{f['slug']}](#{f['slug']}) | {cell(f['summary'])} | {f['severity']} | {f['blame']} | {f['declared_by']} |\n"
            for f in findings]
    places = {"image": "In the Dockerfile", "host": "On the host", "matrix": "In the matrix"}
    parts = [f"\n## {f['slug']}\n\n{cell(f['summary'])}.\n\n{cell(f['remedy'])}\n" +
             (f"\n{places[f['where']]}: `{f['command']}`\n" if f["command"] else "") + (f"\n<{f['link']}>\n" if f["link"] else "")
             for f in findings]
    return HEAD + "".join(rows) + "".join(parts)


class Findings(unittest.TestCase):
    def test_the_page_is_what_the_program_says(self):
        run = subprocess.run([TREE / "bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
        told = page(json.loads(run.stdout)["findings"])
        if os.environ.get("CUDNN_CI_UPDATE_GOLDEN"):
            PAGE.write_text(told)
        self.assertEqual(PAGE.read_text(), told, f"CUDNN_CI_UPDATE_GOLDEN=1 updates {PAGE}")

    def test_the_suggested_command_is_for_who_acts(self):
        """What the runner's owner has to fix is not typed into the image's Dockerfile, nor the other way round."""
        run = subprocess.run([TREE / "bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
        with_line = [f for f in json.loads(run.stdout)["findings"] if f["command"]]
        self.assertTrue(with_line)
        for f in with_line:
            with self.subTest(finding=f["slug"], command=f["command"]):
                self.assertNotIn((f["blame"], f["where"]), {("runner", "image"), ("image", "host")})
                if f["command"].startswith("nvidia-smi"):
                    self.assertRegex(f["command"], r" (-i|--id|-q)\b", "what changes something changes it on every GPU of the host")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    TREE, PAGE = known.tree, known.page
    unittest.main(argv=[sys.argv[0], *rest])
