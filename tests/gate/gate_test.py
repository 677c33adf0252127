#!/usr/bin/env python3
"""ci/gate: what it knows before it builds, how it shows the build, and how it ends. What it calls is stood in for."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class GateTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-gate-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        (self.dir / "tree/ci").mkdir(parents=True)
        shutil.copy(ROOT / "ci/gate", self.dir / "tree/ci/gate")
        self.script("tree/ci/deps", "echo deps")
        self.script("tree/ci/build", f'if [ "${{1:-}}" = --where ]; then echo {self.dir}/build; exit; fi\n'
                    "echo '[4/4] Building'")
        self.script("build/install/bin/cudnn-ci", f'printf "%s\\n" "$@" >{self.dir}/words\necho "verdict: passed (exit 0)"')
        self.script("bin/ldconfig", "echo '0 libs found in cache'")
        self.image = self.dir / "image"
        (self.image / "usr/lib").mkdir(parents=True)

    def script(self, path, text):
        file = self.dir / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def put(self, path):
        file = self.image / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")

    def gate(self, *arguments, **env):
        for name in ("words", "deps"):
            (self.dir / name).unlink(missing_ok=True)
        return subprocess.run([self.dir / "tree/ci/gate", *arguments], capture_output=True, text=True,
                              env={"PATH": f"{self.dir}/bin:{os.environ['PATH']}", "HOME": str(self.image / "root"),
                                   "CUDNN_CI_LOOK_IN": str(self.image), **env})

    def words(self):
        return (self.dir / "words").read_text().split() if (self.dir / "words").exists() else None

    def test_where_nothing_can_be_judged_it_ends_before_it_builds(self):
        result = self.gate()
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1], "verdict: not_gated (exit 4)")
        self.assertNotIn("deps", result.stderr)
        self.assertIsNone(self.words())

    def test_whatever_may_be_judged_is_built_for_and_named(self):
        self.script("bin/ldconfig", "echo 'libcudart.so.13 (libc6,x86-64) => /usr/local/cuda/lib64/libcudart.so.13'")
        result = self.gate()
        self.assertEqual((result.returncode, self.words()), (0, []), result.stderr)
        self.assertIn("ci/gate: will test what the loader finds (libcudart.so.13)", result.stderr.splitlines())
        self.script("bin/ldconfig", "exit 0")
        for path in ("opt/venv/lib/python3.11/site-packages/torch", "usr/lib/ollama/cuda_v12/libcudart.so.12", "app/libggml-cuda.so",
                     "root/project/lib/libcublas.so.12"):
            with self.subTest(path=path):
                shutil.rmtree(self.image)
                self.put(path)
                result = self.gate()
                self.assertEqual((result.returncode, self.words()), (0, []), result.stderr)
                self.assertEqual(result.stdout.splitlines()[-1], "verdict: passed (exit 0)")

    def test_a_driver_alone_is_nothing_to_judge(self):
        self.put("proc/driver/nvidia/version")
        self.script("bin/ldconfig", "echo 'libcuda.so.1 (libc6,x86-64) => /usr/lib/libcuda.so.1'")
        self.assertEqual(self.gate().returncode, 4)

    def test_a_named_matrix_and_options_are_passed(self):
        self.assertEqual(self.gate("cu12", "--stage", "static").returncode, 0)
        self.assertEqual(self.words(), ["--matrix", "cu12", "--stage", "static"])
        self.gate("--no-gpu")
        self.assertEqual(self.words(), ["--no-gpu"])
        self.gate("self-test")
        self.assertEqual(self.words(), ["self-test"])

    def test_the_build_shows_how_far_it_is(self):
        text = (self.dir / "tree/ci/build").read_text()
        self.script("tree/ci/build", text.split("\n", 1)[1].replace("echo '[4/4] Building'", "for n in 1 2 3 4; do echo \"[$n/4] Building\"; sleep 1; done"))
        shown = [line for line in self.gate("cu12").stderr.splitlines() if line.startswith("ci/gate: built ")]
        self.assertGreaterEqual(len(shown), 2)
        self.assertEqual(shown, sorted(shown, key=lambda line: int(line.split()[2])))

    def test_a_build_that_fails_is_shown_and_is_5(self):
        self.script("tree/ci/build", "echo broken; exit 1")
        result = self.gate("cu12")
        self.assertEqual(result.returncode, 5)
        self.assertIn("broken", result.stderr)

    def test_a_missing_dependency_is_2(self):
        self.script("tree/ci/deps", "exit 2")
        self.assertEqual(self.gate("cu12").returncode, 2)


if __name__ == "__main__":
    unittest.main()
