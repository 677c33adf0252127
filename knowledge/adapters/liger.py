"""Liger Kernel: norms and a gate, by Triton."""
import torch
from liger_kernel.ops.layer_norm import LigerLayerNormFunction
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction


def describe():
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {"count": count, "name": torch.cuda.get_device_name(0) if count else "", "built": str(torch.version.cuda or ""),
            "capability": "%d.%d" % torch.cuda.get_device_capability(0) if count else ""}


def settle(_):
    torch.cuda.synchronize()


def layer_norm(p, how):
    return {"y": LigerLayerNormFunction.apply(p.torch("x"), p.torch("weight"), p.torch("bias"), p["epsilon"])}


def rms_norm(p, how):
    return {"y": LigerRMSNormFunction.apply(p.torch("x"), p.torch("weight"), p["epsilon"], 0.0, how.split()[-1], False)}


def silu_gate(p, how):
    return {"y": LigerSiLUMulFunction.apply(p.torch("x"), p.torch("gate"))}
