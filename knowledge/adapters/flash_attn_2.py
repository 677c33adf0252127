"""FlashAttention 2: of batches, of packed sequences, and over the pages of a cache."""
import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401
from flash_attn import flash_attn_func, flash_attn_varlen_func, flash_attn_with_kvcache

PAGE = 256  # a page's length is a multiple of it


def arguments(p, q, k):
    # A mask lies at the bottom right, where a square has it too.
    if p["mask"] not in ("none", "padding", "causal_bottom_right") and (p["mask"] not in ("causal", "sliding_window") or q.shape[1] != k.shape[1]):
        raise Refused("no argument for mask %s with %d queries and %d keys" % (p["mask"], q.shape[1], k.shape[1]))
    return {"softmax_scale": p["scale"], "causal": p["mask"] not in ("none", "padding"), "window_size": (p["window"] - 1, 0) if p["window"] else (-1, -1)}


def lengths_of(p, name, x):
    return torch.tensor(p[name] or [x.shape[1]] * len(x))


def dense(p, q, k, v, how):
    if p["mask"] == "padding":
        raise Refused("it takes no lengths")
    return flash_attn_func(q, k, v, **how)


def packed(p, q, k, v, how):
    rows, keys = lengths_of(p, "q_lengths", q), lengths_of(p, "kv_lengths", k)
    inside, seen = ((torch.arange(x.shape[1]) < lengths[:, None]).to(q.device) for x, lengths in ((q, rows), (k, keys)))
    begins = (torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).int().to(q.device) for lengths in (rows, keys))
    o = torch.zeros_like(q)
    o[inside] = flash_attn_varlen_func(q[inside], k[seen], v[seen], *begins, int(rows.max()), int(keys.max()), **how)
    return o


def paged(p, q, k, v, how):
    if p["backward"]:
        raise Refused("it has no backward pass")
    # Pages lie in the other order than the keys.
    pages = -(-k.shape[1] // PAGE)
    table = torch.arange(len(k) * pages).flip(0).view(len(k), pages).int().to(q.device)
    cache = (torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pages * PAGE - x.shape[1])).reshape(-1, PAGE, *x.shape[2:]).flip(0) for x in (k, v))
    return flash_attn_with_kvcache(q, *cache, cache_seqlens=lengths_of(p, "kv_lengths", k).int().to(q.device), block_table=table, **how)


CALLS = {"flash_attn_func": dense, "flash_attn_varlen_func": packed, "flash_attn_with_kvcache": paged}


def attention(p, how):
    q, k, v = (p.torch(name).detach().transpose(1, 2).requires_grad_(bool(p["backward"])) for name in "qkv")
    o = CALLS[how](p, q, k, v, arguments(p, q, k))
    gradients = torch.autograd.grad(o, (q, k, v), p.torch("do").transpose(1, 2)) if p["backward"] else ()
    return {name: x.transpose(1, 2) for name, x in zip(("o", "dq", "dk", "dv"), (o, *gradients))}
