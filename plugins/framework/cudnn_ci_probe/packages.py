"""What the metadata of packages says, without an import of any of them."""
import glob
import os
import re
import sys

from .answer import MOST_FILES, clip

# What is known of frameworks, by name: the module, the distributions that may have brought it, of which the first one that is installed
# counts, those that are for the CPU alone by their name (the one for GPUs has another; other packages bring them along), and the library
# that needs CUDA's, below the folder of packages, of frameworks that leave it to the loader to find them.
FRAMEWORKS = {}
CUDNN_DISTRIBUTIONS = ["nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"]


def know(rows):
    """Takes the rows of frameworks. A module has no parent, which would be imported."""
    for row in rows:
        if row["module"].isidentifier():
            FRAMEWORKS[row["framework"]] = row


def is_for_the_cpu(distribution):
    return any(distribution in row.get("for_cpu", []) for row in FRAMEWORKS.values())


def find(module):
    """Where a module would be imported from; None: it is not there. A folder that merely bears its name is no module."""
    import importlib.util
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin in (None, "namespace") else spec.origin


def first_distribution(names):
    from importlib import metadata
    for name in names:
        try:
            return name, metadata.distribution(name)
        except metadata.PackageNotFoundError:
            pass
    return None, None


def package(name):
    """What the metadata says of a framework, without importing it."""
    row = FRAMEWORKS[name]
    origin = find(row["module"])
    if origin is None:
        return None
    said = {"origin": origin, "distribution": None, "version": None, "requires": [], "cuda": None, "native": native(row, origin)}
    found, distribution = first_distribution(row["distributions"])
    if found:
        requires = [clip(r) for r in distribution.requires or [] if re.match("nvidia|cuda", r)]
        said.update(distribution=found, version=clip(distribution.version), requires=requires[:MOST_FILES])
    if name == "torch":
        said["cuda"] = cuda_of_torch(os.path.join(os.path.dirname(origin), "version.py"))
    return said


def native(row, origin):
    site = glob.escape(os.path.dirname(os.path.dirname(os.path.abspath(origin))))
    found = [path for pattern in row.get("native", []) for path in sorted(glob.glob(os.path.join(site, pattern)))]
    return found[0] if found else None


def library_folders():
    """Where packages have libraries of CUDA, which no loader looks into by itself."""
    patterns = [os.path.join(glob.escape(folder), below) for folder in sys.path if folder for below in ("nvidia/*/lib", "torch/lib")]
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))][:MOST_FILES]


def cuda_of_torch(path):
    """What torch/version.py says: "13.0", "none" for a build without CUDA, None where it does not say."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            match = re.search(r"^cuda\b[^=\n]*=\s*(None|['\"]([0-9.]+)['\"])", file.read(65536), flags=re.MULTILINE)
    except OSError:
        return None
    return (match.group(2) or "none") if match else None


def cudnn_packages():
    """The Python packages of cuDNN: where their libraries lie, and whether the graph library is still as the package brought it."""
    from importlib import metadata
    found = []
    for name in CUDNN_DISTRIBUTIONS:
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        folder, own = None, None
        for file in distribution.files or []:
            if file.name.startswith(("libcudnn.so", "libcudnn_graph.so")):
                path = os.path.realpath(str(distribution.locate_file(file)))
                folder = os.path.dirname(path)
                if file.size is not None and own is not False:
                    own = os.path.exists(path) and os.path.getsize(path) == file.size
        found.append({"name": name, "version": clip(distribution.version), "folder": folder, "own": own})
    return found
