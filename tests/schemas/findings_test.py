#!/usr/bin/env python3
"""knowledge/findings: valid, each finding declared by the program as the data say, reported somewhere in the code, and found by the
messages and failure modes that lead to it.

usage: findings_test.py --source DIR --tree DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

ARGUMENTS = argparse.Namespace()
FILES = {}  # name -> its data
DECLARED_BY = {"harness": "cudnn-ci", "launcher": "cudnn-ci-run"}


def findings():
    return [(name, finding) for name, file in FILES.items() for finding in file["findings"]]


def rows(key):
    """The rows of all findings: [(finding, row)]."""
    return [(finding, row) for _, finding in findings() for row in finding.get(key, [])]


def named_by(key):
    return {name for finding, row in rows(key) for name in [finding["id"], *row.get("also", [])]}


def twice(names):
    return sorted(name for name, count in collections.Counter(names).items() if count > 1)


def constant(name):
    """As harness/sdk/cmake/CudnnCiFindings.cmake makes it."""
    return "k" + "".join(word[0].upper() + word[1:] for word in name.split("-"))


def code(*folders):
    return "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in sorted((ARGUMENTS.source / folder).rglob("*"))
                     if path.suffix in (".cc", ".h"))


class Data(unittest.TestCase):
    def test_are_what_the_schema_says(self):
        schema = json.loads((ARGUMENTS.source / "knowledge/findings.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        for name, file in FILES.items():
            with self.subTest(file=name):
                self.assertEqual([error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(file)], [])

    def test_name_each_thing_once(self):
        ids = [finding["id"] for _, finding in findings()]
        self.assertGreater(len(ids), 200)
        self.assertEqual(twice(ids), [])
        modes = [mode["name"] for _, mode in rows("failure_modes")]
        extra = [row["name"] for file in FILES.values() for key in ("refused", "sound") for row in file.get(key, [])]
        self.assertEqual(twice(modes + extra), [])
        self.assertEqual(twice(text for _, message in rows("messages") for text in re.findall(r"`([^`]+)`", message["text"])), [])
        for key in ("failure_modes", "messages"):
            self.assertEqual(sorted(named_by(key) - set(ids)), [])

    def test_findings_of_a_failure_mode_are_all_red_or_none_is(self):
        red = {finding["id"]: finding["severity"] == "error" for _, finding in findings()}
        for finding, mode in rows("failure_modes"):
            with self.subTest(mode=mode["name"]):
                self.assertEqual({red[name] for name in [finding["id"], *mode.get("also", [])]}, {red[finding["id"]]})

    def test_the_suggested_command_is_for_who_acts(self):
        """What the runner's owner has to fix is not typed into the image's Dockerfile, nor the other way round."""
        with_line = [finding for _, finding in findings() if "command" in finding]
        self.assertTrue(with_line)
        for finding in with_line:
            with self.subTest(finding=finding["id"]):
                self.assertNotIn((finding["blame"], finding["where"]), {("runner", "image"), ("image", "host")})
                if finding["command"].startswith("nvidia-smi"):
                    self.assertRegex(finding["command"], r" (-i|--id|-q)\b", "what changes something changes it on every GPU of the host")

    def test_a_user_finds_every_broken_stack_by_its_message(self):
        broken = {finding["id"] for _, finding in findings() if finding["severity"] == "error" and finding["blame"] in ("image", "runner")}
        broken |= {name for finding, mode in rows("failure_modes") if finding["severity"] == "error"
                   for name in [finding["id"], *mode.get("also", [])]}
        self.assertGreater(len(broken), 100)
        self.assertEqual(sorted(broken - named_by("messages") - {f["id"] for f in FILES["launcher"]["findings"]}), [])

    def test_cuda_errors_have_the_texts_of_the_driver(self):
        driver = (ARGUMENTS.source / "plugins/common/driver_api.cc").read_text(encoding="utf-8")
        texts = dict(re.findall(r'\{(\d+), "CUDA_ERROR_\w+",\s*"([^"]+)"\}', driver))
        numbered = [re.match(r"(\d{1,3}): `([^`]+)`", message["text"]) for _, message in rows("messages")]
        found = [match.groups() for match in numbered if match]
        self.assertGreater(len(found), 12)
        for number, text in found:
            if number != "35":  # the runtime's alone
                self.assertEqual(text, texts.get(number), number)


class Program(unittest.TestCase):
    def test_declares_what_the_data_say(self):
        run = subprocess.run([ARGUMENTS.tree / "bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
        keys = ("severity", "blame", "summary", "remedy", "link", "command", "where")
        plain = lambda row, *names: {name: row[name].replace("`", "") for name in names}
        of = lambda finding, field: [row for other, row in rows(field) if finding in (other["id"], *row.get("also", []))]
        wanted = {finding["id"]: {"slug": finding["id"], **{key: finding.get(key, "") for key in keys}, "declared_by": DECLARED_BY.get(name, name),
                                  "failure_modes": [plain(row, "name", "shows") for row in of(finding["id"], "failure_modes")],
                                  "messages": [plain(row, "text", "fix") for row in of(finding["id"], "messages")]}
                  for name, finding in findings()}
        told = {told["slug"]: told for told in json.loads(run.stdout)["findings"]}
        for lists in (told, wanted):  # the files' order is nobody's contract
            for finding in lists.values():
                for field in ("failure_modes", "messages"):
                    finding[field].sort(key=str)
        self.assertEqual(told, wanted)

    def test_reports_every_finding(self):
        """One that no code names is never reported."""
        harness, launcher = code("harness"), code("harness/launch")
        common = code("plugins/common", "plugins/compute")
        for name, finding in findings():
            with self.subTest(file=name, finding=finding["id"]):
                named = rf"\b{constant(finding['id'])}\b"
                if name == "launcher":
                    by_row = any(message.get("settles_launch") for message in finding.get("messages", []))
                    self.assertTrue(by_row or re.search(rf"\b{finding['id']}\b", launcher))
                elif name == "harness":
                    self.assertTrue(f'"{finding["id"]}"' in harness or re.search(named, harness + common))
                else:
                    self.assertTrue(re.search(named, code(f"plugins/{name}")))

    def test_declares_what_the_harness_reports(self):
        """What a plugin reports is a constant, which the compiler knows."""
        ids = {finding["id"] for finding in FILES["harness"]["findings"]}
        reported = set(re.findall(r'\bHarnessFinding\("([^"]+)"', code("harness")))
        self.assertGreater(len(reported), 20)
        self.assertEqual(sorted(reported - ids), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    ARGUMENTS, rest = parser.parse_known_args()
    for path in sorted((ARGUMENTS.source / "knowledge/findings").iterdir()):
        FILES[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    unittest.main(argv=[sys.argv[0], *rest])
