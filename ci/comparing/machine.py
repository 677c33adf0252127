"""A machine made of the tests' fake libraries, on which one installed tree after another is asked at the same path."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEALTHY = ("libcuda", "nvml", "cudart13", "nvrtc", "cudnn")
OF_CUDA_12 = ("libcuda", "nvml", "cudart12", "nvrtc12", "cudnn")
SECONDS = 300  # for one program


class Missing(Exception):
    """Something that is needed is not there."""


class Answer:
    """What one program said: exit status, standard output, standard error."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def text(self):
        return f"exit {self.code}\n-- stdout\n{self.out}\n-- stderr\n{self.err}"


def read(path):
    """The text of a file, or a word that says what it is if it is not a file."""
    if not path.is_file():
        return "(no such file)"
    return path.read_bytes().decode("utf-8", "backslashreplace")


class Machine:
    """Folders below `folder`: tree (the one that is asked), here (a folder for each question) and kept (what outlives a tree)."""

    def __init__(self, folder, build, jobs):
        self.folder, self.fakes, self.fixtures = folder, build / "fakes", build / "fixtures"
        self.tree, self.here, self.kept = folder / "tree", folder / "here", folder / "kept"
        self.pool = concurrent.futures.ThreadPoolExecutor(jobs if jobs > 0 else len(os.sched_getaffinity(0)))
        self.kept.mkdir()
        for name in ("home", "tmp"):
            (folder / name).mkdir()

    def put(self, tree):
        """Puts a tree in the place where it is asked, instead of the one before it, and empties `here`."""
        if not os.access(tree / "bin/cudnn-ci", os.X_OK):
            raise Missing(f"{tree}/bin/cudnn-ci: not found")
        for used in (self.tree, self.here):
            shutil.rmtree(used, ignore_errors=True)
        shutil.copytree(tree, self.tree, symlinks=True)
        self.here.mkdir()

    def needs_fakes(self):
        """Fails if the build folder has no fakes and no fixtures."""
        for file in (self.fakes / "libcuda/libcuda.so.1", self.fixtures / "fixture/fixture.cci.so"):
            if not file.exists():
                raise Missing(f"{file}: not found; build the tests, or name the build folder that has them")

    def use_module_version(self):
        """A machine with NVIDIA's kernel module is healthy only with a driver library of its version."""
        try:
            version = pathlib.Path("/sys/module/nvidia/version").read_text(encoding="ascii").strip()
        except OSError:
            return {}
        driver = self.folder / "driver"
        if not driver.is_dir():
            driver.mkdir()
            shutil.copyfile((self.fakes / "libcuda/libcuda.so.1").resolve(), driver / f"libcuda.so.{version}")
            (driver / "libcuda.so.1").symlink_to(f"libcuda.so.{version}")
        return {"FAKE_NVML_DRIVER": version}

    def environment(self, fakes, variables):
        """Nothing of the caller's but the PATH."""
        path = [str(self.fakes / name) for name in fakes]
        module = self.use_module_version() if "libcuda" in fakes else {}
        if module:
            path.insert(0, str(self.folder / "driver"))
        loader = {"LD_LIBRARY_PATH": ":".join(path)} if path else {}
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "tmp"),
                "TZ": "UTC", "LC_ALL": "C.UTF-8", **loader, **module, **variables}

    def start(self, name, words, fakes=HEALTHY, variables=None, files=None):
        """Starts the tree's cudnn-ci in a folder of that name, after it has written `files` there; returns the future of an Answer."""
        folder = self.here / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in (files or {}).items():
            (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.pool.submit(self.run, folder, words, self.environment(fakes, variables or {}))

    def run(self, folder, words, environment):
        """Runs cudnn-ci in a folder and waits for it."""
        try:
            done = subprocess.run([self.tree / "bin/cudnn-ci", *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return Answer("none", "", f"no answer in {SECONDS} s")
        return Answer(done.returncode, done.stdout.decode("utf-8", "backslashreplace"), done.stderr.decode("utf-8", "backslashreplace"))
