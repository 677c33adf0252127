"""Says what a framework of this interpreter sees and computes. It judges nothing: cudnn-ci judges what it says.

    python3 probe.py versions|FRAMEWORK PROBLEM ANSWER

PROBLEM is a JSON file with the inputs of one small convolution. ANSWER gets a line of JSON for each thing as it becomes known, so that
a crash leaves what was said before it; nothing that a library prints can come between. For Python 3.8 and later; older ones get as far
as to say their version. Nothing is imported but the framework that is asked for and what it imports itself.
"""
import json
import os
import re
import sys

# Module, and the distributions that may have brought it, the first one that is installed counts.
FRAMEWORKS = {
    "torch": ("torch", ["torch"]),
    "tensorflow": ("tensorflow", ["tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tf-nightly"]),
    "jax": ("jax", ["jax-cuda13-plugin", "jax-cuda12-plugin", "jaxlib"]),
    "onnxruntime": ("onnxruntime", ["onnxruntime-gpu", "onnxruntime"]),
    "ctranslate2": ("ctranslate2", ["ctranslate2"]),
    "cupy": ("cupy", ["cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x", "cupy"]),
}
CUDNN_DISTRIBUTIONS = ["nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"]
MOST_TEXT = 1000  # characters of one text; the rest of the bounds are the reader's
MOST_FILES = 100
MOST_CAUSES = 4


class Answer:
    """The file of answers. One write a line."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def say(self, key, value):
        # A name of a file may hold bytes that are no text.
        os.write(self.file, (json.dumps({key: value}, ensure_ascii=False) + "\n").encode("utf-8", "replace"))

    def step(self, name):
        self.say("step", name)

    def result(self, mode, **arrays):
        self.say("result", {"mode": mode, "arrays": {name: numbers(array) for name, array in arrays.items()}})

    def error(self, error):
        """The last line of the traceback, and those of what caused it."""
        texts, seen = [], set()
        while error is not None and len(texts) < MOST_CAUSES and id(error) not in seen:
            seen.add(id(error))
            texts.append(clip("%s: %s" % (type(error).__name__, error)))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        self.say("error", texts)


def clip(text):
    return " ".join(str(text).split())[:MOST_TEXT]


def flat(value):
    """The elements of nested lists, last axis fastest."""
    return [e for part in value for e in flat(part)] if isinstance(value, (list, tuple)) else [value]


def numbers(array):
    """An array's elements as JSON can hold them: one that is no number, or no finite one, is text."""
    elements = []
    for e in flat(array.tolist() if hasattr(array, "tolist") else array):
        if not isinstance(e, (int, float)) or e != e or e in (float("inf"), float("-inf")):
            elements.append(clip(repr(e)))
        else:
            elements.append(int(e) if e == int(e) else e)
    return elements


def permute(elements, shape, order):
    """The elements of an array of that shape with its axes in another order, as numpy.transpose has them."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    offsets = [0]
    for axis in order:
        offsets = [o + i * strides[axis] for o in offsets for i in range(shape[axis])]
    return [elements[o] for o in offsets]


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
    module, distributions = FRAMEWORKS[name]
    origin = find(module)
    if origin is None:
        return None
    said = {"origin": origin, "distribution": None, "version": None, "requires": [], "cuda": None}
    found, distribution = first_distribution(distributions)
    if found:
        requires = [clip(r) for r in distribution.requires or [] if re.match("nvidia|cuda", r)]
        said.update(distribution=found, version=clip(distribution.version), requires=requires[:MOST_FILES])
    if name == "torch":
        said["cuda"] = cuda_of_torch(os.path.join(os.path.dirname(origin), "version.py"))
    return said


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


def mapped():
    """The libraries of NVIDIA in this process's memory."""
    files = set()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line[line.find("/"):].rstrip("\n") if "/" in line else ""
            if re.match(r"lib(cudnn|cublas|cudart|cuda|nvrtc|nvidia)", os.path.basename(path)):
                files.add(path)
    return sorted(files)[:MOST_FILES]


def loaded_cudnn(files):
    """What the cuDNN in this process says of itself; it is loaded already, so that asking changes nothing."""
    import ctypes
    for path in files:
        if re.match(r"libcudnn\.so\.\d+", os.path.basename(path)):
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            for function in (library.cudnnGetVersion, library.cudnnGetCudartVersion):
                function.restype = ctypes.c_size_t
            return {"file": path, "version": library.cudnnGetVersion(), "cudart": library.cudnnGetCudartVersion()}
    return None


