"""A fake package that computes in plain Python, rightly or, as an implementation's name says, wrongly; it launches by the fake CUPTI."""
import atexit
import ctypes
import math
import os
import struct
import time
from cudnn_ci_runner import Refused

FAULT = os.environ.get("FAKE_KERNELS", "")
if FAULT == "import":
    raise OSError("libacme.so: cannot open shared object file")
if FAULT == "silent":
    import cudnn_ci_runner
    cudnn_ci_runner.call = lambda *_: True
if FAULT == "lacks":
    raise Refused("PyTorch")
if FAULT == "untraced":
    import cudnn_ci_runner
    cudnn_ci_runner.Launches.places = staticmethod(lambda: ["/nowhere/libcupti.so"])


class Array:
    def __init__(self, elements, shape, dtype="float32", device="cuda:0"):
        self.elements, self.shape, self.dtype, self.device = elements, shape, dtype, device

    def tobytes(self):
        return struct.pack("<%df" % len(self.elements), *self.elements)


def describe():
    return {"count": 0 if FAULT == "no-gpu" else 1, "name": "Fake", "built": "" if FAULT == "no-gpu" else "13.0", "capability": "7.5"}


def settle(_):
    if FAULT == "broken":
        raise RuntimeError("an illegal memory access was encountered")


def take(p, name):
    tensor = p.inputs[name]
    with open(tensor["file"], "rb") as file:
        flat = struct.unpack("<%df" % (tensor["bytes"] // 4), file.read())
    rows, columns = tensor["shape"] if len(tensor["shape"]) > 1 else (1, tensor["shape"][0])
    strides = tensor["strides"] if len(tensor["strides"]) > 1 else (0, 1)
    return [[flat[r * strides[0] + c * strides[1]] for c in range(columns)] for r in range(rows)]


def attention(p, how):
    ctypes.CDLL("libcudnn.so.9")
    ctypes.CDLL("libcupti.so.13").FakeLaunch(b"cudnn_sdpa")
    return {"o": Array([0.0], [1])}


def product(p, how):
    if FAULT == "second refused" and how == "fast too" and product.calls == 3:
        raise Refused("not twice")
    how = how.split(" of ")[0] if p.name == "product/float64" else "refuses" if how.endswith(" of float64") else how
    if how in ("raises", "refuses", "memory"):
        raise Refused("not for this card") if how == "refuses" else RuntimeError("CUDA out of memory" if how == "memory" else "no kernel image")
    if FAULT in ("crash", "hang") or how == "dies":
        time.sleep(60) if FAULT == "hang" else ctypes.string_at(0)
    if how == "exits":
        atexit.register(ctypes.string_at, 0)
    if how != "no launch":
        ctypes.CDLL("libcupti.so.13").FakeLaunch(b"other_kernel" if how == "another's kernel" else b"acme_gemm")
    x, w = take(p, "x"), take(p, "w")
    inner = len(w) - (how == "short sum")
    y = [sum(row[i] * w[i][c] for i in range(min(inner, len(row)))) for row in x for c in range(len(w[0]))]
    y[-1] = {"unwritten": struct.unpack("<f", b"\xfe\xff\xfe\xff")[0], "not a number": math.nan}.get(how, y[-1])
    product.calls = getattr(product, "calls", 0) + 1
    y[0] += (how == "one more") + (how == "second run" and product.calls % 2 == 0)
    shape = [len(y)] if how == "shape" else [len(x), len(w[0])]
    return {} if how == "nothing" else {"y": Array(y[:-1] if how == "cut" else y, shape, "float16" if how == "type" else "float32", "cpu" if how == "cpu" else "cuda:0")}
