"""What this machine has of CUDA and cuDNN, found without the gate, and copies of it that may be damaged.

A copy is made of hard links where it can be: a cuDNN has a gigabyte. Nothing here ever writes into a file that a
link shares with the machine's own: what is damaged is made anew under its name.
"""
import contextlib
import functools
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

CUDART = {13: "libcudart.so.13", 12: "libcudart.so.12", 11: "libcudart.so.11.0"}
NVRTC = {13: "libnvrtc.so.13", 12: "libnvrtc.so.12", 11: "libnvrtc.so.11.2"}
DEFAULT_FOLDERS = [f"{top}/{os.uname().machine}-linux-gnu" for top in ("/lib", "/usr/lib")] + ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]


class Unavailable(Exception):
    """This machine cannot have the environment; the text says why."""


def output_of(*command, env=None, timeout=60):
    """stdout of a program; empty if there is none, it fails or takes too long."""
    try:
        p = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return p.stdout if p.returncode == 0 else ""


def search_path():
    return [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]


def cached(name):
    """Where the loader's cache has this library, first entry first."""
    program = shutil.which("ldconfig") or "/sbin/ldconfig"
    return re.findall(rf"^\s*{re.escape(name)} \(libc6,(?:x86-64|AArch64)\b[^)]*\) => (\S+)$", output_of(program, "-p"), re.M)


def resolve(name):
    """The file that a program of this environment gets for a name; None: none."""
    places = [f"{folder}/{name}" for folder in search_path()] + cached(name) + [f"{folder}/{name}" for folder in DEFAULT_FOLDERS]
    for place in places:
        if os.path.exists(place):
            return pathlib.Path(os.path.realpath(place))
    return None


def number_of(library, function, folder=None):
    """What a function without arguments returns, called in a process of its own; 0: it cannot be called."""
    code = f"import ctypes; f = ctypes.CDLL({str(library)!r}).{function}; f.restype = ctypes.c_size_t; print(f())"
    path = ":".join([*([str(folder)] if folder else []), *search_path()])
    return int(output_of(sys.executable, "-c", code, env={**os.environ, "LD_LIBRARY_PATH": path}) or 0)


class Cudnn:
    """A cuDNN 9 on this machine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        main = self.folder / "libcudnn.so.9"
        version = number_of(main, "cudnnGetVersion", self.folder)
        self.version = f"{version // 10000}.{version % 10000 // 100}.{version % 100}" if version else ""
        self.cuda = number_of(main, "cudnnGetCudartVersion", self.folder) // 1000 if version else 0

    def __str__(self):
        return f"{self.version} (CUDA {self.cuda}) in {self.folder}"


@functools.lru_cache(maxsize=1)
def find_cudnns():
    """The folders of every cuDNN 9, the loader's own first. The search is given up after 30 s."""
    found = [resolve("libcudnn.so.9")]
    command = ["find", "/", "-xdev", "(", "-path", "/proc", "-o", "-path", "/sys", "-o", "-path", "/tmp", ")", "-prune", "-o",
               "-name", "libcudnn.so.9", "-print"]
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30).stdout
    except subprocess.TimeoutExpired as e:
        text = (e.stdout or b"").decode(errors="replace")
    for path in [*text.splitlines(), *glob.glob(f"{sys.prefix}/lib/python3*/site-packages/nvidia/cudnn/lib/libcudnn.so.9")]:
        found.append(pathlib.Path(os.path.realpath(path)))
    folders = list(dict.fromkeys(path.parent for path in found if path and path.exists()))
    return [cudnn for cudnn in map(Cudnn, folders) if cudnn.version]


