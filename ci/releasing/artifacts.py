"""What a release consists of."""
import hashlib
import json
import pathlib
import re
import zipfile

from bundling import wheel

ARCHITECTURES = ["x86_64", "aarch64"]
SUMS = "SHA256SUMS"
NOTES = "RELEASE_NOTES.md"
MANUAL = "cudnn-ci.1"


class Failure(Exception):
    """The message for the user."""


def archive_name(version, arch):
    return f"cudnn-ci-{version}-linux-{arch}.tar.gz"


def single_name(version, arch):
    return f"cudnn-ci-{version}-linux-{arch}"


def wheel_name(version, arch):
    return f"cudnn_ci-{version}-py3-none-{wheel.PLATFORM.format(arch)}.whl"


def oci_name(version):
    return f"cudnn-ci-{version}-oci.tar"


def site_name(version):
    return f"cudnn-ci-{version}-site.tar.gz"


def sbom_name(version):
    return f"cudnn-ci-{version}.spdx.json"


def provenance_name(version):
    return f"cudnn-ci-{version}.provenance.json"


def bundled(version):
    """What ci/bundle --all makes."""
    return [*(name(version, arch) for arch in ARCHITECTURES for name in (single_name, archive_name, wheel_name)), oci_name(version)]


def subjects(version):
    """What the provenance is about: everything but itself and the sums."""
    return sorted([*bundled(version), site_name(version), sbom_name(version), MANUAL, NOTES])


def sha256(path):
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_sums(folder):
    """SHA256SUMS as {name: digest}. Names are those of files in the folder itself."""
    path = folder / SUMS
    if not path.is_file():
        raise Failure(f"{path} is missing")
    sums = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9._-]+)", line)
        if not match or match[2] in sums or match[2] in (".", "..", SUMS):
            raise Failure(f"{path}: not a line of a release: {line[:200]}")
        sums[match[2]] = match[1]
    return sums


def sbom_of(path):
    """The list of what is inside, as a wheel carries it."""
    with zipfile.ZipFile(path) as file:
        names = [name for name in file.namelist() if re.fullmatch(r"[^/]+\.dist-info/sboms/cudnn-ci\.spdx\.json", name)]
        if len(names) != 1:
            raise Failure(f"{path} has no SBOM")
        content = file.read(names[0])
    if json.loads(content).get("spdxVersion") != "SPDX-2.3":
        raise Failure(f"{path}: its SBOM is not SPDX 2.3")
    return content


def common_sbom(folder, version):
    """The SBOM of the wheels, which must all carry the same."""
    contents = {sbom_of(pathlib.Path(folder) / wheel_name(version, arch)) for arch in ARCHITECTURES}
    if len(contents) != 1:
        raise Failure("the wheels do not carry the same SBOM: they are not of one build")
    return contents.pop()
