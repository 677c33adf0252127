"""The schemas of knowledge and its loader must agree on every file, as far as a schema can know.

usage: knowledge_schema_test.py LOAD_MATRICES KNOWLEDGE_FOLDER

Makes files by changing one place of a small one of each kind, and asks both, as matrix_schema_test.py does.
"""

import copy
import json
import os
import re
import sys
import tempfile

import jsonschema
from matrix_schema_test import ANYTHING, DATES, IN_MEMORY, at, load, places, replaced, strip_comments, without

# What no schema can know, by the loader's words. One that excuses no file is out of date.
EXCEPTIONS = [
    r'is (neither one|none) of "(sources|libraries|features|adapters)"',  # needs other rows
    r'"as_of" must be a day of the calendar',  # needs arithmetic
    r"takes more than \d+ bytes",  # needs a sum
    r"two rows of ",  # needs the other rows
    r'"versions" must be a range',  # needs its grammar
    r"is in the future",  # needs the clock
    r"was given before",  # JSON Schema sees one of them
]

FROM = {"source": "page", "confidence": "sure"}
HEAD = {"as_of": "2026-11-20", "sources": {"page": "https://example.org"}}
STEP = {"open": "lib*.so", "in": ["x/lib", "nvidia/cu%/lib"], "by": ["x/lib*.so"], "need": "must", "global": True, "toolkit": True}
SMALL = {
    "packages": {
        "libraries": [{"library": "acme", "title": "Acme", **FROM}],
        "packages": [{"manager": "python", "name": "acme-cu#*", "library": "acme", "framework": "Acme", **FROM}],
        "frameworks": [{"framework": "acme", "title": "Acme", "module": "acme", "distributions": ["acme"], "for_cpu": ["acme-cpu"], "native": ["acme/lib*.so"],
                        "takes_package": True, "opens_by_name": False, **FROM}],
        "files": [{"file": "libacme.so", "library": "acme", "version_behind": "Acme version ", **FROM}],
        "gpu_libraries": [{"file": "libacme.so", "package": "acme", "conda": "libacme", "suffix_in_13": True, "numbered_as_cuda": True, "linked_only": True, "minor_in_name": True, "computes": True, "folder": "acme/lib", **FROM}],
        "numbers": [{"package": "acme", "number": "1", "packages": ["acme-cu12"], "major": 1, **FROM}],
        "baked": [{"file": "libacme.so", "object": "acme_version", "title": "Acme", "changed_in": "3.5.19", **FROM}],
        "driver_libraries": [{"file": "libacme.so", "functions": "acme", **FROM}],
    },
    "imports": {
        "imports": [{"import": "acme", "title": "Acme", "marker": "acme/lib/libacme.so", "marker_says": "acme", "cuda_of": "acme/lib/lib*.so", "cuda_major": 13, "versions_in": "acme/version.py", "cuda_name": "cuda", "cudnn_name": "cudnn", "after": "torch", "core": "acme-cu*", "whole": "acme", "core_extra": "core_cu", "packages": ["acme"], "for_gpu": ["acme-gpu"], "for_cpu": ["acme-cpu"],
                     "libraries": ["libacme.so"], "same_cuda": ["acme_audio"], "same_cuda_major": ["acme_vision"], "first": [STEP], "main_begins": True, "main": [STEP], "later": [STEP], **FROM}],
        "words": [{"word": "load_acme", "means": "opener", **FROM}],
    },
    "compilers": {
        "features": [{"feature": "acme", "package": "acme*", "ordinary": True, "part_of": "torch", "serves": "acme", "only_if_required": False, **FROM}],
        "users": [{"feature": "acme", "package": "vllm", **FROM}],
        "needs": [{"feature": "acme", "tool": "ninja", "versions": "<3.6", "always": True, "used_for": "kernels", **FROM}],
    },
    "adapters": {
        "adapters": [{"adapter": "acme", "title": "Acme", "distributions": ["acme"], "versions": ">=1", "code": "acme.py", "known_good": "1.0", "known_bad": "0.9", **FROM}],
        "implementations": [{"adapter": "acme", "implementation": "fast", "arithmetic": "exact", "library": "cudnn", "promises": ["product/*"], "offers": ["product/int8"], "kernels": ["acme"], "versions": ">=1.1",
                             "capability": "8.0", "processes": ["jit"], **FROM}],
        "faults": [{"adapter": "acme", "implementation": "fast", "problems": ["product/*"], "versions": ">=1.1", "effect": "Sums are short.", "remedy": "Take 1.2.", **FROM}],
    },
    "remedies": {
        "remedies": [{"finding": "driver-too-old", "remedy": "Ask the team.", "link": "https://example.org/a", "command": "team fix", "where": "host", **FROM}],
    },
}
TEXTS = ["acme", "a", "", " ", "Acme", "a_b", "a--b", "a-", "a-*", "aa*", "##*", "image.acme", ".", "..", "a b", "a/b", "/a", "a/", "a//b", "a/../b", "../a", "a/./b", "a*", "*a", "a#", "#*", "*", "a%b", "%", "a*b*c*d", "a*b*c*d*e*", "a\tb",
         "a\x7fb", "\u00e4", "a" * 120, "a" * 121, "a/" * 99 + "ab", "a/" * 99 + "abc", "b" * 1000, "b" * 1001, "https://example.org", "https://", "http://a.org", "https://\u00e4",
         "https://" + "a" * 192, "https://" + "a" * 193, "sure", "must", "python", "ninja", "host", ">=3", "3.x"]


