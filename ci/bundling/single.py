"""One executable file of a tree: bin/cudnn-ci, and behind it a ZIP archive of what it needs of the tree. harness/embed/archive.cc
reads it. Each entry is packed by itself, so that a run unpacks what it uses; worker and plugins with the executable as zstd's prefix
(`zstd --patch-from`), whose code they have much of. `7z l` and Python 3.14's zipfile list it."""
import pathlib
import shutil
import struct
import subprocess
import zlib

from . import build

# Folders and files below the tree. The documents are those that must come with a copy.
PARTS = ["bin/cudnn-ci-run", "libexec", "plugins", "matrices", "knowledge", "share/doc/cudnn-ci/LICENSE",
         "share/doc/cudnn-ci/THIRD_PARTY_NOTICES", "share/doc/cudnn-ci/licenses"]
SUFFIXES = {"plugins": ".so", "matrices": ".json", "knowledge": (".json", ".py")}
ZSTD, NEEDED, MADE_BY = 93, 63, 3 << 8 | 63  # the method; version 6.3 of the format; by Unix
ELF = b"\x7fELF"
DATE, TIME = 1 << 5 | 1, 0  # the first day that the format knows


def parts_of(tree):
    """The files that are carried: [(name in the archive, path)], sorted."""
    found = []
    for part in PARTS:
        place = tree / part
        suffix = SUFFIXES.get(part, "")
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and path.name.endswith(suffix):
                found.append((str(pathlib.PurePosixPath(part) / path.relative_to(place)) if place.is_dir() else part, path))
    return sorted(found)


def pack(path, prefix, level):
    """The file as a frame of zstd; of machine code, one that refers to the file `prefix`."""
    program = shutil.which("zstd")
    if program is None:
        raise build.Failure("no zstd: run ci/deps bundle")
    with open(path, "rb") as stream:
        refers = [f"--patch-from={prefix}"] if stream.read(len(ELF)) == ELF else []
    return subprocess.run([program, "--ultra", f"-{level}", "--single-thread", "--check", "-qq", "--stdout", *refers, path], stdout=subprocess.PIPE, check=True).stdout


def archive_of(files, executable, level):
    """The bytes of the archive, which follows the file `executable`; `files`: (name, path, whether it is a program)."""
    body, index, begin = b"", b"", executable.stat().st_size
    for name, path, program in files:
        content, packed, word = path.read_bytes(), pack(path, executable, level), name.encode()
        common = struct.pack("<HHHHHIIIHH", NEEDED, 1 << 11, ZSTD, TIME, DATE, zlib.crc32(content), len(packed), len(content), len(word), 0)
        mode = 0o100755 if program else 0o100644
        index += struct.pack("<IH", 0x02014B50, MADE_BY) + common + struct.pack("<HHHII", 0, 0, 0, mode << 16, begin + len(body)) + word
        body += struct.pack("<I", 0x04034B50) + common + word + packed
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(files), len(files), len(index), begin + len(body), 0)
    return body + index + end


def write(tree, path, level=22):
    """Makes the file `path` of the folder `tree`, packed at that level of zstd; returns it. By rename, so that nothing can run half of it."""
    tree, path = pathlib.Path(tree), pathlib.Path(path)
    program = tree / "bin/cudnn-ci"
    files = [(name, file, bool(file.stat().st_mode & 0o100) and not name.startswith("plugins/")) for name, file in parts_of(tree)]
    fresh = path.with_name(f".{path.name}.part")
    fresh.write_bytes(program.read_bytes() + archive_of(files, program, level))
    fresh.chmod(0o755)
    return fresh.rename(path)
