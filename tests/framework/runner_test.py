#!/usr/bin/env python3
"""plugins/kernels/cudnn_ci_runner.py by itself: which packages it lists of folders that are made here, and its processes.

usage: runner_test.py [ARGUMENTS FOR unittest...]
"""
import importlib.metadata  # noqa: F401  (of the path before it is patched)
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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


class Processes(unittest.TestCase):
    """Two of them, "" and "jit", of which each has one call, by this adapter."""
    ADAPTER = """
import os, signal, sys, time
settle = str
def describe():
    return {"count": 1}
def product(p, how):
    print("pid", os.getpid(), flush=True)
    exec(how)
    return {}
"""

    def start(self, how, jit):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        for name in ("cudnn_ci_runner.py", "cudnn_ci_processes.py"):
            shutil.copy(ROOT / "plugins/kernels" / name, scratch.name)
        path = pathlib.Path(scratch.name)
        (path / "cudnn_ci_adapter.py").write_text(self.ADAPTER, encoding="ascii")
        problem = {"name": "product/any", "operation": "product", "attributes": {}, "inputs": {}}
        calls = [{"implementation": code, "problem": "product/any"} for code in (how, jit)]
        (path / "job.json").write_text(json.dumps({"folder": scratch.name, "problems": {"product/any": problem}, "calls": calls,
                                                   "processes": [{"name": "", "calls": [0]}, {"name": "jit", "calls": [1]}]}), encoding="ascii")
        self.answer = path / "answer"
        return subprocess.Popen([sys.executable, "-B", "-X", "faulthandler", str(path / "cudnn_ci_runner.py"), str(path / "job.json"), str(self.answer)],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def said(self, key):
        return [(line.get("process"), line[key]) for line in map(json.loads, self.answer.read_text(encoding="ascii").splitlines()) if key in line]

    def run_both(self, how, jit):
        process = self.start(how, jit)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output.decode()

    def test_each_answers_for_its_own_calls_and_ends(self):
        status, output = self.run_both("0", "0")
        self.assertEqual((status, self.said("python")[0][0]), (0, None))
        self.assertEqual(sorted((process, result["call"], result["run"]) for process, result in self.said("result")), [(0, 0, 1), (0, 0, 2), (1, 1, 1), (1, 1, 2)])
        self.assertEqual(sorted(self.said("end")), [(0, True), (1, True)])
        self.assertEqual(sorted(process for process, left in self.said("left") if left == {"signal": 0, "status": 0}), [0, 1])
        pids = {line.rsplit("pid ")[1] for line in output.splitlines() if "pid " in line}
        self.assertEqual(len(pids), 2)

    def test_the_runner_ends_as_the_first_that_ended_badly(self):
        for how, expected, left in (("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV, {"signal": 11, "status": -1}), ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, {"signal": 9, "status": -1}),
                                    ("os._exit(7)", 7, {"signal": 0, "status": 7})):
            status, output = self.run_both("time.sleep(1); os._exit(3)", how)
            self.assertEqual(status, expected, output)
            self.assertEqual(self.said("left"), [(1, left), (0, {"signal": 0, "status": 3})])
            self.assertEqual(output.count("Fatal Python error"), how.count("SIGSEGV"), output)

    def test_lines_name_the_process_that_writes_them(self):
        _, output = self.run_both("print('one\\ntwo', end='', flush=True)", "print('a' * 200000, flush=True); print('b', end='', flush=True); time.sleep(0.5)")
        lines = [line for line in output.splitlines() if "pid" not in line]
        self.assertEqual([line for line in lines if not line.startswith("[jit] ")].count("one"), 2, output[:1000])
        jit = "".join(line[len("[jit] "):] for line in lines if line.startswith("[jit] "))
        self.assertEqual((jit.count("a"), jit.count("b")), (400000, 2))
        self.assertLess(max(map(len, lines)), 150000)  # who never ends a line fills no memory
        _, output = self.run_both("0", "print('last', end='', flush=True); os._exit(0)")
        self.assertIn("[jit] last", output.splitlines())

    def test_one_that_closes_its_output_keeps_no_processor_busy(self):
        process = self.start("0", "os.close(1); os.close(2); time.sleep(4)")
        with process.stdout:
            process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.WEXITSTATUS(status)
        self.assertLess(usage.ru_utime + usage.ru_stime, 1)

    def test_none_outlives_the_runner(self):
        process = self.start("time.sleep(60)", "time.sleep(60)")
        pids = [int(process.stdout.readline().split()[-1]) for _ in range(2)]
        process.kill()
        process.communicate(timeout=30)  # until none of them has its output open
        for _ in range(500):
            if not any(os.path.exists("/proc/%d" % pid) for pid in pids):
                return
            time.sleep(0.01)
        self.fail("they live: %s" % pids)


if __name__ == "__main__":
    unittest.main()