# Each framework: what it was built for, what it sees, and the convolution forward and backward in each of its modes.

def torch(framework, p, answer):
    cudnn = getattr(framework._C, "_cudnn", None)
    answer.say("built", {"cuda": framework.version.cuda, "hip": getattr(framework.version, "hip", None),
                         "cudnn": list(cudnn.getCompileVersion()) if cudnn else None})
    if cudnn:
        answer.say("loaded", {"cudnn": list(cudnn.getRuntimeVersion())})
    answer.step("devices")
    count = framework.cuda.device_count() if framework.cuda.is_available() else 0
    answer.say("devices", {"count": count, "name": clip(framework.cuda.get_device_name(0)) if count else None})
    if not count:
        return
    framework.backends.cudnn.allow_tf32 = False
    tensors = {n: framework.tensor(p[n], dtype=framework.float32, device="cuda").reshape(p[n + "_shape"]) for n in "xwg"}
    x, w = tensors["x"].requires_grad_(), tensors["w"].requires_grad_()
    for mode in ("default", "benchmark", "deterministic"):
        answer.step("convolution, " + mode)
        framework.backends.cudnn.benchmark = mode == "benchmark"
        framework.backends.cudnn.deterministic = mode == "deterministic"
        y = framework.nn.functional.conv2d(x, w, stride=p["stride"], padding=p["pad"])
        dx, dw = framework.autograd.grad(y, (x, w), tensors["g"])
        framework.cuda.synchronize()
        answer.result(mode, y=y.detach().cpu(), dx=dx.cpu(), dw=dw.cpu())


def tensorflow(framework, p, answer):
    build = framework.sysconfig.get_build_info()
    cuda = build.get("cuda_version") if build.get("is_cuda_build") else None
    answer.say("built", {"cuda": cuda, "cudnn": build.get("cudnn_version"), "hip": "rocm" if build.get("is_rocm_build") else None})
    answer.step("devices")
    gpus = framework.config.list_physical_devices("GPU")
    config = framework.config.experimental
    answer.say("devices", {"count": len(gpus), "name": clip(config.get_device_details(gpus[0]).get("device_name", "")) if gpus else None})
    if not gpus:
        return
    for gpu in gpus:
        config.set_memory_growth(gpu, True)
    config.enable_tensor_float_32_execution(False)
    framework.config.set_soft_device_placement(False)
    to, back = {"x": (0, 2, 3, 1), "w": (2, 3, 1, 0), "g": (0, 2, 3, 1)}, {"x": (0, 3, 1, 2), "w": (3, 2, 0, 1), "g": (0, 3, 1, 2)}
    shapes = {n: [p[n + "_shape"][axis] for axis in to[n]] for n in "xwg"}
    (ph, pw), strides = p["pad"], [1] + p["stride"] + [1]
    # Determinism cannot be switched off again, so it comes last. Until then cuDNN's algorithms are tried out, as is usual.
    for mode in ("default", "deterministic"):
        answer.step("convolution, " + mode)
        if mode == "deterministic":
            if not hasattr(config, "enable_op_determinism"):
                break
            config.enable_op_determinism()
        with framework.device("/GPU:0"):
            x, w, g = (framework.constant(permute(p[n], p[n + "_shape"], to[n]), dtype=framework.float32, shape=shapes[n]) for n in "xwg")
            with framework.GradientTape() as tape:
                tape.watch([x, w])
                y = framework.nn.conv2d(x, w, strides=strides, padding=[[0, 0], [ph, ph], [pw, pw], [0, 0]])
            dx, dw = tape.gradient(y, [x, w], output_gradients=g)
        results = {"y": (y, "g"), "dx": (dx, "x"), "dw": (dw, "w")}
        answer.result(mode, **{n: permute(flat(array.numpy().tolist()), shapes[of], back[of]) for n, (array, of) in results.items()})


