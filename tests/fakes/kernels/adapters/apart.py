"""A fake package whose implementations several processes compute. One does what FAKE_KERNELS says, the others are right."""
import ctypes
import os
import signal
import struct
import time
import types

import cudnn_ci_runner

FAULT, FOLDER, CALL = os.environ.get("FAKE_KERNELS", ""), os.path.dirname(os.path.abspath(__file__)), cudnn_ci_runner.call
BROKEN = []
FAULTS = {"crash": lambda: ctypes.string_at(0), "memory": lambda: bytearray(1 << 30), "exit": lambda: os._exit(7), "broken": lambda: BROKEN.append(1)}
FAILS = FAULT in ("killed", "runner killed", "hang", *FAULTS)


def is_first(what):
    try:
        os.mkdir(os.path.join(FOLDER, what))
    except FileExistsError:
        return False
    return True


if FAULT == "import" or FAULT == "import once" and is_first("imported"):
    raise OSError("libapart.so: cannot open shared object file")
if FAULT == "dead":
    ctypes.string_at(0)
if FAULT == "silent":
    cudnn_ci_runner.call = lambda *_: True
if FAULT == "claims":
    cudnn_ci_runner.call = lambda adapter, launches, problems, job, index, answer: CALL(adapter, launches, problems, job, 1 - index, answer)


def describe():
    return {"count": 0 if FAULT == "no-gpu" else 1, "name": "Fake", "built": "13.0", "capability": "7.5"}


def settle(_):
    if BROKEN:
        raise RuntimeError("an illegal memory access was encountered")


def wait_for(what):
    end = time.monotonic() + 20
    while not os.path.isdir(os.path.join(FOLDER, what)):
        if time.monotonic() > end:
            raise RuntimeError("alone")
        time.sleep(0.02)


def fail():
    print("failing", flush=True)
    is_first("failing")
    if FAULT in ("killed", "runner killed"):
        os.kill(os.getpid() if FAULT == "killed" else os.getppid(), signal.SIGKILL)
    FAULTS.get(FAULT, lambda: time.sleep(60))()


def product(p, how):
    ctypes.CDLL("libcupti.so.13").FakeLaunch(b"acme_gemm")
    if how.startswith("meets"):
        is_first(how)
        wait_for("meets too" if how == "meets" else "meets")
    if FAILS and how == "fails":
        fail()
    if FAILS and how == "stays":
        wait_for("failing")
        time.sleep(0.5)
        print("still here", flush=True)
    x, w = (memoryview(open(p.inputs[name]["file"], "rb").read()).cast("f") for name in "xw")
    (rows, inner), columns, (a, b), (c, d) = p.inputs["x"]["shape"], p.inputs["w"]["shape"][1], p.inputs["x"]["strides"], p.inputs["w"]["strides"]
    y = [sum(x[r * a + i * b] * w[i * c + j * d] for i in range(inner)) for r in range(rows) for j in range(columns)]
    return {"y": types.SimpleNamespace(dtype="float32", device="cuda:0", shape=[rows, columns], tobytes=lambda: struct.pack("<%df" % len(y), *y))}
