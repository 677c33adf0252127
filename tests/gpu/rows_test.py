#!/usr/bin/env python3
"""The tables of tests/gpu/run, as far as they can be judged without a GPU.

usage: rows_test.py --tree DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import importlib.machinery
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
import bare_programs
import broken_rows
import environments
import gate
import machine
import sound_rows
from machine import Copy, Unavailable

TREE = pathlib.Path()


def row(*slugs, blame="image"):
    return environments.Row("row", "", slugs, blame, lambda m, folder: environments.Environment())


def finding(slug, severity="error", blame="image", detail=""):
    return {"slug": slug, "severity": severity, "blame": blame, "detail": detail}


def report(*findings, root=None, case_findings=()):
    return {"root_cause": root, "findings": list(findings), "cases": [{"findings": list(case_findings)}]}


def gpu_run():
    return importlib.machinery.SourceFileLoader("gpu_run", str(pathlib.Path(__file__).with_name("run"))).load_module()


class AnotherCudnn(unittest.TestCase):
    def test_it_lies_where_a_relative_path_from_pytorchs_libraries_leads(self):
        with tempfile.TemporaryDirectory() as folder:
            site, package = pathlib.Path(folder) / "site", pathlib.Path(folder) / "package"
            for file in (site / "torch/lib/libtorch.so", site / "nvidia/cudnn/lib/libcudnn.so.9", site / "nvidia/cu13/lib/libcublas.so.13",
                         package / "nvidia/cudnn/lib/libcudnn.so.9", package / "nvidia_cudnn.dist-info/METADATA"):
                file.parent.mkdir(parents=True)
                file.write_text(str(file))
            other = gpu_run().with_other_cudnn(pathlib.Path(folder) / "other", site, package)
            reached = other / "torch/lib/../../nvidia"
            self.assertEqual((other / "torch/lib/libtorch.so").resolve(), site / "torch/lib/libtorch.so")
            self.assertEqual((reached / "cudnn/lib/libcudnn.so.9").read_text(), str(package / "nvidia/cudnn/lib/libcudnn.so.9"))
            self.assertEqual((reached / "cu13/lib/libcublas.so.13").read_text(), str(site / "nvidia/cu13/lib/libcublas.so.13"))
            # Its own: nothing in it leads back to where it was unpacked.
            self.assertEqual((other / "nvidia/cudnn/lib/libcudnn.so.9").resolve(), other / "nvidia/cudnn/lib/libcudnn.so.9")
            self.assertTrue((other / "nvidia_cudnn.dist-info/METADATA").exists())


class ShippedSpeed(unittest.TestCase):
    def test_sums_are_of_one_worker_and_the_promise_of_the_default(self):
        run = gpu_run()
        started, rows = [], {}

        def fake(*args, name):
            started.append((name, args[2:]))
            alone = "--workers-per-gpu" in args
            cases = [{"check": f"{plugin}.some", "outcome": "passed"} for plugin, count in run.PROMISED.items() for _ in range(count)]
            return 0, 9.0 if alone else 4.0, "", {"cases": cases, "run": {"workers_per_gpu": 1 if alone else 4}}, pathlib.Path(name)

        fake.tree = pathlib.Path("tree")
        begun = [{"ev": "AttemptStarted", "id": "conv.forward", "t_ms": 1000}, {"ev": "AttemptFinished", "id": "conv.forward", "t_ms": 3000}]
        with unittest.mock.patch.multiple(run, events=lambda folder: begun, write_timeline=lambda *_: None,
                                          row=lambda what, ok, text: rows.update({what: (ok, text)})):
            run.shipped_speed(fake, None)
        alone = [name for name, more in started if more == ("--workers-per-gpu", "1")]
        default = [name for name, more in started if more == ()]
        self.assertEqual((len(alone), len(default), len(started)), (6, 6, 12))
        (ok, text), (fast, promise) = rows.values()
        self.assertTrue(ok and "start 2.00" in text and "median 9.00 s" in text, text)
        self.assertTrue(fast and "by 4 workers, median 4.00 s" in promise and "start" not in promise, promise)


class WhereTheTimeGoes(unittest.TestCase):
    def test_a_case_becomes_a_line_of_the_bare_program(self):
        params = {"api": "graph", "dtype": "float16", "layout": "nhwc", "algo": "auto", "shape": "s", "shape.x": [2, 8, 5, 6], "shape.w":
                  [4, 2, 3, 1], "shape.pad": [1], "shape.stride": [2, 1], "shape.dilation": [1], "shape.groups": 4, "shape.pad_after": [-1]}
        self.assertEqual(bare_programs.conv_line({"check": "conv.backward_data", "params": params}),
                         "backward_data graph float16 nhwc auto 2 2 8 4 4 5 6 3 1 1 1 2 1 1 1")

    def test_an_attention_and_products_become_lines_of_theirs(self):
        params = {"dtype": "bfloat16", "layout": "bshd", "mask": "sliding_window", "window": 96, "statistics": "no", "shape.q": [2, 8, 512, 128],
                  "shape.kv": [2, 320]}
        self.assertEqual(bare_programs.attention_line({"check": "attention.forward", "params": params}),
                         "forward bfloat16 bshd sliding_window 96 no no 2 8 512 128 2 320 128")
        params = {**params, "deterministic": "yes", "shape.kv": [2, 320, 64]}
        del params["statistics"]
        self.assertEqual(bare_programs.attention_line({"check": "attention.backward", "params": params}),
                         "backward bfloat16 bshd sliding_window 96 yes yes 2 8 512 128 2 320 64")
        params = {"dtype": "float16", "math": "default", "epilogue": "bias_relu", "scales": "none", "workspace": "all", "trans": "tn",
                  "size": "136x72x264", "padding": 8, "batch": 3, "alpha": 2.0, "beta": -0.5}
        self.assertEqual(bare_programs.gemm_line({"check": "gemm.matmul", "params": params}),
                         "matmul float16 default bias_relu none all tn 136 72 264 8 3 2.0 -0.5")
        params = {"dtype": "float32", "math": "tf32", "trans": "tn", "groups": ["17x19x23*3 nt alpha=-1 beta=0.5 padding=3", "0x72x264", "1x2x3*0"]}
        self.assertEqual(bare_programs.gemm_line({"check": "gemm.grouped", "params": params}),
                         "grouped float32 tf32 3 nt 17 19 23 3 3 -1 0.5 tn 0 72 264 0 1 1 0 tn 1 2 3 0 0 1 0")

    def test_the_time_of_a_plugin_is_that_of_its_cases(self):
        times = [("WorkerStarted", "", 5), ("AttemptStarted", "toolkit.gemm[]", 10), ("AttemptStarted", "gemm.matmul[a]", 200),
                 ("AttemptFinished", "gemm.matmul[a]", 300), ("AttemptStarted", "conv.fused[a]", 300), ("AttemptFinished", "conv.fused[a]", 350),
                 ("AttemptStarted", "gemm.grouped[a]", 400), ("AttemptFinished", "gemm.grouped[a]", 1700),
                 ("AttemptStarted", "conv.forward[a]", 1700), ("AttemptFinished", "conv.forward[a]", 1800), ("AttemptFinished", "toolkit.gemm[]", 1900)]
        of, whole = bare_programs.seconds_of_cases([{"ev": ev, "id": id, "t_ms": t} for ev, id, t in times])
        self.assertAlmostEqual(of["gemm"], 1.4)
        self.assertAlmostEqual(of["conv"], 0.1)
        self.assertAlmostEqual(whole, 1.6)


class AgainstABareProgram(unittest.TestCase):
    """Of a gate that takes 1.2 s."""

    def judge(self, ran, supported, seconds, gate_exit=0):
        rows, asked = {}, []
        times = [("AttemptStarted", "gemm.matmul[a]", 0), ("AttemptFinished", "gemm.matmul[a]", 1200)]
        params = {"dtype": "float16", "math": "default", "epilogue": "none", "scales": "none", "workspace": "all", "trans": "tn", "size": "1x2x3",
                  "padding": 0, "batch": 1, "alpha": 1, "beta": 0}
        cases = [{"check": "gemm.matmul", "outcome": outcome, "params": params} for outcome in ("passed", "skipped", "passed")]
        fake = unittest.mock.Mock(return_value=(gate_exit, 2.0, "", {"cases": [*cases, {"check": "toolkit.gemm", "outcome": "passed"}]}, "folder"))
        fake.tree = pathlib.Path("tree")
        program = lambda lines: (asked.append(lines), ({"gemm": bare_programs.Bare(ran, supported, seconds)}, seconds))[1]
        with unittest.mock.patch.multiple(bare_programs, Program=lambda plugins, out, frontend: program,
                                          events=lambda _: [{"ev": ev, "id": id, "t_ms": t} for ev, id, t in times],
                                          row=lambda what, ok, text: rows.update({what: (ok, text)})):
            bare_programs.against(fake, ["gemm"], "frontend")
        self.assertEqual({len(lines["gemm"]) for lines in asked}, {2})  # what was skipped is not the program's to run
        return rows["cu13 by one worker against a bare program"]

    def test_passes_up_to_a_quarter_more(self):
        ok, text = self.judge(2, 2, 1.0)
        self.assertTrue(ok and "ratio 1.20" in text, text)

    def test_fails_beyond_or_where_the_program_did_not_do_the_same(self):
        for ran, supported, seconds, code in ((2, 2, 0.9, 0), (2, 1, 1.0, 0), (1, 1, 1.0, 0), (2, 2, 1.0, 1), (0, 0, float("nan"), 0)):
            self.assertFalse(self.judge(ran, supported, seconds, code)[0], (ran, supported, seconds, code))

    def test_steps_last_until_the_next_one_or_the_end_of_their_case(self):
        lines = [
            {"ev": "AttemptStarted", "t_ms": 0, "id": "driver.load[]"},
            {"ev": "AttemptStarted", "t_ms": 10, "id": "conv.forward[a]", "device": "gpu0"},
            {"ev": "Step", "t_ms": 12, "id": "conv.forward[a]", "device": "gpu0", "name": "upload"},
            {"ev": "AttemptStarted", "t_ms": 13, "id": "conv.forward[a]", "device": "gpu1"},
            {"ev": "Step", "t_ms": 17, "id": "conv.forward[a]", "device": "gpu0", "name": "compare"},
            {"ev": "AttemptFinished", "t_ms": 37, "id": "conv.forward[a]", "device": "gpu0"},
            {"ev": "CaseFinished", "t_ms": 99, "id": "conv.forward[a]", "device": "gpu0"},
            {"ev": "AttemptFinished", "t_ms": 14, "id": "conv.forward[a]", "device": "gpu1"},
            {"ev": "RunFinished", "t_ms": 100}]
        self.assertEqual(gate.seconds_of_steps(lines), {"start": 0.003, "upload": 0.005, "compare": 0.02})


class Tables(unittest.TestCase):
    def test_what_is_expected_is_declared(self):
        run = subprocess.run([TREE / "bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
        declared = {f["slug"]: f for f in json.loads(run.stdout)["findings"]}
        for wish in [*broken_rows.rows(), *sound_rows.rows()]:
            for slug in wish.slugs:
                with self.subTest(row=wish.name, slug=slug):
                    self.assertIn(slug, declared)
                    if wish.blame:
                        self.assertEqual((declared[slug]["severity"], declared[slug]["blame"]), ("error", wish.blame))
                    else:
                        self.assertIn(declared[slug]["severity"], ("warning", "note"))

    def test_a_broken_environment_has_an_expectation(self):
        for wish in broken_rows.rows():
            self.assertTrue(wish.slugs and wish.exit != 0, wish.name)
        self.assertTrue(all(wish.exit == 0 for wish in sound_rows.rows()))

    def test_names_are_unique(self):
        names = [wish.name for wish in [*broken_rows.rows(), *sound_rows.rows()]]
        self.assertEqual(len(names), len(set(names)))


class Judging(unittest.TestCase):
    def judged(self, wish, code, told, words=()):
        return environments.judge(wish, words, code, told)

    def test_named_right_are_slug_blame_exit_and_words_together(self):
        root = finding("cudnn-missing", detail="no libcudnn.so.9")
        result = self.judged(row("cudnn-missing"), 1, report(root=root), ["libcudnn.so.9"])
        self.assertTrue(result.detected and result.named)
        for wish, code, words in ((row("nvrtc-missing"), 1, []), (row("cudnn-missing", blame="runner"), 1, []),
                                  (row("cudnn-missing"), 3, []), (row("cudnn-missing"), 1, ["libnvrtc"])):
            result = self.judged(wish, code, report(root=root), words)
            self.assertTrue(result.detected)
            self.assertFalse(result.named)

    def test_named_right_is_who_is_blamed(self):
        accused = report(root=finding("cudnn-missing", blame="undetermined"))
        self.assertFalse(self.judged(row("cudnn-missing"), 1, accused).named)

    def test_a_green_broken_environment_is_not_detected(self):
        result = self.judged(row("cudnn-missing"), 0, report())
        self.assertFalse(result.detected or result.named)

    def test_a_matrix_that_is_refused_detects_nothing(self):
        self.assertFalse(self.judged(row("cudnn-missing"), 2, None).detected)
        self.assertFalse(self.judged(row("cudnn-missing"), 2, report()).detected)

    def test_red_where_green_was_expected_is_a_false_alarm(self):
        wish = row(blame="")
        self.assertFalse(self.judged(wish, 0, report()).alarm)
        self.assertTrue(self.judged(wish, 0, report()).named)
        self.assertTrue(self.judged(wish, 3, report(root=finding("canary-failed"))).alarm)
        self.assertTrue(self.judged(wish, 0, report(finding("worker-exit"))).alarm)
        self.assertTrue(self.judged(wish, 0, report(case_findings=[finding("crashed")])).alarm)
        self.assertTrue(self.judged(wish, 2, None).alarm)

    def test_a_warning_that_is_expected_must_be_there(self):
        wish, warned = row("visible-devices-cut", blame=""), report(case_findings=[finding("visible-devices-cut", "warning")])
        self.assertTrue(self.judged(wish, 0, warned).named)
        silent = self.judged(wish, 0, report())
        self.assertFalse(silent.named or silent.alarm)

    def test_facts_that_are_expected_must_be_there(self):
        wish, said = row(blame=""), {**report(), "facts": {"system": {"toolkit.version": "12.1"}}}
        self.assertTrue(environments.judge(wish, (), 0, said, {"toolkit.version": r"12\.\d+"}).named)
        for facts in ({"toolkit.version": r"13\.\d+"}, {"toolkit.version": "12"}, {"toolkit.nvrtc.version": r"12\.\d+"}):
            other = environments.judge(wish, (), 0, said, facts)
            self.assertFalse(other.named or other.alarm)
            self.assertIn(next(iter(facts)), other.text)
        self.assertFalse(environments.judge(wish, (), 0, report(), {"toolkit.version": ".+"}).named)

    def test_the_summary_counts(self):
        named, missed = environments.Result(row("a"), detected=True, named=True), environments.Result(row("a"), detected=True)
        alarm, absent = environments.Result(row(blame=""), alarm=True), environments.Result(row("a"), unavailable="no GPU")
        counts = [line.split()[-1] for line in environments.summary([named, missed, alarm, absent]).splitlines()[:6]]
        self.assertEqual(counts, ["2", "2", "1", "1", "1", "0"])
        self.assertIn("not here: row: no GPU", environments.summary([absent]))

    def test_the_summary_counts_by_mode(self):
        first, other = row("a"), row("a")
        first.about, other.about = "no driver", "no cuDNN"
        text = environments.summary([environments.Result(first, named=True), environments.Result(first), environments.Result(other, named=True)])
        self.assertRegex(text, r"no driver +2 +1\n")
        self.assertRegex(text, r"no cuDNN +1 +1\n")


class Making(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.source = self.folder / "source"
        self.source.mkdir()
        self.content = bytes(range(256)) * 64
        for name in ("libcudnn.so.9.14.0", "libcudnn_ops.so.9.14.0", "libcudart.so.13"):
            (self.source / name).write_bytes(self.content)
        for name in ("libcudnn.so.9", "libcudnn_ops.so.9"):
            (self.source / name).symlink_to(f"{name}.14.0")
        (self.source / "libcudnn.so").symlink_to("/etc/alternatives/nowhere")
        self.copy = Copy.of(self.source, self.folder / "copy", r"libcudnn(_\w+)?\.so[.\d]*")

    def file(self, name):
        return (self.copy.folder / name).read_bytes()

    def test_a_copy_has_the_files_and_the_links_among_them(self):
        self.assertEqual(sorted(path.name for path in self.copy.folder.iterdir()),
                         ["libcudnn.so.9", "libcudnn.so.9.14.0", "libcudnn_ops.so.9", "libcudnn_ops.so.9.14.0"])
        self.assertTrue((self.copy.folder / "libcudnn_ops.so.9").is_symlink())
        self.assertTrue((self.copy.folder / "libcudnn_ops.so.9").samefile(self.source / "libcudnn_ops.so.9"))

    def test_what_is_spoiled_is_not_the_source(self):
        other = self.folder / "other"
        other.write_bytes(b"other")
        ops = "libcudnn_ops.so.9"
        patched = self.content[:18] + b"\xf3\x00" + self.content[20:]
        spoiled = [(lambda c: c.write(ops, b""), b""), (lambda c: c.cut(ops), self.content[:8192]),
                   (lambda c: c.patch(ops, 18, b"\xf3\x00"), patched), (lambda c: c.take(other, ops), b"other")]
        for i, (spoil, left) in enumerate(spoiled):
            self.copy = Copy.of(self.source, self.folder / f"copy{i}", r".*")
            spoil(self.copy)
            self.assertEqual(self.file(ops), left)
            self.assertEqual(self.file(f"{ops}.14.0"), left)
            self.assertEqual(self.file("libcudnn.so.9"), self.content)
            self.assertEqual((self.source / ops).read_bytes(), self.content)
        self.assertEqual(other.read_bytes(), b"other")

    def test_without_hard_links_it_is_copied_and_nothing_is_overwritten(self):
        with unittest.mock.patch("os.link", side_effect=OSError("another file system")):
            copy = Copy.of(self.source, self.folder / "elsewhere", r".*")
            with self.assertRaises(FileExistsError):
                machine.link(self.source / "libcudart.so.13", copy.folder / "libcudnn.so.9.14.0")
        self.assertFalse((copy.folder / "libcudart.so.13").samefile(self.source / "libcudart.so.13"))
        self.assertEqual((copy.folder / "libcudnn.so.9").read_bytes(), self.content)

    def test_removed_and_dangling(self):
        self.copy.dangle("libcudnn_ops", "libcudnn_ops.so.9")
        self.assertFalse((self.copy.folder / "libcudnn_ops.so.9").exists())
        self.assertTrue((self.copy.folder / "libcudnn_ops.so.9").is_symlink())
        self.copy.remove("libcudnn")
        self.assertEqual([path.name for path in self.copy.folder.iterdir()], ["libcudnn_ops.so.9"])
        self.assertEqual(len(list(self.source.iterdir())), 6)

    def test_a_row_leaves_nothing_and_is_judged(self):
        def make(_, folder):
            (folder / "deep").mkdir()
            return environments.Environment({"A": "b"}, {"image.cudnn": None}, words=["so"])

        def run(*arguments, env, name, before):
            self.assertEqual((arguments[0], env, name, before), ("--matrix", {"A": "b"}, "row", []))
            matrix = json.loads(pathlib.Path(arguments[1]).read_text())
            self.assertEqual(matrix["image"], {"toolkit": ">=13.0 <14"})
            return 1, 0.5, "", report(root=finding("a", detail="so")), None
        here = types.SimpleNamespace(scratch=self.folder / "scratch", cuda=13)
        run.out = self.folder
        wish = environments.Row("row", "", ("a",), "image", make)
        self.assertTrue(environments.run_row(run, here, wish).named)
        self.assertEqual(list(here.scratch.iterdir()), [])

        def impossible(*_):
            raise Unavailable("no second cuDNN")
        wish.make = impossible
        self.assertEqual(environments.run_row(run, here, wish).unavailable, "no second cuDNN")
        wish.make = lambda *_: pathlib.Path("/nonexistent/x").read_bytes()
        failed = environments.run_row(run, here, wish)
        self.assertFalse(failed.named or failed.detected or failed.unavailable)

    def test_both_majors_are_on_the_path_and_the_promised_one_is_expected(self):
        rows = {wish.name: wish for wish in sound_rows.rows()}
        files = {"libcudart": self.folder / "cuda13/libcudart.so.13", "libnvrtc": self.folder / "cuda13/libnvrtc.so.13"}
        here = machine.Machine.__new__(machine.Machine)
        here.cuda, here.uuids, here.cuda12 = 13, ["GPU-0"], None
        here.toolkit_file = lambda stem: (files[stem].name, files[stem])
        names = ("cuda_12_promised_beside_13", "cuda_13_promised_beside_12")
        for name in names:
            self.assertRaises(Unavailable, rows[name].make, here, self.folder)
        here.cuda12 = self.folder / "cuda12"
        for package, name in (("cuda_runtime", "libcudart.so.12"), ("cuda_nvrtc", "libnvrtc.so.12")):
            for wish in names:
                self.assertRaises(Unavailable, rows[wish].make, here, self.folder)
            (here.cuda12 / "nvidia" / package / "lib").mkdir(parents=True)
            (here.cuda12 / "nvidia" / package / "lib" / name).touch()
        for name, major, other in zip(names, (12, 13), (13, 12)):
            environment = rows[name].make(here, self.folder)
            path = environment.env["LD_LIBRARY_PATH"].split(":")
            self.assertEqual(path[:3], [f"{here.cuda12}/nvidia/cuda_runtime/lib", f"{here.cuda12}/nvidia/cuda_nvrtc/lib", f"{self.folder}/cuda13"])
            self.assertEqual(environments.matrix_of(here, environment)["image"]["toolkit"], f">={major}.0 <{major + 1}")
            right = {"toolkit.version": f"{major}.1", "toolkit.nvrtc.version": f"{major}.1", "toolkit.runtime.versions": "13.0 12.1",
                     "toolkit.runtime.path": str(files["libcudart"] if major == 13 else path[0] + "/libcudart.so.12.1"),
                     "toolkit.nvrtc.path": str(files["libnvrtc"] if major == 13 else path[1] + "/libnvrtc.so.12")}
            self.assertEqual(environments.other_facts(environment.facts, {"facts": {"system": right}}), [])
            for key in right:
                wrong = {**right, key: "" if key.endswith("path") else f"{other}.0" if not key.endswith("versions") else f"{major}.0"}
                self.assertEqual(len(environments.other_facts(environment.facts, {"facts": {"system": wrong}})), 1, key)

    def test_mounts_that_may_not_be_made_are_said(self):
        with self.assertRaises(Unavailable):
            machine.mounts("mount --bind /nonexistent /nonexistent")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    TREE = known.tree
    unittest.main(argv=[sys.argv[0], *rest])
