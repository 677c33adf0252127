"""A JAX that has what the probe asks of the real one."""
import os
import types

import fake_collectives
import fake_framework as fake

fake.on_import()
assert os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
__version__ = fake.VERSION
_options = {}
_OFFERED = {"xla_gpu_autotune_level", "xla_gpu_deterministic_ops"} - set(os.environ.get("FAKE_JAX_LACKS", "").split())


def devices():
    if fake.devices():
        gpu = types.SimpleNamespace(platform="gpu", device_kind="NVIDIA H200", compute_capability=os.environ.get("FAKE_JAX_CAPABILITY", "9.0"))
        return [gpu] * fake.devices()
    return [types.SimpleNamespace(platform="cpu", device_kind="cpu")]


def _array(elements, dtype):
    assert dtype in ("float32", "bfloat16")
    return Array(elements)


class Array(fake.Array):
    def astype(self, dtype):
        assert dtype == "float32"
        return self


def _convolve(x, w, strides, padding, dimension_numbers, precision):
    assert dimension_numbers == ("NCHW", "OIHW", "NCHW") and precision == "highest"
    y = fake.forward(x, w, strides, [low for low, _ in padding], _mode())
    y.made_by = (strides, [low for low, _ in padding])
    return y


def _mode():
    return "deterministic" if _options.get("xla_gpu_deterministic_ops") else "without autotuning" if _options else "default"


def vjp(function, *inputs):
    y = function(*inputs)
    if len(inputs) == 3:
        return y, lambda g: fake.attention_gradients(*inputs, y.made_by, g, "attention, cudnn")
    return y, lambda g: fake.backward(*inputs, g, *y.made_by, _mode())


def _attention(q, k, v, scale, implementation):
    assert scale == 1 and implementation == "cudnn" and q.shape[2] == 1
    o, p = fake.attention(q, k, v, "attention, cudnn")
    o.made_by = p
    return o


class _Lowered:
    def __init__(self, function):
        self.function = function

    def lower(self, *_):
        return self

    def compile(self, compiler_options=None):
        for option in compiler_options or {}:
            if option not in _OFFERED:
                raise RuntimeError("INVALID_ARGUMENT: No such compile option: '%s'" % option)

        def run(*arguments):
            _options.clear()
            _options.update(compiler_options or {})
            return self.function(*arguments)
        return run


jit = _Lowered
nn = types.SimpleNamespace(dot_product_attention=_attention)
numpy = types.SimpleNamespace(array=_array, float32="float32", bfloat16="bfloat16", int32="int32", uint8="uint8")


def _collective(kind, reduction=""):
    def call(rows, axis, *axes, tiled=True):
        assert axis == "ranks" and tiled
        parts, dtype = [row.tobytes() for row in rows], rows[0].dtype
        return [types.SimpleNamespace(tobytes=lambda got=fake_collectives.received(kind, reduction, dtype, parts, rank): got) for rank in range(len(rows))]
    return call


class pmap:
    def __init__(self, function, axis_name, devices):
        assert axis_name == "ranks"
        self.function, self.devices = function, len(devices)

    def lower(self, rows):
        assert len(rows) == self.devices
        return self

    def compile(self):
        return self

    def as_text(self):
        # With one device there is nothing to exchange.
        return "all-reduce reduce-scatter all-gather" + (" all-to-all" if self.devices > 1 else "")

    def __call__(self, rows):
        return self.function(rows)


lax = types.SimpleNamespace(conv_general_dilated=_convolve, Precision=types.SimpleNamespace(HIGHEST="highest"),
                            psum=_collective("all_reduce", "sum"), pmax=_collective("all_reduce", "max"), pmean=_collective("all_reduce", "average"),
                            psum_scatter=_collective("reduce_scatter", "sum"), all_gather=_collective("all_gather"), all_to_all=_collective("all_to_all"))