def jax(framework, p, answer):
    import importlib
    answer.step("devices")
    try:
        gpus = [d for d in framework.devices() if d.platform in ("gpu", "cuda")]
    except RuntimeError as error:  # where the environment asks for CUDA and nothing else
        answer.error(error)
        gpus = []
    # Only now, when JAX has loaded its libraries in its own order.
    built = {"cuda": None, "cudnn": None}
    for name in ("jax_cuda13_plugin", "jax_cuda12_plugin", "jaxlib.cuda"):
        try:
            versions = importlib.import_module(name + "._versions")
        except ImportError:
            continue
        built = {"cuda": versions.cuda_runtime_build_version(), "cudnn": versions.cudnn_build_version()}
        break
    answer.say("built", built)
    answer.say("devices", {"count": len(gpus), "name": clip(gpus[0].device_kind) if gpus else None})
    if not gpus:
        return
    x, w, g = (framework.numpy.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "xwg")
    padding = [(pad, pad) for pad in p["pad"]]

    def convolve(x, w):
        return framework.lax.conv_general_dilated(x, w, p["stride"], padding, dimension_numbers=("NCHW", "OIHW", "NCHW"),
                                                  precision=framework.lax.Precision.HIGHEST)

    def both_ways(x, w, g):
        y, pull_back = framework.vjp(convolve, x, w)
        return (y,) + tuple(pull_back(g))

    modes = {"default": {}, "without autotuning": {"xla_gpu_autotune_level": 0}, "deterministic": {"xla_gpu_deterministic_ops": True}}
    for mode, options in modes.items():
        answer.step("convolution, " + mode)
        try:
            compiled = framework.jit(both_ways).lower(x, w, g).compile(**({"compiler_options": options} if options else {}))
        except Exception as error:
            # A release that has no such option, or none at all.
            if options and ("No such compile option" in str(error) or isinstance(error, TypeError)):
                continue
            raise
        y, dx, dw = compiled(x, w, g)
        answer.result(mode, y=y, dx=dx, dw=dw)


def onnx_field(number, value):
    """One field of a protobuf message: an integer, or bytes (text, a message)."""
    def varint(n):
        out = bytearray()
        while n > 0x7f:
            out.append(n & 0x7f | 0x80)
            n >>= 7
        return bytes(out + bytearray([n]))
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_convolution(p):
    """A model of one node, y = Conv(x, w), by the field numbers of onnx.proto; the package onnx need not be there."""
    f = onnx_field

    def tensor(name, shape):
        dims = b"".join(f(1, f(1, size)) for size in shape)
        return f(1, name) + f(2, f(1, f(1, 1) + f(2, dims)))  # of element type 1, float32

    def integers(name, values):
        return f(1, name) + b"".join(f(8, v) for v in values) + f(20, 7)  # AttributeProto.INTS

    node = f(1, "x") + f(1, "w") + f(2, "y") + f(4, "Conv")
    for name, values in (("strides", p["stride"]), ("pads", p["pad"] * 2), ("kernel_shape", p["w_shape"][2:])):
        node += f(5, integers(name, values))
    graph = f(1, node) + f(2, "g") + f(11, tensor("x", p["x_shape"])) + f(11, tensor("w", p["w_shape"])) + f(12, tensor("y", p["g_shape"]))
    return f(1, 7) + f(7, graph) + f(8, f(2, 11))  # IR version 7, operators of version 11


def onnxruntime(framework, p, answer):
    import importlib
    cuda = "CUDAExecutionProvider"
    try:
        info = importlib.import_module("onnxruntime.capi.build_and_package_info")
    except ImportError:
        info = None
    built_for_cuda = cuda in framework.get_available_providers()
    answer.say("built", {"cuda": getattr(info, "cuda_version", None) or "unknown" if built_for_cuda else None, "cudnn": None})
    answer.step("devices")
    if not built_for_cuda:
        return answer.say("devices", {"count": 0, "name": None})
    import numpy
    inputs = {n: numpy.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "xw"}

    def usable():
        # Without the provider for CUDA the session is there all the same, and runs on the CPU.
        return cuda in framework.InferenceSession(onnx_convolution(p), providers=[cuda, "CPUExecutionProvider"]).get_providers()

    def session(search, deterministic):
        options = framework.SessionOptions()
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        if hasattr(options, "use_deterministic_compute"):
            options.use_deterministic_compute = deterministic
        return framework.InferenceSession(onnx_convolution(p), options, providers=[(cuda, {"cudnn_conv_algo_search": search})])

    count = int(usable())
    if not count and hasattr(framework, "preload_dlls"):
        answer.step("preload_dlls")
        framework.preload_dlls()
        count = int(usable())
        answer.say("preloaded", bool(count))
    answer.say("devices", {"count": count, "name": None})
    if not count:
        return None
    for mode, search, deterministic in (("default", "HEURISTIC", False), ("exhaustive", "EXHAUSTIVE", False), ("deterministic", "DEFAULT", True)):
        answer.step("convolution, " + mode)
        answer.result(mode, y=session(search, deterministic).run(["y"], inputs)[0])
    return None


