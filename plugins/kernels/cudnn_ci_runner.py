"""Runs one adapter: hands it problems that lie in files, and writes its results as files. It judges nothing: cudnn-ci judges.

    python3 cudnn_ci_runner.py JOB ANSWER

JOB is a JSON file. With "look" it asks for the packages of this interpreter, else for calls of the adapter beside this file
(cudnn_ci_adapter.py), by one process or by several at the same time. ANSWER gets a line of JSON for each thing as it becomes known, so
that a crash leaves what was said before it; where there are several processes, a line names the one that it is of.
For Python 3.8 and later; older ones get as far as to say their version.
"""
import ctypes
import glob
import json
import os
import re
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
MOST_TEXT, MOST_NAMES, MOST_PACKAGES = 600, 40, 3000
DRIVER_API = 1  # CUPTI_CB_DOMAIN_DRIVER_API


class Refused(Exception):
    """An implementation does not take a problem."""


def clip(text):
    return " ".join(str(text).split())[:MOST_TEXT]


def words_of(error):
    return clip("%s: %s" % (type(error).__name__, error))


class Answer:
    """Whole lines, each by one write: processes write to one file."""

    def __init__(self, path):
        self.path, self.of = path, {}
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def of_process(self, number):
        answer = Answer(self.path)
        answer.of = {"process": number}
        return answer

    def say(self, key, value):
        os.write(self.file, (json.dumps({**self.of, key: value}) + "\n").encode("ascii", "replace"))


class CallbackData(ctypes.Structure):
    """The beginning of CUpti_CallbackData (cupti_callbacks.h)."""
    _fields_ = [("site", ctypes.c_int), ("function", ctypes.c_char_p), ("parameters", ctypes.c_void_p),
                ("result", ctypes.c_void_p), ("symbol", ctypes.c_char_p)]


class Launches:
    """The kernels that this process launches, as the driver is asked for them: by CUPTI's callbacks, whatever a framework says."""

    def __init__(self):
        self.names, self.why_not = {}, None
        why_not = []
        for path in self.places():
            try:
                return self.subscribe(ctypes.CDLL(path))
            except (OSError, AttributeError, RuntimeError) as error:
                why_not.append(words_of(error))
        self.why_not = "; ".join(why_not)

    @staticmethod
    def places():
        """What is in memory already, what packages bring, what the loader finds."""
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            text = maps.read()
        found = re.findall(r"(/\S*/libcupti\.so\S*)", text)
        if found:
            return found[:1]
        runtime = re.search(r"libcudart\.so\.(\d+)", text)
        major = runtime.group(1) if runtime else "*"
        for folder in sys.path:
            found += sorted(glob.glob(os.path.join(glob.escape(folder), "nvidia", "*", "lib", "libcupti.so." + major)))
        majors = [major] if runtime else ["13", "12"]
        return (found + ["libcupti.so." + m for m in majors] + sorted(glob.glob("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so." + major)))

    def subscribe(self, library):
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(CallbackData))
        self.callback, self.subscriber, name = prototype(self.on_call), ctypes.c_void_p(), ctypes.c_char_p()
        status = library.cuptiSubscribe(ctypes.byref(self.subscriber), self.callback, None)
        if status != 0:
            raise RuntimeError("cuptiSubscribe: %d" % status)
        for number in range(1, 2000):
            if library.cuptiGetCallbackName(DRIVER_API, number, ctypes.byref(name)) == 0 and name.value \
                    and re.match(rb"cu(Launch(?!Host)|GraphLaunch)", name.value):
                library.cuptiEnableCallback(1, self.subscriber, DRIVER_API, number)

    def on_call(self, _, domain, number, data):
        if data.contents.site == 0:  # CUPTI_API_ENTER
            name = data.contents.symbol or data.contents.function or b"?"
            self.names[name] = self.names.get(name, 0) + 1

    def since(self):
        """Those since it was last asked."""
        names, self.names = self.names, {}
        return sorted(name.decode("ascii", "replace")[:MOST_TEXT] for name in names)[:MOST_NAMES]


