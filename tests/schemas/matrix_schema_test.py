"""matrix.schema.json and the loader must agree on every document, as far as a schema can know.

usage: matrix_schema_test.py LOAD_MATRICES MATRICES_FOLDER

Makes documents by changing one place of a matrix that uses every key, and of the shipped ones, and asks both. Where the
loader refuses what the schema accepts, every problem it names must be one of EXCEPTIONS. The schema may refuse nothing
that the loader accepts.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile

import jsonschema

# What no schema can know, by the loader's words, and why. One that excuses no document is out of date.
EXCEPTIONS = [
    ("an exclusion's axis", r'"(exclude|slow)" names "', "needs the entry's axes"),
    ("an exclusion's value", r'"(exclude" leaves out|slow" names)', "needs the entry's axes"),
    ("an axis that is a parameter", r"is an axis here and a parameter", "needs two keys side by side"),
    ("an unknown subject", r"is not a subject of the matrix", "needs the matrix's subjects"),
    ("an id used twice", r"the id .* is taken by", "needs the other items"),
    ("a removal without a parent's item", r"no parent has an? (entry|waiver)", "needs the parents"),
    ("a missing parent", r"cannot extend", "needs the file system"),
    ("a name in no parent", r'"name" is missing in the matrix', "needs the parents"),
    ("a range nothing satisfies", r"is a range that no version satisfies", "needs arithmetic"),
    ("29 February of a common year", r'"expires" must be a day of the calendar.*-02-29"', "needs arithmetic"),
    ("an integer beyond 64 bits", r"is too large", "no bound holds for all parameters"),
    ("nesting beyond 32", r"nested deeper than 32", "parameters may hold anything"),
    ("the character U+0000", r"U\+0000", "parameters may hold any text"),
    ("a key given twice", r"was given before", "JSON Schema sees one of them"),
    ("waivers too large together", r"the waivers' texts take more than", "needs a sum"),
]

WAIVER = {"id": "known", "case": "conv.*", "slug": "image.no-engine", "reason": "r", "owner": "o",
          "expires": "2027-03-31"}
MAXIMAL = {
    "$schema": "./matrix.schema.json",
    "schema": "cudnn-ci/matrix/1",
    "name": "maximal",
    "runner": {"driver": ">=525.60.13 <600", "gpus": ">=1", "compute_capability": "!=8.7 >7"},
    "image": {"toolkit": " >=12.0  <13 ", "cudnn": "absent"},
    "subjects": {"system": "loader", "other_1": "path:/opt/cudnn/lib:/opt/more"},
    "defaults": {"timeout_s": 30.5, "required": False, "max_slowdown_percent": 12.5},
    "shapes": {"stem_1.a+b": {"x": [1, 2, -3], "pad": 1, "kind": "full", "deep": {"a": [None, True]}}, "empty": {}},
    "checks": [
        {"id": "one", "check": "conv.forward", "name": "n.1", "params": {"layout": "nchw", "count": 3},
         "axes": {"dtype": ["float32", "float16"], "shape": ["stem"]},
         "exclude": [{"dtype": "float16", "shape": "stem"}], "slow": [{"shape": "stem"}],
         "allow_skip": ["unsupported", "absent", "memory", "version"], "timeout_s": 5, "required": True,
         "allow_flaky": True, "max_slowdown_percent": 20, "subjects": ["system"]},
        {"check": "driver.load"},
    ],
    "waivers": [WAIVER],
}

# Thousands of small files are made and removed.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ANYTHING = [None, True, False, 0, 1, -1, 1.5, "", "x", [], {}, [1], ["x"], [{}], {"a": 1}, {"a": []}, {"id": "one"},
            {"remove": True}]
RANGES = ["1", "1.2.3", "01", "=1", "==1", "~1", "^1", ">=", ">= 1", ">1", "<=1", "<1", "!=1", "1.", ".1", "1..2", "1.x",
          "-1", "+1", " 1", "1 ", " ", ">=1<2", ">=1 <2 !=1.5", ">=1,<2", "1\t2", "absent", "Absent", " absent", "*",
          "999999999", "1000000000", ".".join(["1"] * 16), ".".join(["1"] * 17), ">=600 <500", "=1 =2", "<0", "1|2",
          "1" + " " * 199, "1" + " " * 200]
DATES = ["2027-03-31", "2027-3-31", "2027-02-28", "2027-02-29", "2028-02-29", "2027-02-30", "2027-04-31", "2027-04-30",
         "2027-13-01", "2027-00-01", "2027-01-00", "2027-01-32", "27-01-01", "2027/01/01", "2027-01-01T00:00",
         "x2027-01-01", "0000-01-01", "2027-11-31", "2027-12-31", "2027-06-31", "2027-09-31"]
SLUGS = ["no-engine", "image.no-engine", "runner.x", "harness.x", "matrix.x", "undetermined.x", "imag.x", "image.",
         ".x", "image.a.b", "No-engine", "no_engine", "no engine", "2nd", "-", "é"]
IDS = ["a", "a.b", "a b", "a-b", "a+b", "A_9", "é", "a/b", "n" * 200, "n" * 201, "é" * 200, "é" * 201]
SPECS = ["loader", "path:/", "path:/opt", "path:", "path:lib", "path:/a:b", "python:/p", "Loader", "path:/é",
         "path:/a:/b", "path:/a:", "path::/a", "path:/a;/b", "path:/a:/b:/c", "path:/a:/b;c", "python:", "python:p",
         "python:/opt/a:b/bin/python", "program:/p", "program:p", "program:", "auto", "loader ", " loader", "loader:/a",
         "path:/" + "d" * 3994, "path:/" + "d" * 3995]
SUBJECT_NAMES = ["a", "a1_b", "A", "_a", "1a", "a-b", "a b", "é", "", "n" * 200, "n" * 201]
PERCENTS = [0, 0.0, 1, 19.5, 1000, 1000.0, 1000.5, 1001, -1, -0.5, "20", True, None, [20]]
SECONDS = [0, 0.05, 0.1, 1, 604800, 604800.5, 604801, -1, "5", True]
TEXTS = ["t" * 4000, "t" * 4001, "é" * 4000, "é" * 4001]


def strip_comments(text):
    """JSON from a matrix: strings stay, comments go."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', lambda m: m[0] if m[0][0] == '"' else " ", text,
                  flags=re.DOTALL)


