"""compatibility.schema.json and the loader must agree on every table, as far as a schema can know.

usage: compatibility_schema_test.py LOAD_MATRICES MATRICES_FOLDER

Makes tables by changing one place of a small one and of the shipped one, and asks both, as matrix_schema_test.py does.
"""

import copy
import json
import os
import re
import sys
import tempfile

import jsonschema
from matrix_schema_test import ANYTHING, DATES, IN_MEMORY, at, load, places, replaced, strip_comments, without

# What no schema can know, by the loader's words. One that excuses no document is out of date.
EXCEPTIONS = [
    r'is neither one of "sources"',  # needs the table's sources
    r'is later than "cudnn_to"',  # needs arithmetic
    r'"as_of" must be a day of the calendar',  # needs arithmetic
    r"entr(y|ies) .*takes? more than \d+ bytes",  # needs a sum
    r'is later than "last"',  # needs arithmetic
    r'"fixed" .* is not later than "(first|last)"',  # needs arithmetic
    r'two rows of "known_regressions" are called',  # needs the other rows
    r"was given before",  # JSON Schema sees one of them
]

FROM = {"source": "page", "confidence": "sure"}
SMALL = {
    "$schema": "./compatibility.schema.json",
    "schema": "cudnn-ci/compatibility/1",
    "as_of": "2026-11-20",
    "sources": {"page": "https://example.org"},
    "driver_floor": {"12": {"driver": "525.60.13", **FROM}},
    "toolkits": [{"cuda": "12.8.0", "driver": "570.26", "branch": 570, "source": "https://example.org/a", "confidence": "likely"},
                 {"cuda": "13.4.1", "driver": None, "branch": 615, **FROM}],
    "driver_branches": {**FROM, "branches": {"570": "12.8", "580": "13.0"}},
    "forward_compatibility": {**FROM, "branches": {"13-0": [535, 570], "12-2": []}},
    "first_toolkit": {**FROM, "toolkits": {"9.0": "11.8"}},
    "ptx_isa": {**FROM, "versions": {"12.8": "8.7"}},
    "cards": {**FROM, "capabilities": ["8.0", "9.0"]},
    "cudnn": [{"cudnn_from": "9.10.0", "cudnn_to": "9.10.2", "cuda_major": 12, "cuda": ["12.8", "12.9"], "driver_min": "570.26",
               "compute_capability_min": "5.0", "compute_capability_max": None, **FROM}],
    "cudnn_libraries": {"9": {**FROM, "libraries": {"libcudnn.so.9": "9.0"}}},
    "known_regressions": [
        {"id": "one", "library": "cudnn", "what": "what", "effect": "wrong", "first": "9.8.0", "last": "9.14.0", "fixed": "9.15.0",
         "hits": {"operation": ["forward"], "api": ["graph"], "dtype": ["int8"], "output_dtype": ["int32"], "layout": ["nchw"], "math": ["fma"], "algo": ["fft"], "engine": [1, 20],
                  "dims": [3], "uneven_pads": True, "strided": True, "stride_over_kernel": True, "dilated": True, "pointwise": False, "grouped": True, "depthwise": False,
                  "fused": False,
                  "additions_min": 2, "batch_min": 2, "reduction": ["average"], "ranks": [1], "symmetric_memory": True, "gpus_min": 2, "hosts_min": 2, "compute_capability_min": "7.0", "compute_capability_max": "7.9", "cublaslt_min": "12.9"}, **FROM},
        {"id": "two", "library": "cudnn", "what": "what", "effect": "crash", "first": None, "last": None, "fixed": None, "hits": {}, **FROM}],
}
TEXTS = ["1", "1.2", "1.", "v1", "1.x", "-1", "1 ", ".".join(["1"] * 16), ".".join(["1"] * 17), "999999999", "1000000000",
         "page", "pag", "http://example.org", "https://", "https://" + "a" * 192, "https://" + "a" * 193, "Sure", "unsure"]
KEYS = ["12", "x", "1.2", "13-0", "13-", "-", "13.0", "libx.so.1", "lib/x.so.1", "x.so.1", "libx.so", "1234567890", "lib\"x.so.1", "lib" + "x" * 112 + ".so.1", "lib" + "x" * 113 + ".so.1"]


