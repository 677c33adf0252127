"""ONNX Runtime: models of one operation, which are written here, by its CUDA provider alone."""
import ctypes

import numpy
import onnxruntime
from cudnn_ci_onnx import model
from cudnn_ci_runner import Refused

onnxruntime.preload_dlls()
CUDA, SESSIONS = ctypes.CDLL("libcuda.so.1"), {}
BACKENDS = {"attention flash": "1", "attention efficient": "2", "attention cudnn": "8", "attention math": "16"}  # sdpa_kernel
NORMS = {"layer_norm": "LayerNormalization", "rms_norm": "SimplifiedLayerNormalization"}


def describe():
    count, major, minor, name = *(ctypes.c_int() for _ in range(3)), ctypes.create_string_buffer(100)
    usable = "CUDAExecutionProvider" in onnxruntime.get_available_providers() and CUDA.cuInit(0) == CUDA.cuDeviceGetCount(ctypes.byref(count)) == 0
    CUDA.cuDeviceGetName(name, len(name), 0), CUDA.cuDeviceGetAttribute(ctypes.byref(major), 75, 0), CUDA.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0)
    return {"count": count.value if usable else 0, "name": name.value.decode("ascii", "replace"), "built": str(getattr(onnxruntime, "cuda_version", "") or ""), "capability": "%d.%d" % (major.value, minor.value)}


def settle(_):
    if CUDA.cuCtxSynchronize() not in (0, 201):  # 201: it used no GPU yet
        raise RuntimeError("the GPU cannot be waited for")


class Array:
    def __init__(self, value, turn):
        host = turn(value.numpy())
        self.device, self.dtype, self.shape, self.tobytes = value.device_name(), host.dtype, host.shape, host.tobytes


def run(p, how, nodes, inputs, out, turn=lambda y: y):
    if (p.name, how) not in SESSIONS:
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        SESSIONS[p.name, how] = onnxruntime.InferenceSession(model(nodes, {name: x.dtype for name, x in inputs.items()}, {"y": out}), options, providers=[("CUDAExecutionProvider", {"use_tf32": "0", "sdpa_kernel": BACKENDS.get(how, "0")})])
    binding = SESSIONS[p.name, how].io_binding()
    for name, x in inputs.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ascontiguousarray(x), *(["cuda", 0] if x.ndim else [])))
    binding.bind_output("y", "cuda", 0)
    SESSIONS[p.name, how].run_with_iobinding(binding)
    return Array(binding.get_outputs()[0], turn)


def attention(p, how):
    q, k, v = (p.numpy(name).transpose(0, 2, 1, 3) for name in "qkv")
    def flat(x):
        return x.reshape(*x.shape[:2], -1)
    attributes, past, s = {"num_heads": q.shape[2], "scale": p["scale"]}, k.shape[1] - q.shape[1], q.shape[1]
    if p["backward"] or p["mask"] not in ("none", "bias", "padding"):
        raise Refused("no operator for mask %s, no gradients" % p["mask"])
    if q.shape[2] != k.shape[2]:  # the last keys are those of the queries
        inputs = {"q": flat(q), "k": flat(k[:, past:]), "v": flat(v[:, past:]), "past_k": k[:, :past].transpose(0, 2, 1, 3), "past_v": v[:, :past].transpose(0, 2, 1, 3),
                  "last": numpy.full(len(q), k.shape[1] - 1, "int32"), "total": numpy.array(k.shape[1], "int32")}
        node = ("com.microsoft", "GroupQueryAttention", list(inputs), ["y", "all_k", "all_v"], {**attributes, "kv_num_heads": k.shape[2]})
    else:
        inputs = {"q": flat(q), "k": flat(k), "v": flat(v), **({"bias": p.numpy("bias")} if "bias" in p else {}),
                  **({"lengths": numpy.array(p["kv_lengths"], "int32")} if p["kv_lengths"] else {})}
        node = ("com.microsoft", "MultiHeadAttention", ["q", "k", "v", "", "lengths" if p["kv_lengths"] else "", "bias" if "bias" in p else ""], ["y"], attributes)
    return {"o": run(p, how, [node], inputs, q.dtype, lambda y: y.reshape(q.shape).transpose(0, 2, 1, 3))}


def product(p, how):
    x, w = p.numpy("x"), p.numpy("w")
    return {"y": run(p, how, [("", "MatMulInteger" if how == "int8" else "MatMul", ["x", "w"], ["y"], {})], {"x": x, "w": w}, p["out_dtype"])}


def rows(p, how):
    node = ("", NORMS[p.operation], list(p.inputs), ["y"], {"epsilon": p["epsilon"]})
    return {"y": run(p, how, [node], {name: p.numpy(name) for name in p.inputs}, p.numpy("x").dtype)}


layer_norm = rms_norm = rows
