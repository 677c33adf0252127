"""Liger Kernel: norms and a gate, by Triton."""
from cudnn_ci_runner import describe, settle  # noqa: F401
from liger_kernel.ops.layer_norm import LigerLayerNormFunction
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction


def layer_norm(p, how):
    return {"y": LigerLayerNormFunction.apply(p.torch("x"), p.torch("weight"), p.torch("bias"), p["epsilon"])}


def rms_norm(p, how):
    return {"y": LigerRMSNormFunction.apply(p.torch("x"), p.torch("weight"), p["epsilon"], 0.0, how.split()[-1], False)}


def silu_gate(p, how):
    return {"y": LigerSiLUMulFunction.apply(p.torch("x"), p.torch("gate"))}