class Problem:
    """One problem: p["scale"] is an attribute, `p.torch("q")` an input on the GPU, `"bias" in p` whether it has such an input."""

    def __init__(self, problem):
        self.name, self.operation = problem["name"], problem["operation"]
        self.attributes, self.inputs, self.cache = problem["attributes"], problem["inputs"], {}

    def __getitem__(self, name):
        return self.attributes.get(name)

    def __contains__(self, name):
        return name in self.inputs

    def torch(self, name, device="cuda"):
        """A tensor of PyTorch, of the file's shape and strides; made once."""
        if name not in self.cache:
            import torch
            tensor = self.inputs[name]
            dtype = getattr(torch, {"float8_e4m3": "float8_e4m3fn"}.get(tensor["dtype"], tensor["dtype"]))
            flat = torch.from_file(tensor["file"], shared=False, size=tensor["bytes"], dtype=torch.uint8)
            self.cache[name] = flat.to(device).view(dtype).as_strided(tensor["shape"], tensor["strides"])
        return self.cache[name]

    def numpy(self, name):
        """An array of NumPy, mapped; the types that NumPy lacks are those of ml_dtypes."""
        import numpy
        tensor = self.inputs[name]
        if tensor["dtype"] == "bfloat16" or tensor["dtype"].startswith("float8"):
            import ml_dtypes
            dtype = numpy.dtype(getattr(ml_dtypes, {"float8_e4m3": "float8_e4m3fn"}.get(tensor["dtype"], tensor["dtype"])))
        else:
            dtype = numpy.dtype(tensor["dtype"])
        flat = numpy.memmap(tensor["file"], numpy.uint8, "r").view(dtype)
        return numpy.lib.stride_tricks.as_strided(flat, tensor["shape"], [s * dtype.itemsize for s in tensor["strides"]])


def describe():
    """What PyTorch says of its GPUs, for adapters whose tensors are its."""
    import torch
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {"count": count, "name": torch.cuda.get_device_name(0) if count else "", "built": str(torch.version.cuda or ""),
            "capability": "%d.%d" % torch.cuda.get_device_capability(0) if count else ""}


def settle(_):
    """Waits for PyTorch's GPU, likewise."""
    import torch
    torch.cuda.synchronize()


def bytes_of(array):
    """An array of any framework: its bytes without gaps, its type, its shape, where it lay."""
    where = str(getattr(array, "device", ""))
    if hasattr(array, "detach"):
        import torch
        host = array.detach().contiguous().cpu().reshape(-1)
        data = bytearray(host.numel() * host.element_size())
        if data:
            torch.frombuffer(data, dtype=torch.uint8).copy_(host.view(torch.uint8))
        return bytes(data), str(array.dtype).replace("torch.", ""), list(array.shape), where
    if hasattr(array, "get") and not hasattr(array, "block_until_ready"):
        array = array.get()
    if not hasattr(array, "tobytes"):
        import numpy
        array = numpy.asarray(array)
    return array.tobytes(), str(array.dtype), list(array.shape), where


def write(results, folder, index, run):
    said = {}
    for name, array in results.items():
        data, dtype, shape, where = bytes_of(array)
        with open(os.path.join(folder, "%d.%d.%s" % (index, run, name)), "wb") as file:
            file.write(data)
        said[name] = {"dtype": dtype.replace("e4m3fn", "e4m3"), "shape": shape, "device": where}
    return said


