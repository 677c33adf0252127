"""A PyTorch that has what the probe asks of the real one."""
import contextlib
import os
import sys
import types

import fake_collectives
import fake_framework as fake

fake.on_import()
__version__ = fake.VERSION
float32, bfloat16 = "float32", "bfloat16"
version = types.SimpleNamespace(cuda=fake.version("FAKE_BUILT_CUDA", "13.0") if fake.built_for_cuda() else None,
                                hip="6.4" if "rocm" in fake.FAULTS else None)
_cudnn = types.SimpleNamespace(getCompileVersion=lambda: fake.numbers("FAKE_BUILT_CUDNN", "9.19.0"),
                               getRuntimeVersion=lambda: fake.numbers("FAKE_LOADED_CUDNN", "9.19.0"))
_C = types.SimpleNamespace(_cudnn=_cudnn) if fake.built_for_cuda() else types.SimpleNamespace()
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(allow_tf32=True, benchmark=False, deterministic=False))
cuda = types.SimpleNamespace(is_available=lambda: fake.devices() > 0, device_count=fake.devices, synchronize=lambda: None, set_device=lambda rank: None,
                             get_device_name=lambda index: "NVIDIA H200")


class Tensor(fake.Array):
    made_by = None

    def requires_grad_(self):
        return self

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return self


def tensor(elements, dtype, device):
    assert dtype in (float32, bfloat16) and device == "cuda"
    return Tensor(elements)


def _mode():
    cudnn = backends.cudnn
    assert not cudnn.allow_tf32
    return "benchmark" if cudnn.benchmark else "deterministic" if cudnn.deterministic else "default"


def _conv2d(x, w, stride, padding):
    y = fake.forward(x, w, stride, padding, _mode())
    y.made_by = (stride, padding)
    return y


def _grad(y, inputs, g):
    if len(inputs) == 3:
        return fake.attention_gradients(*inputs, y.made_by[0], g, y.made_by[1])
    return fake.backward(*inputs, g, *y.made_by, _mode())


_backend = []


@contextlib.contextmanager
def _sdpa_kernel(backend):
    _backend.append(backend)
    yield
    _backend.pop()


def _attention(q, k, v, scale):
    assert scale == 1
    mode = "attention, " + _backend[-1]
    o, p = fake.attention(q, k, v, mode)
    o.made_by = (p, mode)
    return o


def _params(q, k, v, mask, dropout, causal, *groups):
    if groups and "old-params" in fake.FAULTS:
        raise TypeError("SDPAParams takes six arguments")
    return _backend[-1]


backends.cuda = types.SimpleNamespace(SDPAParams=_params, can_use_flash_attention=lambda name: "without-flash" not in fake.FAULTS,
                                      can_use_efficient_attention=lambda name: True, can_use_cudnn_attention=lambda name: True)
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=_conv2d, scaled_dot_product_attention=_attention), attention=types.SimpleNamespace(
    sdpa_kernel=_sdpa_kernel, SDPBackend=types.SimpleNamespace(MATH="math", EFFICIENT_ATTENTION="efficient", FLASH_ATTENTION="flash", CUDNN_ATTENTION="cudnn")))
if "without-attention" not in fake.FAULTS:
    sys.modules["torch.nn"], sys.modules["torch.nn.attention"] = nn, nn.attention
autograd = types.SimpleNamespace(grad=_grad)


class _Elements:
    """A tensor of one axis as the bytes that it has."""

    def __init__(self, data, dtype):
        self.data, self.dtype = data, dtype

    def to(self, device):
        return _Elements(bytearray(self.data), self.dtype)

    def view(self, dtype):
        return _Elements(self.data, dtype)

    def copy_(self, other):
        self.data[:] = other.data


uint8, int32 = "uint8", "int32"


def frombuffer(data, dtype):
    assert dtype == uint8
    return _Elements(data, dtype)


_ranks = []


def _init_process_group(backend, store, rank, world_size):
    assert backend == "nccl"
    _ranks.append(fake_collectives.Ranks(store, rank, world_size))
    _ranks[0].exchange(b"")


def _collective(kind, out, send, reduction="", root=0):
    group = _ranks[0]
    got = fake_collectives.received(kind, reduction, out.dtype, group.exchange(bytes(send.data)), group.rank, root)
    out.data[:len(got)] = got


distributed = types.SimpleNamespace(
    is_available=lambda: True, is_nccl_available=lambda: fake_collectives.FAULT != "none", FileStore=lambda path, ranks: os.path.dirname(path),
    init_process_group=_init_process_group, destroy_process_group=_ranks.clear,
    ReduceOp=types.SimpleNamespace(SUM="sum", MAX="max", AVG="average"),
    all_reduce=lambda out, op: _collective("all_reduce", out, out, op), broadcast=lambda out, root: _collective("broadcast", out, out, root=root),
    reduce_scatter_tensor=lambda out, send, op: _collective("reduce_scatter", out, send, op),
    all_gather_into_tensor=lambda out, send: _collective("all_gather", out, send), all_to_all_single=lambda out, send: _collective("all_to_all", out, send))