def documents(name, small):
    yield name, small
    for path in places(small):
        # Texts that differ in their letters alone tell nothing of a place that takes no text.
        for value in ANYTHING + (TEXTS + DATES if isinstance(at(small, path), str) else []):
            yield f"{name}: {path} = {value!r:.80}", replaced(small, path, value)
        if path:
            yield f"{name}: without {path}", without(small, path)
        if isinstance(at(small, path), dict):
            changed = copy.deepcopy(small)
            at(changed, path)["surprise"] = "acme"
            yield f"{name}: {path} with a surprise", changed
        if isinstance(at(small, path), list) and at(small, path):
            item = at(small, path)[0]
            for count in (2, 100, 101):
                yield f"{name}: {path} times {count}", replaced(small, path, [item] * count)
    if name == "packages":
        for count in (1000, 1001):
            rows = [{**small["files"][0], "file": f"lib{i}.so"} for i in range(count)]
            yield f"{count} rows", replaced(small, ("files",), rows)


def judged(program, folder, name):
    """Whether the schema of a kind of file takes each document, and what the loader says of it."""
    with open(os.path.join(folder, name + ".schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    small = {"$schema": f"./{name}.schema.json", "schema": f"cudnn-ci/{name}/1", **HEAD, **SMALL[name]}
    texts = [(description, json.dumps(document, ensure_ascii=False)) for description, document in documents(name, small)]
    texts.append((f"{name}: a key twice", json.dumps(small).replace('"as_of"', '"as_of": "2026-11-19", "as_of"', 1)))
    shipped = os.path.join(folder, name + ".json")
    if os.path.exists(shipped):
        with open(shipped, encoding="utf-8") as file:
            texts.append((f"{name}: shipped", json.dumps(json.loads(strip_comments(file.read())))))
    cases, paths = [], []
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as scratch:
        # Each file is laid over knowledge without a row: the shipped rows would be read again for each.
        below = os.path.join(scratch, "below")
        os.mkdir(below)
        with open(os.path.join(scratch, "acme.py"), "w", encoding="ascii") as file:
            file.write("import acme\n")
        os.mkdir(os.path.join(below, "adapters"))
        for kind in ("packages", "imports", "compilers", "adapters"):
            with open(os.path.join(below, "adapters" if kind == "adapters" else "", kind + ".json"), "w", encoding="utf-8") as file:
                json.dump({"schema": f"cudnn-ci/{kind}/1", **HEAD, **{rows: [] for rows in SMALL[kind]}}, file)
        for description, text in texts:
            document = json.loads(text)
            # Of another kind of file the loader says only that.
            if isinstance(document, dict) and document.get("schema") != small["schema"]:
                continue
            cases.append((description, validator.is_valid(document)))
            paths.append(os.path.join(scratch, f"{len(paths)}.json"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        return [(*case, problems) for case, problems in zip(cases, load(program, "--knowledge=" + below, paths))]


def main():
    program, folder = sys.argv[1:]
    used, disagreements, refused, total = set(), [], 0, 0
    for name in SMALL:
        answers = judged(program, folder, name)
        total += len(answers)
        if answers[0][2]:
            disagreements.append(f"the small file is refused: {answers[0][2]}")
        for description, valid, problems in answers:
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
    print(f"{total} files: the loader refuses {refused} of them")
    stale = [f"the exception {words!r} excuses no file any more" for words in EXCEPTIONS if words not in used]
    for line in disagreements[:50] + stale:
        print(line)
    return 0 if total >= 300 and 0 < refused < total and not disagreements and not stale else 1


if __name__ == "__main__":
    sys.exit(main())
