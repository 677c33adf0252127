"""The command line of ci/release."""
import argparse
import dataclasses
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

from bundling import archive, build
from bundling import command as bundle
from documentation import command as site
from documentation import pages

from . import artifacts, check, notes, provenance

DESCRIPTION = """Makes a release and checks it: the archives, wheels and OCI layout of `ci/bundle --all`, the list of what is inside (SPDX), the manual
page, the documentation site, the notes (the head of CHANGELOG.md), a statement of provenance (in-toto, SLSA) and SHA256SUMS over all.
Needs `ci/deps bundle site` and a tree without uncommitted changes. The same commit gives the same bytes.

With --check it makes nothing and tests a release: sums, provenance, that the archive and the wheel run on this machine, the last in a
new virtual environment without an index, that the OCI layout holds the archives' trees; with --image, that it starts in a container."""
EPILOG = """Environment: SOURCE_DATE_EPOCH  the date of every file (default: the commit's)
             CUDNN_CI_JOBS      how many compilers at once (default: one for each processor)
Exit status: 0, 1 when a check fails, or 2 when something is missing or cannot be made"""


@dataclasses.dataclass
class Source:
    """What is released."""
    version: str
    commit: str
    date: int  # seconds since 1970
    changed: bool = False  # the working tree is not the commit
    uri: str = "git+file:cudnn-ci"


def say(line):
    print(f"ci/release: {line}", flush=True)


def git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode != 0:
        raise artifacts.Failure(f"git {' '.join(words)} fails: a release is made of a commit")
    return done.stdout.strip()


def source_of(root, uri, allow_changes):
    """The commit of the working tree, which must have no other content."""
    changed = git(root, "status", "--porcelain") != ""
    if changed and not allow_changes:
        raise artifacts.Failure("there are uncommitted changes, and the provenance names a commit: commit them, or say --allow-changes")
    return Source(bundle.version_of(root), git(root, "rev-parse", "HEAD"), bundle.date_of(root), changed, uri or Source.uri)


def gather(root, out, source, given, gallery=None):
    """What ci/bundle makes, or a folder of it has, and the site with that gallery, into the folder `out`."""
    if given is None:
        bundle.make(argparse.Namespace(arch="all", out=str(out)), root)
        (out / artifacts.SUMS).unlink()
    else:
        for name in artifacts.bundled(source.version):
            if not (given / name).is_file():
                raise artifacts.Failure(f"{given / name} is missing: `ci/bundle --all --out {given}` makes it")
            shutil.copy(given / name, out / name)  # with its right to be executed
    name = artifacts.site_name(source.version)
    if given is not None and (given / name).is_file():
        shutil.copyfile(given / name, out / name)
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = tree_of(out, source.version, pathlib.Path(folder))
        made = site.make(root, pathlib.Path(folder) / name.removesuffix(".tar.gz"), gallery, tree / "bin/cudnn-ci")
        archive.write(made, out / name, source.date)


def tree_of(out, version, folder):
    """The archive for this machine, unpacked below a folder: its program prints the manual page and what the site has of options and checks."""
    path = out / artifacts.archive_name(version, platform.machine())
    if not path.is_file():
        raise artifacts.Failure(f"no archive for this machine ({platform.machine()}), whose program prints the manual page")
    return check.unpack(path, folder)


def manual_of(out, version):
    """The manual page, as the archive for this machine prints it."""
    with tempfile.TemporaryDirectory() as folder:
        tree = tree_of(out, version, pathlib.Path(folder))
        return check.run([tree / "bin/cudnn-ci", "manual", "man"], "cudnn-ci manual man")


def assemble(root, out, source, *, given=None, builder=provenance.BUILDER, gallery=None):
    """Makes the release in the empty folder `out`. `given`: a folder of ready artifacts, instead of a build."""
    text, own = notes.notes_of((root / "CHANGELOG.md").read_text(encoding="utf-8"), source.version)
    if not own:
        say(f"CHANGELOG.md does not begin with [{source.version}]: the notes are those of [Unreleased]")
    gather(root, out, source, given, gallery)
    (out / artifacts.NOTES).write_text(text + notes.pins(out, source.version), encoding="utf-8")
    (out / artifacts.sbom_name(source.version)).write_bytes(artifacts.common_sbom(out, source.version))
    (out / artifacts.MANUAL).write_text(manual_of(out, source.version), encoding="utf-8")
    said = provenance.statement(root, out, source, built=given is None, builder=builder)
    (out / artifacts.provenance_name(source.version)).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    archive.write_sums(out, [path for path in out.iterdir() if path.name != artifacts.SUMS])


def make(root, out, source, *, given=None, builder=provenance.BUILDER, images=(), engine="docker", gallery=None):
    """Makes a release beside `out`, checks it, and puts it there: what is in `out` is whole and held every check."""
    if out.exists() and any(out.iterdir()) and not {path.name for path in out.iterdir()} <= {artifacts.SUMS, *artifacts.read_sums(out)}:
        raise artifacts.Failure(f"{out} holds more than a release, and is not replaced")
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = pathlib.Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        fresh.chmod(0o755)
        assemble(root, fresh, source, given=given, builder=builder, gallery=gallery)
        check.check(fresh, say, images, engine)
        shutil.rmtree(out, ignore_errors=True)
        fresh.rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    for path in sorted(out.iterdir()):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")


def parser_of():
    parser = argparse.ArgumentParser(prog="ci/release", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, default=pathlib.Path("build-release"), help="output folder (default: %(default)s)")
    parser.add_argument("--check", metavar="DIR", type=pathlib.Path, help="test the release in DIR, make nothing")
    parser.add_argument("--artifacts", metavar="DIR", type=pathlib.Path, help="take what `ci/bundle --all --out DIR` left, and a site if there is one, "
                                                                              "instead of a build; the provenance says so")
    parser.add_argument("--gallery", metavar="DIR", type=pathlib.Path, help="the pictures of report pages that the site shows: what `ci/gallery draw` made")
    parser.add_argument("--image", metavar="NAME", action="append", default=[], help="also start it in a container of this image; repeatable")
    parser.add_argument("--engine", metavar="PROGRAM", default="docker", help="container engine (default: %(default)s)")
    parser.add_argument("--builder", metavar="URI", default=os.environ.get("CUDNN_CI_BUILDER") or provenance.BUILDER,
                        help="who builds, for the provenance (default: $CUDNN_CI_BUILDER, or %(default)s)")
    parser.add_argument("--source-uri", metavar="URI", help="where the commit can be fetched, for the provenance: git+https://...")
    parser.add_argument("--allow-changes", action="store_true", help="release a tree with uncommitted changes; the provenance says so")
    return parser


def main(words):
    arguments = parser_of().parse_args(words)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    try:
        if arguments.check is not None:
            check.check(arguments.check, say, arguments.image, arguments.engine)
            return 0
        source = source_of(root, arguments.source_uri, arguments.allow_changes)
        os.environ["SOURCE_DATE_EPOCH"] = str(source.date)
        make(root, arguments.out.absolute(), source, given=arguments.artifacts, builder=arguments.builder, images=arguments.image,
             engine=arguments.engine, gallery=arguments.gallery)
    except (artifacts.Failure, build.Failure, pages.Failure, OSError, subprocess.SubprocessError) as error:
        print(f"ci/release: {error}", file=sys.stderr)
        return 1 if arguments.check is not None else 2
    return 0
