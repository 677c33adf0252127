#!/usr/bin/env python3
"""The failure modes of knowledge/findings against what the tables of environments show.

usage: modes_test.py --knowledge DIR --rows PROGRAM...
"""
import argparse
import json
import pathlib
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


class Modes(unittest.TestCase):
    def test_every_mode_has_a_row_and_every_row_a_mode(self):
        rows = [row for program in ARGUMENTS.rows for row in modes.rows_of(program)]
        self.assertGreater(len(rows), 100)
        self.assertEqual(modes.mistakes(modes.read(ARGUMENTS.knowledge), rows + rows_for_gpus()), [])

    def test_most_modes_are_shown_without_a_gpu(self):
        shown = {row.mode for program in ARGUMENTS.rows for row in modes.rows_of(program)}
        alone = [m.name for m in modes.read(ARGUMENTS.knowledge) if m.kind == BROKEN and m.name not in shown]
        self.assertEqual(alone, [])


class Mistakes(unittest.TestCase):
    MODES = [Mode("gone", BROKEN, ("missing",)), Mode("odd", WORTH_KNOWING, ("hint",)), Mode("fine", SOUND)]
    ROWS = [Shown("a", "gone", "image.missing"), Shown("b", "odd", "green with hint"), Shown("c", "fine", "green")]

    def found(self, change=None, without=()):
        return modes.mistakes(self.MODES, [row for row in self.ROWS if row.name not in without] + ([change] if change else []))

    def test_are_what_rows_and_modes_say_differently(self):
        self.assertEqual(self.found(), [])
        for change in (Shown("d", "nowhere", "green"), Shown("d", "gone", "image.other"), Shown("d", "gone", "green"),
                       Shown("d", "fine", "image.missing"), Shown("d", "odd", "green with other"), Shown("d", "odd", "green"),
                       Shown("d", "gone", "image.missing or other")):
            self.assertEqual(len(self.found(change)), 1, change)
        self.assertEqual(self.found(without="a"), ["no row shows 'gone'"])
        self.assertEqual(len(modes.mistakes(self.MODES + [Mode("fine", SOUND)], self.ROWS)), 1)

    def test_modes_are_those_of_all_files_but_the_launchers(self):
        def finding(name, severity):
            return {"findings": [{"id": "missing", "severity": severity, "failure_modes": [{"name": name, "also": ["other"]}]}]}
        with tempfile.TemporaryDirectory() as folder:
            files = {"a": {**finding("gone", "error"), "refused": [{"name": "odd"}], "sound": [{"name": "fine"}]}, "b": finding("slow", "note"),
                     "launcher": finding("no engine", "error")}
            for name, file in files.items():
                (pathlib.Path(folder) / f"{name}.json").write_text(json.dumps(file))
            self.assertEqual(modes.read(pathlib.Path(folder)), [Mode("gone", BROKEN, ("missing", "other")), Mode("odd", BROKEN), Mode("fine", SOUND),
                                                                Mode("slow", WORTH_KNOWING, ("missing", "other"))])


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
    parser.add_argument("--knowledge", type=pathlib.Path, required=True)
    parser.add_argument("--rows", nargs="+", required=True)
    parser.parse_args(namespace=ARGUMENTS)
    unittest.main(argv=[sys.argv[0]])
