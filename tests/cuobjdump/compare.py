#!/usr/bin/env python3
"""Compares the plugin's reader of device code with NVIDIA's cuobjdump, file by file.

usage: compare.py LIST_DEVICE_CODE CUOBJDUMP FILE_OR_FOLDER...

Compared are the modules of machine code and of PTX by architecture, each with its number, and for each architecture of
PTX the version in the text of one module. Prints a line for each file that holds device code. Exit status: 0 all are equal, or
differ as EXPLAINED says; 1 else, or where fewer than --least files hold device code (default 1).
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ENDINGS = re.compile(r"\.(so(\.[0-9.]+)?|a|cubin|fatbin)$")
EXPLAINED = "families: cuobjdump writes machine code of a family without its letter, sm_100f as sm_100"


def run(*words, cwd=None):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, cwd=cwd).stdout


def ours(tool, path):
    """{("sass", "90a"): number}, {"120": (lowest, highest)} of PTX with code, problems."""
    counts, versions, problems = collections.Counter(), {}, []
    for line in run(tool, path).splitlines():
        words = line.split()
        # Of a library with linked code cuobjdump leaves out what it was linked from.
        if words == ["unlinked"] and counts and not path.endswith(".a"):
            break
        if words[0] in ("sass", "ptx"):
            counts[words[0], words[1]] += int(words[2])
            if len(words) > 5:
                known = versions.get(words[1], (words[4], words[5]))
                versions[words[1]] = (min(known[0], words[4], key=numbers), max(known[1], words[5], key=numbers))
        elif words[0] == "problem":
            problems.append(line)
    return counts, versions, problems


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def theirs(tool, path):
    """{("sass", "90a"): number}, {"120": name of a module of PTX}."""
    counts, modules = collections.Counter(), {}
    for kind, name, arch, ending in re.findall(r"^(ELF|PTX) file +\d+: (\S+\.sm_(\w+)\.(?:cubin|ptx))()$", run(tool, "--list-elf", "--list-ptx", path), re.M):
        counts["sass" if kind == "ELF" else "ptx", arch] += 1
        if kind == "PTX":
            modules.setdefault(arch, name)
    return counts, modules


def folded(counts):
    """Families of machine code without their letter."""
    out = collections.Counter()
    for (kind, arch), number in counts.items():
        out[kind, arch.removesuffix("f") if kind == "sass" else arch] += number
    return out


def version_in_text(tool, path, module):
    with tempfile.TemporaryDirectory() as folder:
        run(tool, "--extract-ptx", module, path, cwd=folder)
        for text in pathlib.Path(folder).iterdir():
            found = re.search(r"\.version\s+([0-9.]+)", text.read_text(errors="replace"))
            if found:
                return found[1]
    return None


def compare(arguments, path):
    """A line that says it, and whether it is equal. None: it holds none."""
    mine, versions, problems = ours(arguments.list_device_code, path)
    other, modules = theirs(arguments.cuobjdump, path)
    if not mine and not other:
        return None
    said, good = [], mine == other
    if not good and folded(mine) == folded(other):
        said, good = ["families explained"], True
    if not good:
        said.append(f"ours {sorted((mine - other).items())}, theirs {sorted((other - mine).items())} {problems}")
    for arch, module in sorted(modules.items()):
        text = version_in_text(arguments.cuobjdump, path, module)
        if text and arch in versions and not numbers(versions[arch][0]) <= numbers(text) <= numbers(versions[arch][1]):
            good = False
            said.append(f"PTX {arch}: {versions[arch]} by its header, {text} by its text")
    return good, f"{'equal' if good else 'DIFFERENT'} {path}: {sum(mine.values())} modules" + "".join(f"; {one}" for one in said)


def files(places):
    seen = set()
    for place in map(pathlib.Path, places):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and (not place.is_dir() or ENDINGS.search(path.name)) and path.resolve() not in seen:
                seen.add(path.resolve())
                yield str(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("list_device_code")
    parser.add_argument("cuobjdump")
    parser.add_argument("places", nargs="+")
    parser.add_argument("--least", type=int, default=1)
    arguments = parser.parse_args()
    compared = different = 0
    for path in files(arguments.places):
        result = compare(arguments, path)
        if result is None:
            continue
        compared += 1
        different += not result[0]
        print(result[1], flush=True)
    print(f"{compared} files compared, {different} different ({EXPLAINED})")
    return 0 if different == 0 and compared >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())
