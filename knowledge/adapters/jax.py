"""JAX: attention by XLA and by cuDNN, products, norms, gates, rotary embeddings, experts and sampling by XLA, and a gate by Pallas."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_enable_command_buffer="  # kernels in a CUDA graph bear no names
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from cudnn_ci_runner import Refused  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_default_matmul_precision", "highest")
COMPILED = {}


def describe():
    gpus = [d for d in jax.devices() if d.platform in ("gpu", "cuda")]
    return {"count": len(gpus), "name": gpus[0].device_kind if gpus else "", "built": "unknown" if gpus else "", "capability": str(getattr(gpus[0], "compute_capability", "")) if gpus else ""}


settle = lambda results: jax.block_until_ready(list(results.values()))  # noqa: E731


def compiled(p, how, function, *names):
    function = COMPILED.setdefault((p.name, how), jax.jit(function))
    return function(*(jnp.asarray(p.numpy(name)) for name in names))


def attention(p, how):
    if p["mask"] not in ("none", "causal", "padding", "sliding_window") or p.name.endswith("differ") and how == "xla":
        raise Refused("no argument for mask " + p["mask"])
    more = {"query_seq_lengths": jnp.array(p["q_lengths"], "int32"), "key_value_seq_lengths": jnp.array(p["kv_lengths"], "int32")} if p["q_lengths"] else {"local_window_size": (p["window"] - 1, 0)} if p["window"] else {}

    def attend(q, k, v):
        return jax.nn.dot_product_attention(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)), scale=p["scale"], is_causal=p["mask"] == "causal", implementation=how, **more).transpose(0, 2, 1, 3)

    both_ways = lambda q, k, v, do: (lambda o, pull_back: (o, *pull_back(do)))(*jax.vjp(attend, q, k, v))  # noqa: E731
    return dict(zip(("o", "dq", "dk", "dv"), compiled(p, how, both_ways, "q", "k", "v", "do") if p["backward"] else (compiled(p, how, attend, "q", "k", "v"),)))


def product(p, how):
    return {"y": compiled(p, how, lambda x, w, *b: sum(b, jnp.matmul(x, w, preferred_element_type=jnp.dtype(p["out_dtype"]))), "x", "w", *(["bias"] if "bias" in p else []))}


def layer_norm(p, how, mean=lambda x: x.mean(-1, keepdims=True)):
    def norm(x, w, b=0):
        wide = x.astype("float32") - mean(x.astype("float32"))
        return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + jnp.float32(p["epsilon"])) * w + b).astype(x.dtype)
    return {"y": compiled(p, how, norm, *p.inputs)}


rms_norm = lambda p, how: layer_norm(p, how, lambda x: jnp.float32(0))  # noqa: E731


def silu_gate(p, how):
    def kernel(x, g, y):
        y[...] = (x[...].astype("float32") * jax.nn.sigmoid(x[...].astype("float32")) * g[...].astype("float32")).astype(y.dtype)

    def pallas(x, g):
        from jax.experimental import pallas as pl
        block = pl.BlockSpec((8, 128), lambda i, j: (i, j))
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.shape[0] // 8, x.shape[1] // 128), in_specs=[block] * 2, out_specs=block)(x, g)
    return {"y": compiled(p, how, pallas if how == "pallas" else lambda x, g: jax.nn.silu(x.astype("float32")).astype(x.dtype) * g, "x", "gate")}


def rotary_embedding(p, how):
    def turn(x, cos, sin, at):
        cos, sin = (t[at][:, None].astype(x.dtype) for t in (cos, sin))
        part, rest = jnp.split(x, [p["rotary_size"]], -1)
        a, b = (part[..., ::2], part[..., 1::2]) if p["interleaved"] else jnp.split(part, 2, -1)
        return jnp.concatenate((jnp.stack((a * cos - b * sin, b * cos + a * sin), -1 if p["interleaved"] else -2).reshape(part.shape), rest), -1)
    return {name: compiled(p, how + name, turn, name, "cos", "sin", "positions") for name in "qk"}


def grouped_product(p, how):
    return {"y": compiled(p, how, lambda x, w, ends: jax.lax.ragged_dot(x, w, jnp.diff(ends, prepend=0)), "x", "w", "ends")}


def expert_choice(p, how):
    top, experts = compiled(p, how, lambda x: jax.lax.top_k(x.astype("float32"), p["k"]), "logits")
    return {"experts": experts.astype("int32"), "weights": jax.nn.softmax(top)}


def sampling(p, how):
    def left(x, limit):
        down = jax.lax.top_k(x, x.shape[-1])[0]
        count = limit if "top_k" in p else (jnp.cumsum(down, -1) - down < limit[:, None]).sum(-1)
        kept = jnp.where(x >= (limit[:, None] * down[:, :1] if "min_p" in p else jnp.take_along_axis(down, count[:, None] - 1, -1)), x, 0)
        return jax.random.categorical(jax.random.key(0), jnp.log(kept)).astype("int32") if p["draw"] else kept / kept.sum(-1, keepdims=True)
    return {"tokens" if p["draw"] else "renormalised": compiled(p, how, (lambda x: x.argmax(-1).astype("int32")) if "logits" in p else left, *p.inputs)}