def documents(shipped):
    for name, table, deepest in (("small", SMALL, 9), ("shipped", shipped, 1)):
        yield name, table
        for path in places(table):
            if len(path) > deepest:
                continue
            # Texts that differ in their letters alone tell nothing of a place that takes no text.
            for value in ANYTHING + (TEXTS + DATES if isinstance(at(table, path), str) else []):
                yield f"{name}: {path} = {value!r:.80}", replaced(table, path, value)
            if path:
                yield f"{name}: without {path}", without(table, path)
            if isinstance(at(table, path), dict):
                for key in KEYS + ["surprise"]:
                    changed = copy.deepcopy(table)
                    members = at(changed, path)
                    if key not in members:
                        members[key] = next(iter(members.values()), "1.2")
                        yield f"{name}: {path} with {key!r}", changed
    row = SMALL["cudnn"][0]
    yield "later", replaced(SMALL, ("cudnn", 0, "cudnn_from"), "9.11.0")
    regression = SMALL["known_regressions"][0]
    for key, version in (("first", "9.14.1"), ("fixed", "9.14.0"), ("fixed", "9.8")):
        yield f"{key} {version}", replaced(SMALL, ("known_regressions", 0), {**regression, key: version})
    yield "fixed in the first", replaced(SMALL, ("known_regressions", 0), {**regression, "last": None, "fixed": "9.8"})
    yield "one id twice", replaced(SMALL, ("known_regressions", 1, "id"), "one")
    for key, values in (("dims", [0, 3, 4]), ("engine", [-1, 0, 9999, 10000]), ("dims", [1] * 100), ("dims", [1] * 101)):
        yield f"{key} {len(values)}", replaced(SMALL, ("known_regressions", 0, "hits", key), values)
    for count in (0, 1, 2147483647, 2147483648):
        yield f"{count} images", replaced(SMALL, ("known_regressions", 0, "hits", "batch_min"), count)
    yield "500 rows", replaced(SMALL, ("toolkits",), [{**SMALL["toolkits"][0], "cuda": f"1.{i}"} for i in range(500)])
    yield "501 rows", replaced(SMALL, ("toolkits",), [{**SMALL["toolkits"][0], "cuda": f"1.{i}"} for i in range(501)])
    yield "a long entry", replaced(SMALL, ("cudnn", 0, "cuda"), ["12.8"] * 1000)
    yield "too large", replaced(SMALL, ("cudnn",), [{**row, "cuda": ["12.8"] * 30} for _ in range(490)])


def main():
    program, folder = sys.argv[1:]
    with open(os.path.join(folder, "compatibility.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    with open(os.path.join(folder, "compatibility.json"), encoding="utf-8") as file:
        shipped = json.loads(strip_comments(file.read()))
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as scratch:
        cases, paths = [], []
        texts = [(description, json.dumps(document, ensure_ascii=False)) for description, document in documents(shipped)]
        texts.append(("a key twice", json.dumps(SMALL).replace('"as_of"', '"as_of": "2026-11-19", "as_of"')))
        for description, text in texts:
            cases.append((description, validator.is_valid(json.loads(text))))
            paths.append(os.path.join(scratch, f"{len(paths)}.json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        answers = load(program, "--compatibility", paths)

    used, disagreements, refused = set(), [], 0
    for (description, valid), problems in zip(cases, answers):
        refused += bool(problems)
        if valid != bool(problems):
            continue
        words = [next((w for w in EXCEPTIONS if re.search(w, problem)), None) for problem in problems]
        if not valid:
            disagreements.append(f"{description}: the schema alone refuses it")
        elif None in words:
            disagreements.append(f"{description}: the loader alone refuses it: {problems[words.index(None)]}")
        else:
            used.update(words)
    print(f"{len(cases)} tables: the loader refuses {refused} of them")
    stale = [f"the exception {words!r} excuses no table any more" for words in EXCEPTIONS if words not in used]
    for line in disagreements[:50] + stale:
        print(line)
    enough = len(cases) >= 300 and 0 < refused < len(cases) and not answers[0]
    return 0 if enough and not disagreements and not stale else 1


if __name__ == "__main__":
    sys.exit(main())
