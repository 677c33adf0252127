"""A CTranslate2 that has what the probe asks of the real one. FAKE_CTRANSLATE2=old is one that cannot copy."""
import os
import types

import fake_framework as fake

fake.on_import()
__version__ = fake.VERSION
get_cuda_device_count = fake.devices
Device = types.SimpleNamespace(cpu="cpu", cuda="cuda")


class StorageView:
    def __init__(self, array, device):
        self.elements, self.device = list(array.elements), device

    @classmethod
    def from_array(cls, array):
        return cls(array, "cpu")


def _to_device(view, device):
    if device == "cuda":
        fake.misbehave()
    copy = StorageView(view, device)
    fake.spoil(copy, "y", "copy")
    return copy


if os.environ.get("FAKE_CTRANSLATE2") != "old":
    StorageView.to_device = _to_device
