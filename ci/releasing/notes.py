"""The notes of a release: a section of CHANGELOG.md, and the digests by which a pipeline pins the tool."""
import json
import re
import tarfile

from . import artifacts
from .artifacts import Failure


def notes_of(changelog, version):
    """(the Markdown of the notes, whether the section bears the version). It is the first section with text: the version's own, or that of
    what is not released yet."""
    parts = re.split(r"^## \[([^\]]+)\]([^\n]*)\n", changelog, flags=re.MULTILINE)
    for name, rest, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        # Links to pages of the repository lead nowhere from the notes.
        text = re.sub(r"^\[[^\]]+\]: .*\n?", "", text, flags=re.MULTILINE).strip()
        text = re.sub(r"\[([^\]]+)\]\((?!https?://)[^)]*\)", r"\1", text)
        if text and name not in (version, "Unreleased"):
            raise Failure(f"CHANGELOG.md begins with {name}: it needs a section for {version}")
        if text:
            date = rest.strip(" -")
            return f"# cudnn-ci {version}" + (f", {date}" if date else "") + f"\n\n{text}\n", name == version
    raise Failure("CHANGELOG.md has no section with text")


def image_digest(path):
    """The digest of the index of an OCI layout: NAME@sha256:... stands for the images of all processors, in whatever registry."""
    with tarfile.open(path) as tar:
        try:
            return json.load(tar.extractfile("index.json"))["manifests"][0]["digest"]
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise Failure(f"{path} is no OCI layout: {error!r}") from error


def pins(folder, version):
    """The end of the notes: what a pipeline pins, with its digest."""
    lines = ["", "## Digests to pin", "", "| what | SHA-256 |", "|---|---|"]
    lines += [f"| `{name}` | `{artifacts.sha256(folder / name)}` |" for name in artifacts.bundled(version)]
    lines += ["", f"The tool as an image, copied from the OCI layout with all its platforms: `cudnn-ci@{image_digest(folder / artifacts.oci_name(version))}`", ""]
    return "\n".join(lines)
