"""Liger Kernel: norms, a gate and rotary embeddings, by Triton."""
import torch
from cudnn_ci_runner import describe, settle  # noqa: F401
from liger_kernel.ops.layer_norm import LigerLayerNormFunction
from liger_kernel.ops.rms_norm import LigerRMSNormFunction
from liger_kernel.ops.rope import LigerRopeFunction
from liger_kernel.ops.swiglu import LigerSiLUMulFunction


def layer_norm(p, how):
    return {"y": LigerLayerNormFunction.apply(p.torch("x"), p.torch("weight"), p.torch("bias"), p["epsilon"])}


def rms_norm(p, how):
    return {"y": LigerRMSNormFunction.apply(p.torch("x"), p.torch("weight"), p["epsilon"], 0.0, how.split()[-1], False)}


def silu_gate(p, how):
    return {"y": LigerSiLUMulFunction.apply(p.torch("x"), p.torch("gate"))}


def rotary_embedding(p, how):
    cos, sin = (torch.cat((p.torch(name),) * 2, -1)[p.torch("positions")][None].to(p.torch("q").dtype) for name in ("cos", "sin"))
    turned = LigerRopeFunction.apply(*(p.torch(name).transpose(0, 1)[None].clone() for name in "qk"), cos, sin)
    return {name: x[0].transpose(0, 1) for name, x in zip("qk", turned)}
