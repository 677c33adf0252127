"""Every finding, help text, usage error and refused parameter as a user meets it, compared whole with tests/golden/messages.

usage: messages_test.py CUDNN_CI

CUDNN_CI_UPDATE_GOLDEN=1 writes the golden files instead. Matrix mistakes and notices are rendered by unit tests.
parameters.json has entries that plugins refuse, one mistake each.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "ci"))

from comparing import mistakes  # noqa: E402: found in ci

GOLDEN = ROOT / "tests/golden/messages"
COMMANDS = ["list", "plugins", "facts", "init", "explain", "knowledge", "copy-to", "self-test", "report", "compare", "waive", "manual",
            "run"]
# Command lines of `cudnn-ci run` that are wrong.
LAUNCHES = [
    [], ["--matrix", "cu12"], ["--nosuch", "IMAGE"], ["--engine"], ["--summary=x", "IMAGE"], ["IMAGE", "other"], ["list"], ["report"],
    ["--output-dir", "-", "IMAGE"], ["--matrix", "a", "IMAGE", "--", "--matrix", "b"], ["--gpus", "none", "IMAGE"],
    ["--gpu-way", "magic", "IMAGE"], ["--env", "A=b", "IMAGE"], ["--pull", "often", "IMAGE"], ["--grace", "x", "IMAGE"],
    ["--mount", "missing", "IMAGE"], ["--matrix", "cu21", "IMAGE"], ["IMAGE", "--", "--junit=x"], ["IMAGE", "--", "--summary"],
    ["IMAGE", "--", "--rerun-failed"], ["IMAGE", "--", "--dry-run"], ["IMAGE", "--", "waive"], ["IMAGE", "--", "init", "a", "b"],
    ["IMAGE", "--", "init", "matrix.json"],
]


class Messages(unittest.TestCase):
    maxDiff = None
    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "folder").mkdir()
        (self.folder / "matrix.json").write_text(mistakes.SOUND, encoding="utf-8")

    def said(self, words):
        """Exit status and both streams, without what differs from machine to machine."""
        done = subprocess.run([self.program, *words], cwd=self.folder, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        text = (done.stdout + done.stderr).replace(str(self.folder), "FOLDER")
        text = text.replace(str(pathlib.Path(self.program).resolve().parents[1]), "TREE")
        return f"$ cudnn-ci {' '.join(words)}\n{text}exit {done.returncode}\n\n"

    def compare(self, name, text):
        file = GOLDEN / name
        if os.environ.get("CUDNN_CI_UPDATE_GOLDEN"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        self.assertEqual(file.read_text(encoding="utf-8"), text, f"{file}: CUDNN_CI_UPDATE_GOLDEN=1 takes the new one")

    def test_findings(self):
        self.compare("findings.txt", self.said(["explain", "--all"]))

    def test_help(self):
        text = "".join(self.said(words) for words in [["--help"], *([command, "--help"] for command in COMMANDS)])
        self.compare("help.txt", re.sub(r"\b\d+\.\d+\.\d+\b", "VERSION", text))

    def test_usage(self):
        lines = [*mistakes.LINES.values(), *(["run", *words] for words in LAUNCHES)]
        self.compare("usage.txt", "".join(self.said(words) for words in lines))

    def test_every_section_is_of_a_test(self):
        """A section [Suite.Test], which that test compares (tests/unit/golden_messages.h), goes with its test."""
        tests = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").rglob("*.cc")))
        there = {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", tests, re.MULTILINE)}
        for file in sorted(GOLDEN.glob("*.txt")):
            for title in re.findall(r"^\[([\w/.]+)\]$", file.read_text(encoding="utf-8"), re.MULTILINE):
                with self.subTest(file=file.name, section=title):
                    self.assertIn(".".join(part.split("/")[-1 if at == 0 else 0] for at, part in enumerate(title.split("."))), there)

    def test_parameters(self):
        wrong = json.loads((ROOT / "tests/messages/parameters.json").read_text(encoding="utf-8"))
        text = ""
        for check in dict.fromkeys(entry["check"] for entry in wrong["checks"]):
            # Of many problems only the first ones are printed, and a shape that no entry names is one.
            entries = [entry for entry in wrong["checks"] if entry["check"] == check]
            names = [entry["params"].get("shape") for entry in entries]
            matrix = {"schema": "cudnn-ci/matrix/1", "name": "wrong", "checks": entries,
                      "shapes": {name: wrong["shapes"][name] for name in dict.fromkeys(names) if name}}
            (self.folder / "wrong.json").write_text(json.dumps(matrix), encoding="utf-8")
            said = self.said(["list", "--matrix", "wrong.json"])
            self.assertEqual(said.count(" error: "), len(entries), said)
            text += re.sub(r"wrong\.json:\d+:\d+: error: ", "", said)
        self.compare("parameters.txt", text)


if __name__ == "__main__":
    Messages.program = sys.argv.pop(1)
    unittest.main()
