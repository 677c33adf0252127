"""An ONNX Runtime that reads the probe's model and has what it asks of the real one."""
import sys
import types

import fake_framework as fake

fake.on_import()
__version__ = fake.VERSION
CUDA, CPU = "CUDAExecutionProvider", "CPUExecutionProvider"
_state = {"preloaded": "preload" not in fake.FAULTS}


def get_available_providers():
    return [CUDA, CPU] if fake.built_for_cuda() else [CPU]


def preload_dlls():
    _state["preloaded"] = True


class SessionOptions:
    use_deterministic_compute = False

    def __init__(self):
        self.entries = {}

    def add_session_config_entry(self, name, value):
        self.entries[name] = value


def fields(data):
    """A protobuf message as {number: [values]}; lengths and integers below 2^63."""
    found, at = {}, 0

    def varint(at):
        value = shift = 0
        while True:
            byte = data[at]
            value, shift, at = value | (byte & 0x7f) << shift, shift + 7, at + 1
            if byte < 0x80:
                return value, at
    while at < len(data):
        key, at = varint(at)
        value, at = varint(at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0
        found.setdefault(key >> 3, []).append(value)
    return found


def shape(value_info):
    tensor = fields(fields(fields(value_info)[2][0])[1][0])
    assert tensor[1] == [1]  # float32
    return [fields(dim)[1][0] for dim in fields(tensor[2][0])[1]]


class InferenceSession:
    def __init__(self, model, options=None, providers=()):
        self.providers = [p if isinstance(p, str) else p[0] for p in providers]
        self.usable = _state["preloaded"] and fake.devices() > 0 and CUDA in get_available_providers()
        if not self.usable:
            print("Failed to load library libonnxruntime_providers_cuda.so with error: " + fake.LOADER, file=sys.stderr)
        strict = options is not None and options.entries.get("session.disable_cpu_ep_fallback") == "1"
        assert not strict or self.usable
        search = providers[0][1]["cudnn_conv_algo_search"] if not isinstance(providers[0], str) else ""
        self.mode = "deterministic" if options and options.use_deterministic_compute else {"EXHAUSTIVE": "exhaustive"}.get(search, "default")
        message = fields(model)
        assert message[1] == [7] and fields(message[8][0])[2] == [11]
        graph = fields(message[7][0])
        self.shapes = {fields(v)[1][0].decode(): shape(v) for v in graph[11] + graph[12]}
        node = fields(graph[1][0])
        assert (node[1], node[2], node[4]) == ([b"x", b"w"], [b"y"], [b"Conv"])
        attributes = {fields(a)[1][0].decode(): fields(a) for a in node[5]}
        assert all(a[20] == [7] for a in attributes.values())
        self.stride, pads = attributes["strides"][8], attributes["pads"][8]
        self.pad = pads[:2]
        assert pads[2:] == self.pad and attributes["kernel_shape"][8] == self.shapes["w"][2:]

    def get_providers(self):
        return self.providers if self.usable else [CPU]

    def run(self, names, inputs):
        assert names == ["y"] and all(list(inputs[n].shape) == self.shapes[n] for n in "xw")
        y = fake.forward(inputs["x"], inputs["w"], self.stride, self.pad, self.mode)
        assert list(y.shape) == self.shapes["y"]
        return [y]