def ctranslate2(framework, p, answer):
    answer.say("built", {"cuda": "unknown", "cudnn": None})
    answer.step("devices")
    count = framework.get_cuda_device_count()
    answer.say("devices", {"count": count, "name": None})
    storage = framework.StorageView
    # It has no operators in Python; what can be done is to take data to the GPU and back.
    if not count or not hasattr(storage, "to_device"):
        return
    import numpy
    answer.step("copy")
    there = storage.from_array(numpy.array(p["x"], dtype="float32")).to_device(framework.Device.cuda)
    answer.result("copy", copy=numpy.array(there.to_device(framework.Device.cpu)))


def cupy(framework, p, answer):
    runtime = framework.cuda.runtime
    answer.say("built", {"cuda": framework.cuda.driver.get_build_version(), "cudnn": None})
    answer.step("devices")
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        answer.error(error)
        count = 0
    name = runtime.getDeviceProperties(0)["name"] if count else None
    answer.say("devices", {"count": count, "name": clip(name.decode(errors="replace") if isinstance(name, bytes) else name) if count else None})
    if not count:
        return
    a, b = (framework.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "ab")
    answer.step("elementwise")  # compiled by NVRTC
    answer.result("elementwise", elementwise=framework.asnumpy(2 * a + 1))
    answer.step("matmul")  # by cuBLAS
    answer.result("matmul", matmul=framework.asnumpy(a @ b))
    answer.step("cupyx.cudnn")
    try:
        from cupyx import cudnn
        version = framework.cuda.cudnn.getVersion()
    except Exception:  # most releases have none, and none finds its libraries in every image
        return
    answer.say("loaded", {"cudnn": version})
    x, w, g = (framework.array(p[n], dtype="float32").reshape(p[n + "_shape"]) for n in "xwg")
    where = (tuple(p["pad"]), tuple(p["stride"]), (1, 1), 1)
    for mode in ("default", "benchmark", "deterministic"):
        answer.step("convolution, " + mode)
        y, dx, dw = framework.zeros_like(g), framework.zeros_like(x), framework.zeros_like(w)
        search = {"auto_tune": mode == "benchmark", "tensor_core": "never"}
        cudnn.convolution_forward(x, w, None, y, *where, **search)
        search["deterministic"] = mode == "deterministic"
        cudnn.convolution_backward_data(w, g, None, dx, *where, **search)
        cudnn.convolution_backward_filter(x, g, dw, *where, **search)
        answer.result(mode, y=framework.asnumpy(y), dx=framework.asnumpy(dx), dw=framework.asnumpy(dw))


PROBES = {"torch": torch, "tensorflow": tensorflow, "jax": jax, "onnxruntime": onnxruntime, "ctranslate2": ctranslate2, "cupy": cupy}


def probe(name, problem, answer):
    import importlib
    said = package(name)
    if said is None:
        return answer.say("absent", FRAMEWORKS[name][0])
    answer.say("packages", {name: said})
    answer.say("cudnn_packages", cudnn_packages())
    try:
        answer.step("import")
        framework = importlib.import_module(FRAMEWORKS[name][0])
        answer.say("imported", clip(getattr(framework, "__version__", "")))
        PROBES[name](framework, problem, answer)
    except BaseException as error:  # what a library raises is an answer, SystemExit too
        answer.error(error)
    answer.step("maps")
    files = mapped()
    answer.say("mapped", files)
    try:
        answer.say("cudnn", loaded_cudnn(files))
    except (OSError, AttributeError) as error:
        answer.say("cudnn_unknown", clip(error))
    return None


def main():
    what, problem, answer = sys.argv[1], sys.argv[2], Answer(sys.argv[3])
    # Python looks for modules beside the script first, where none is to be found.
    if sys.path and os.path.realpath(sys.path[0]) == os.path.dirname(os.path.realpath(__file__)):
        del sys.path[0]
    answer.say("python", {"version": ".".join(str(n) for n in sys.version_info[:3]), "executable": sys.executable})
    if sys.version_info < (3, 8):
        return
    if what == "versions":
        answer.say("packages", {name: package(name) for name in FRAMEWORKS})
        answer.say("cudnn_packages", cudnn_packages())
    else:
        with open(problem, encoding="ascii") as file:
            p = json.load(file)
        probe(what, p, answer)
    answer.say("end", True)


if __name__ == "__main__":
    main()
