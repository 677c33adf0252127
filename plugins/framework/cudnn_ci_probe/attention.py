"""Attention, forward and backward, by each implementation that a framework has for these tensors."""
from .answer import clip

# PyTorch's name of a backend, and its function that says whether the backend takes the tensors.
TORCH_BACKENDS = {"math": ("MATH", None), "efficient": ("EFFICIENT_ATTENTION", "can_use_efficient_attention"),
                  "flash": ("FLASH_ATTENTION", "can_use_flash_attention"), "cudnn": ("CUDNN_ATTENTION", "can_use_cudnn_attention")}
# JAX takes cuDNN's from this compute capability on.
LEAST_CAPABILITY = 8.0


def torch_takes(framework, chooser, tensors):
    if chooser is None:
        return True
    cuda = framework.backends.cuda
    if not hasattr(cuda, chooser) or not hasattr(cuda, "SDPAParams"):
        return False
    arguments = (*tensors, None, 0.0, False)
    try:
        return getattr(cuda, chooser)(cuda.SDPAParams(*arguments, False))
    except TypeError:  # a release whose backends know no groups of heads
        return getattr(cuda, chooser)(cuda.SDPAParams(*arguments))


def torch(framework, p, answer):
    import importlib
    try:
        attention = importlib.import_module("torch.nn.attention")
    except ImportError:  # before 2.3
        return
    q, k, v = (framework.tensor(p[n], dtype=framework.bfloat16, device="cuda").reshape(p[n + "_shape"]).requires_grad_() for n in ("q", "k", "v"))
    gradient = framework.tensor(p["do"], dtype=framework.bfloat16, device="cuda").reshape(p["q_shape"])
    for mode, (name, chooser) in TORCH_BACKENDS.items():
        backend = getattr(attention.SDPBackend, name, None)
        if backend is None:
            continue
        answer.step("attention, " + mode)
        with attention.sdpa_kernel(backend):
            if not torch_takes(framework, chooser, (q, k, v)):
                continue
            o = framework.nn.functional.scaled_dot_product_attention(q, k, v, scale=1.0)
            dq, dk, dv = framework.autograd.grad(o, (q, k, v), gradient)
        framework.cuda.synchronize()
        arrays = {"o": o.detach(), "dq": dq, "dk": dk, "dv": dv}
        answer.result("attention, " + mode, **{name: array.float().cpu() for name, array in arrays.items()})


def jax(framework, device, p, answer):
    numpy = framework.numpy
    # With one head the axes of length and heads may change places.
    shapes = {n: [p[n + "_shape"][axis] for axis in (0, 2, 1, 3)] for n in "qkv"}
    if not hasattr(framework.nn, "dot_product_attention") or float(getattr(device, "compute_capability", 0)) < LEAST_CAPABILITY:
        return
    q, k, v = (numpy.array(p[n], dtype="bfloat16").reshape(shapes[n]) for n in "qkv")
    gradient = numpy.array(p["do"], dtype="bfloat16").reshape(shapes["q"])

    def attend(q, k, v):
        return framework.nn.dot_product_attention(q, k, v, scale=1.0, implementation="cudnn")

    def both_ways(q, k, v, gradient):
        o, pull_back = framework.vjp(attend, q, k, v)
        return (o,) + tuple(pull_back(gradient))

    answer.step("attention, cudnn")
    try:
        arrays = framework.jit(both_ways).lower(q, k, v, gradient).compile()(q, k, v, gradient)
    except Exception as error:
        # JAX itself refuses, before anything runs, what it knows that this cuDNN lacks. Anything else is a failure.
        if type(error) not in (NotImplementedError, ValueError, TypeError, RuntimeError):
            raise
        answer.say("refused", clip("attention, cudnn: %s" % error))
        return
    answer.result("attention, cudnn", **{name: array.astype("float32") for name, array in zip(("o", "dq", "dk", "dv"), arrays)})
