"""FlashAttention 4, of CuTe."""
import torch
from cudnn_ci_runner import Refused
from flash_attn.cute import flash_attn_func


def describe():
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {"count": count, "name": torch.cuda.get_device_name(0) if count else "", "built": str(torch.version.cuda or ""),
            "capability": "%d.%d" % torch.cuda.get_device_capability(0) if count else ""}


def settle(_):
    torch.cuda.synchronize()


def forward(p, how, q, k, v):
    masks = {"none": {}, "causal_bottom_right": {"causal": True}, "sliding_window": {"causal": True, "window_size": (p["window"] and p["window"] - 1, 0)}}
    masks["causal"] = masks["causal_bottom_right"] if q.shape[1] == k.shape[1] else None
    if masks.get(p["mask"]) is None:
        raise Refused("no argument for mask " + p["mask"])
    o = flash_attn_func(q, k, v, softmax_scale=p["scale"], **masks[p["mask"]])
    return o[0] if isinstance(o, tuple) else o


def attention(p, how):
    q, k, v = (p.torch(n).detach().transpose(1, 2).requires_grad_(bool(p["backward"])) for n in "qkv")
    o = forward(p, how, q, k, v)
    gradients = torch.autograd.grad(o, (q, k, v), p.torch("do").transpose(1, 2)) if p["backward"] else ()
    return {name: x.transpose(1, 2) for name, x in zip(("o", "dq", "dk", "dv"), (o, *gradients))}
