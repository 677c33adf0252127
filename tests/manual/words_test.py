#!/usr/bin/env python3
"""Words that DESIGN.md's vocabulary has replaced do not come back into code and documents.

usage: words_test.py --source DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import pathlib
import re
import unittest

SOURCE = pathlib.Path()

# A word that is gone, the term for it, and where it must not stand. Identifiers count: LastScreen, kSettled, seat_.
RETIRED = [
    (r"(?<![A-Za-z])[Ll]anes?(?![a-z])|(?<=[a-z])Lanes?(?![a-z])", "queue", ("harness/exec", "harness/docs")),
    (r"(?<![A-Za-z])[Ss]eats?(?![a-z])|(?<=[a-z])Seats?(?![a-z])", "worker slot", ("harness",)),
    (r"[Cc]onvict(?:ed|ion|s)", "termination reason", ("harness", "tests/unit")),
    (r"[Ll]ast[ _]?[Ss]creen", "summary", ("harness", "knowledge", "plugins", "ci", "matrices", "tests/unit")),
    (r"[Ll]ines? to type", "suggested command", ("harness", "knowledge", "plugins", "ci", "matrices", "tests")),
    (r"(?<![A-Za-z])[Mm]end(?:s|ed|ing)?(?![a-z])|Mended", "fix", ("harness", "knowledge", "plugins", "ci", "matrices", "tests")),
    (r"[Ii]n[ _]?[Cc]ompany|HadCompany", "shared, concurrent", ("harness", "knowledge", "plugins", "tests/unit", "tests/integration")),
    (r'(?<![A-Za-z"])(?:Is|k)?[Ss]ettled(?![a-z])', "predetermined, finished", ("harness",)),
    (r"(?<![A-Za-z])Complain(?![a-z])", "diagnostics", ("harness/cli",)),
]
KINDS = {".cc", ".h", ".hpp", ".md", ".py", ".json", ".yml", ".yaml", ".txt", ".css", ".js"}


def pages(folder):
    for path in sorted((SOURCE / folder).rglob("*")):
        if path.suffix in KINDS and path.is_file() and not {"corpus", "golden"} & set(path.parts) and path != pathlib.Path(__file__).resolve():
            yield path


class Words(unittest.TestCase):
    def test_retired_words_stay_away(self):
        read = 0
        for pattern, term, folders in RETIRED:
            for path in (p for folder in folders for p in pages(folder)):
                read += 1
                found = re.search(pattern, path.read_text(encoding="utf-8", errors="replace"))
                with self.subTest(path=str(path.relative_to(SOURCE))):
                    self.assertIsNone(found, f"say: {term}")
        self.assertGreater(read, 500)

    def test_a_retired_word_is_found_in_any_form(self):
        for text, index in (("Lane* lane", 0), ("kLanes", 0), ("seats_", 1), ("SeatOf(", 1), ("conviction_", 2), ("LastScreenOptions", 3),
                            ("the last screen", 3), ("a line to type", 4), ("that mends it", 5), ("WhatFailsInCompany", 6), ("kSettled", 7)):
            self.assertRegex(text, RETIRED[index][0])
        for text, index in (("plane", 0), ("PlanEnd", 0), ("recommends", 5), ("unsettled", 7)):
            self.assertNotRegex(text, RETIRED[index][0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    SOURCE = known.source.resolve()
    unittest.main(argv=[__file__, *rest])
