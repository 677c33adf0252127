"""As much of NumPy as the probe asks for."""
from fake_framework import Array


def array(elements, dtype=None):
    return Array(getattr(elements, "elements", elements))
