#!/usr/bin/env python3
"""plugins/framework/probe.py by itself, with the fake frameworks and with folders of packages made here.

usage: probe_test.py [ARGUMENTS FOR unittest...]
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBE, FAKES = ROOT / "plugins/framework/probe.py", ROOT / "tests/fakes/frameworks"
SHAPES = {"x": [2, 3, 5, 4], "w": [4, 3, 3, 2], "g": [2, 4, 3, 2], "a": [2, 3], "b": [3, 2], "v": [1, 1, 5, 4], "do": [1, 1, 3, 4]}
# Each query matches the keys with its code, whose scores are 256 and those of all others 0: exp() is exact.
KEY_CODES, QUERY_CODES, CODES = [0, 1, 1, 2, 3], [1, 0, 3], 4
STRIDE, PAD = [2, 2], [1, 0]

sys.path.insert(0, str(PROBE.parent))
from cudnn_ci_probe import answer as script, inference, packages, training  # noqa: E402

# What is known of frameworks, as the plugin is told it: without comments.
KNOWN = json.loads("".join(line for line in open(ROOT / "knowledge/packages.json", encoding="utf-8") if not line.lstrip().startswith("//")))["frameworks"]


def problem():
    draw, values = random.Random(5), {"stride": STRIDE, "pad": PAD}
    for name, shape in SHAPES.items():
        size = 1
        for extent in shape:
            size *= extent
        values[name], values[name + "_shape"] = [draw.randint(-2, 2) for _ in range(size)], shape
    for name, codes in (("q", QUERY_CODES), ("k", KEY_CODES)):
        values[name] = [16 if d == code else 0 for code in codes for d in range(CODES)]
        values[name + "_shape"] = [1, 1, len(codes), CODES]
    return values


def expected_attention(p):
    """Output and gradients of an attention by their definition."""
    q, k, v, do = ([p[name][at:at + CODES] for at in range(0, len(p[name]), CODES)] for name in ("q", "k", "v", "do"))
    out = {"o": [], "dq": [], "dk": [[0] * CODES for _ in k], "dv": [[0] * CODES for _ in v]}
    for query, gradient, code in zip(q, do, QUERY_CODES):
        row = [1 / KEY_CODES.count(code) if key == code else 0 for key in KEY_CODES]
        dp = [sum(a * b for a, b in zip(gradient, value)) for value in v]
        ds = [weight * (d - sum(a * b for a, b in zip(row, dp))) for weight, d in zip(row, dp)]
        out["o"] += [sum(weight * value[d] for weight, value in zip(row, v)) for d in range(CODES)]
        out["dq"] += [sum(s * key[d] for s, key in zip(ds, k)) for d in range(CODES)]
        for j, (weight, s) in enumerate(zip(row, ds)):
            for d in range(CODES):
                out["dk"][j][d] += s * query[d]
                out["dv"][j][d] += weight * gradient[d]
    return {**out, "dk": sum(out["dk"], []), "dv": sum(out["dv"], [])}


def expected(p):
    """The convolution and its gradients by their definition, element by element."""
    def get(name, *index):
        place = 0
        for i, extent in zip(index, SHAPES[name]):
            if not 0 <= i < extent:
                return 0
            place = place * extent + i
        return p[name][place]

    def every(shape, value):
        def walk(index):
            if len(index) == len(shape):
                return [value(*index)]
            return [e for i in range(shape[len(index)]) for e in walk(index + [i])]
        return walk([])

    (n, c, h, w), (k, _, r, s), (_, _, rows, columns) = SHAPES["x"], SHAPES["w"], SHAPES["g"]

    def y(i, o, a, b):
        return sum(get("x", i, ch, a * STRIDE[0] + u - PAD[0], b * STRIDE[1] + v - PAD[1]) * get("w", o, ch, u, v)
                   for ch in range(c) for u in range(r) for v in range(s))

    def dx(i, ch, row, column):
        return sum(get("g", i, o, a, b) * get("w", o, ch, row + PAD[0] - a * STRIDE[0], column + PAD[1] - b * STRIDE[1])
                   for o in range(k) for a in range(rows) for b in range(columns))

    def dw(o, ch, u, v):
        return sum(get("g", i, o, a, b) * get("x", i, ch, a * STRIDE[0] + u - PAD[0], b * STRIDE[1] + v - PAD[1])
                   for i in range(n) for a in range(rows) for b in range(columns))
    return {"y": every(SHAPES["g"], y), "dx": every(SHAPES["x"], dx), "dw": every(SHAPES["w"], dw)}


class Probe(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.problem, self.frameworks = problem(), KNOWN

    def ask(self, what, path=FAKES, options=("-S",), **env):
        """What the script says, as a list of (key, value)."""
        answer = self.folder / "answer"
        answer.unlink(missing_ok=True)
        (self.folder / "problem").write_text(json.dumps(self.problem))
        (self.folder / "frameworks").write_text(json.dumps(self.frameworks))
        needed = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true", "PYTHONPATH": str(path)}
        run = subprocess.run([sys.executable, "-B", *options, PROBE, what, self.folder / "problem", self.folder / "frameworks", answer], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env={**os.environ, **needed, **env}, check=False)
        self.output = run.stdout
        return [next(iter(json.loads(line).items())) for line in answer.read_text(encoding="utf-8").splitlines()]

    def install(self, name, version, requires=(), files=()):
        folder = self.folder / "site" / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                                         + "".join(f"Requires-Dist: {r}\n" for r in requires))
        record = ""
        for file, content, size in files:
            path = self.folder / "site" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            record += f"{file},sha256=x,{size}\n"
        (folder / "RECORD").write_text(record)
        return self.folder / "site"


class Computes(Probe):
    def test_what_the_definition_says_in_every_mode(self):
        right, attention = expected(self.problem), expected_attention(self.problem)
        torch = ["attention, " + backend for backend in ("math", "efficient", "flash", "cudnn")]
        modes = {"torch": ["default", "benchmark", "deterministic", *torch], "tensorflow": ["default", "deterministic"],
                 "jax": ["default", "without autotuning", "deterministic", "attention, cudnn"], "onnxruntime": ["default", "exhaustive", "deterministic"]}
        for name, wanted in modes.items():
            with self.subTest(name):
                results = [value for key, value in self.ask(name) if key == "result"]
                self.assertEqual([r["mode"] for r in results], wanted)
                arrays = right if name != "onnxruntime" else {"y": right["y"]}
                for r in results:
                    self.assertEqual(r["arrays"], attention if r["mode"].startswith("attention") else arrays)

    def test_in_the_mode_that_it_says(self):
        for name, mode in (("torch", "benchmark"), ("torch", "deterministic"), ("tensorflow", "deterministic"),
                           ("jax", "without autotuning"), ("onnxruntime", "exhaustive"), ("onnxruntime", "deterministic")):
            with self.subTest(name=name, mode=mode):
                said = self.ask(name, FAKE_FRAMEWORK="wrong-y", FAKE_FRAMEWORK_MODE=mode)
                results = {value["mode"]: value["arrays"]["y"] for key, value in said if key == "result" and "y" in value["arrays"]}
                self.assertEqual([m for m in results if results[m] != results["default"]], [mode])

    def test_attention_only_as_far_as_the_framework_offers_it(self):
        def modes(name, **env):
            return [value["mode"] for key, value in self.ask(name, **env) if key == "result" and "o" in value["arrays"]]
        self.assertEqual(modes("torch", FAKE_FRAMEWORK="without-flash"), ["attention, " + b for b in ("math", "efficient", "cudnn")])
        self.assertEqual(len(modes("torch", FAKE_FRAMEWORK="old-params")), 4)
        self.assertEqual(modes("torch", FAKE_FRAMEWORK="without-attention"), [])
        self.assertEqual(modes("jax", FAKE_JAX_CAPABILITY="7.5"), [])

    def test_attention_that_jax_refuses_is_no_error(self):
        said = self.ask("jax", FAKE_FRAMEWORK="refuse-attention")
        self.assertIn(("refused", "attention, cudnn: cuDNN >= 99 is needed"), said)
        self.assertEqual([key for key, _ in said if key == "error"], [])
        self.assertIn("error", dict(self.ask("jax", FAKE_FRAMEWORK="raise-attention")))

    def test_matrices_and_copies(self):
        a, b = self.problem["a"], self.problem["b"]
        results = {value["mode"]: value["arrays"] for key, value in self.ask("cupy") if key == "result"}
        self.assertEqual(results["elementwise"], {"elementwise": [2 * e + 1 for e in a]})
        self.assertEqual(results["matmul"], {"matmul": [sum(a[i * 3 + k] * b[k * 2 + j] for k in range(3)) for i in range(2) for j in range(2)]})
        self.assertIn(("result", {"mode": "copy", "arrays": {"copy": self.problem["x"]}}), self.ask("ctranslate2"))

    def test_values_that_are_no_numbers_stay_json(self):
        self.assertEqual(script.numbers([1.0, -0.0, 2.5, float("nan"), [float("inf"), "x", None]]), [1, 0, 2.5, "nan", "inf", "'x'", "None"])


class Answers(Probe):
    def test_end_with_the_end_and_tell_every_step(self):
        said = self.ask("torch")
        self.assertEqual([said[0][0], said[-1]], ["python", ("end", True)])
        self.assertEqual([value for key, value in said if key == "step"],
                         ["import", "devices", *("convolution, " + mode for mode in ("default", "benchmark", "deterministic")),
                          *("attention, " + backend for backend in ("math", "efficient", "flash", "cudnn")), "maps"])

    def test_of_a_crash_stay(self):
        said = self.ask("torch", FAKE_FRAMEWORK="crash")
        self.assertEqual(said[-1], ("step", "convolution, default"))

    def test_name_the_causes_of_an_exception_in_bounded_texts(self):
        said = dict(self.ask("torch", FAKE_FRAMEWORK="import"))
        self.assertEqual(said["error"], ["ImportError: the extension cannot be loaded",
                                         "OSError: libcudnn.so.9: cannot open shared object file: No such file or directory"])
        long = []
        answer = type("Answer", (script.Answer,), {"__init__": lambda self: None, "say": lambda self, key, value: long.extend(value)})()
        error = None
        for i in range(10):
            cause, error = error, ValueError("x \n" * 9999 + str(i))
            error.__cause__ = cause
        answer.error(error)
        self.assertEqual(len(long), script.MOST_CAUSES)
        self.assertTrue(all(len(text) <= script.MOST_TEXT and "\n" not in text for text in long))

    def test_survive_names_that_are_no_text(self):
        site = self.folder / os.fsdecode(b"\xff site")
        (site / "torch").mkdir(parents=True)
        (site / "torch/__init__.py").write_text("raise ImportError('\\udcff')")
        said = dict(self.ask("torch", site))
        self.assertIn("?", said["packages"]["torch"]["origin"])
        self.assertEqual(said["error"], ["ImportError: ?"])

    def test_list_nvidias_libraries_in_memory(self):
        source = "import mmap; f = open(%r, 'r+b'); f.write(b'x' * 4096); f.flush(); m = mmap.mmap(f.fileno(), 4096)\n"
        for name in ("libcudnn_made_up.so", "libother.so"):
            path = self.folder / name
            path.write_text("")
            (self.folder / "site/torch").mkdir(parents=True, exist_ok=True)
            with open(self.folder / "site/torch/__init__.py", "a", encoding="ascii") as module:
                module.write(source.replace("m = ", f"m{len(name)} = ") % str(path))
        said = dict(self.ask("torch", self.folder / "site"))
        self.assertEqual(said["mapped"], [str(self.folder / "libcudnn_made_up.so")])
        self.assertIsNone(said["cudnn"])

    def test_of_an_old_python_stop_behind_its_version(self):
        code = f"import sys; sys.version_info = (3, 7, 17); sys.argv = ['x', 'torch', 'y', 'z', {str(self.folder / 'answer')!r}]; exec(open({str(PROBE)!r}).read())"
        subprocess.run([sys.executable, "-c", f"__file__ = {str(PROBE)!r}; " + code], check=True)
        said = json.loads((self.folder / "answer").read_text())
        self.assertEqual(said["python"]["version"], "3.7.17")

    def test_need_no_folder_that_python_was_told_not_to_look_into(self):
        self.assertEqual(self.ask("torch", PYTHONSAFEPATH="1")[-1], ("end", True))

    def test_leave_nothing_on_the_path_that_a_framework_could_find(self):
        (self.folder / "site/torch").mkdir(parents=True)
        (self.folder / "site/torch/__init__.py").write_text("import sys; raise ImportError(repr(sys.path))")
        for safe in ({}, {"PYTHONSAFEPATH": "1"}):
            self.assertNotIn(str(PROBE.parent), dict(self.ask("torch", self.folder / "site", **safe))["error"][0])


class Metadata(Probe):
    def test_of_what_is_not_there(self):
        self.assertEqual(self.ask("torch", self.folder)[1:], [("absent", "torch"), ("end", True)])
        # A folder of that name is no package, and neither is a file beside the script.
        (self.folder / "site/torch").mkdir(parents=True)
        self.assertEqual(self.ask("torch", self.folder / "site")[1:], [("absent", "torch"), ("end", True)])

    def test_is_read_without_an_import(self):
        site = self.install("torch", "2.11.0+cu130", ["numpy", "nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\""],
                            [("torch/__init__.py", "raise SystemExit", 16),
                             ("torch/version.py", "from typing import Optional\ncuda: Optional[str] = '13.0'\ncudax = '9'\n", 1)])
        said = dict(self.ask("versions", site))["packages"]
        self.assertEqual(said["torch"], {"origin": str(site / "torch/__init__.py"), "distribution": "torch", "version": "2.11.0+cu130",
                                             "requires": ["nvidia-cudnn-cu13==9.19.0.56; platform_system == \"Linux\""], "cuda": "13.0",
                                         "native": None})
        self.assertIsNone(said["jax"])

    def test_is_read_of_a_framework_that_is_known_by_data_alone(self):
        site = self.install("acme-infer", "1.2", ["nvidia-cudnn-cu13==9.19.0.56"], [("acme/__init__.py", "raise SystemExit", 16), ("acme/libacme.so", "", 0)])
        self.frameworks = KNOWN + [{"framework": "acme", "module": "acme", "distributions": ["acme-cpu", "acme-infer"], "native": ["acme/lib*.so"]},
                                   {"framework": "below", "module": "acme.below", "distributions": ["acme-infer"]}]
        said = dict(self.ask("versions", site))["packages"]
        self.assertEqual(said["acme"], {"origin": str(site / "acme/__init__.py"), "distribution": "acme-infer", "version": "1.2",
                                        "requires": ["nvidia-cudnn-cu13==9.19.0.56"], "cuda": None, "native": str(site / "acme/libacme.so")})
        self.assertNotIn("below", said)

    def test_of_torch_tells_a_build_without_cuda(self):
        for text, cuda in (("cuda = None\n", "none"), ("cuda = '12.8'", "12.8"), ("cuda: str = \"11.8\"", "11.8"), ("hip = None\n", None)):
            (self.folder / "version.py").write_text(text)
            self.assertEqual(packages.cuda_of_torch(self.folder / "version.py"), cuda)
        self.assertIsNone(packages.cuda_of_torch(self.folder / "none.py"))

    def test_names_the_libraries_that_are_left_to_the_loader_and_where_packages_have_such(self):
        provider, other = "onnxruntime/capi/libonnxruntime_providers_cuda.so", "ctranslate2.libs/libctranslate2-12ab.so.4.6.0"
        site = self.install("onnxruntime-gpu", "1.23.0", files=[("onnxruntime/__init__.py", "", 0), (provider, "x", 1), (other, "x", 1),
                                                                ("ctranslate2/__init__.py", "", 0), ("nvidia/cu13/lib/libcublas.so.13", "x", 1)])
        said = dict(self.ask("versions", site))
        self.assertEqual([said["packages"][name]["native"] for name in ("onnxruntime", "ctranslate2")], [str(site / provider), str(site / other)])
        self.assertEqual(said["library_folders"], [str(site / "nvidia/cu13/lib")])
        (site / provider).unlink()
        self.assertIsNone(dict(self.ask("versions", site))["packages"]["onnxruntime"]["native"])

    def test_of_cudnn_tells_whose_libraries_are_there(self):
        graph = "nvidia/cudnn/lib/libcudnn_graph.so.9"
        self.install("nvidia-cudnn-cu12", "9.10.2.21", files=[(graph, "old", 3)])
        site = self.install("nvidia-cudnn-cu13", "9.19.0.56", files=[(graph, "newer", 5), ("nvidia/cudnn/__init__.py", "", 0)])
        folder = str((site / graph).parent)
        self.assertEqual(dict(self.ask("versions", site))["cudnn_packages"],
                         [{"name": "nvidia-cudnn-cu12", "version": "9.10.2.21", "folder": folder, "own": False},
                          {"name": "nvidia-cudnn-cu13", "version": "9.19.0.56", "folder": folder, "own": True}])


class Model(unittest.TestCase):
    def test_fields_are_those_of_protobuf(self):
        self.assertEqual(inference.onnx_field(1, 7), b"\x08\x07")
        self.assertEqual(inference.onnx_field(20, 300), b"\xa0\x01\xac\x02")
        self.assertEqual(inference.onnx_field(2, "y"), b"\x12\x01y")

    def test_transposes(self):
        self.assertEqual(training.permute([1, 2, 3, 4, 5, 6], [2, 3], (1, 0)), [1, 4, 2, 5, 3, 6])


if __name__ == "__main__":
    unittest.main()
