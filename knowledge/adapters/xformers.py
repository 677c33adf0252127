"""xFormers: memory-efficient attention by each of its operators."""
import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401
from xformers import ops
from xformers.ops import fmha

OPERATORS = {"cutlass": fmha.MemoryEfficientAttentionCutlassOp, "flash": fmha.MemoryEfficientAttentionFlashAttentionOp, "triton": (fmha.triton_splitk.FwOp, None)}
MASKS = {"none": lambda p: None, "causal": lambda p: fmha.attn_bias.LowerTriangularMask(), "bias": lambda p: p.torch("bias").expand(-1, p.torch("q").shape[1], -1, -1),
         "causal_bottom_right": lambda p: fmha.attn_bias.LowerTriangularFromBottomRightMask(),
         "sliding_window": lambda p: fmha.attn_bias.LocalAttentionFromBottomRightMask(window_left=p["window"] - 1, window_right=0)}


def forward(p, how, q, k, v):
    if p["mask"] not in MASKS or q.shape[2] != k.shape[2] and p["backward"]:
        raise Refused("no argument for mask %s with %d and %d heads" % (p["mask"], q.shape[2], k.shape[2]))
    shape, heads = q.shape, k.shape[2]
    if shape[2] != heads:  # groups are a separate axis
        q = q.reshape(*shape[:2], heads, shape[2] // heads, shape[3])
        k, v = (x[:, :, :, None].expand(*x.shape[:3], shape[2] // heads, x.shape[3]) for x in (k, v))
    return ops.memory_efficient_attention(q, k, v, attn_bias=MASKS[p["mask"]](p), scale=p["scale"], op=OPERATORS[how]).reshape(shape)


def attention(p, how):
    q, k, v = (p.torch(n).detach().transpose(1, 2).requires_grad_(bool(p["backward"])) for n in "qkv")
    o = forward(p, how, q, k, v)
    gradients = torch.autograd.grad(o, (q, k, v), p.torch("do").transpose(1, 2)) if p["backward"] else ()
    return {name: x.transpose(1, 2) for name, x in zip(("o", "dq", "dk", "dv"), (o, *gradients))}
