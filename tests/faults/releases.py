#!/usr/bin/env python3
"""Judges real cuDNN releases from the Python package index, without a GPU: each must be found whole, and mixtures of them named.

    releases.py CUDNN_CI [--keep FOLDER] [REQUIREMENT or MIXTURE...]

A requirement is pip's ("nvidia-cudnn-cu13", "nvidia-cudnn-cu12==9.1.0.70"), a mixture one of MIXTURES; without any, all of both. With
--keep what was unpacked stays in FOLDER and is not downloaded again. Exits 1 if one is not judged as expected.
"""
import argparse
import dataclasses
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import typing

import package_index

# The newest come without a version, so that a change in how they are built is noticed.
NEWEST = "nvidia-cudnn-cu13"
TWELVE, OLDER, LACKING = "nvidia-cudnn-cu12==9.10.2.21", "nvidia-cudnn-cu12==9.1.0.70", "nvidia-cudnn-cu13==9.20.0.48"
RELEASES = (NEWEST, "nvidia-cudnn-cu12", "nvidia-cudnn-jit-cu13", LACKING, TWELVE, OLDER, "nvidia-cudnn-cu12==8.9.7.29")
LATER, RUNTIME_13 = "nvidia-cudnn-cu13==9.26.0.51", "nvidia-cuda-runtime==13.0.96"
# The toolkit and cuBLAS come in packages of their own.
ELSEWHERE = ("cublaslt-unusable", "cudnn-flavour-mismatch")


class Store:
    """Packages of the index, unpacked in folders of their own."""

    def __init__(self, folder):
        self.folder = folder

    def libraries(self, requirement):
        """The folder of libraries of a package, from a kept copy or from the index."""
        site = os.path.join(self.folder, re.sub(r"[^\w.]", "_", requirement))
        if not glob.glob(site + "/nvidia/*/lib/lib*.so.*"):
            package_index.unpack(requirement, site)
        [libraries] = glob.glob(site + "/nvidia/*/lib")
        return libraries

    def linked(self, requirement, folder):
        """The same libraries by hard links, in a new folder, to be spoilt."""
        source = self.libraries(requirement)
        os.makedirs(folder)
        for name in os.listdir(source):
            if ".so" in name:
                os.link(os.path.join(source, name), os.path.join(folder, name))
        return folder


@dataclasses.dataclass
class Environment:
    subject: typing.List[str]  # folders, which are judged
    library_path: str = ""  # LD_LIBRARY_PATH
    promise: str = ">=9.0 <10"  # of cuDNN


@dataclasses.dataclass
class Mixture:
    slug: str  # of the first error; empty: there is none
    words: str  # in its detail
    make: typing.Callable[[Store, str], Environment]  # of a scratch folder, on the store's file system


def part_of_an_older(store, scratch):
    folder = store.linked(TWELVE, scratch + "/lib")
    os.remove(folder + "/libcudnn_ops.so.9")
    os.link(store.libraries(OLDER) + "/libcudnn_ops.so.9", folder + "/libcudnn_ops.so.9")
    return Environment([folder])


def part_from_elsewhere(store, scratch):
    # Its package came without engines_tensor_ir, which its graph library opens.
    return Environment([store.linked(LACKING, scratch + "/lib")], store.libraries(NEWEST))


def ops_under_a_longer_name(store, scratch, base, other):
    # cuDNN asks for the name with its whole version first, which no package has.
    version = re.search(r"==(\d+\.\d+\.\d+)", base).group(1)
    os.makedirs(scratch + "/other")
    os.link(store.libraries(other) + "/libcudnn_ops.so.9", f"{scratch}/other/libcudnn_ops.so.{version}")
    return Environment([store.linked(base, scratch + "/lib")], scratch + "/other")


def part_under_a_longer_name(store, scratch):
    return ops_under_a_longer_name(store, scratch, LATER, LACKING)


def part_that_does_not_link(store, scratch):
    # It lacks a function of the graph library, so that cuDNN goes on to its own.
    return ops_under_a_longer_name(store, scratch, TWELVE, OLDER)


def part_without_its_major(store, scratch):
    # What is left is what cuDNN asks for last, and of another release.
    folder = store.linked(TWELVE, scratch + "/lib")
    os.remove(folder + "/libcudnn_ops.so.9")
    os.link(store.libraries(OLDER) + "/libcudnn_ops.so.9", folder + "/libcudnn_ops.so")
    return Environment([folder])


def for_another_cuda(store, scratch):
    return Environment([store.linked(TWELVE, scratch + "/lib"), store.libraries(RUNTIME_13)])


