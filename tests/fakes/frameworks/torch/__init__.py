"""A PyTorch that has what the probe asks of the real one."""
import types

import fake_framework as fake

fake.on_import()
__version__ = fake.VERSION
float32 = "float32"
version = types.SimpleNamespace(cuda=fake.version("FAKE_BUILT_CUDA", "13.0") if fake.built_for_cuda() else None,
                                hip="6.4" if "rocm" in fake.FAULTS else None)
_cudnn = types.SimpleNamespace(getCompileVersion=lambda: fake.numbers("FAKE_BUILT_CUDNN", "9.19.0"),
                               getRuntimeVersion=lambda: fake.numbers("FAKE_LOADED_CUDNN", "9.19.0"))
_C = types.SimpleNamespace(_cudnn=_cudnn) if fake.built_for_cuda() else types.SimpleNamespace()
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(allow_tf32=True, benchmark=False, deterministic=False))
cuda = types.SimpleNamespace(is_available=lambda: fake.devices() > 0, device_count=fake.devices, synchronize=lambda: None,
                             get_device_name=lambda index: "NVIDIA H200")


class Tensor(fake.Array):
    made_by = None

    def requires_grad_(self):
        return self

    def detach(self):
        return self

    def cpu(self):
        return self


def tensor(elements, dtype, device):
    assert dtype == float32 and device == "cuda"
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
    return fake.backward(*inputs, g, *y.made_by, _mode())


nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=_conv2d))
autograd = types.SimpleNamespace(grad=_grad)