def places(value, path=()):
    """The path of every value in a document."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, path + (key,))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, path + (index,))


def at(document, path):
    for step in path:
        document = document[step]
    return document


def replaced(document, path, value):
    if not path:
        return value
    changed = copy.deepcopy(document)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def without(document, path):
    changed = copy.deepcopy(document)
    del at(changed, path[:-1])[path[-1]]
    return changed


def changes(name, document, deepest):
    """One change for each place down to that depth: another value, a key less, a key more, an item twice."""
    for path in places(document):
        if len(path) > deepest:
            continue
        where = name + "/" + "/".join(map(str, path))
        for value in ANYTHING:
            yield f"{where} = {json.dumps(value)}", replaced(document, path, value)
        if path:
            yield f"{where} taken out", without(document, path)
        value = at(document, path)
        if isinstance(value, dict):
            for key in ("unknown", "Name", "remove", "id", "include", "a b", ""):
                if key not in value:
                    yield f"{where} with {key!r}", replaced(document, path, {**value, key: True})
                    yield f"{where} with a text {key!r}", replaced(document, path, {**value, key: "x"})
        if isinstance(value, list) and value:
            yield f"{where} with an item twice", replaced(document, path, value + [copy.deepcopy(value[0])])


def texts():
    """The values that have a form of their own."""
    for side, keys in (("runner", ("driver", "gpus", "compute_capability")), ("image", ("toolkit", "cudnn"))):
        for key in keys:
            for text in RANGES:
                yield f"{side}.{key} = {text!r:.60}", replaced(MAXIMAL, (side, key), text)
    for cards in ([], ["8.0"], ["8.0", "9.0"], ["8.0", "8.0"], ["8"], ["8.0.0"], [">=8.0"], [8.0], ["sm_80"], [""], [" 8.0"], ["-8.0"], ["8.-1"],
                  ["1234567890.0"], ["8.x"], ["absent"], [None], [[]], ["8.0", 9], [f"{n}.0" for n in range(24)], [f"{n}.0" for n in range(25)]):
        for key in ("compute_capability", "driver"):
            yield f"runner.{key} = {cards!r:.60}", replaced(MAXIMAL, ("runner", key), cards)
    entry, waiver = ("checks", 0), ("waivers", 0)
    for place, values in (
            (("name",), IDS), (entry + ("id",), IDS), (entry + ("check",), IDS), (entry + ("name",), IDS),
            (waiver + ("id",), IDS), (waiver + ("owner",), IDS), (waiver + ("slug",), SLUGS + ["s" * 200, "s" * 201]),
            (waiver + ("expires",), DATES), (waiver + ("reason",), TEXTS), (waiver + ("case",), TEXTS),
            (("$schema",), ["", "x"]), (("schema",), ["cudnn-ci/matrix/2", "cudnn-ci/matrix/1 "]),
            (("subjects", "other_1"), SPECS), (entry + ("timeout_s",), SECONDS), (("defaults", "timeout_s"), SECONDS),
            (entry + ("max_slowdown_percent",), PERCENTS), (("defaults", "max_slowdown_percent"), PERCENTS),
            (entry + ("allow_skip",), [["Memory"], ["memory", "memory"], []]),
            (entry + ("subjects",), [["other_1"], ["none"], ["system", "system"]])):
        for value in values:
            yield f"{'.'.join(map(str, place))} = {value!r:.60}", replaced(MAXIMAL, place, value)
    for text in SUBJECT_NAMES:
        yield f"subject {text!r:.60}", replaced(MAXIMAL, ("subjects", text), "loader")
    for text in IDS + [""]:
        yield f"shape {text!r:.60}", replaced(MAXIMAL, ("shapes", text), {})


def counts():
    for count in (32, 33):
        yield f"{count} subjects", replaced(MAXIMAL, ("subjects",),
                                            {"system": "loader", **{f"s{i}": "loader" for i in range(1, count)}})
    for word in ("auto", "Auto", "loader", ""):
        yield f"subjects = {word!r}", replaced(MAXIMAL, ("subjects",), word)
        yield f"subjects = {word!r}, which no entry names", without(replaced(MAXIMAL, ("subjects",), word),
                                                                    ("checks", 0, "subjects"))
    plain = {key: value for key, value in WAIVER.items() if key != "id"}
    for count in (1000, 1001):
        yield f"{count} waivers", replaced(MAXIMAL, ("waivers",), [plain] * count)
    yield "large waivers", replaced(MAXIMAL, ("waivers",), [{**plain, "reason": "r" * 4000}] * 70)
    yield "a large integer", replaced(MAXIMAL, ("shapes", "empty"), {"x": 2**63})
    deep = 1
    for _ in range(40):
        deep = [deep]
    yield "deep nesting", replaced(MAXIMAL, ("shapes", "empty"), {"x": deep})
    yield "U+0000", replaced(MAXIMAL, ("checks", 0, "params", "layout"), "a\0b")
    child = {"schema": "cudnn-ci/matrix/1", "extends": "parent.json"}
    yield "an axis that is a parameter", replaced(MAXIMAL, ("checks", 0, "axes", "layout"), ["nhwc"])
    yield "a child", child
    yield "a child that finds its subjects", {**child, "subjects": "auto", "checks": [{"id": "one", "remove": True}]}
    yield "a child of one that finds its subjects", {**child, "extends": "finder.json", "subjects": {"mine": "loader"}}
    yield "a child without a name", {**child, "extends": "nameless.json"}
    yield "a child of a stranger", {**child, "extends": "stranger.json"}
    yield "a child that removes", {**child, "checks": [{"id": "one", "remove": True}]}
    yield "a child that removes a waiver", {**child, "waivers": [{"id": "known", "remove": True}]}
    yield "a child that removes a stranger", {**child, "checks": [{"id": "two", "remove": True}]}
    for parent in ("builtin:base", "builtin:strange", "builtin:", "builtin:a/b", "builtin:../a", "builtin:a.json", "builtin: a",
                   "builtin:é", "builtin:A_b-1", "./builtin:base", "built:base"):
        yield f"a child of {parent!r}", {**child, "name": "child", "extends": parent}
    for wrong in (False, 1, "true", None):
        yield f"remove = {wrong!r}", {**child, "checks": [{"id": "one", "remove": wrong}]}
    yield "remove without id", {**child, "checks": [{"remove": True}]}
    yield "remove with more", {**child, "checks": [{"id": "one", "remove": True, "check": "a.b"}]}


def documents(folder):
    yield from changes("maximal", MAXIMAL, 9)
    yield from texts()
    yield from counts()
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json") or name == "matrix.schema.json":
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            shipped = json.loads(strip_comments(file.read()))
        yield name, shipped
        yield from changes(name, shipped, 1)


def load(program, folder, paths):
    """The problems of each file, in the loader's words."""
    output = subprocess.run([program, folder], input="\n".join(paths) + "\n", capture_output=True, text=True, check=True).stdout
    lines = iter(output.splitlines())
    return [[next(lines) for _ in range(int(next(lines)))] for _ in paths]


