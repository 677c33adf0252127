"""FlashInfer: prefill of one request, and of several with pages."""
import flashinfer
import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

PAGE = 16
MASKS = {"none": False, "padding": False, "causal_bottom_right": True, "sliding_window": True}  # whether causal


def begins(counts):
    return torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def paged(p, backend, q, k, v, mask):
    batch, length, heads, size = k.shape
    rows, keys = (torch.tensor(p[name] or [x.shape[1]] * batch) for name, x in (("q_lengths", q), ("kv_lengths", k)))
    pages, used = -(-length // PAGE), (keys + PAGE - 1) // PAGE
    # Pages lie in the other order than the keys.
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pages * PAGE - length)).reshape(-1, PAGE, heads, size).flip(0).contiguous() for x in (k, v))
    places = torch.cat([torch.arange(n) + b * pages for b, n in enumerate(used)])
    ints = (x.int().cuda() for x in (begins(rows), begins(used), batch * pages - 1 - places, (keys - 1) % PAGE + 1))
    wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(torch.zeros(1 << 27, dtype=torch.uint8, device="cuda"), "NHD", backend=backend)
    wrapper.plan(*ints, q.shape[2], heads, size, PAGE, q_data_type=q.dtype, kv_data_type=k.dtype, **mask)
    inside, o = torch.arange(q.shape[1]) < rows[:, None], torch.zeros_like(q)
    o[inside] = wrapper.run(q[inside], (k, v))
    return o


def attention(p, how):
    kind, _, backend = how.split()
    if p["mask"] not in MASKS or p["backward"] or kind == "single" and p["q_lengths"]:
        raise Refused("%s: mask %s, backward %s" % (how, p["mask"], p["backward"]))
    q, k, v = (p.torch(name).transpose(1, 2).contiguous() for name in "qkv")
    mask = {"causal": MASKS[p["mask"]], "window_left": (p["window"] or 0) - 1, "sm_scale": p["scale"]}
    if kind == "paged":
        o = paged(p, backend, q, k, v, mask)
    else:
        o = torch.stack([flashinfer.single_prefill_with_kv_cache(*x, kv_layout="NHD", backend=backend, **mask) for x in zip(q, k, v)])
    return {"o": o.transpose(1, 2)}
