#!/usr/bin/env python3
"""Judges image.symbols on environments of real wheels, sound ones and ones that are broken on purpose, without a GPU.

    symbols.py CUDNN_CI [--keep FOLDER] [ROW...]

A sound row is what pip resolves. A broken row is a copy of one (hard links) in which a package is removed or put into another release, or
with an extension of our own, compiled here. Takes about 30 GB; with --keep the sound environments stay in FOLDER. Prints a table. Exits 1
if a row is not judged as expected.
"""
import argparse
import csv
import dataclasses
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import typing

import package_index

SOUND = {
    "torch": ["torch", "torchvision"],
    "torch-2.11": ["torch==2.11.0"],
    "jax": ["jax[cuda13]"],
    "onnxruntime-gpu": ["onnxruntime-gpu[cuda,cudnn]"],
    "ctranslate2": ["ctranslate2"],
    "cupy": ["cupy-cuda13x[ctk]"],
    "tensorflow": ["tensorflow[and-cuda]"],
}
# An extension of PyTorch that somebody built with the older C++ ABI, and one for a function with another argument.
CHECK_FAIL = "_ZN3c106detail14torchCheckFailEPKcS2_jRK"
OLD_ABI = CHECK_FAIL + "Ss"
OTHER_ARGUMENT = "_ZN3c106detail14torchCheckFailEPKcS2_lRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


@dataclasses.dataclass
class Row:
    name: str
    base: str
    expected: str  # the finding
    texts: typing.Tuple[str, ...] = ()  # each stands in a detail of it
    remove: typing.Tuple[str, ...] = ()  # packages
    replace: typing.Tuple[typing.Tuple[str, str], ...] = ()  # package, requirement in its place
    library_path: str = ""  # a requirement whose libraries are put into LD_LIBRARY_PATH
    extension: typing.Tuple[str, ...] = ()  # an undefined symbol, then names that it needs
    cut: str = ""  # a file of which the second half is missing
    status: int = 1


ROWS = (
    *(Row(name, name, "", status=0) for name in SOUND),
    Row("nvjitlink-removed", "torch-2.11", "library-missing", ("libnvJitLink.so.13", "libcusparse.so.12", "nvidia-nvjitlink"),
        remove=("nvidia-nvjitlink",)),
    Row("nvjitlink-older", "tensorflow", "symbol-missing", ("__nvJitLink", "nvidia-nvjitlink-cu12 12.4.127", "libcusparse.so.12"),
        replace=(("nvidia-nvjitlink-cu12", "nvidia-nvjitlink-cu12==12.4.127"),)),
    Row("nccl-removed", "torch", "library-missing", ("libnccl.so.2", "libtorch_cuda.so", "nvidia-nccl-cu13"), remove=("nvidia-nccl-cu13",)),
    Row("nccl-older", "torch", "symbol-missing", ("nccl", "nvidia-nccl-cu12 2.19.3", "libtorch_cuda.so"),
        replace=(("nvidia-nccl-cu13", "nvidia-nccl-cu12==2.19.3"),)),
    Row("cusparselt-removed", "torch", "library-missing", ("libcusparseLt.so.0", "libtorch_cuda.so", "nvidia-cusparselt-cu13"),
        remove=("nvidia-cusparselt-cu13",)),
    Row("cufft-removed", "torch", "library-missing", ("libcufft.so.12", "libtorch_cuda.so"), remove=("nvidia-cufft",)),
    Row("jax-cufft-removed", "jax", "library-missing", ("libcufft.so", "JAX"), remove=("nvidia-cufft",)),
    Row("tensorflow-cusolver-removed", "tensorflow", "library-missing", ("libcusolver.so", "TensorFlow"), remove=("nvidia-cusolver-cu12",)),
    Row("cupy-cusparse-removed", "cupy", "library-missing", ("libcusparse.so", "CuPy"), remove=("nvidia-cusparse",)),
    Row("onnxruntime-cublas-removed", "onnxruntime-gpu", "library-missing", ("libcublas.so.13", "libonnxruntime_providers_cuda.so"),
        remove=("nvidia-cublas",)),
    Row("nvshmem-removed", "torch", "library-missing", ("libnvshmem_host.so.3", "libtorch_nvshmem.so"), remove=("nvidia-nvshmem-cu13",)),
    Row("other-cxx-abi", "torch", "cxx-abi-mismatch", (OLD_ABI, "libc10.so", "__cxx11"), extension=(OLD_ABI, "libc10.so")),
    Row("changed-function", "torch", "symbol-missing", (OTHER_ARGUMENT, "libc10.so", CHECK_FAIL + "N"),
        extension=(OTHER_ARGUMENT, "libc10.so")),
    Row("cu12-extension", "torch", "library-other-major", ("libcudart.so.12", "libcudart.so.13", "nvidia-cuda-runtime"),
        extension=("cudaMalloc", "libc10.so", "libcudart.so.12")),
    Row("mixed-torchvision", "torch", "symbol-missing", ("torchvision/_C.so", "torch 2.15"), replace=(("torchvision", "torchvision==0.26.0"),)),
    # NVIDIA's libraries have a DT_RUNPATH, which comes behind LD_LIBRARY_PATH.
    Row("library-path-nvjitlink", "tensorflow", "library-shadowed", ("libnvJitLink.so.12", "libcusparse.so.12", "nvidia-nvjitlink-cu12 12.9"),
        library_path="nvidia-nvjitlink-cu12==12.4.127"),
    Row("cut-off", "torch", "library-damaged", ("libtorch_cuda.so", "truncated"), cut="torch/lib/libtorch_cuda.so"),
    # What is there resolves, and hides what the package brought.
    Row("two-nvjitlink", "tensorflow", "library-two-providers", ("libnvJitLink.so.12", "hides"), library_path="nvidia-nvjitlink-cu12==12.9.41",
        status=0),
    # JAX loads its libraries by their paths, whatever LD_LIBRARY_PATH says.
    Row("library-path-not-taken", "jax", "", library_path="nvidia-nvshmem-cu13==3.7.2", status=0),
)


