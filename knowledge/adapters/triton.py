"""Triton by itself: a product, norms and a gate, compiled by the image's Triton and launched on tensors of PyTorch."""
from cudnn_ci_runner import Refused, describe, settle  # noqa: F401

try:
    import torch
except ImportError as error:
    raise Refused("PyTorch, whose tensors it is launched on: %s" % error)
import triton
import triton.language as tl


@triton.jit
def product_kernel(x, w, y, n, m, k, xn, xk, wk, wm, size: tl.constexpr):
    rows, columns = tl.program_id(0) * size + tl.arange(0, size), tl.program_id(1) * size + tl.arange(0, size)
    total = tl.zeros((size, size), tl.float32)
    for start in range(0, k, size):
        inner = start + tl.arange(0, size)
        a = tl.load(x + rows[:, None] * xn + inner[None, :] * xk, (rows[:, None] < n) & (inner[None, :] < k), 0.0)
        b = tl.load(w + inner[:, None] * wk + columns[None, :] * wm, (inner[:, None] < k) & (columns[None, :] < m), 0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(y + rows[:, None] * m + columns[None, :], total.to(y.dtype.element_ty), (rows[:, None] < n) & (columns[None, :] < m))


@triton.jit
def norm_kernel(x, w, b, y, columns, epsilon, with_mean: tl.constexpr, size: tl.constexpr):
    at, row = tl.arange(0, size), tl.program_id(0) * columns
    value = tl.load(x + row + at, at < columns, 0.0).to(tl.float32)
    if with_mean:
        value = tl.where(at < columns, value - tl.sum(value) / columns, 0.0)
    value = value * tl.rsqrt(tl.sum(value * value) / columns + epsilon) * tl.load(w + at, at < columns, 0.0)
    if with_mean:
        value += tl.load(b + at, at < columns, 0.0)
    tl.store(y + row + at, value.to(y.dtype.element_ty), at < columns)


def product(p, how):
    x, w = p.torch("x"), p.torch("w")
    y = torch.empty((x.shape[0], w.shape[1]), dtype=x.dtype, device="cuda")
    product_kernel[(triton.cdiv(x.shape[0], 32), triton.cdiv(w.shape[1], 32))](x, w, y, x.shape[0], w.shape[1], x.shape[1], *x.stride(), *w.stride(), 32)
    return {"y": y}


def norm(p, how):
    x, w, y = p.torch("x"), p.torch("weight"), torch.empty_like(p.torch("x"))
    norm_kernel[(x.shape[0],)](x, w, p.torch("bias") if "bias" in p else w, y, x.shape[1], p["epsilon"], "bias" in p, triton.next_power_of_2(x.shape[1]))
    return {"y": y}


layer_norm = rms_norm = norm