class Machine:
    """What the rows are made of. A row that needs what is not here raises Unavailable."""

    def __init__(self, scratch, cuda12=None):
        self.cuda12 = cuda12
        self.scratch, self.sources = pathlib.Path(scratch).resolve(), pathlib.Path(__file__).resolve().parent
        names = [line.split(", ") for line in output_of("nvidia-smi", "--query-gpu=uuid,driver_version,name",
                                                        "--format=csv,noheader").splitlines()]
        self.uuids = [fields[0] for fields in names]
        self.driver = names[0][1] if names else ""
        self.libcuda = resolve("libcuda.so.1")
        self.nvml = resolve("libnvidia-ml.so.1")
        self.cuda = next((major for major in CUDART if resolve(CUDART[major])), 0)
        self.cudnns = find_cudnns()
        own = resolve("libcudnn.so.9")
        self.cudnn = next((c for c in self.cudnns if own and c.folder == own.parent), None)
        self.base = {}

    def __str__(self):
        return (f"driver {self.driver or 'none'}, {len(self.uuids)} GPU(s), CUDA {self.cuda or 'none'} on the loader's path, "
                f"cuDNN {self.cudnn or 'none'}; others: {'; '.join(str(c) for c in self.cudnns if c is not self.cudnn) or 'none'}")

    def toolkit_file(self, stem):
        """A library of the toolkit that the loader finds: "libcudart", "libnvrtc", "libcublas", "libcublasLt"."""
        name = {"libcudart": CUDART, "libnvrtc": NVRTC}.get(stem, {}).get(self.cuda, f"{stem}.so.{self.cuda}")
        path = resolve(name)
        if not path:
            raise Unavailable(f"no {name} on the loader's path")
        return name, path

    def cuda12_folders(self):
        """The runtime's and NVRTC's folders of the CUDA 12 that was given, which nobody finds by himself."""
        if not self.cuda12:
            raise Unavailable("no --cuda12 was given")
        folders = [pathlib.Path(self.cuda12) / "nvidia" / package / "lib" for package in ("cuda_runtime", "cuda_nvrtc")]
        for folder, names in zip(folders, (CUDART, NVRTC)):
            if not (folder / names[12]).is_file():
                raise Unavailable(f"no {names[12]} in {folder}")
        return folders

    def builtins(self):
        """NVRTC's builtins, which lie beside it."""
        _, nvrtc = self.toolkit_file("libnvrtc")
        found = sorted(path for path in nvrtc.parent.glob("libnvrtc-builtins.so.*.*") if re.fullmatch(r"\d+\.\d+", path.name[21:]))
        if not found:
            raise Unavailable(f"no libnvrtc-builtins beside {nvrtc}")
        return found[-1].name, found[-1]

    def own_cudnn(self):
        if not self.cudnn:
            raise Unavailable("no cuDNN 9 on the loader's path")
        return self.cudnn

    def other_cudnn(self):
        """Of another version than the loader's own, for the same CUDA major."""
        for cudnn in self.cudnns:
            if cudnn.version != self.own_cudnn().version and cudnn.cuda == self.cudnn.cuda:
                return cudnn
        raise Unavailable(f"no second cuDNN beside {self.own_cudnn()}")

    def foreign_cudnn(self):
        """Built for another CUDA major than the toolkit."""
        for cudnn in self.cudnns:
            if cudnn.cuda and cudnn.cuda != self.cuda:
                return cudnn
        raise Unavailable("no cuDNN for another CUDA major")

    def wheel(self):
        """A cuDNN that a Python package brought, with the folders of all of NVIDIA's packages beside it."""
        for cudnn in self.cudnns:
            if cudnn.folder.parent.name == "cudnn" and cudnn.folder.parent.parent.name == "nvidia":
                return cudnn, sorted(str(folder) for folder in cudnn.folder.parent.parent.glob("*/lib"))
        raise Unavailable("no cuDNN of a Python package")

    def stub(self):
        for place in ("/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/local/cuda/lib/stubs/libcuda.so"):
            if os.path.exists(place):
                return pathlib.Path(place)
        raise Unavailable("no link-time stub of libcuda")

    def compat(self):
        """The folder of a cuda-compat package that is older than the driver, and its version."""
        number = lambda version: [int(part) for part in version.split(".")]
        self.gpus()
        for folder in sorted(glob.glob("/usr/local/cuda*/compat")):
            library = os.path.realpath(f"{folder}/libcuda.so.1")
            version = library.partition(".so.")[2]
            if os.path.exists(library) and re.fullmatch(r"\d+\.[\d.]+", version) and number(version) < number(self.driver):
                return pathlib.Path(folder), version
        raise Unavailable("no cuda-compat package older than the driver")

    def gpus(self):
        if not self.uuids:
            raise Unavailable("no GPU")
        return self.uuids

    def compile(self, folder, name, source):
        """A shared library made from C; its path."""
        compiler = shutil.which("gcc") or shutil.which("cc")
        if not compiler:
            raise Unavailable("no C compiler")
        (folder / f"{name}.c").write_text(source)
        subprocess.run([compiler, "-shared", "-fPIC", f"{folder}/{name}.c", "-o", f"{folder}/{name}.so", "-ldl"], check=True)
        return str(folder / f"{name}.so")

    def copy(self, cudnn, folder):
        """A whole copy of a cuDNN, by hard links."""
        if cudnn.folder not in self.base:
            base = self.scratch / "whole" / str(len(self.base))
            Copy.of(cudnn.folder, base, r"libcudnn(_\w+)?\.so[.\d]*")
            self.base[cudnn.folder] = base
        return Copy.of(self.base[cudnn.folder], folder, r".*")


