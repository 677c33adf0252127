"""The nightly matrix asks the graph API for every layer of layers.json, in all three operations.

usage: nightly_layers_test.py MATRICES_FOLDER

layers.json has layers of networks in use and of known regressions. Those of 2^31 elements and more are asked forward alone, and need not be
right: not every release has them. One gradient, which takes minutes of the host's processors, is not asked.
"""

import copy
import json
import math
import os
import sys

from matrix_schema_test import strip_comments

OPERATIONS = ("forward", "backward_data", "backward_filter")
LARGEST = 2**31 - 1
# Its reference is minutes of one processor.
TOO_LONG = {"backward_data of nearly 2^31 elements in 3-D"}


def effective(folder, name):
    """Shapes and entries of a matrix with its parents'. Entries that an id replaces stand at the end, which no case depends on."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        matrix = json.loads(strip_comments(file.read()))
    shapes, entries = effective(folder, matrix["extends"]) if "extends" in matrix else ({}, [])
    own = matrix.get("checks", [])
    ids = {entry["id"] for entry in own if "id" in entry}
    own = [{**entry, "check": check} for entry in own if not entry.get("remove") for check in checks_of(entry)]
    entries = [entry for entry in entries if entry.get("id") not in ids] + own
    return {**shapes, **matrix.get("shapes", {})}, entries


def checks_of(entry):
    check = entry["check"]
    return check if isinstance(check, list) else [check]


def geometry(shape):
    """What makes shapes the same, with every value written out."""
    axes = len(shape["x"]) - 2

    def spread(key, otherwise):
        value = shape.get(key, otherwise)
        values = value if isinstance(value, list) else [value]
        return tuple(values * axes if len(values) == 1 else values)

    pad = spread("pad", 0)
    return (tuple(shape["x"]), tuple(shape["w"]), pad, spread("pad_after", list(pad)), spread("stride", 1), spread("dilation", 1), shape.get("groups", 1))


def elements(shape):
    """Of the largest of its tensors."""
    x, w, pad, pad_after, stride, dilation, _ = geometry(shape)
    y = [(x[i + 2] + pad[i] + pad_after[i] - (w[i + 2] - 1) * dilation[i] - 1) // stride[i] + 1 for i in range(len(pad))]
    return max(math.prod(x), math.prod(w), x[0] * w[0] * math.prod(y))


def asked(shapes, entries, optional=False):
    """Pairs of operation and geometry for which a required case (or any) takes what the graph API proposes first."""
    pairs = set()
    for entry in entries:
        check = entry.get("check", "")
        if not check.startswith("conv.") or check[5:] not in OPERATIONS or not (optional or entry.get("required", True)) or "exclude" in entry or "cover" in entry:
            continue
        values = {**{key: [value] for key, value in entry.get("params", {}).items()}, **entry.get("axes", {})}
        if "graph" in values.get("api", []) and "auto" in values.get("algo", ["auto"]) and "default" in values.get("math", ["default"]):
            pairs.update((check[5:], geometry(shapes[name])) for name in values["shape"])
    return pairs


def missing(layers, shapes, entries):
    """What is not asked for, in words."""
    pairs = asked(shapes, entries)
    return [f"{operation} of {layer['what']}" for layer in layers for operation in OPERATIONS if (operation, geometry(layer)) not in pairs]


def main():
    folder = sys.argv[1]
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.json"), encoding="utf-8") as file:
        layers = json.load(file)
    assert len({geometry(layer) for layer in layers}) == len(layers), "a layer stands twice in layers.json"
    beyond = [layer for layer in layers if elements(layer) > LARGEST]
    within = [layer for layer in layers if elements(layer) <= LARGEST]
    assert len(within) >= 77 and len(beyond) >= 4, f"layers.json has {len(within)} and {len(beyond)} layers"
    shapes, entries = effective(folder, "nightly.json")
    left_out = set(missing(within, shapes, entries)) - TOO_LONG
    assert not left_out, "nightly.json does not ask for:\n  " + "\n  ".join(left_out)
    pairs = asked(shapes, entries, optional=True)
    not_asked = {layer["what"] for layer in beyond if ("forward", geometry(layer)) not in pairs}
    assert not not_asked, f"of 2^31 elements and more nightly.json does not ask for {not_asked}"
    # Every single layer and operation is looked for.
    for operation in OPERATIONS:
        of_others = [entry for entry in entries if entry.get("check") != "conv." + operation]
        without = [what for what in missing(within, shapes, of_others) if what.startswith(operation + " of ")]
        assert len(without) == len(within), operation
    optional = copy.deepcopy(entries)
    for entry in optional:
        entry["required"] = False
    assert len(missing(within, shapes, optional)) == 3 * len(within)
    assert TOO_LONG <= set(missing(within, shapes, entries)), "what is too long is asked for"
    print(f"{len(within)} layers in {len(OPERATIONS)} operations, {len(beyond)} beyond 2^31 elements")


if __name__ == "__main__":
    main()