def main():
    program, folder = sys.argv[1:]
    with open(os.path.join(folder, "matrix.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as scratch:
        for name in os.listdir(folder):  # parents of the shipped ones
            os.symlink(os.path.join(os.path.abspath(folder), name), os.path.join(scratch, name))
        with open(os.path.join(scratch, "parent.json"), "w", encoding="utf-8") as file:
            json.dump(MAXIMAL, file)
        with open(os.path.join(scratch, "finder.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": "cudnn-ci/matrix/1", "name": "finder", "subjects": "auto"}, file)
        with open(os.path.join(scratch, "nameless.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": "cudnn-ci/matrix/1", "extends": "rootless.json"}, file)
        with open(os.path.join(scratch, "rootless.json"), "w", encoding="utf-8") as file:
            json.dump({"schema": "cudnn-ci/matrix/1"}, file)
        cases, paths = [], []
        for description, document in documents(folder):
            cases.append((description, validator.is_valid(document)))
            paths.append(os.path.join(scratch, f"{len(paths)}.matrix"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump(document, file, ensure_ascii=False)
        twice = json.dumps(MAXIMAL).replace('"name": "maximal"', '"name": "a", "name": "b"')
        cases.append(("a key twice", validator.is_valid(json.loads(twice))))
        paths.append(os.path.join(scratch, "twice.matrix"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(twice)
        answers = load(program, folder, paths)

    used, disagreements, refused, excused = set(), [], 0, 0
    for (description, valid), problems in zip(cases, answers):
        refused += bool(problems)
        if valid != bool(problems):
            continue
        names = [next((name for name, words, _ in EXCEPTIONS if re.search(words, problem)), None)
                 for problem in problems]
        if not valid:
            disagreements.append(f"{description}: the schema alone refuses it")
        elif None in names:
            disagreements.append(f"{description}: the loader alone refuses it: {problems[names.index(None)]}")
        else:
            used.update(names)
            excused += 1
    print(f"{len(cases)} documents: the loader refuses {refused} of them, {excused} for what no schema can know")
    for line in disagreements[:50]:
        print(line)
    stale = [name for name, _, _ in EXCEPTIONS if name not in used]
    for name in stale:
        print(f"the exception {name!r} excuses no document any more")
    enough = len(cases) >= 300 and 0 < refused < len(cases)
    return 0 if enough and not disagreements and not stale else 1


if __name__ == "__main__":
    sys.exit(main())
