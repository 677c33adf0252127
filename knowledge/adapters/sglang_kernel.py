"""SGLang's own kernels: norms, a gate, rotary embeddings, experts, scaled products, sampling, and attention over pages as it calls FlashAttention 3."""
import sgl_kernel  # noqa: F401
import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

# Its Python functions call FlashInfer's in their place where that is installed.
OPS, PAGE, NAN = torch.ops.sgl_kernel, 16, float("nan")


def rms_norm(p, how):
    x, weight = p.torch("x"), p.torch("weight")
    y, launch_early = torch.full_like(x, NAN), torch.cuda.get_device_capability()[0] >= 9
    if how == "norm with a residual":
        y = x - 1
        OPS.fused_add_rmsnorm(y, torch.ones_like(x), weight, p["epsilon"], launch_early)
    elif how == "norm of gemma":
        OPS.gemma_rmsnorm(y, x, weight - 1, p["epsilon"], launch_early)
    else:
        OPS.rmsnorm(y, x, weight, p["epsilon"], launch_early)
    return {"y": y}


def silu_gate(p, how):
    y = torch.full_like(p.torch("x"), NAN)
    OPS.silu_and_mul(y, torch.cat((p.torch("x"), p.torch("gate")), -1))
    return {"y": y}


def rotary_embedding(p, how):
    q, k = p.torch("q").clone(), p.torch("k").clone()
    OPS.rotary_embedding(p.torch("positions").long(), q, k, q.shape[-1], torch.cat((p.torch("cos"), p.torch("sin")), -1).to(q.dtype), not p["interleaved"])
    return {"q": q, "k": k}


def expert_choice(p, how):
    logits = p.torch("logits")
    weights, experts = (torch.full((len(logits), p["k"]), -1, dtype=dtype, device=logits.device) for dtype in (torch.float32, torch.int32))
    OPS.topk_softmax(weights, experts, logits, True, 0.0, None)
    return {"experts": experts, "weights": weights}


def product(p, how):
    x, w = p.torch("x"), p.torch("w")
    scales = p.torch("x_scale").flatten().expand(len(x)).contiguous(), p.torch("w_scale").flatten().expand(w.shape[1]).contiguous()
    return {"y": (OPS.int8_scaled_mm if x.dtype == torch.int8 else OPS.fp8_scaled_mm)(x, w, *scales, getattr(torch, p["out_dtype"]), None)}


def sampling(p, how):
    limit, probs = list(p.inputs)[-1], p.torch("probs")
    left = torch.full_like(probs, NAN)
    getattr(OPS, limit + "_renorm_probs")(probs, left, p.torch(limit), 0)
    return {"renormalised": left}


def attention(p, how):
    from sgl_kernel.flash_attn import flash_attn_with_kvcache
    q, k, v = (p.torch(name).transpose(1, 2).contiguous() for name in "qkv")
    if p["mask"] not in ("none", "causal_bottom_right", "sliding_window", "padding") or p["backward"]:
        raise Refused("mask %s, backward %s" % (p["mask"], p["backward"]))
    rows, keys = (torch.tensor(p[name] or [x.shape[1]] * len(x)) for name, x in (("q_lengths", q), ("kv_lengths", k)))
    inside, pages, o = torch.arange(q.shape[1]) < rows[:, None], -(-k.shape[1] // PAGE), torch.zeros_like(q)
    # Pages lie in the other order than the keys.
    table = torch.arange(len(k) * pages).flip(0).view(len(k), pages)
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pages * PAGE - x.shape[1])).reshape(-1, PAGE, *x.shape[2:]).flip(0).contiguous() for x in (k, v))
    begins, keys, table = (x.int().to(q.device) for x in (torch.nn.functional.pad(rows.cumsum(0), (1, 0)), keys, table))
    o[inside] = flash_attn_with_kvcache(q[inside], k, v, page_table=table, cache_seqlens=keys, cu_seqlens_q=begins, max_seqlen_q=int(rows.max()), softmax_scale=p["scale"],
                                        causal=p["mask"] in ("causal_bottom_right", "sliding_window"), window_size=(p["window"] - 1, 0) if p["window"] else (-1, -1))
    return {"o": o.transpose(1, 2)}
