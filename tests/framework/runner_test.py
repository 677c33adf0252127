#!/usr/bin/env python3
"""plugins/kernels/cudnn_ci_runner.py by itself: which packages it lists of folders that are made here.

usage: runner_test.py [ARGUMENTS FOR unittest...]
"""
import importlib.metadata  # noqa: F401  (of the path before it is patched)
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugins/kernels"))
import cudnn_ci_runner as runner  # noqa: E402


class Said:
    def __init__(self):
        self.packages, self.others = [], {}

    def say(self, key, value):
        if key == "package":
            self.packages.append((value["name"], value["version"]))
        else:
            self.others[key] = value


class Look(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def record(self, folder, metadata=None, of=""):
        path = os.path.join(self.folder, of, folder)
        os.makedirs(path)
        if metadata is not None:
            with open(os.path.join(path, "METADATA"), "wb") as file:
                file.write(metadata)
        return path

    def package(self, name, version, more="", of=""):
        self.record("%s-%s.dist-info" % (name, version), ("Name: %s\nVersion: %s\n%s" % (name, version, more)).encode(), of)

    def look(self, asked, others=False):
        said = Said()
        with mock.patch.object(sys, "path", [os.path.join(self.folder, of) for of in ("", "behind")]):
            runner.look({"look": asked, "others": others}, said)
        return said

    def test_what_a_release_leaves_behind_is_no_package(self):
        self.record("xformers-0.0.20.dist-info")
        self.assertEqual(self.look(["xformers"]).packages, [])

    def test_a_damaged_record_is_said_of_the_package_that_is_asked_for(self):
        for text in (b"Name: \xe9\n", b"", b"Name: acme\n"):
            with self.subTest(text), tempfile.TemporaryDirectory() as self.folder:
                path = self.record("acme-1.0.dist-info", text)
                self.assertEqual(self.look(["other"]).packages, [])
                with self.assertRaisesRegex(RuntimeError, path):
                    self.look(["acme"])

    def test_a_sound_record_counts_wherever_it_lies(self):
        for text in (None, b"Name: \xe9\n", b""):
            with self.subTest(text), tempfile.TemporaryDirectory() as self.folder:
                self.record("acme-1.0.dist-info", text)
                self.package("acme", "2.0", of="behind")
                self.assertEqual(self.look(["acme"]).packages, [("acme", "2.0")])

    def test_what_is_asked_for_is_found_among_any_number_of_packages(self):
        with mock.patch.object(runner, "MOST_PACKAGES", 3):
            for i in range(3):
                self.package("other%d" % i, "1.0", "Requires-Dist: triton\n")
            self.assertEqual(self.look([], others=True).others, {})
            self.package("other3", "1.0", "Requires-Dist: triton\n")
            self.package("torch", "2.11.0", of="behind")
            said = self.look(["torch"], others=True)
            self.assertIn(("torch", "2.11.0"), said.packages)
            self.assertEqual(len(said.packages), 4)
            self.assertEqual(said.others, {"cut": 1})
            self.assertEqual(self.look(["torch"]).others, {})


if __name__ == "__main__":
    unittest.main()
