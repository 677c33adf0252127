"""CuPy: products by cuBLAS, norms by its reductions, gates by kernels that NVRTC compiles."""
import cupy

RSQRT = cupy.ElementwiseKernel("float32 x", "float32 y", "y = rsqrtf(x)", "cudnn_ci_rsqrt")
GATE = cupy.ElementwiseKernel("T x, T g", "T y", "float a = x; y = (T)(a / (1.0f + expf(-a)) * (float)g)", "cudnn_ci_gate")


def describe():
    count = cupy.cuda.runtime.getDeviceCount()
    properties = cupy.cuda.runtime.getDeviceProperties(0) if count else {}
    return {"count": count, "name": properties.get("name", b"").decode(), "built": str(cupy.cuda.runtime.runtimeGetVersion()),
            "capability": "%d.%d" % (properties["major"], properties["minor"]) if count else ""}


def settle(_):
    cupy.cuda.runtime.deviceSynchronize()


def take(p, name):
    return cupy.asarray(p.numpy(name))


def product(p, how):
    return {"y": cupy.matmul(take(p, "x"), take(p, "w"))}


def layer_norm(p, how, with_mean=True):
    x, weight = take(p, "x").astype("float32"), take(p, "weight").astype("float32")
    x = x - x.mean(-1, keepdims=True) if with_mean else x
    y = x * RSQRT((x * x).mean(-1, keepdims=True) + cupy.float32(p["epsilon"])) * weight
    return {"y": (y + take(p, "bias") if with_mean else y).astype(take(p, "weight").dtype)}


def rms_norm(p, how):
    return layer_norm(p, how, False)


def silu_gate(p, how):
    return {"y": GATE(take(p, "x"), take(p, "gate"))}
