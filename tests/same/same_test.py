#!/usr/bin/env python3
"""ci/same on trees whose program is a script: what is equal, what differs, and what may differ."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from comparing import differences, machine  # noqa: E402: found beside ci/same

GROUPS = ("version", "help", "explain-all", "explain", "wrong-line", "broken-matrix")
# Says where it lies and in which folder it was started, too: both must be the same for both trees.
PROGRAM = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
case "$*" in
  --version) echo "cudnn-ci 1.0.0 in $here, $(pwd)" ;;
  "explain --all --json") echo '{"findings": [{"slug": "crashed"}, {"slug": "timed-out"}]}' ;;
  "explain crashed") echo "crashed: the process ended" ;;
  "list --help") echo "  --json  for machines" ;;
  "--nonsense") echo "cudnn-ci: unknown option --nonsense" >&2; exit 2 ;;
  *) echo "$*" ;;
esac
"""


class Same(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tree(self, name, *change):
        """A tree whose program is PROGRAM with a text replaced."""
        program = self.folder / name / "bin/cudnn-ci"
        program.parent.mkdir(parents=True)
        text = PROGRAM.replace(*change) if change else PROGRAM
        self.assertTrue(not change or text != PROGRAM)
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)
        return program.parent.parent

    def ask(self, old, new, *more):
        words = [ROOT / "ci/same", old, new, *more]
        for name in GROUPS:
            words += ["--only", name]
        done = subprocess.run([sys.executable, "-B", *map(str, words)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def test_equal_programs_in_two_folders_answer_the_same(self):
        code, said = self.ask(self.tree("old"), self.tree("new"))
        self.assertEqual(code, 0, said)
        self.assertNotIn("differs", said)

    def test_a_sentence_a_help_text_an_exit_status_and_a_stream_are_seen(self):
        for number, (key, change) in enumerate((("explain_crashed", ("process ended", "process died")), ("help_list", ("for machines", "for programs")),
                                                ("wrong-line_unknown-option", ("exit 2", "exit 3")), ("wrong-line_unknown-option", (">&2; ", "; ")),
                                                ("explain_timed-out", (', {"slug": "timed-out"}', "")))):
            with self.subTest(key=key, change=change):
                code, said = self.ask(self.tree(f"old{number}"), self.tree(f"new{number}", *change))
                self.assertEqual(code, 1, said)
                self.assertIn(f"\n{key}\n", "\n" + said)

    def test_an_allowed_difference_is_one_only_while_there_is_one(self):
        old, new = self.tree("old"), self.tree("new", "for machines", "for programs")
        allowed = self.folder / "allowed"
        allowed.write_text("# why\nhelp_li* its option has better words\n", encoding="utf-8")
        code, said = self.ask(old, new, "--allow", allowed)
        self.assertEqual(code, 0, said)
        self.assertIn("(allowed: its option has better words)", said)
        self.assertEqual(self.ask(old, old, "--allow", allowed)[0], 1)
        allowed.write_text("help_list\n", encoding="utf-8")
        self.assertEqual(self.ask(old, new, "--allow", allowed)[0], 2, "a reason is needed")

    def allowed(self, text):
        path = self.folder / "rules"
        path.write_text(text, encoding="utf-8")
        return differences.Allowed(path)

    def test_values_of_documents_are_told_by_names_and_text_by_lines(self):
        old = 'exit 0\n{\n "cases": [\n  {"id": "a", "n": 1},\n  {"id": "b", "n": 2}\n ]\n}\nread on\n{"ev": "End", "of": ["a"]}\n'
        new = old.replace('"n": 2', '"n": 3').replace("read on", "read more").replace('["a"]', '["a", "b"]')
        found = differences.between(old, new)
        self.assertEqual(found, ["-cases[b].n: 2", "-read on", "+cases[b].n: 3", "+read more", '+End.of[]: "b"'])
        self.assertEqual(differences.between(old, old.replace(": 2", ":2")), ["the same lines and values, written differently"])
        self.assertEqual(differences.between(None, new), ["only NEW has an answer"])
        self.assertEqual(differences.between("{\n unfinished", "{"), ["- unfinished"])

    def test_a_rule_for_lines_excuses_no_other_line(self):
        rules = self.allowed("list_* /^[-+]cases\\[b\\]/ counted\nlist_x /^[-+]read / words\nlist_z another\n")
        lines = ["-cases[b].n: 2", "+cases[b].n: 3", "-read on", "+exit 1"]
        self.assertEqual(rules.excuse("list_x", lines), (["counted", "words"], ["+exit 1"]))
        self.assertEqual(rules.excuse("list_y", lines), (["counted"], ["-read on", "+exit 1"]))
        self.assertEqual(rules.counts(), [("counted", 2, 4), ("words", 1, 1), ("another", 0, 0)])
        self.assertEqual(rules.unneeded(), ["list_z"])
        for text in ("list_*\n", "list_* /a/\n", "list_* /(/ words\n"):
            with self.assertRaises(machine.Missing, msg=text):
                self.allowed(text)

    def test_what_is_missing_is_exit_2(self):
        old = self.tree("old")
        self.assertEqual(self.ask(old, self.folder / "nowhere")[0], 2)
        done = subprocess.run([ROOT / "ci/same", old, old, "--only", "run"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("build the tests", done.stderr)


if __name__ == "__main__":
    unittest.main()
