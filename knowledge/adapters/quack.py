"""QuACK: norms, rotary embeddings, the choice of experts and grouped products, by CuTe's DSL."""
import torch
from cudnn_ci_runner import describe, settle  # noqa: F401
from quack.gemm_interface import gemm
from quack.rmsnorm import layernorm_fwd, rmsnorm
from quack.rotary import apply_rotary_emb
from quack.topk import topk


def layer_norm(p, how):
    return {"y": layernorm_fwd(p.torch("x"), p.torch("weight").float(), p.torch("bias").float(), p["epsilon"])}


def rms_norm(p, how):
    return {"y": rmsnorm(p.torch("x"), p.torch("weight"), eps=p["epsilon"])}


def rotary_embedding(p, how):
    cos, sin = (p.torch(name)[p.torch("positions")].to(p.torch("q").dtype) for name in ("cos", "sin"))
    return {name: apply_rotary_emb(p.torch(name)[None], cos, sin, interleaved=p["interleaved"])[0] for name in "qk"}


def expert_choice(p, how):
    weights, experts = topk(p.torch("logits").float(), p["k"], softmax=True)
    return {"experts": experts.int(), "weights": weights}


def grouped_product(p, how):
    ends = torch.nn.functional.pad(p.torch("ends"), (1, 0))
    return {"y": gemm(p.torch("x"), p.torch("w"), cu_seqlens_m=ends, tuned=False)}
