"""vLLM's own operations: norms, a gate, rotary embeddings, experts, scaled products, and attention over pages as it calls FlashAttention."""
import importlib
import importlib.util
import pathlib
import sys
import types

import torch
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

# Its libraries alone: the package itself imports all that a server needs.
FOLDER = pathlib.Path(importlib.util.find_spec("vllm").submodule_search_locations[0])
for pattern in ("_C.*so", "_C_stable*so", "_moe_C*so"):
    for file in FOLDER.glob(pattern):
        torch.ops.load_library(str(file))
OPS, EXPERTS, PAGE, NAN = torch.ops._C, torch.ops._moe_C, 16, float("nan")


def rms_norm(p, how):
    x, weight = p.torch("x"), p.torch("weight")
    if how == "norm with a residual":
        y = x - 1
        OPS.fused_add_rms_norm(y, torch.ones_like(x), weight, p["epsilon"])
    else:
        y = torch.full_like(x, NAN)
        OPS.rms_norm(y, x, weight, p["epsilon"])
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
    weights, experts, places = (torch.full((len(logits), p["k"]), -1, dtype=dtype, device=logits.device) for dtype in (torch.float32, torch.int32, torch.int32))
    more = len(EXPERTS.topk_softmax.default._schema.arguments) - 5  # releases differ by what may be left out
    EXPERTS.topk_softmax(weights, experts, places, logits, True, *[None] * more)
    return {"experts": experts, "weights": weights}


def product(p, how):
    x, w = p.torch("x"), p.torch("w")
    y = torch.full((len(x), w.shape[1]), NAN, dtype=getattr(torch, p["out_dtype"]), device=x.device)
    OPS.cutlass_scaled_mm(y, x, w, p.torch("x_scale"), p.torch("w_scale"), None)
    return {"y": y}


def attention(p, how):
    q, k, v = (p.torch(name).transpose(1, 2).contiguous() for name in "qkv")
    if p["mask"] not in ("none", "causal_bottom_right", "sliding_window", "padding") or p["backward"]:
        raise Refused("mask %s, backward %s" % (p["mask"], p["backward"]))
    package = sys.modules.setdefault("vllm_flash_attn_alone", types.ModuleType("vllm_flash_attn_alone"))
    package.__path__ = [str(FOLDER / "vllm_flash_attn")]
    call = importlib.import_module("vllm_flash_attn_alone.flash_attn_interface").flash_attn_varlen_func
    rows, keys = (torch.tensor(p[name] or [x.shape[1]] * len(x)) for name, x in (("q_lengths", q), ("kv_lengths", k)))
    inside, pages, o = torch.arange(q.shape[1]) < rows[:, None], -(-k.shape[1] // PAGE), torch.zeros_like(q)
    # Pages lie in the other order than the keys.
    table = torch.arange(len(k) * pages, dtype=torch.int32).flip(0).view(len(k), pages)
    k, v = (torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pages * PAGE - x.shape[1])).reshape(-1, PAGE, *x.shape[2:]).flip(0).contiguous() for x in (k, v))
    begins = torch.nn.functional.pad(rows.cumsum(0), (1, 0))
    begins, keys, table = (x.int().to(q.device) for x in (begins, keys, table))
    o[inside] = call(q[inside], k, v, int(rows.max()), begins, int(keys.max()), seqused_k=keys, block_table=table, softmax_scale=p["scale"], causal=p["mask"] in ("causal_bottom_right", "sliding_window"),
                     window_size=[p["window"] - 1, 0] if p["window"] else None, fa_version=3 if torch.cuda.get_device_capability()[0] == 9 else 2)
    return {"o": o.transpose(1, 2)}
