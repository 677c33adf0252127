#!/usr/bin/env python3
"""harness/docs/failure-modes.md against what the gate declares and the tables of environments show.

usage: modes_test.py --page FILE --tree DIR --rows PROGRAM...
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import broken_rows
import modes
import sound_rows
import table
from modes import BROKEN, SOUND, WORTH_KNOWING, Mode, Shown

ARGUMENTS = argparse.Namespace()


def rows_for_gpus():
    return [Shown(row.name, row.about, row.expected().partition(",")[0]) for row in [*broken_rows.rows(), *sound_rows.rows()]]


class Page(unittest.TestCase):
    def test_every_mode_has_a_row_and_every_row_a_mode(self):
        rows = [row for program in ARGUMENTS.rows for row in modes.rows_of(program)]
        self.assertGreater(len(rows), 100)
        self.assertEqual(modes.mistakes(modes.read_page(ARGUMENTS.page), rows + rows_for_gpus()), [])

    def test_most_modes_are_shown_without_a_gpu(self):
        shown = {row.mode for program in ARGUMENTS.rows for row in modes.rows_of(program)}
        alone = [m.name for m in modes.read_page(ARGUMENTS.page) if m.kind == BROKEN and m.name not in shown]
        self.assertEqual(alone, [])

    def test_findings_are_declared_as_the_page_says(self):
        run = subprocess.run([ARGUMENTS.tree / "bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
        declared = {f["slug"]: f for f in json.loads(run.stdout)["findings"]}
        for mode in modes.read_page(ARGUMENTS.page):
            with self.subTest(mode.name):
                self.assertEqual([slug for slug in mode.findings if slug not in declared], [])
                severities = {declared[slug]["severity"] for slug in mode.findings}
                if mode.kind == BROKEN:
                    self.assertLessEqual(severities, {"error"})
                    blames = list(dict.fromkeys(declared[slug]["blame"] for slug in mode.findings))
                    self.assertEqual(list(mode.blames), blames or ["matrix"])
                else:
                    self.assertLessEqual(severities, {"warning", "note"})

    def test_links_lead_somewhere(self):
        anchors = set(re.findall(r"^## ([\w-]+)$", (ARGUMENTS.page.parent / "findings.md").read_text(), re.M))
        for mode in modes.read_page(ARGUMENTS.page):
            self.assertLessEqual(set(mode.findings), anchors)


class Mistakes(unittest.TestCase):
    MODES = [Mode("gone", BROKEN, ("missing",), ("image",)), Mode("odd", WORTH_KNOWING, ("hint",)), Mode("fine", SOUND)]
    ROWS = [Shown("a", "gone", "image.missing"), Shown("b", "odd", "green with hint"), Shown("c", "fine", "green")]

    def found(self, change=None, without=()):
        return modes.mistakes(self.MODES, [row for row in self.ROWS if row.name not in without] + ([change] if change else []))

    def test_are_what_rows_and_page_say_differently(self):
        self.assertEqual(self.found(), [])
        for change in (Shown("d", "nowhere", "green"), Shown("d", "gone", "image.other"), Shown("d", "gone", "green"),
                       Shown("d", "fine", "image.missing"), Shown("d", "odd", "green with other"), Shown("d", "odd", "green"),
                       Shown("d", "gone", "image.missing or other")):
            self.assertEqual(len(self.found(change)), 1, change)
        self.assertEqual(self.found(without="a"), ["no row shows 'gone'"])
        self.assertEqual(len(modes.mistakes(self.MODES + [Mode("fine", SOUND)], self.ROWS)), 1)

    def test_a_line_that_lacks_a_cell_is_no_line(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text("## Broken: x\n\n| gone | sign |\n")
            with self.assertRaises(ValueError):
                modes.read_page(page)
            page.write_text("| a | b |\n## Sound: x\n| environment | what |\n|---|---|\n| fine | `a \\| b` |\n## More\n| c | d |\n")
            self.assertEqual(modes.read_page(page), [Mode("fine", SOUND)])


class Table(unittest.TestCase):
    def told(self, *results):
        return {"testsuites": [{"testsuite": [{"name": "x", "result": "COMPLETED", **result} for result in results]}]}

    def test_counts_by_mode(self):
        report = self.told({"mode": "gone", "detected": "1", "named": "1"}, {"mode": "gone", "detected": "1", "named": "0"},
                           {"mode": "odd", "sound": "1"}, {"mode": "fine", "sound": "0"}, {"mode": "fine", "result": "SKIPPED"})
        text = table.render(Mistakes.MODES, table.results(report))
        self.assertRegex(text, r"gone +2 +2 +1\n")
        self.assertRegex(text, r"odd +1 +0\n")
        self.assertRegex(text, r"fine +1 +1\n")
        self.assertRegex(text, r"in all +2 +2 +1\n")
        self.assertIn("not here: x", text)

    def test_a_row_that_ended_early_counts_as_not_detected(self):
        text = table.render(Mistakes.MODES, table.results(self.told({"mode": "gone"})))
        self.assertRegex(text, r"gone +1 +0 +0\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", type=pathlib.Path, required=True)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--rows", nargs="+", required=True)
    parser.parse_args(namespace=ARGUMENTS)
    unittest.main(argv=[sys.argv[0]])
