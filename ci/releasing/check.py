"""Tests a finished release: sums, provenance, and that what is in it runs."""
import gzip
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from . import artifacts, notes, provenance

LIMIT = 120  # seconds for one program


def run(words, what, **how):
    """The output of a program that must end with 0."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=LIMIT, check=False, **how)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise artifacts.Failure(f"{what}: {error}") from error
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        raise artifacts.Failure(f"{what}: exit status {done.returncode}: {text[-2000:].strip()}")
    return text


def version_in(folder):
    """The version that the files of a folder bear."""
    found = {match[1] for path in folder.iterdir() if (match := re.fullmatch(r"cudnn-ci-([0-9][0-9.]*)-oci\.tar", path.name))}
    if len(found) != 1:
        raise artifacts.Failure(f"{folder} holds no release, or several")
    return found.pop()


def check_sums(folder, version):
    """Every file is the one that was summed, and there is no other. Returns {name: digest}."""
    sums = artifacts.read_sums(folder)
    wanted = {*artifacts.subjects(version), artifacts.provenance_name(version)}
    present = {path.name for path in folder.iterdir()} - {artifacts.SUMS}
    for name in sorted(wanted | present | set(sums)):
        path = folder / name
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise artifacts.Failure(f"{path} is no plain file")
        for where, names in ((artifacts.SUMS, set(sums)), ("the folder", present), ("a release", wanted)):
            if name not in names:
                raise artifacts.Failure(f"{name} is not in {where}")
        if artifacts.sha256(path) != sums[name]:
            raise artifacts.Failure(f"{path} has another SHA-256 than {artifacts.SUMS} says")
    return sums


def check_notes(folder, version):
    text = (folder / artifacts.NOTES).read_text(encoding="utf-8")
    if not text.startswith(f"# cudnn-ci {version}") or not text.endswith(notes.pins(folder, version)):
        raise artifacts.Failure(f"{artifacts.NOTES} are not those of these files")


def check_provenance(folder, version, sums):
    path = folder / artifacts.provenance_name(version)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise artifacts.Failure(f"{path}: {error}") from error
    faults = provenance.faults_of(value, version, {name: sums[name] for name in artifacts.subjects(version)})
    if faults:
        raise artifacts.Failure("\n".join(f"{path.name} {fault}" for fault in faults))


def extract(path, folder):
    """Unpacks a tar file that has nothing but folders and files, all of them below `folder`."""
    with tarfile.open(path) as tar:
        for entry in tar:
            target = folder / entry.name
            if pathlib.PurePosixPath(entry.name).is_absolute() or ".." in target.parts or not (entry.isfile() or entry.isdir()):
                raise artifacts.Failure(f"{path.name}: {entry.name!r} is no plain file below it")
            if entry.isdir():
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with tar.extractfile(entry) as source, open(target, "wb") as made:
                shutil.copyfileobj(source, made)
            target.chmod(entry.mode & 0o755)


def unpack(path, folder):
    """Unpacks an archive; its one folder."""
    extract(path, folder)
    return folder / path.name.removesuffix(".tar.gz")


def check_archive(folder, version, work):
    """The tree of this processor's archive runs, and the manual page is its own. Returns the tree."""
    for arch in artifacts.ARCHITECTURES:
        unpack(folder / artifacts.archive_name(version, arch), work)
    tree = work / f"cudnn-ci-{version}-linux-{platform.machine()}"
    program = tree / "bin/cudnn-ci"
    if not program.is_file():
        raise artifacts.Failure(f"no archive for this machine ({platform.machine()})")
    said = run([program, "--version"], "the archive's cudnn-ci").strip()
    if said != f"cudnn-ci {version}":
        raise artifacts.Failure(f"the archive's cudnn-ci says {said!r}, not version {version}")
    if run([program, "manual", "man"], "the archive's cudnn-ci").encode() != (folder / artifacts.MANUAL).read_bytes():
        raise artifacts.Failure(f"{artifacts.MANUAL} is not the manual of the archive's cudnn-ci")
    return tree


def check_single(folder, version, work):
    """The single files carry the programs of the archives, and that of this processor runs."""
    for arch in artifacts.ARCHITECTURES:
        program = (work / f"cudnn-ci-{version}-linux-{arch}/bin/cudnn-ci").read_bytes()
        if not (folder / artifacts.single_name(version, arch)).read_bytes().startswith(program):
            raise artifacts.Failure(f"{artifacts.single_name(version, arch)} does not begin with the archive's cudnn-ci")
    alone = work / "alone"
    shutil.copyfile(folder / artifacts.single_name(version, platform.machine()), alone)  # a download may not be executed
    alone.chmod(0o755)
    said = run([alone, "--version"], "the single file").strip()
    if said != f"cudnn-ci {version}":
        raise artifacts.Failure(f"the single file says {said!r}, not version {version}")


