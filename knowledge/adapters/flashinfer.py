"""FlashInfer: attention of one request, norms and a gate."""
import flashinfer
import torch
from cudnn_ci_runner import Refused


def describe():
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {"count": count, "name": torch.cuda.get_device_name(0) if count else "", "built": str(torch.version.cuda or ""),
            "capability": "%d.%d" % torch.cuda.get_device_capability(0) if count else ""}


def settle(_):
    torch.cuda.synchronize()


def attention(p, how):
    square = p.torch("q").shape[2] == p.torch("k").shape[2]
    if p["backward"] or p["mask"] not in ("none", "causal_bottom_right", *(("causal", "sliding_window") if square else ())):
        raise Refused("no argument for mask %s, no backward pass" % p["mask"])
    q, k, v = (p.torch(n).transpose(1, 2).contiguous() for n in "qkv")
    if how == "decode":
        o = [flashinfer.single_decode_with_kv_cache(q[b, 0], k[b], v[b], sm_scale=p["scale"])[None] for b in range(q.shape[0])]
    else:
        window = p["window"] - 1 if p["window"] else -1
        o = [flashinfer.single_prefill_with_kv_cache(q[b], k[b], v[b], causal=p["mask"] != "none", sm_scale=p["scale"], window_left=window) for b in range(q.shape[0])]
    return {"o": torch.stack(o).transpose(1, 2)}


def rms_norm(p, how):
    return {"y": flashinfer.rmsnorm(p.torch("x"), p.torch("weight"), eps=p["epsilon"])}


def silu_gate(p, how):
    return {"y": flashinfer.silu_and_mul(torch.cat((p.torch("x"), p.torch("gate")), -1))}
