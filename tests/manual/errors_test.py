#!/usr/bin/env python3
"""harness/docs/errors.md, by which a user finds a finding from an error's text, against what the gate declares.

usage: errors_test.py --tree DIR --page FILE --modes FILE --driver FILE [ARGUMENTS FOR unittest...]
"""
import argparse
import json
import pathlib
import re
import subprocess
import unittest

ARGUMENTS = argparse.Namespace()
LINK = re.compile(r"\[([\w-]+)\]\(findings\.md#([\w-]+)\)")


def read_page(path):
    """The rows: [message, findings, fix], findings as pairs of text and anchor."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|") or line.startswith(("| message |", "|---")):
            continue
        cells = [cell.strip() for cell in line[1:-1].split(" | ")]
        if len(cells) != 3:
            raise ValueError(f"{path}: {line}")
        rows.append((cells[0], LINK.findall(cells[1]), cells[2]))
    return rows


def declared():
    run = subprocess.run([ARGUMENTS.tree / "bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
    return {f["slug"]: f for f in json.loads(run.stdout)["findings"]}


def of_a_broken_stack(findings):
    """What is red and the image's or the runner's fault, and what failure-modes.md lists as broken."""
    broken = ARGUMENTS.modes.read_text(encoding="utf-8").partition("\n## Broken")[2].partition("\n## ")[0]
    return {name for name, f in findings.items() if f["severity"] == "error" and f["blame"] in ("image", "runner")} | {
        name for name, _ in LINK.findall(broken)}


class Errors(unittest.TestCase):
    def test_every_row_has_a_message_declared_findings_and_a_fix(self):
        findings, rows = declared(), read_page(ARGUMENTS.page)
        self.assertGreater(len(rows), 100)
        for message, links, fix in rows:
            with self.subTest(message=message):
                self.assertTrue(message and links and fix)
                self.assertEqual([text for text, anchor in links if text != anchor or text not in findings], [])
                self.assertEqual(len(set(links)), len(links), "a finding is named once in a row")

    def test_every_finding_of_a_broken_stack_is_on_the_page(self):
        named = {name for _, links, _ in read_page(ARGUMENTS.page) for name, _ in links}
        wanted = of_a_broken_stack(declared())
        self.assertGreater(len(wanted), 100)
        self.assertEqual(sorted(wanted - named), [], f"{ARGUMENTS.page} needs a row for each")

    def test_no_message_has_two_rows(self):
        quoted = [text for message, _, _ in read_page(ARGUMENTS.page) for text in re.findall(r"`([^`]+)`", message)]
        self.assertEqual(sorted({text for text in quoted if quoted.count(text) > 1}), [])

    def test_cuda_errors_have_the_texts_of_the_driver(self):
        texts = dict(re.findall(r'\{(\d+), "CUDA_ERROR_\w+",\s*"([^"]+)"\}', ARGUMENTS.driver.read_text(encoding="utf-8")))
        numbered = [re.match(r"(\d{1,3}): `([^`]+)`", message) for message, _, _ in read_page(ARGUMENTS.page)]
        found = [m.groups() for m in numbered if m]
        self.assertGreater(len(found), 12)
        for number, text in found:
            if number != "35":  # the runtime's alone
                self.assertEqual(text, texts.get(number), number)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("tree", "page", "modes", "driver"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[__file__, *rest])