MIXTURES = {
    "part-of-an-older-release": Mixture("cudnn-mixed-versions", "9.1.0 (", part_of_an_older),
    "part-from-elsewhere": Mixture("cudnn-mixed-directories", "libcudnn_engines_tensor_ir.so.9, which its install lacks",
                                   part_from_elsewhere),
    "part-under-a-longer-name": Mixture("cudnn-mixed-versions", "cudnnOpsVersionCheck: 1002", part_under_a_longer_name),
    "part-that-does-not-link": Mixture("", "", part_that_does_not_link),
    "part-without-its-major": Mixture("cudnn-sublibrary-unloadable", "libcudnn_ops.so.9: cannot open", part_without_its_major),
    "for-another-cuda": Mixture("cudnn-flavour-mismatch", "is built for CUDA 12; toolkit 13.0 is found", for_another_cuda),
}


def judge(program, before, environment, scratch):
    """The finished report of a static run over one subject."""
    matrix = {"schema": "cudnn-ci/matrix/1", "name": "release", "image": {"cudnn": environment.promise},
              "subjects": {"wheel": "path:" + ":".join(environment.subject)},
              "checks": [{"check": "cudnn.load"}, {"check": "cudnn.version"}]}
    with open(scratch + "/matrix.json", "w", encoding="utf-8") as file:
        json.dump(matrix, file)
    subprocess.run([*before, "env", "LD_LIBRARY_PATH=" + environment.library_path, program, "--matrix", scratch + "/matrix.json",
                    "--output-dir", scratch + "/out", "--stage", "static"], check=False, stdout=subprocess.DEVNULL)
    with open(scratch + "/out/report.json", encoding="utf-8") as file:
        return json.load(file)


def findings_of(report):
    return [(case, finding) for case in report["cases"] for finding in case["findings"]]


def release_problems(report, version):
    """What is not as expected of a whole release, in words."""
    found = report["facts"]["wheel"].get("cudnn.version")
    wrong = [] if found == version else [f"facts say {found}"]
    for case, finding in findings_of(report):
        if finding["severity"] == "error" and finding["slug"] not in ELSEWHERE:
            wrong.append(f"{case['id']}: {finding['slug']}: {finding['detail']}")
    wrong += [f"{case['id']}: {case['outcome']}" for case in report["cases"]
              if case["check"] == "cudnn.load" and case["outcome"] != "passed"]
    # Its graph library opens engines_tensor_ir, and the package came without.
    slugs = [finding["slug"] for _, finding in findings_of(report)]
    if ("cudnn-part-lacking" in slugs) != (version == "9.20.0"):
        wrong.append("cudnn-part-lacking is of 9.20.0 alone")
    return wrong


def judge_release(program, before, requirement, store, scratch):
    """What is printed of a release, and what is wrong with it."""
    libraries = store.libraries(requirement)
    [metadata] = glob.glob(libraries + "/../../../nvidia_cudnn*.dist-info")
    version = re.search(r"-(\d+\.\d+\.\d+)", os.path.basename(metadata)).group(1)
    report = judge(program, before, Environment([libraries], promise=version), scratch)
    notes = sorted({finding["slug"] for _, finding in findings_of(report) if finding["severity"] != "error"})
    return f"{requirement:32} {version:8} whole {' '.join(notes)}", release_problems(report, version)


def judge_mixture(program, before, name, store, scratch):
    """What is printed of a mixture, and what is wrong with it."""
    mixture = MIXTURES[name]
    with tempfile.TemporaryDirectory(dir=store.folder) as made:
        report = judge(program, before, mixture.make(store, made), scratch)
    errors = [finding for _, finding in findings_of(report)
              if finding["severity"] == "error" and (finding["slug"] not in ELSEWHERE or finding["slug"] == mixture.slug)]
    first = errors[0] if errors else {"slug": "", "blame": "image", "detail": ""}
    named = first["slug"] == mixture.slug and first["blame"] == "image" and mixture.words in first["detail"]
    wrong = [] if named else [f"{first['blame']}.{first['slug']}: {first['detail']}"]
    return f"{name:32} {first['slug'] or 'nothing is wrong'}", wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--keep")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_intermixed_args()
    before, bad = package_index.alone(), 0
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(options.keep or scratch + "/store")
        os.makedirs(store.folder, exist_ok=True)
        for row in options.rows or (*RELEASES, *MIXTURES):
            text, wrong = (judge_mixture if row in MIXTURES else judge_release)(options.program, before, row, store, scratch)
            print("\n".join([text, *(f"  wrong: {w}" for w in wrong)]), flush=True)
            bad += bool(wrong)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
