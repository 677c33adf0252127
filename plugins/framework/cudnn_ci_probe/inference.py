"""ONNX Runtime and CTranslate2: what each was built for, what it sees, and what can be asked of it."""


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
