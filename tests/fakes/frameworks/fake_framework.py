"""What the fake frameworks share: arrays, a convolution that is right, and how it goes wrong.

FAKE_FRAMEWORK has the faults, separated by blanks:
  import, exit-import, crash-import    ends the import with an exception, SystemExit or a signal
  cpu, rocm, no-gpu, one-gpu           a build without CUDA, for AMD's GPUs; one that sees no GPU, or one alone
  raise, memory, crash, exit, hang     what the first convolution does
  wrong-y, wrong-dx, nan-dw            one element that is not right, wrong only in the mode FAKE_FRAMEWORK_MODE where that is set
  flood, forge                         prints 30 MB; prints lines that look like an answer
  wrong-o, wrong-dq, nan-dq, crash-attention, raise-attention, refuse-attention  of attention, in the backend FAKE_FRAMEWORK_MODE
  without-flash                        a backend that does not take the tensors
  crash-at-exit                        dies behind its answer
  preload                              finds its libraries only when it is told to load them
FAKE_BUILT_CUDA, FAKE_BUILT_CUDNN, FAKE_LOADED_CUDNN are versions (13.0, 9.19.0); FAKE_LIBRARIES are files to load.
"""
import ctypes
import math
import os
import signal
import sys
import time

FAULTS = set(os.environ.get("FAKE_FRAMEWORK", "").split())
VERSION = "9.9.9"
LOADER = "libcudnn.so.9: cannot open shared object file: No such file or directory"


def version(name, default):
    return os.environ.get(name, default)


def numbers(name, default):
    return tuple(int(part) for part in version(name, default).split("."))


def cudnn_code(name):
    """As cudnnGetVersion has it."""
    major, minor, patch = numbers(name, "9.19.0")
    return major * (10000 if major >= 9 else 1000) + minor * 100 + patch


def built_for_cuda():
    return not FAULTS & {"cpu", "rocm"}


def devices():
    if FAULTS & {"cpu", "rocm"}:
        return 0
    if "no-gpu" in FAULTS:
        print("Found no NVIDIA driver on your system", file=sys.stderr)
        return 0
    return 1 if "one-gpu" in FAULTS else os.environ.get("CUDA_VISIBLE_DEVICES", "0").count(",") + 1


def on_import():
    if "import" in FAULTS:
        try:
            raise OSError(LOADER)
        except OSError as error:
            raise ImportError("the extension cannot be loaded") from error
    if "exit-import" in FAULTS:
        sys.exit(3)
    if "crash-import" in FAULTS:
        os.kill(os.getpid(), signal.SIGSEGV)
    for path in filter(None, os.environ.get("FAKE_LIBRARIES", "").split(":")):
        ctypes.CDLL(path)
    if "flood" in FAULTS:
        for _ in range(30):
            print("x" * 1000000)
    if "forge" in FAULTS:
        print('{"devices": {"count": 0}}\n{"end": true}')
    if "crash-at-exit" in FAULTS:
        import atexit
        atexit.register(os.kill, os.getpid(), signal.SIGABRT)


def misbehave():
    if "raise" in FAULTS:
        raise RuntimeError("GET was unable to find an engine to execute this computation")
    if "memory" in FAULTS:
        raise OutOfMemoryError("tried to allocate 2 MiB")
    if "crash" in FAULTS:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "exit" in FAULTS:
        os._exit(0)
    if "hang" in FAULTS:
        time.sleep(1000)


class OutOfMemoryError(RuntimeError):
    pass


