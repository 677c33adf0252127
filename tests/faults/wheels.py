#!/usr/bin/env python3
"""Judges the real wheels of frameworks from the Python package index, without a GPU: what a user gets who installs one.

    wheels.py CUDNN_CI [--keep FOLDER] [ROW...]

Each row is an environment of its own: the resolver's own answer to its requirements, of which what matters to the gate is unpacked.
It takes some gigabytes, one row at a time; with --keep they stay in FOLDER and are not downloaded again. Prints a table of what was
installed, which cuDNN the gate found, what it said and how long it took. Exits 1 if a row is not judged as expected.
"""
import argparse
import dataclasses
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import typing

import package_index

# What the gate looks at; the rest of an environment would only be downloaded.
MATTERS = re.compile(r"(torch|tensorflow|jax|jaxlib|jax-cuda.*|onnxruntime.*|ctranslate2|cupy.*|cuda-toolkit|"
                     r"nvidia-(cudnn|cublas|cuda-runtime|cuda-nvrtc|cufft|curand|nvjitlink)(-cu\d+)?)$")
CHECKS = [{"check": "toolkit.runtime"}, {"check": "toolkit.nvrtc"}, {"check": "cudnn.load"}, {"check": "cudnn.version"},
          {"check": "framework.versions"}]
ALONE = [{"check": "framework.versions"}]  # of packages that bring no CUDA


@dataclasses.dataclass
class Row:
    name: str
    requirements: typing.List[str]
    said: typing.Tuple[str, ...] = ()  # slugs that must be there; an error among them makes it red
    status: int = 0
    checks: typing.List[dict] = dataclasses.field(default_factory=lambda: list(CHECKS))


ROWS = (
    Row("torch", ["torch"]),
    Row("torch-cu128", ["torch==2.8.0"]),
    Row("torch-cu126", ["torch==2.7.1"]),
    Row("tensorflow", ["tensorflow[and-cuda]"]),
    Row("tensorflow-cpu", ["tensorflow"], checks=ALONE),
    Row("jax-cuda12", ["jax[cuda12]"]),
    Row("jax-cuda13", ["jax[cuda13]"]),
    Row("onnxruntime", ["onnxruntime-gpu[cuda,cudnn]"], ("framework-needs-preload",)),
    Row("onnxruntime-alone", ["onnxruntime-gpu"], ("framework-libraries-missing",), 1, ALONE),
    Row("onnxruntime-cpu", ["onnxruntime"], checks=ALONE),
    Row("ctranslate2", ["ctranslate2", "nvidia-cublas-cu12", "nvidia-cudnn-cu12"], ("framework-needs-preload",),
        checks=[{"check": "cudnn.load"}, {"check": "framework.versions"}]),
    Row("ctranslate2-alone", ["ctranslate2"], ("framework-libraries-missing",), 1, ALONE),
    # A release whose convolutions are cuDNN's; later ones have their own.
    Row("ctranslate2-without-cudnn", ["ctranslate2==4.6.0", "nvidia-cublas-cu12"], ("framework-cudnn-absent", "framework-needs-preload"),
        checks=ALONE),
    # Together: of one CUDA major; of two, whose packages of cuDNN put their files into the same folder; and with what another brought.
    Row("torch-jax", ["torch", "jax[cuda13]"]),
    Row("torch-tensorflow", ["torch", "tensorflow[and-cuda]"], ("framework-cuda-mismatch",), 1, ALONE),
    Row("torch-ctranslate2", ["torch==2.8.0", "ctranslate2"], ("framework-needs-preload",)),
)


def resolve(requirements):
    """The wheels that pip would install, as (name, version, address)."""
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.json")
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:",
                        "--report", report, *requirements], check=True, stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            found = [(i["metadata"]["name"].lower().replace("_", "-"), i["metadata"]["version"], i["download_info"]["url"])
                     for i in json.load(file)["install"]]
    return [wheel for wheel in found if MATTERS.match(wheel[0])]


def environment(row, folder):
    """The interpreter of the row's virtual environment, and its packages in words."""
    venv = os.path.join(folder, row.name)
    done = os.path.join(venv, "wheels.json")
    if not os.path.exists(done):
        shutil.rmtree(venv, ignore_errors=True)
        wheels = resolve(row.requirements)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        [site] = glob.glob(venv + "/lib/python3*/site-packages")
        for name, version, _ in wheels:
            package_index.unpack(f"{name}=={version}", site)
        with open(done, "w", encoding="utf-8") as file:
            json.dump(wheels, file)
    with open(done, encoding="utf-8") as file:
        names = [f"{name} {version}" for name, version, _ in json.load(file)]
    return os.path.join(venv, "bin/python"), names


def judge(program, before, python, row, scratch):
    """The report of a static run, its exit status and its seconds."""
    matrix = {"schema": "cudnn-ci/matrix/1", "name": row.name, "subjects": {"env": "python:" + python}, "checks": row.checks}
    with open(scratch + "/matrix.json", "w", encoding="utf-8") as file:
        json.dump(matrix, file)
    clean = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    start = time.monotonic()
    run = subprocess.run([*before, program, "--matrix", scratch + "/matrix.json", "--output-dir", scratch + "/out", "--stage", "static"],
                         check=False, stdout=subprocess.DEVNULL, env=clean)
    seconds = time.monotonic() - start
    with open(scratch + "/out/report.json", encoding="utf-8") as file:
        return json.load(file), run.returncode, seconds


def problems(row, report, status):
    """What is not as expected, in words."""
    findings = [(case["id"], f) for case in report["cases"] for f in case["findings"]]
    slugs = {f["slug"] for _, f in findings}
    wrong = [f"{i}: {f['slug']}: {f['detail']}" for i, f in findings if f["severity"] == "error" and f["slug"] not in row.said]
    wrong += [f"{case['id']}: {case['outcome']}" for case in report["cases"] if case["outcome"] not in ("passed", "failed")]
    wrong += [f"no {slug}" for slug in row.said if slug not in slugs]
    return wrong + ([f"exit {status}"] if status != row.status else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--keep")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_intermixed_args()
    unknown = set(options.rows) - {row.name for row in ROWS}
    if unknown:
        parser.error("no row " + ", ".join(sorted(unknown)) + "; there are " + ", ".join(row.name for row in ROWS))
    before, bad = package_index.alone(), 0
    if not before:
        print("the machine's own CUDA cannot be hidden here: rows that are to find none may find it")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch + "/environments"
        os.makedirs(folder, exist_ok=True)
        for row in ROWS:
            if options.rows and row.name not in options.rows:
                continue
            python, names = environment(row, folder)
            report, status, seconds = judge(options.program, before, python, row, scratch)
            wrong = problems(row, report, status)
            facts = report["facts"].get("env", {})
            slugs = sorted({f["slug"] for case in report["cases"] for f in case["findings"]})
            print(f"{row.name:18} {'as expected' if not wrong else 'NOT AS EXPECTED'}, exit {status}, {seconds:.1f} s; "
                  f"cuDNN {facts.get('cudnn.version', 'none')} of {facts.get('cudnn.path', 'nowhere')}; {' '.join(slugs)}")
            for text in [*(f"  wrong: {w}" for w in wrong), "  " + ", ".join(names)]:
                print(text, flush=True)
            bad += bool(wrong)
            if not options.keep:
                shutil.rmtree(os.path.join(folder, row.name))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
