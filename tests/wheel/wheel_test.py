#!/usr/bin/env python3
"""The Python wheel of an installed tree: its bytes, what pip and auditwheel say, its programs, and pytest with its plugin.

usage: wheel_test.py (--tree DIR | --build DIR --cmake PROGRAM) --plugins DIR [ARGUMENTS FOR unittest...]

DIR is an installed tree (an unpacked archive), or a build folder that is installed first; --plugins has the plugin of the fixtures.
Runs with the Python of `ci/deps wheel`, which has pip, pytest, pytest-xdist and auditwheel. Without them: exit 77.
"""
import argparse
import base64
import csv
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from bundling import single, wheel  # noqa: E402: found by the line above

NEEDED = ["pip", "pytest", "xdist", "auditwheel"]
VERSION = re.search(r"project\(cudnn_ci VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
DATE = 1700000000
OPTIONS = None


def make(tree, folder):
    folder.mkdir(exist_ok=True)
    program = single.write(tree, folder / "cudnn-ci", level=3)
    return wheel.write(tree, program, ROOT / "ci/wheel/cudnn_ci", folder, VERSION, platform.machine(), DATE)


def matrix(*checks):
    return json.dumps({"schema": "cudnn-ci/matrix/1", "name": "team", "checks": list(checks)})


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.tree = OPTIONS.tree
        if cls.tree is None:
            cls.tree = cls.folder / "tree"
            subprocess.run([OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", cls.tree], check=True, stdout=subprocess.DEVNULL)
        cls.wheel = make(cls.tree, cls.folder / "made")
        cls.site = cls.folder / "site"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", cls.site, cls.wheel],
                       check=True)

    def run_in(self, words, **more):
        """A command with the installed wheel on Python's path; returns (exit status, output)."""
        environment = {**os.environ, "PYTHONPATH": str(self.site), "PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(list(map(str, words)), cwd=self.folder, env={**environment, **more}, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
        return ended.returncode, ended.stdout.decode()

    def pytest(self, checks, *words):
        (self.folder / "empty").mkdir(exist_ok=True)
        (self.folder / "team.json").write_text(matrix(*checks))
        return self.run_in([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--cudnn-ci", "team.json",
                            f"--cudnn-ci-args=--plugin-dir '{OPTIONS.plugins}'", *words, "empty"])

    def test_the_same_tree_gives_the_same_bytes(self):
        again = make(self.tree, self.folder / "again")
        self.assertEqual(self.wheel.read_bytes(), again.read_bytes())

    def test_record_has_every_file(self):
        with zipfile.ZipFile(self.wheel) as archive:
            name = f"cudnn_ci-{VERSION}.dist-info/RECORD"
            record = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(name).decode()))}
            self.assertEqual(record.pop(name), ["", ""])
            self.assertEqual(set(record), set(archive.namelist()) - {name})
            for file, (digest, size) in record.items():
                content = archive.read(file)
                expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, size), (f"sha256={expected}", str(len(content))), file)

    def test_the_program_is_the_single_file(self):
        self.assertEqual((self.site / "bin/cudnn-ci").read_bytes(), (self.folder / "made/cudnn-ci").read_bytes())
        self.assertTrue(os.access(self.site / "bin/cudnn-ci", os.X_OK))
        self.assertTrue((self.site / "cudnn_ci/data/include/cudnn_ci/plugin.h").is_file())

    def test_a_virtual_environment_has_it_among_its_scripts(self):
        venv = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", self.wheel], check=True)
        environment = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
        said = "import cudnn_ci; print(cudnn_ci.program())"
        ended = subprocess.run([venv / "bin/python", "-c", said], env=environment, stdout=subprocess.PIPE, check=True)
        self.assertEqual(ended.stdout.decode(), f"{venv}/bin/cudnn-ci\n")
        # A link leads to it, as pipx makes one. It names the environment that it lies in for the one that is judged.
        (self.folder / "link").symlink_to(venv / "bin/cudnn-ci")
        (self.folder / "venv.json").write_text(matrix({"check": "exec.run", "name": "own", "params": {
            "argv": ["/bin/sh", "-c", f'test "$VIRTUAL_ENV" = {venv}']}}))
        words = ["--matrix", self.folder / "venv.json", "--output-dir", self.folder / "own"]
        for program in [venv / "bin/cudnn-ci", self.folder / "link"]:
            ended = subprocess.run([program, *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            self.assertEqual(ended.returncode, 0, ended.stdout.decode())

    def test_bill_of_materials_names_what_is_inside(self):
        with zipfile.ZipFile(self.wheel) as archive:
            bill = json.loads(archive.read(f"cudnn_ci-{VERSION}.dist-info/sboms/cudnn-ci.spdx.json"))
        names = [package["name"] for package in bill["packages"]]
        self.assertEqual(names[0], "cudnn-ci")
        for name in ["nlohmann_json", "tinyxml2", "Boost"]:
            self.assertIn(name, names)

    def test_auditwheel_agrees_with_the_tag(self):
        if OPTIONS.tree is None:
            self.skipTest("what this machine's compiler links needs its own C library")
        status, output = self.run_in([sys.executable, "-m", "auditwheel", "show", self.wheel])
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r'following platform tag:\s+"manylinux_2_17_')

    def test_programs_start(self):
        for words in [[self.site / "bin/cudnn-ci"], [sys.executable, "-m", "cudnn_ci"]]:
            self.assertEqual(self.run_in([*words, "--version"]), (0, f"cudnn-ci {VERSION}\n"))
        status, output = self.run_in([self.site / "bin/cudnn-ci-run", "--help"])
        self.assertEqual(status, 0, output)
        self.assertIn("usage: cudnn-ci run", output)

    def test_a_damaged_installation_says_so(self):
        program = self.site / "bin/cudnn-ci"
        away = program.rename(program.with_name("away"))
        try:
            status, output = self.run_in([sys.executable, "-m", "cudnn_ci", "--version"])
        finally:
            away.rename(program)
        self.assertEqual(status, 2)
        self.assertRegex(output, r"^cudnn-ci: /.*/cudnn-ci: No such file or directory; install the package cudnn-ci again\n$")

    def test_auto_finds_the_interpreter_that_it_lives_in(self):
        said = "import cudnn_ci; print(cudnn_ci.environment()['VIRTUAL_ENV'])"
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        ended = subprocess.run([sys.executable, "-c", said], env={**environment, "PYTHONPATH": str(self.site)},
                               stdout=subprocess.PIPE, check=True)
        self.assertEqual(ended.stdout.decode().strip(), sys.prefix)
        self.assertEqual(self.run_in([sys.executable, "-c", said], VIRTUAL_ENV="/opt/active"), (0, "/opt/active\n"))

    def test_a_case_is_a_test(self):
        status, output = self.pytest([{"check": "fixture.pass"}], "-q")
        self.assertEqual(status, 0, output)
        self.assertIn("2 passed", output)

    def test_a_red_case_fails_with_cause_and_remedy(self):
        status, output = self.pytest([{"check": "fixture.pass"}, {"check": "fixture.fail"}], "-q")
        self.assertEqual(status, 1, output)
        self.assertIn("2 failed, 1 passed", output)
        self.assertIn("FAILED cudnn-ci::verdict", output)
        self.assertIn("FAILED cudnn-ci::fixture.fail", output)
        self.assertIn("verdict: failed (exit 1)", output)
        self.assertIn("remedy: ", output)
        removed = re.search(r"^cudnn-ci: (/.*) is removed; --cudnn-ci-output=DIR keeps the reports$", output, re.M)
        self.assertIn(f"{removed[1]}/report.html", output)
        self.assertFalse(pathlib.Path(removed[1]).exists())

    def test_workers_of_xdist_share_one_run(self):
        status, output = self.pytest([{"check": "fixture.pass"}, {"check": "fixture.fail"}], "-q", "-n", "2",
                                     "--junitxml", "out.xml", "--cudnn-ci-output", "reports")
        self.assertEqual(status, 1, output)
        self.assertIn("2 failed, 1 passed", output)
        cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(self.folder / "out.xml").iter("testcase")}
        self.assertEqual(set(cases), {"verdict", "fixture.pass[i=0]", "fixture.fail[i=0]"})
        self.assertEqual({case.get("classname") for case in cases.values()}, {"cudnn-ci"})
        self.assertIsNotNone(cases["fixture.fail[i=0]"].find("failure"))
        self.assertIsNone(cases["fixture.pass[i=0]"].find("failure"))
        self.assertTrue((self.folder / "reports/report.html").is_file())
        self.assertNotIn("is removed", output)

    def test_a_skip_is_a_skip(self):
        status, output = self.pytest([{"check": "fixture.pass"}, {"check": "fixture.skip", "params": {"kind": "absent"}, "allow_skip": ["absent"]}], "-q", "-rs")
        self.assertEqual(status, 0, output)
        self.assertIn("2 passed, 1 skipped", output)

    def test_collecting_runs_nothing(self):
        status, output = self.pytest([{"check": "fixture.pass"}], "-q", "--collect-only", "--cudnn-ci-output", "untouched")
        self.assertEqual(status, 0, output)
        self.assertIn("cudnn-ci::verdict\ncudnn-ci::fixture.pass[i=0]\n", output)
        self.assertFalse((self.folder / "untouched").exists())

    def test_an_invalid_matrix_is_a_usage_error_in_its_own_words(self):
        status, output = self.pytest([{"check": "fixture.pass", "timeout": 3}], "-q")
        self.assertEqual(status, 4, output)
        self.assertIn('unknown key "timeout"', output)

    def ours(self):
        """A folder with a test that passes."""
        (self.folder / "ours").mkdir(exist_ok=True)
        (self.folder / "ours/test_one.py").write_text("def test_one():\n    pass\n")
        return "ours"

    def test_a_gate_that_fails_fails_the_session_whichever_tests_are_selected(self):
        red = [{"check": "fixture.pass"}, {"check": "fixture.fail"}]
        for words in [["-k", "test_one"], ["-k", "nothing"], ["--setup-only"], ["-n", "2", "-k", "test_one"],
                      ["--deselect", "cudnn-ci::verdict", "--deselect", "cudnn-ci::fixture.fail[i=0]"]]:
            with self.subTest(words=words):
                status, output = self.pytest(red, "-q", *words, self.ours())
                self.assertEqual(status, 1, output)
                self.assertIn("cudnn-ci: the gate failed (exit 1)", output)
        status, output = self.pytest(red[:1], "-q", "-k", "test_one", self.ours())
        self.assertEqual(status, 0, output)
        self.assertNotIn("the gate failed", output)

    def test_without_a_matrix_nothing_is_gated_and_that_is_an_error(self):
        for words, said in [(["--cudnn-ci", ""], "--cudnn-ci ''"), (["--cudnn-ci-args=--matrix cu13"], "--cudnn-ci-args"),
                            (["--cudnn-ci-output=reports"], "--cudnn-ci-output"),
                            (["--cudnn-ci=cu13", "-p", "no:cudnn-ci-gate"], "keeps it from running")]:
            with self.subTest(words=words):
                status, output = self.run_in([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *words, self.ours()])
                self.assertEqual(status, 4, output)
                self.assertIn(said, output)

    def test_a_report_of_an_earlier_run_proves_nothing(self):
        status, output = self.pytest([{"check": "fixture.pass"}], "-q", "--cudnn-ci-output", "kept")
        self.assertEqual(status, 0, output)
        for arguments in ["--help", "--dry-run"]:
            with self.subTest(arguments=arguments):
                status, output = self.pytest([{"check": "fixture.fail"}], "-q", "--cudnn-ci-output", "kept",
                                             f"--cudnn-ci-args=--plugin-dir '{OPTIONS.plugins}' {arguments}")
                self.assertEqual(status, 4, output)
                self.assertIn("wrote no", output)
        self.assertTrue((self.folder / "kept/junit.xml").is_file())

    def test_arguments_that_no_shell_takes_are_a_usage_error(self):
        status, output = self.run_in([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "--cudnn-ci", "cu13",
                                      "--cudnn-ci-args='", self.ours()])
        self.assertEqual(status, 4, output)
        self.assertIn("--cudnn-ci-args: No closing quotation", output)

    def test_no_runner_obeys_what_an_image_prints(self):
        said = "printf '::error::one\\n \\302\\240::error::two\\n##[error]three\\n##vso[four]\\n'; exit 1"
        status, output = self.pytest([{"check": "exec.run", "name": "said", "params": {"argv": ["/bin/sh", "-c", said]}}], "-q", "-rA")
        self.assertEqual(status, 1, output)
        for word in ["one", "two", "three", "four"]:
            self.assertIn(word, output)
        # The words of the command line itself are in the middle of a line.
        self.assertNotRegex(output, r"(?m)^[^!-~]*::|##[a-z]*\[")

    def test_without_the_option_pytest_is_as_ever(self):
        self.ours()
        status, output = self.run_in([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "ours"])
        self.assertEqual(status, 0, output)
        self.assertIn("1 passed", output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--build")
    parser.add_argument("--cmake")
    parser.add_argument("--plugins", required=True)
    OPTIONS, rest = parser.parse_known_args()
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: this Python has no {', '.join(missing)}: run ci/deps wheel and configure again")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