def site_of(environment):
    [site] = glob.glob(environment + "/lib/python3*/site-packages")
    return site


def build(name, folder):
    """The environment that pip makes of the row's requirements, once."""
    environment = os.path.join(folder, name)
    if not os.path.exists(environment + ".ready"):
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        subprocess.run([sys.executable, "-m", "pip", "--python", environment + "/bin/python", "install", "--quiet", "--no-compile",
                        "--no-cache-dir", *SOUND[name]], check=True)
        open(environment + ".ready", "w", encoding="utf-8").close()
    return environment


def remove(site, package):
    """As pip uninstall does it: every file of the package's record."""
    [records] = glob.glob(f"{site}/{package.replace('-', '_')}-*.dist-info")
    with open(records + "/RECORD", encoding="utf-8") as file:
        for row in csv.reader(file):
            path = os.path.join(site, row[0])
            if os.path.lexists(path):
                os.unlink(path)
    shutil.rmtree(records, ignore_errors=True)


def add_extension(site, symbol, needed, scratch):
    """A module `broken_extension` with one undefined symbol, linked with empty libraries of these names."""
    with open(scratch + "/extension.c", "w", encoding="utf-8") as file:
        file.write(f'extern void wanted(void) __asm__("{symbol}");\nvoid *PyInit_broken_extension(void) {{ wanted(); return 0; }}\n')
    stubs = []
    for name in needed:
        subprocess.run(["cc", "-shared", "-o", f"{scratch}/{name}", f"-Wl,-soname,{name}", "-x", "c", "/dev/null"], check=True)
        stubs.append(f"{scratch}/{name}")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", site + "/broken_extension.so", scratch + "/extension.c", "-Wl,--no-as-needed", *stubs],
                   check=True)


def prepare(row, folder, scratch):
    """The row's environment and its LD_LIBRARY_PATH."""
    base = build(row.base, folder)
    if row.name in SOUND:
        return base, ""
    environment = os.path.join(folder, "broken")
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run(["cp", "-al", base, environment], check=True)
    site = site_of(environment)
    for package in row.remove:
        remove(site, package)
    for package, requirement in row.replace:
        remove(site, package)
        package_index.unpack(requirement, site)
    if row.extension:
        add_extension(site, row.extension[0], row.extension[1:], scratch)
    if row.cut:
        path = os.path.join(site, row.cut)
        with open(path, "rb") as file:
            half = file.read(os.path.getsize(path) // 2)
        os.unlink(path)  # the base has the same file
        with open(path, "wb") as file:
            file.write(half)
    if not row.library_path:
        return environment, ""
    package_index.unpack(row.library_path, scratch + "/other/site")
    return environment, ":".join(glob.glob(scratch + "/other/site/nvidia/*/lib"))


def judge(program, before, environment, library_path, scratch):
    """The report of a static run, its exit status and its seconds."""
    matrix = {"schema": "cudnn-ci/matrix/1", "name": "symbols", "subjects": {"env": f"python:{environment}/bin/python"},
              "checks": [{"check": "image.symbols"}]}
    with open(scratch + "/matrix.json", "w", encoding="utf-8") as file:
        json.dump(matrix, file)
    clean = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    if library_path:
        clean["LD_LIBRARY_PATH"] = library_path
    start = time.monotonic()
    run = subprocess.run([*before, program, "--matrix", scratch + "/matrix.json", "--output-dir", scratch + "/out", "--stage", "static"],
                         check=False, stdout=subprocess.DEVNULL, env=clean)
    seconds = time.monotonic() - start
    with open(scratch + "/out/report.json", encoding="utf-8") as file:
        return json.load(file), run.returncode, seconds


def problems(row, report, status):
    """What is not as expected, in words."""
    findings = [f for case in report["cases"] for f in case["findings"] if f["severity"] != "note"]
    details = [f["detail"] for f in findings if f["slug"] == row.expected]
    wrong = [f"{f['slug']}: {f['detail']}" for f in findings if not row.expected]
    wrong += [f"no {row.expected}"] if row.expected and not details else []
    if details and not any(all(text in detail for text in row.texts) for detail in details):
        wrong.append(f"no detail has all of {row.texts}: " + " | ".join(details))
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
    with tempfile.TemporaryDirectory() as kept:
        folder = options.keep or kept
        for row in ROWS:
            if options.rows and row.name not in options.rows:
                continue
            with tempfile.TemporaryDirectory() as scratch:
                environment, library_path = prepare(row, folder, scratch)
                report, status, seconds = judge(options.program, before, environment, library_path, scratch)
            wrong = problems(row, report, status)
            said = sorted({f["slug"] for case in report["cases"] for f in case["findings"] if f["severity"] != "note"})
            print(f"{row.name:28} {row.base:16} {'as expected' if not wrong else 'NOT AS EXPECTED'}, exit {status}, {seconds:.1f} s; "
                  f"{' '.join(said)}", flush=True)
            for text in wrong:
                print("  wrong: " + text, flush=True)
            bad += bool(wrong)
        shutil.rmtree(os.path.join(folder, "broken"), ignore_errors=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