def link(source, target):
    """A hard link, or a copy where the file systems differ. Never into a file that is there: it may be a link."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        with open(source, "rb") as source_file, open(target, "xb") as target_file:
            shutil.copyfileobj(source_file, target_file, 1 << 24)


class Copy:
    """A folder of libraries that may be spoiled. `name` is a file's name or a link's that leads to it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    @classmethod
    def of(cls, source, folder, pattern):
        """All files of the source whose names match as a whole, with the links among them."""
        copy = cls(folder)
        for path in sorted(pathlib.Path(source).iterdir()):
            if not re.fullmatch(pattern, path.name):
                continue
            target = os.readlink(path) if path.is_symlink() else ""
            if target and "/" not in target:
                (copy.folder / path.name).symlink_to(target)
            elif path.is_file():
                link(path.resolve(), copy.folder / path.name)
        return copy

    def __str__(self):
        return str(self.folder)

    def take(self, source, name=None):
        """Another file, in the place of what has the name."""
        source = pathlib.Path(source)
        path = self._file(name or source.name)
        path.unlink(missing_ok=True)
        link(source.resolve(), path)
        return self

    def remove(self, stem):
        """All that is called STEM.so, with whatever version behind it."""
        for path in self.folder.glob(f"{stem}.so*"):
            path.unlink()
        return self

    def write(self, name, data):
        path = self._file(name)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        return self

    def cut(self, name, most=8 << 20):
        """Leaves the first half, of large files less: the headers are there, what they promise is not."""
        path = self._file(name)
        with open(path, "rb") as file:
            head = file.read(min(path.stat().st_size // 2, most))
        return self.write(name, head)

    def patch(self, name, offset, data):
        path = self._file(name)
        content = bytearray(path.read_bytes())
        content[offset:offset + len(data)] = data
        return self.write(name, bytes(content))

    def dangle(self, stem, name):
        """In the place of a library a link to nothing."""
        self.remove(stem)
        (self.folder / name).symlink_to(f"nowhere/{name}")
        return self

    def _file(self, name):
        """The file behind a name; links are followed inside the folder alone."""
        path = self.folder / name
        while path.is_symlink():
            path = self.folder / os.path.basename(os.readlink(path))
        return path


HOLD = r"""
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
call = lambda name, *arguments: getattr(cuda, name)(*arguments)
context, free, total, leave = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), int(sys.argv[1])
assert call("cuInit", 0) == 0 and call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0) == 0
assert call("cuCtxSetCurrent", context) == 0
step = 1 << 40
while step >= 1 << 21:
    assert call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total)) == 0
    step = min(step, (free.value - leave) >> 21 << 21 if free.value > leave else 0)
    block = ctypes.c_uint64()
    if step >= 1 << 21 and call("cuMemAlloc_v2", ctypes.byref(block), ctypes.c_size_t(step)) != 0:
        step //= 2
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print(free.value, flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def held_memory(leave):
    """Another process holds the first GPU's memory, but for about `leave` bytes."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(leave)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    try:
        free = holder.stdout.readline().strip()
        if not free:
            raise Unavailable(f"the memory cannot be held: {holder.communicate()[1].strip()[-200:]}")
        if int(free) > leave + (64 << 20):
            raise Unavailable(f"{int(free) >> 20} MiB stay free")
        yield
    finally:
        with contextlib.suppress(OSError):
            holder.stdin.close()
        try:
            holder.wait(20)
        except subprocess.TimeoutExpired:
            holder.kill()
            holder.wait()


def mounts(*commands):
    """The words that run a program where these mounts hold. Raises Unavailable where they may not be made."""
    script = " && ".join(commands)
    for flags in ("-m", "-rm"):
        p = subprocess.run(["unshare", flags, "sh", "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if p.returncode == 0:
            return ["unshare", flags, "sh", "-c", f'{script} && exec "$@"', "sh"]
    raise Unavailable("no mounts may be made here")