def say_cudnn(answer):
    """What the cuDNN in this process says of itself; it is loaded already, so that asking changes nothing."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        path = re.search(r"(/\S*/libcudnn\.so\.\d\S*)", maps.read())
    if path:
        library = ctypes.CDLL(path.group(1), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        library.cudnnGetVersion.restype = ctypes.c_size_t
        answer.say("cudnn", {"file": clip(path.group(1)), "version": library.cudnnGetVersion()})
    return bool(path)


def call(adapter, launches, problems, job, index, answer):
    """One call, twice: what is compiled is compiled in the first."""
    one = job["calls"][index]
    problem = problems[one["problem"]]
    for run in (1, 2):
        answer.say("step", {"call": index, "run": run})
        launches.since()
        begin = time.monotonic()
        try:
            results = getattr(adapter, problem.operation)(problem, one["implementation"])
            adapter.settle(results)
        except Exception as error:
            refused = words_of(error)
            try:  # whether the GPU can still be used
                adapter.settle({})
            except Exception as broken:
                answer.say("broken", {"call": index, "run": run, "why": words_of(broken)})
                return False
            answer.say("refused", {"call": index, "run": run, "why": refused, "by": "itself" if isinstance(error, Refused) else "exception"})
            return True
        seconds, names = time.monotonic() - begin, launches.since()
        answer.say("result", {"call": index, "run": run, "seconds": seconds, "launches": names, "outputs": write(results, job["folder"], index, run)})
    return True


def run_calls(job, calls, answer):
    answer.say("step", {"call": -1, "run": 0})
    launches = None
    try:
        import cudnn_ci_adapter as adapter
        launches = Launches()
        answer.say("device", adapter.describe())
        if launches.why_not:
            answer.say("untraced", clip(launches.why_not))
    except Refused as error:
        answer.say("lacks", clip(error))
        return
    except BaseException as error:  # what a library raises is an answer, SystemExit too
        answer.say("error", words_of(error))
        return
    problems, cudnn = {name: Problem(p) for name, p in job["problems"].items()}, False
    for index in calls:
        if not call(adapter, launches, problems, job, index, answer):
            return
        cudnn = cudnn or say_cudnn(answer)


def brings_kernels(distribution):
    """Whether its record and what it requires say that it computes on a GPU: it needs a framework of GPUs and brings native code of
    its own, or it needs Triton."""
    needs = [re.match(r"[A-Za-z0-9_.-]+", r).group().lower() for r in distribution.requires or [] if re.match(r"[A-Za-z0-9]", r) and "extra ==" not in r]
    if any(n in ("triton", "nvidia-cutlass-dsl", "cuda-tile", "tilelang") for n in needs):
        return True
    if not any(re.match(r"(torch|jax|cupy|cuda-python|nvidia-)", n) for n in needs):
        return False
    return any(str(f).endswith((".so", ".cubin", ".ptx", ".cu")) for f in distribution.files or [])


def is_other(name, distribution):
    """Whether a package that no adapter asks brings kernels; one whose files nobody can tell does not."""
    try:
        return not name.startswith("nvidia-") and brings_kernels(distribution)
    except Exception:
        return False


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def is_recorded(folder):
    """Whether a package's folder has a record at all: one without is what another release leaves behind."""
    return os.path.isfile(folder) or any(os.path.lexists(os.path.join(folder, file)) for file in ("METADATA", "PKG-INFO"))


def may_record(folder, names):
    """Whether a record of this name, as "torch-2.11.0.dist-info", may be of one of the packages."""
    name, kind = os.path.splitext(os.path.basename(folder))
    return kind not in (".dist-info", ".egg-info") or any((normal(name) + "-").startswith(asked + "-") for asked in names)


def look(job, answer):
    """The packages of this interpreter: those that are asked for, and where wanted others that bring kernels, of the first MOST_PACKAGES."""
    from importlib import metadata
    asked, seen, damaged, others = set(job["look"]), set(), {}, 0
    for distribution in metadata.distributions():
        folder, why = str(getattr(distribution, "_path", "")), "it has no name or no version"
        # A record takes a millisecond to read, and there are hundreds.
        if not job["others"] and not may_record(folder, asked):
            continue
        try:
            name, version = (str(distribution.metadata[key] or "") for key in ("Name", "Version"))
        except Exception as error:
            name, version, why = "", "", words_of(error)
        if not name or not version:
            record = normal(os.path.splitext(os.path.basename(folder))[0]) if is_recorded(folder) else ""
            for one in asked:
                if re.match(re.escape(one) + r"(-\d+(-|$)|$)", record):  # a version, or no more
                    damaged.setdefault(one, folder + ": " + why)
            continue
        name = normal(name)
        if name in seen:
            continue
        seen.add(name)
        others += name not in asked
        if name not in asked and (not job["others"] or others > MOST_PACKAGES or not is_other(name, distribution)):
            continue
        answer.say("package", {"name": clip(name), "version": clip(version), "kernels": name not in asked})
    if job["others"] and others > MOST_PACKAGES:
        answer.say("cut", others - MOST_PACKAGES)
    for name in sorted(set(damaged) - seen):
        raise RuntimeError("its record cannot be read: " + damaged[name])


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        job = json.load(file)
    answer, processes = Answer(sys.argv[2]), job.get("processes", [])
    answer.say("python", {"version": ".".join(str(n) for n in sys.version_info[:3]), "executable": sys.executable})
    if sys.version_info < (3, 8):
        return
    if "look" in job:
        # Beside this file nothing is to be found.
        sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != HERE]
        look(job, answer)
    else:
        sys.path.insert(0, HERE)
        sys.modules["cudnn_ci_runner"] = sys.modules["__main__"]
        if len(processes) > 1:
            from cudnn_ci_processes import run_together
            return run_together(job, answer, run_calls)
        run_calls(job, processes[0]["calls"], answer)
    answer.say("end", True)


if __name__ == "__main__":
    main()
