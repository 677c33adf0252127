"""Writes small ONNX models, for adapters of what runs them: an image that runs models rarely has the package onnx.

The numbers are those of onnx.proto, of IR version 10 and operator set 21.
"""
import struct

TYPES = {"float32": 1, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11, "bfloat16": 16}  # TensorProto.DataType


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def message(fields):
    """A message of protobuf, of (number, value): numbers from 0 up, float32, texts, and lists, which are messages."""
    def encoded(value):
        if isinstance(value, int):
            return 0, varint(value)
        if isinstance(value, float):
            return 5, struct.pack("<f", value)
        data = value.encode() if isinstance(value, str) else message(value)
        return 2, varint(len(data)) + data
    return b"".join(varint(number << 3 | kind) + data for number, value in fields for kind, data in [encoded(value)])


def node(domain, operator, inputs, outputs, attributes):
    """Attributes are float or int; an input "" is left out."""
    told = [(5, [(1, name), (2, value), (20, 1)] if isinstance(value, float) else [(1, name), (3, value), (20, 2)]) for name, value in attributes.items()]
    return [(1, name) for name in inputs] + [(2, name) for name in outputs] + [(4, operator), (7, domain)] + told


def model(nodes, inputs, outputs):
    """The bytes of a model of `nodes`, each the arguments of node(); `inputs` and `outputs` have the type of each by its name."""
    graph = [(1, node(*one)) for one in nodes] + [(2, "graph")]
    graph += [(number, [(1, name), (2, [(1, [(1, TYPES[str(dtype)])])])]) for number, values in ((11, inputs), (12, outputs)) for name, dtype in values.items()]
    return message([(1, 10), (8, [(2, 21)]), (8, [(1, "com.microsoft"), (2, 1)]), (7, graph)])
