"""FlashInfer: norms, a gate, rotary embeddings, sampling, and decoding and prefill with and without pages."""
import flashinfer
import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

PAGE = 16


def layer_norm(p, how):
    return {"y": flashinfer.norm.layernorm(p.torch("x"), p.torch("weight").float(), p.torch("bias").float(), p["epsilon"])}


def rms_norm(p, how):
    return {"y": flashinfer.rmsnorm(p.torch("x"), p.torch("weight"), eps=p["epsilon"])}


def silu_gate(p, how):
    return {"y": flashinfer.silu_and_mul(torch.cat((p.torch("x"), p.torch("gate")), -1))}


def rotary_embedding(p, how):
    q, k = p.torch("q"), p.torch("k")
    turned = [x.reshape(len(x), -1).clone() for x in (q, k)]
    flashinfer.rope.apply_rope_with_cos_sin_cache_inplace(p.torch("positions"), *turned, q.shape[-1], torch.cat((p.torch("cos"), p.torch("sin")), -1), is_neox=not p["interleaved"])
    return {"q": turned[0].view(q.shape), "k": turned[1].view(k.shape)}


def sampling(p, how):
    limit, verb = list(p.inputs)[-1], "sampling_from" if p["draw"] else "renorm"
    if limit == "logits" or limit == "min_p" and not p["draw"]:
        raise Refused("no function for %s alone" % limit)
    result = getattr(flashinfer.sampling, "%s_%s_probs" % (limit, verb))(p.torch("probs"), p.torch(limit))
    return {"tokens" if p["draw"] else "renormalised": result}


def paged(p, how, q, k, v, mask):
    batch, length, heads, size = k.shape
    rows, keys = (torch.tensor(p[name] or [x.shape[1]] * batch) for name, x in (("q_lengths", q), ("kv_lengths", k)))
    pages, used = -(-length // PAGE), (keys + PAGE - 1) // PAGE
    # Pages lie in the other order than the keys.
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pages * PAGE - length)).reshape(-1, PAGE, heads, size).flip(0).contiguous() for x in (k, v))
    places = torch.cat([torch.arange(n) + b * pages for b, n in enumerate(used)])
    begins = [torch.nn.functional.pad(x.cumsum(0), (1, 0)) for x in (rows, used)]
    ints = [x.int().cuda() for x in (*begins, batch * pages - 1 - places, (keys - 1) % PAGE + 1)]
    space, more = torch.zeros(1 << 27, dtype=torch.uint8, device="cuda"), {"q_data_type": q.dtype, "kv_data_type": k.dtype, "sm_scale": p["scale"]}
    if how == "paged decode":
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(space, "NHD", backend="fa2")
        wrapper.plan(*ints[1:], q.shape[2], heads, size, PAGE, **more)
        return wrapper.run(q[:, 0].contiguous(), (k, v))[:, None]
    wrapper, o = flashinfer.BatchPrefillWithPagedKVCacheWrapper(space, "NHD", backend=how.split()[-1]), torch.zeros_like(q)
    wrapper.plan(*ints, q.shape[2], heads, size, PAGE, **mask, **more)
    inside = torch.arange(q.shape[1]) < rows[:, None]
    o[inside] = wrapper.run(q[inside], (k, v))
    return o


def attention(p, how):
    q, k, v = (p.torch(name).transpose(1, 2).contiguous() for name in "qkv")
    masks = ("none",) if "decode" in how else ("none", "causal_bottom_right", "sliding_window") + ("padding",) * ("paged" in how)
    if p["mask"] not in masks or p["backward"] or "decode" in how and q.shape[1] != 1:
        raise Refused("%s: mask %s, %d queries" % (how, p["mask"], q.shape[1]))
    mask = {"causal": p["mask"] in masks[1:3], "window_left": (p["window"] or 0) - 1}
    if "paged" in how:
        o = paged(p, how, q, k, v, mask)
    elif how == "single decode":
        o = torch.stack([flashinfer.single_decode_with_kv_cache(x[0], y, z, "NHD", sm_scale=p["scale"]) for x, y, z in zip(q, k, v)])[:, None]
    else:
        o = torch.stack([flashinfer.single_prefill_with_kv_cache(*x, kv_layout="NHD", sm_scale=p["scale"], backend=how.split()[-1], **mask) for x in zip(q, k, v)])
    return {"o": o.transpose(1, 2)}
