"""As much of NumPy as the probe asks for."""
from fake_framework import Array


def array(elements, dtype=None):
    return Array(getattr(elements, "elements", elements))


class _Row:
    def __init__(self, data, kind):
        self.tobytes, self.dtype = lambda: data, kind


def dtype(kind):
    return kind


def frombuffer(data, kind):
    return _Row(data, kind)


def stack(rows):
    return rows


def asarray(rows):
    return rows
