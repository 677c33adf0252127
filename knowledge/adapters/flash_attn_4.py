"""FlashAttention 4, which is of CuTe's DSL."""
import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401
from flash_attn.cute import flash_attn_func, flash_attn_varlen_func

CAUSAL = {"causal": True}


def starts(lengths):
    return torch.tensor([0, *lengths], dtype=torch.int32).cumsum(0, dtype=torch.int32).cuda()


def of_lengths(p, q, k, v):
    queries, keys = p["q_lengths"], p["kv_lengths"]
    packed = (torch.cat([x[b, :n] for b, n in enumerate(lengths)]) for x, lengths in ((q, queries), (k, keys), (v, keys)))
    o = flash_attn_varlen_func(*packed, cu_seqlens_q=starts(queries), cu_seqlens_k=starts(keys), max_seqlen_q=max(queries), max_seqlen_k=max(keys), softmax_scale=p["scale"])
    o = o[0] if isinstance(o, tuple) else o
    return torch.stack([torch.nn.functional.pad(x, (0, 0, 0, 0, 0, q.shape[1] - len(x))) for x in o.split(list(queries))])


def forward(p, q, k, v):
    square = q.shape[1] == k.shape[1]
    masks = {"none": {}, "causal_bottom_right": CAUSAL, **({"causal": CAUSAL, "sliding_window": {**CAUSAL, "window_size": ((p["window"] or 1) - 1, 0)}} if square else {})}
    if p["mask"] == "padding":
        return of_lengths(p, q, k, v)
    if p["mask"] not in masks:
        raise Refused("no argument for mask " + p["mask"])
    o = flash_attn_func(q, k, v, softmax_scale=p["scale"], **masks[p["mask"]])
    return o[0] if isinstance(o, tuple) else o


def attention(p, how):
    q, k, v = (p.torch(name).detach().transpose(1, 2).requires_grad_(bool(p["backward"])) for name in "qkv")
    o = forward(p, q, k, v)
    gradients = torch.autograd.grad(o, (q, k, v), p.torch("do").transpose(1, 2)) if p["backward"] else ()
    return {name: x.transpose(1, 2) for name, x in zip(("o", "dq", "dk", "dv"), (o, *gradients))}