def check_wheel(folder, version, work):
    """The wheel installs into a new virtual environment without an index, and runs."""
    if artifacts.common_sbom(folder, version) != (folder / artifacts.sbom_name(version)).read_bytes():
        raise artifacts.Failure(f"{artifacts.sbom_name(version)} is not the one in the wheels")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))} | {"PIP_CONFIG_FILE": os.devnull}
    venv = work / "venv"
    run([sys.executable, "-m", "venv", venv], "python -m venv", env=environment)
    wheel = folder / artifacts.wheel_name(version, platform.machine())
    run([venv / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel], "pip", env=environment)
    for words in (["cudnn-ci"], ["python", "-m", "cudnn_ci"]):
        said = run([venv / "bin" / words[0], *words[1:], "--version"], "the wheel's cudnn-ci", env=environment).strip()
        if said != f"cudnn-ci {version}":
            raise artifacts.Failure(f"the wheel's {' '.join(words)} says {said!r}, not version {version}")


def check_oci(folder, version, work):
    """Every blob of the OCI layout bears its digest, and the images hold the trees of the archives."""
    layout = work / "oci"
    extract(folder / artifacts.oci_name(version), layout)

    def blob(descriptor):
        algorithm, _, digest = descriptor["digest"].partition(":")
        content = (layout / "blobs" / algorithm / digest).read_bytes()
        if algorithm != "sha256" or hashlib.sha256(content).hexdigest() != digest or len(content) != descriptor["size"]:
            raise artifacts.Failure(f"{artifacts.oci_name(version)}: blob {digest} is not what its name says")
        return content
    index = json.loads(blob(json.loads((layout / "index.json").read_text())["manifests"][0]))
    names = {"amd64": "x86_64", "arm64": "aarch64"}
    if sorted(entry["platform"]["architecture"] for entry in index["manifests"]) != sorted(names):
        raise artifacts.Failure(f"{artifacts.oci_name(version)} is not for {' and '.join(artifacts.ARCHITECTURES)}")
    for entry in index["manifests"]:
        manifest = json.loads(blob(entry))
        blob(manifest["config"])
        place = work / f"image-{entry['platform']['architecture']}"
        place.mkdir()
        layer = place / "layer.tar"
        layer.write_bytes(gzip.decompress(blob(manifest["layers"][0])))
        extract(layer, place / "root")
        tree = work / f"cudnn-ci-{version}-linux-{names[entry['platform']['architecture']]}"
        if digests_of(place / "root/opt/cudnn-ci") != digests_of(tree):
            raise artifacts.Failure(f"{artifacts.oci_name(version)}: its {entry['platform']['architecture']} image is not the archive's tree")


def digests_of(tree):
    return {path.relative_to(tree).as_posix(): (artifacts.sha256(path), path.stat().st_mode & 0o111) for path in sorted(tree.rglob("*")) if path.is_file()}


def check_site(folder, version, work):
    site = unpack(folder / artifacts.site_name(version), work)
    for name in ("index.html", "errors.html", "search/search_index.js"):
        if not (site / name).is_file():
            raise artifacts.Failure(f"{artifacts.site_name(version)} has no {name}")


def check_image(engine, image, tree):
    """The archive's programs start in a container of an image, whatever its entrypoint: the harness, and a worker that loads every plugin."""
    words = [engine, "run", "--rm", "--network", "none", "--entrypoint", "/opt/cudnn-ci/bin/cudnn-ci", "-v", f"{tree}:/opt/cudnn-ci:ro", image]
    run([*words, "--version"], f"{image}: cudnn-ci --version")
    run([*words, "plugins", "--check"], f"{image}: cudnn-ci plugins --check")


def check(folder, say, images=(), engine="docker"):
    """Raises Failure when something is wrong with the release in a folder; says each step that held."""
    folder = pathlib.Path(folder).absolute()
    if not folder.is_dir():
        raise artifacts.Failure(f"{folder} is no folder")
    version = version_in(folder)
    sums = check_sums(folder, version)
    say(f"{len(sums)} files have the sums of {artifacts.SUMS}")
    check_provenance(folder, version, sums)
    check_notes(folder, version)
    say("the provenance and the notes speak of these files")
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        tree = check_archive(folder, version, work)
        say("the archive runs, and the manual page is its own")
        check_single(folder, version, work)
        say("the single file runs, and begins with the archive's program")
        check_wheel(folder, version, work)
        say("the wheel installs without a network, and runs")
        check_oci(folder, version, work)
        say("the OCI layout holds the archives' trees")
        check_site(folder, version, work)
        say("the site is whole")
        for image in images:
            check_image(engine, image, tree)
            say(f"it starts in {image}")
