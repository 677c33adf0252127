"""A CuPy that has what the probe asks of the real one, without cuDNN as most releases are."""
import types

import fake_framework as fake

fake.on_import()
__version__ = fake.VERSION


class CUDARuntimeError(RuntimeError):
    pass


def _count():
    if not fake.devices():
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    return 1


cuda = types.SimpleNamespace(
    driver=types.SimpleNamespace(get_build_version=lambda: fake.numbers("FAKE_BUILT_CUDA", "13.0")[0] * 1000),
    runtime=types.SimpleNamespace(CUDARuntimeError=CUDARuntimeError, getDeviceCount=_count,
                                  getDeviceProperties=lambda index: {"name": b"NVIDIA H200"}))


class ndarray(fake.Array):
    def __rmul__(self, factor):
        return ndarray([factor * e for e in self.elements], self.shape)

    def __add__(self, term):
        fake.misbehave()
        return ndarray([e + term for e in self.elements], self.shape)

    def __matmul__(self, other):
        rows, inner, columns = *self.shape, other.shape[1]
        product = ndarray([sum(self.elements[i * inner + k] * other.elements[k * columns + j] for k in range(inner))
                           for i in range(rows) for j in range(columns)], (rows, columns))
        fake.spoil(product, "y", "matmul")
        return product


def array(elements, dtype):
    assert dtype == "float32"
    return ndarray(elements)


def asnumpy(values):
    return values
