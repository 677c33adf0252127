"""A TensorFlow that has what the probe asks of the real one: channels last, gradients by a tape."""
import os
import types

import fake_framework as fake

fake.on_import()
assert os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
__version__ = fake.VERSION
float32 = "float32"
sysconfig = types.SimpleNamespace(get_build_info=lambda: {
    "is_cuda_build": fake.built_for_cuda(), "is_rocm_build": "rocm" in fake.FAULTS, "cuda_version": fake.version("FAKE_BUILT_CUDA", "13.0"),
    "cudnn_version": fake.version("FAKE_BUILT_CUDNN", "9.19.0")})
_state = {"growth": False, "soft": True, "tf32": True, "deterministic": False}
config = types.SimpleNamespace(
    list_physical_devices=lambda kind: ["/physical_device:GPU:0"] * (fake.devices() if kind == "GPU" else 1),
    set_soft_device_placement=lambda on: _state.update(soft=on),
    experimental=types.SimpleNamespace(
        get_device_details=lambda gpu: {"device_name": "NVIDIA H200"},
        set_memory_growth=lambda gpu, on: _state.update(growth=on),
        enable_tensor_float_32_execution=lambda on: _state.update(tf32=on),
        enable_op_determinism=lambda: _state.update(deterministic=True)))


class Tensor(fake.Array):
    made_by = None

    def numpy(self):
        return self


class device:
    def __init__(self, name):
        assert name == "/GPU:0" and _state["growth"] and not _state["soft"] and not _state["tf32"]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def constant(elements, dtype, shape):
    assert dtype == float32
    return Tensor(elements, shape)


def _mode():
    return "deterministic" if _state["deterministic"] else "default"


def _conv2d(x, w, strides, padding):
    assert strides[0] == strides[3] == 1 and padding[0] == padding[3] == [0, 0]
    where = strides[1:3], [padding[1][0], padding[2][0]]
    y = fake.transposed(fake.forward(fake.transposed(x, (0, 3, 1, 2)), fake.transposed(w, (3, 2, 0, 1)), *where, _mode()), (0, 2, 3, 1))
    y.made_by = where
    return y


class GradientTape:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def watch(self, tensors):
        pass

    def gradient(self, y, sources, output_gradients):
        x, w = sources
        dx, dw = fake.backward(fake.transposed(x, (0, 3, 1, 2)), fake.transposed(w, (3, 2, 0, 1)),
                               fake.transposed(output_gradients, (0, 3, 1, 2)), *y.made_by, _mode())
        return fake.transposed(dx, (0, 2, 3, 1)), fake.transposed(dw, (2, 3, 1, 0))


nn = types.SimpleNamespace(conv2d=_conv2d)
