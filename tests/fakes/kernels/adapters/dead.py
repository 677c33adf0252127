"""A fake package that crashes at its import."""
import ctypes

ctypes.string_at(0)
