#!/usr/bin/env python3
"""Judges real cuDNN releases from the Python package index, without a GPU: each must be found whole.

    releases.py CUDNN_CI [--keep FOLDER] [REQUIREMENT...]

A requirement is pip's ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12==9.1.0.70"); without any, those below. With --keep
what was unpacked stays in FOLDER and is not downloaded again. Exits 1 if a release is not judged as expected.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

# The newest come without a version, so that a change in how they are built is noticed.
RELEASES = ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12", "nvidia-cudnn-jit-cu13", "nvidia-cudnn-cu13==9.20.0.48",
            "nvidia-cudnn-cu12==9.10.2.21", "nvidia-cudnn-cu12==9.1.0.70", "nvidia-cudnn-cu12==8.9.7.29")


def unpack(requirement, folder):
    """The site-packages folder that holds the release, from a kept copy or from the index."""
    site = os.path.join(folder, re.sub(r"[^\w.]", "_", requirement))
    if not glob.glob(site + "/nvidia/cudnn*/lib/libcudnn.so.*"):
        with tempfile.TemporaryDirectory(dir=folder) as download:
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
                            "--dest", download, requirement], check=True)
            with zipfile.ZipFile(glob.glob(download + "/*.whl")[0]) as wheel:
                wheel.extractall(site)
    return site


def judge(program, site, folder):
    """The finished report of a static run over the release alone, and the version that its metadata has."""
    [libraries] = glob.glob(site + "/nvidia/cudnn*/lib")
    [metadata] = glob.glob(site + "/nvidia_cudnn*.dist-info")
    version = re.search(r"-(\d+\.\d+\.\d+)", os.path.basename(metadata)).group(1)
    matrix = {"schema": "cudnn-ci/matrix/1", "name": "release", "image": {"cudnn": version},
              "subjects": {"wheel": "path:" + libraries},
              "checks": [{"check": "cudnn.load"}, {"check": "cudnn.version"}]}
    with open(folder + "/matrix.json", "w", encoding="utf-8") as file:
        json.dump(matrix, file)
    subprocess.run([program, "--matrix", folder + "/matrix.json", "--output-dir", folder + "/out", "--stage",
                    "static"], check=False, stdout=subprocess.DEVNULL)
    with open(folder + "/out/report.json", encoding="utf-8") as file:
        return json.load(file), version


def problems(report, version):
    """What is not as expected of a whole release, in words."""
    found = report["facts"]["wheel"].get("cudnn.version")
    wrong = [] if found == version else [f"facts say {found}"]
    for case in report["cases"]:
        for finding in case["findings"]:
            # The toolkit and cuBLAS come in packages of their own.
            known = finding["slug"] in ("cublaslt-unusable", "cudnn-flavour-mismatch")
            if finding["severity"] == "error" and not known:
                wrong.append(f"{case['id']}: {finding['slug']}: {finding['detail']}")
        if case["check"] == "cudnn.load" and case["outcome"] != "passed":
            wrong.append(f"{case['id']}: {case['outcome']}")
    # Its graph library opens engines_tensor_ir, and the package came without.
    slugs = [finding["slug"] for case in report["cases"] for finding in case["findings"]]
    if ("cudnn-part-lacking" in slugs) != (version == "9.20.0"):
        wrong.append("cudnn-part-lacking is of 9.20.0 alone")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--keep")
    parser.add_argument("requirements", nargs="*")
    options = parser.parse_intermixed_args()
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for requirement in options.requirements or RELEASES:
            report, version = judge(options.program, unpack(requirement, folder), scratch)
            wrong = problems(report, version)
            notes = sorted({f["slug"] for c in report["cases"] for f in c["findings"] if f["severity"] != "error"})
            print(f"{requirement:32} {version:8} {'; '.join(wrong) or 'whole'} {' '.join(notes)}", flush=True)
            bad += bool(wrong)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
