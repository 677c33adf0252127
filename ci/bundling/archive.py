"""Archives whose bytes depend on nothing but what is in them: order, owner, rights and dates are fixed."""
import gzip
import hashlib
import pathlib
import tarfile


def add_folder(tar, name, date):
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.mtime, entry.uname, entry.gname = tarfile.DIRTYPE, 0o755, date, "root", "root"
    tar.addfile(entry)


def add_tree(tar, tree, prefix, date):
    """Adds the files of the folder `tree` to an open tar file, below `prefix` (a/b; "": at the top) with an entry for each of its
    parts. What its owner may execute, everyone may; only root may write."""
    parts = pathlib.PurePosixPath(prefix).parts
    for count in range(1, len(parts) + 1):
        add_folder(tar, "/".join(parts[:count]), date)
    for path in sorted(tree.rglob("*")):
        name = str(pathlib.PurePosixPath(prefix) / path.relative_to(tree))
        if path.is_dir():
            add_folder(tar, name, date)
            continue
        entry = tar.gettarinfo(path, arcname=name)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = date
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        with open(path, "rb") as content:
            tar.addfile(entry, content)


def write(tree, path, date):
    """Makes the .tar.gz `path` of a folder, which is the one folder in it. By rename: no reader sees half an archive."""
    fresh = path.with_name(f".{path.name}.part")
    with open(fresh, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as stream, \
            tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        add_tree(tar, tree, tree.name, date)
    return fresh.rename(path)


def write_sums(folder, paths):
    """SHA256SUMS, as sha256sum writes and checks it."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(paths)]
    (folder / "SHA256SUMS").write_text("".join(lines))
