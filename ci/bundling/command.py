"""The command line of ci/bundle."""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

from . import archive, build, oci, single, wheel

DESCRIPTION = """Makes of the same parts cudnn-ci-VERSION-linux-ARCH, one file that is executed as it is; an installed tree,
cudnn-ci-VERSION-linux-ARCH.tar.gz; a Python wheel; cudnn-ci-VERSION-oci.tar, an OCI layout of an image that holds nothing
but the tree, in /opt/cudnn-ci; and SHA256SUMS.

cudnn-ci is linked statically against musl and starts in any image, an empty one too; worker and plugins need glibc
%s or later and carry their C++ library inside. The same commit gives the same bytes, in whatever folder, under whatever
umask and time zone. Needs what `ci/deps bundle` installs.""" % build.GLIBC
EPILOG = """Environment: SOURCE_DATE_EPOCH  the date of every file in the archives (default: the commit's)
             CUDNN_CI_JOBS      how many compilers at once (default: one for each processor)
Exit status: 0, or 2 when something is missing or does not compile"""
ARCHITECTURES = ["x86_64", "aarch64"]


def version_of(root):
    """As CMakeLists.txt declares it."""
    return re.search(r"project\(cudnn_ci VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())[1]


def date_of(root):
    """Seconds since 1970, of every file in the archives."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    said = subprocess.run(["git", "-C", root, "log", "-1", "--format=%ct"], stdout=subprocess.PIPE, check=False).stdout.strip()
    if not said:
        raise build.Failure("no commit to take the date from: set SOURCE_DATE_EPOCH")
    return int(said)


def make(arguments, root):
    """Builds what is asked for and writes it into the output folder; returns what was written."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cudnn-ci"
    work = root / "build-bundle"
    out = pathlib.Path(arguments.out or work)
    work.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    made, trees, version, date = [], {}, version_of(root), date_of(root)
    for arch in ARCHITECTURES if arguments.arch == "all" else [arguments.arch]:
        log = work / f"{arch}.log"
        log.unlink(missing_ok=True)
        name = f"cudnn-ci-{version}-linux-{arch}"
        tree = work / "trees" / name
        shutil.rmtree(tree, ignore_errors=True)
        build.install(tree, arch, root=root, work=work, cache=cache, log=log, jobs=int(os.environ.get("CUDNN_CI_JOBS") or os.cpu_count()))
        trees[arch] = tree
        made.append(single.write(tree, out / name))
        made.append(archive.write(tree, out / f"{name}.tar.gz", date))
        made.append(wheel.write(tree, made[-2], root / "ci/wheel/cudnn_ci", out, version, arch, date))
        wheel.squeeze(made[-1])
    made.append(oci.write(trees, out / f"cudnn-ci-{version}-oci.tar", version, date))
    archive.write_sums(out, made)
    return made


def main(words):
    parser = argparse.ArgumentParser(prog="ci/bundle", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", choices=[*ARCHITECTURES, "all"], default=platform.machine(), help="default: this machine's (%(default)s)")
    parser.add_argument("--all", dest="arch", action="store_const", const="all", help="--arch all: every processor, as a release has them")
    parser.add_argument("--out", metavar="DIR", help="output folder (default: build-bundle)")
    arguments = parser.parse_args(words)
    try:
        for path in make(arguments, pathlib.Path(__file__).resolve().parent.parent.parent):
            print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    except (build.Failure, OSError, subprocess.SubprocessError) as error:
        print(f"ci/bundle: {error}", file=sys.stderr)
        return 2
    return 0
