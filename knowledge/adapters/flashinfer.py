"""FlashInfer: norms, a gate, rotary embeddings, sampling, and decoding with and without pages."""
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


def paged(p, q, k, v):
    batch, length, heads, size = k.shape
    pages = -(-length // PAGE)
    # Pages lie in the other order than the keys.
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pages * PAGE - length)).reshape(-1, PAGE, heads, size).flip(0).contiguous() for x in (k, v))
    ints = {"dtype": torch.int32, "device": "cuda"}
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(torch.zeros(1 << 27, dtype=torch.uint8, device="cuda"), "NHD", backend="fa2")
    wrapper.plan(torch.arange(batch + 1, **ints) * pages, torch.arange(batch * pages, **ints).flip(0), torch.full((batch,), (length - 1) % PAGE + 1, **ints),
                 q.shape[1], heads, size, PAGE, q_data_type=q.dtype, kv_data_type=k.dtype, sm_scale=p["scale"])
    return wrapper.run(q, (k, v))


def attention(p, how):
    q, k, v = (p.torch(name).transpose(1, 2) for name in "qkv")
    if p["mask"] != "none" or p["backward"] or q.shape[1] != 1:
        raise Refused("no decoding: mask %s, %d queries" % (p["mask"], q.shape[1]))
    q, k, v = q[:, 0].contiguous(), k.contiguous(), v.contiguous()
    o = paged(p, q, k, v) if how == "paged decode" else torch.stack([flashinfer.single_decode_with_kv_cache(*x, "NHD", sm_scale=p["scale"]) for x in zip(q, k, v)])
    return {"o": o[:, :, None]}
