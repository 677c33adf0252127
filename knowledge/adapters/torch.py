"""PyTorch: attention by each backend of SDPA and by FlexAttention, products, norms, gates, rotary embeddings, experts and sampling, plain and by torch.compile."""
import os

import torch
import torch.nn.functional as F
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

BACKENDS = {"sdpa math": "MATH", "sdpa efficient": "EFFICIENT_ATTENTION", "sdpa flash": "FLASH_ATTENTION", "sdpa cudnn": "CUDNN_ATTENTION"}
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")


def flex(p, q, k, v):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    window = p["window"]
    rules = {"none": None, "causal": lambda b, h, i, j: j <= i, "sliding_window": lambda b, h, i, j: (j <= i) & (i - j < window)}
    if p["mask"] not in rules:
        raise Refused("no rule for mask " + p["mask"])
    block = rules[p["mask"]] and create_block_mask(rules[p["mask"]], None, None, q.shape[2], k.shape[2], device="cuda")
    return torch.compile(flex_attention, dynamic=False)(q, k, v, block_mask=block, scale=p["scale"], enable_gqa=q.shape[1] != k.shape[1])


def sdpa(p, how, q, k, v):
    mask = p.torch("bias") if "bias" in p else p.torch("visible") if "visible" in p and p["mask"] != "causal" else None
    with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, BACKENDS[how])):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=p["scale"], is_causal=p["mask"] == "causal", enable_gqa=q.shape[1] != k.shape[1])


def attention(p, how):
    q, k, v = (p.torch(n).detach().requires_grad_(bool(p["backward"])) for n in "qkv")
    o = flex(p, q, k, v) if how == "flex attention" else sdpa(p, how, q, k, v)
    return dict(zip(("o", "dq", "dk", "dv"), (o, *(torch.autograd.grad(o, (q, k, v), p.torch("do")) if p["backward"] else ()))))


def product(p, how):
    x, w = p.torch("x"), p.torch("w")
    if how == "scaled_mm":
        return {"y": torch._scaled_mm(x, w, scale_a=p.torch("x_scale"), scale_b=p.torch("w_scale"), out_dtype=torch.bfloat16)}
    return {"y": torch._int_mm(x, w) if how == "int_mm" else F.linear(x, w.mT, p.torch("bias")) if "bias" in p else torch.matmul(x, w)}


def turn(p, x, cos, sin, at):
    cos, sin = (t[at][:, None].to(x.dtype) for t in (cos, sin))
    part, rest = x[..., :p["rotary_size"]], x[..., p["rotary_size"]:]
    a, b = (part[..., ::2], part[..., 1::2]) if p["interleaved"] else part.chunk(2, -1)
    turned = torch.stack((a * cos - b * sin, b * cos + a * sin), -1 if p["interleaved"] else -2)
    return torch.cat((turned.flatten(-2), rest), -1)


def rotary_embedding(p, how):
    one = torch.compile(turn, dynamic=False) if how == "compile" else turn
    return {name: one({"rotary_size": p["rotary_size"], "interleaved": p["interleaved"]}, *(p.torch(n) for n in (name, "cos", "sin", "positions"))) for name in "qk"}


def grouped_product(p, how):
    return {"y": getattr(F, "grouped_mm", getattr(torch, "_grouped_mm", None))(p.torch("x"), p.torch("w"), offs=p.torch("ends"))}


def choose(logits, k):
    top, experts = torch.topk(logits.float(), k)
    return experts.int(), torch.softmax(top, -1)


def expert_choice(p, how):
    function = torch.compile(choose, dynamic=False) if how == "compile" else choose
    return dict(zip(("experts", "weights"), function(p.torch("logits"), p["k"])))


def sampling(p, how):
    if "logits" in p:
        return {"tokens": p.torch("logits").argmax(-1).int()}
    (up, order), limit = p.torch("probs").sort(-1), p.torch(list(p.inputs)[1])[:, None]
    # Top-p as vLLM has it: the least likely tokens, as far as they add up to 1 - p, are left out.
    kept = up.cumsum(-1) > 1 - limit if "top_p" in p else up >= (limit * up[:, -1:] if "min_p" in p else up.gather(-1, up.shape[-1] - limit.long()))
    left = torch.zeros_like(up).scatter(-1, order, up * kept / (up * kept).sum(-1, keepdim=True))
    return {"tokens": torch.multinomial(left, 1)[:, 0].int()} if p["draw"] else {"renormalised": left}


FUNCTIONS = {"layer_norm": lambda e, x, w, b: F.layer_norm(x, x.shape[-1:], w, b, e),
             "rms_norm": lambda e, x, w: F.rms_norm(x, x.shape[-1:], w, e), "silu_gate": lambda e, x, g: F.silu(x) * g}


def rows(p, how):
    function = FUNCTIONS[p.operation]
    return {"y": (torch.compile(function, dynamic=False) if how == "compile" else function)(p["epsilon"], *(p.torch(name) for name in p.inputs))}


layer_norm = rms_norm = silu_gate = rows
