"""FlashInfer: norms and a gate."""
import flashinfer
import torch
from cudnn_ci_runner import describe, settle  # noqa: F401


def layer_norm(p, how):
    return {"y": flashinfer.norm.layernorm(p.torch("x"), p.torch("weight").float(), p.torch("bias").float(), p["epsilon"])}


def rms_norm(p, how):
    return {"y": flashinfer.rmsnorm(p.torch("x"), p.torch("weight"), eps=p["epsilon"])}


def silu_gate(p, how):
    return {"y": flashinfer.silu_and_mul(torch.cat((p.torch("x"), p.torch("gate")), -1))}
