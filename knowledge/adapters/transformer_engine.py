"""Transformer Engine for PyTorch: attention by cuDNN and without fusion, norms, a gate, products in float8 and others, grouped products, experts."""
import importlib.metadata
import os

from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

os.environ["NVTE_FP8_CURRENT_SCALING_POWER_2_SCALES"] = "1"  # others would round
try:
    import torch
    import transformer_engine.pytorch as te
except (FileNotFoundError, ModuleNotFoundError) as error:
    if "torch" not in str(error) or any(str(d.metadata["Name"]).lower().replace("-", "_") == "transformer_engine_torch" for d in importlib.metadata.distributions()):
        raise
    raise Refused("its part for PyTorch: %s" % error)  # an image for JAX may lack it
from transformer_engine.common import recipe

RECIPES = {"float8, delayed scaling": recipe.DelayedScaling, "float8, current scaling": recipe.Float8CurrentScaling, "float8, blocks": recipe.Float8BlockScaling}
MASKS = {"none": ("no_mask", "padding"), "padding": ("padding", "padding"), "bias": ("no_mask", ""), "causal": ("causal", "padding_causal"),
         "sliding_window": ("causal", "padding_causal"), "causal_bottom_right": ("causal_bottom_right", "padding_causal_bottom_right")}


def attention(p, how):
    os.environ.update({"NVTE_%s_ATTN" % name.upper(): str(int(how.split()[0] == name)) for name in ("flash", "fused", "unfused")})
    # Else the backend stays that was chosen for these shapes before.
    getattr(importlib.import_module(te.DotProductAttention.__module__), "_attention_backends", {})["backend_selection_requires_update"] = True
    packed, leaves = how.endswith("packed"), [p.torch(name).detach().requires_grad_(bool(p["backward"])) for name in "qkv"]
    q, k, v = (x.transpose(1, 2) for x in leaves)
    rows, keys = (torch.tensor(p[name] or [x.shape[1]] * len(x), device=q.device) for name, x in (("q_lengths", q), ("kv_lengths", k)))
    inside, kept = (torch.arange(x.shape[1], device=q.device) < n[:, None] for x, n in ((q, rows), (k, keys)))
    begins = (torch.nn.functional.pad(n.cumsum(0), (1, 0)).int() for n in (rows, keys))
    layer = te.DotProductAttention(q.shape[2], q.shape[3], k.shape[2], attention_dropout=0.0, attention_type="cross", softmax_scale=p["scale"])
    named = dict(zip(("cu_seqlens_q", "cu_seqlens_kv"), begins), attn_mask_type=MASKS[p["mask"]][packed], window_size=(p["window"] - 1, 0) if p["window"] else None)
    if "bias" in p:
        named.update(core_attention_bias_type="post_scale_bias", core_attention_bias=p.torch("bias").expand(-1, q.shape[2], -1, -1).contiguous())
    o = layer.train(bool(p["backward"]))(*((q[inside], k[kept], v[kept]) if packed else (q, k, v)), qkv_format="thd" if packed else "bshd", **named)
    o = torch.zeros_like(q).index_put((inside,), o.view(-1, *q.shape[2:])) if packed else o.view(q.shape)
    gradients = torch.autograd.grad(o, leaves, p.torch("do").transpose(1, 2)) if p["backward"] else ()
    return dict(zip(("o", "dq", "dk", "dv"), (o.transpose(1, 2), *gradients)))


def filled(layer, p, **parameters):
    for name, value in dict(parameters, **{name: p.torch(name) for name in ("bias",) if name in p}).items():
        getattr(layer, name).data.copy_(value)
    return layer


def layer_norm(p, how):
    x, centred = p.torch("x"), int("centred" in how)
    return {"y": filled((te.LayerNorm if "bias" in p else te.RMSNorm)(x.shape[-1], eps=p["epsilon"], dtype=x.dtype, device="cuda", zero_centered_gamma=bool(centred)), p, weight=p.torch("weight") - centred)(x)}


rms_norm = layer_norm


def silu_gate(p, how):
    return {"y": te.ops.SwiGLU()(torch.cat((p.torch("x"), p.torch("gate")), -1))}


def product(p, how):
    x, w = p.torch("x"), p.torch("w")
    if "x_scale" in p:  # a power of 2
        x, w = (t.bfloat16() * p.torch(name).bfloat16() for t, name in ((x, "x_scale"), (w, "w_scale")))
    layer = filled(te.Linear(*w.shape, bias="bias" in p, params_dtype=x.dtype, device="cuda"), p, weight=w.mT)
    with (te.autocast if hasattr(te, "autocast") else te.fp8_autocast)(how in RECIPES, False, RECIPES.get(how, lambda: None)()):
        return {"y": layer(x.contiguous())}


def grouped_product(p, how):
    w, ends = p.torch("w"), p.torch("ends").tolist()
    layer = te.GroupedLinear(len(w), *w.shape[1:], bias=False, params_dtype=w.dtype, device="cuda")
    filled(layer, p, **{"weight%d" % i: one.mT for i, one in enumerate(w)})
    return {"y": layer(p.torch("x"), [end - begin for begin, end in zip([0] + ends, ends)])}


def expert_choice(p, how):
    from transformer_engine.pytorch.router import fused_topk_with_score_function
    weights, chosen = fused_topk_with_score_function(p.torch("logits").float(), p["k"], False, None, None, None, "softmax", None)
    weights, experts = weights.masked_fill(~chosen, -1).topk(p["k"])
    return {"experts": experts.int(), "weights": weights}