class Array:
    """Elements, last axis fastest."""

    def __init__(self, elements, shape=None):
        self.elements, self.shape = [float(e) for e in elements], tuple(shape or [len(elements)])

    def reshape(self, shape):
        return type(self)(self.elements, shape)

    def tolist(self):
        def nest(elements, shape):
            if len(shape) == 1:
                return list(elements)
            step = len(elements) // shape[0]
            return [nest(elements[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]
        return nest(self.elements, self.shape)

    def at(self, *index):
        place = 0
        for i, size in zip(index, self.shape):
            place = place * size + i
        return place


def transposed(array, order):
    """The array with its axes in another order."""
    out = type(array)([0] * len(array.elements), [array.shape[axis] for axis in order])

    def walk(index):
        if len(index) == len(order):
            source = [0] * len(order)
            for i, axis in zip(index, order):
                source[axis] = i
            out.elements[out.at(*index)] = array.elements[array.at(*source)]
            return
        for i in range(out.shape[len(index)]):
            walk(index + [i])
    walk([])
    return out


def products(x, w, stride, pad):
    """The places of all products of a convolution, of x, w and y, and the shape of y."""
    (n, c, h, wide), (k, _, r, s) = x.shape, w.shape
    p, q = (h + 2 * pad[0] - r) // stride[0] + 1, (wide + 2 * pad[1] - s) // stride[1] + 1
    y = Array([0] * (n * k * p * q), (n, k, p, q))
    places = []
    for i in range(n):
        for o in range(k):
            for a in range(p):
                for b in range(q):
                    for ch in range(c):
                        for u in range(r):
                            for v in range(s):
                                row, column = a * stride[0] + u - pad[0], b * stride[1] + v - pad[1]
                                if 0 <= row < h and 0 <= column < wide:
                                    places.append((x.at(i, ch, row, column), w.at(o, ch, u, v), y.at(i, o, a, b)))
    return places, y.shape


def spoil(array, name, mode):
    if os.environ.get("FAKE_FRAMEWORK_MODE", mode) != mode:
        return
    if "wrong-" + name in FAULTS:
        array.elements[1] += 1
    if "nan-" + name in FAULTS:
        array.elements[0] = float("nan")


def forward(x, w, stride, pad, mode="default"):
    misbehave()
    places, shape = products(x, w, stride, pad)
    y = type(x)([0] * (shape[0] * shape[1] * shape[2] * shape[3]), shape)
    for at_x, at_w, at_y in places:
        y.elements[at_y] += x.elements[at_x] * w.elements[at_w]
    spoil(y, "y", mode)
    return y


def backward(x, w, g, stride, pad, mode="default"):
    dx, dw = type(x)([0] * len(x.elements), x.shape), type(w)([0] * len(w.elements), w.shape)
    for at_x, at_w, at_y in products(x, w, stride, pad)[0]:
        dx.elements[at_x] += g.elements[at_y] * w.elements[at_w]
        dw.elements[at_w] += g.elements[at_y] * x.elements[at_x]
    spoil(dx, "dx", mode)
    spoil(dw, "dw", mode)
    return dx, dw


def misbehave_in_attention(mode):
    if os.environ.get("FAKE_FRAMEWORK_MODE", mode) != mode:
        return
    if "crash-attention" in FAULTS:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "raise-attention" in FAULTS:
        raise LibraryError("CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED")
    if "refuse-attention" in FAULTS:
        raise NotImplementedError("cuDNN >= 99 is needed")


class LibraryError(RuntimeError):
    pass


def rows(array, size):
    return [array.elements[at:at + size] for at in range(0, len(array.elements), size)]


def probabilities(q, k):
    """Of one head, by row: {key: probability} of the keys that have one in float32."""
    size, found = q.shape[-1], []
    keys = rows(k, size)
    for row in rows(q, size):
        used = [d for d in range(size) if row[d]]
        scores = [sum(row[d] * key[d] for d in used) for key in keys]
        top = max(scores)
        weights = {j: math.exp(score - top) for j, score in enumerate(scores) if score > top - 80}
        total = sum(weights.values())
        found.append({j: weight / total for j, weight in weights.items()})
    return found


def attention(q, k, v, mode):
    """The output of one head of length, size, and what its gradients need."""
    misbehave_in_attention(mode)
    size = v.shape[-1]
    p, values = probabilities(q, k), rows(v, size)
    o = type(q)([sum(weight * values[j][d] for j, weight in row.items()) for row in p for d in range(size)], q.shape)
    spoil(o, "o", mode)
    return o, p


def attention_gradients(q, k, v, p, do, mode):
    size, queries, keys, values, gradients = q.shape[-1], rows(q, q.shape[-1]), rows(k, k.shape[-1]), rows(v, v.shape[-1]), rows(do, do.shape[-1])
    dq, dk, dv = ([[0.0] * size for _ in range(len(part.elements) // size)] for part in (q, k, v))
    for i, row in enumerate(p):
        dp = {j: sum(a * b for a, b in zip(gradients[i], values[j])) for j in row}
        mean = sum(row[j] * dp[j] for j in row)
        for j, weight in row.items():
            ds = weight * (dp[j] - mean)
            for d in range(size):
                dq[i][d] += ds * keys[j][d]
                dk[j][d] += ds * queries[i][d]
                dv[j][d] += weight * gradients[i][d]
    out = [type(q)([e for row in part for e in row], shape.shape) for part, shape in ((dq, q), (dk, k), (dv, v))]
    for name, array in zip(("dq", "dk", "dv"), out):
        spoil(array, name, mode)
    return tuple(out)
