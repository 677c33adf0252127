#!/usr/bin/env python3
"""What ran, by algorithm or engine, type and layout: counted in the reports of a run, as JSON of which ci/site makes a page.

usage: choices_table.py FOLDER [FILE]    FOLDER: an --output-dir of matrices/nightly.json; FILE: default
                                         choices/cudnn-VERSION.json beside this program
"""
import collections
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "ci"))

from documentation.choices import WORDS, order  # noqa: E402: found by the line above

WRONG = {"wrong-value", "wrong-value-unexplained", "output-not-written"}
OUTCOMES = ("passed", "wrong", "failed", "unsupported", "too large", "unverifiable")
LINE = re.compile(rf"(?P<names>.*?): (?P<outcome>{'|'.join(OUTCOMES)})(, .*)?$")


def choices(text, api):
    """Pairs of choice and outcome from a sweep's choices.txt. An engine that heuristics name several times is told once a line."""
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            continue  # more words of the library's
        names = match["names"]
        for name in re.findall(r"engine \d+", names) if api == "graph" else names.split(", "):
            yield name, match["outcome"]


def single(case):
    """The choice and outcome of a case that runs one."""
    params = case["params"]
    numbers = {m["name"]: m["value"] for m in case["measurements"]}
    if params["algo"] not in ("auto", "find"):
        name = params["algo"]
    elif "engine" in numbers:
        name = f"engine {numbers['engine']:.0f}"
    elif "algorithm" in numbers:
        name = f"algorithm {numbers['algorithm']:.0f} by {params['algo']}"
    else:
        name = f"none by {params['algo']}"
    if case["outcome"] == "passed":
        return name, "passed"
    if case["outcome"] != "skipped":
        return name, "wrong" if any(f["slug"] in WRONG for f in case["findings"]) else "failed"
    if "not verifiable" in case["skip"]["seen"]:
        return name, "unverifiable"
    return name, "too large" if case["skip"]["kind"] == "memory" else "unsupported"


def collect(report, folder):
    """(check, api) -> choice -> (type, layout) -> outcome -> shapes."""
    tables = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(set))))
    for case in report["cases"]:
        params = case["params"]
        if not case["check"].startswith("conv.") or "algo" not in params or case["outcome"] in ("blocked", "not_run"):
            continue
        table = tables[case["check"], params["api"]]
        sweep = [a["path"] for a in case.get("attachments", []) if a["name"] == "choices.txt"]
        found = choices((folder / sweep[0]).read_text(errors="replace"), params["api"]) if sweep else [single(case)]
        for name, outcome in found:
            table[name][params["dtype"], params["layout"]][outcome].add((params["shape"], params["math"]))
    return tables


def counted(report, folder):
    """The counts of a run: of each table its columns, and of each choice a list for each column with the number of shapes of each outcome
    in the order of WORDS; an empty list was not asked."""
    facts = {key: value for of in report["facts"].values() for key, value in of.items()}
    tables = []
    for (check, api), table in sorted(collect(report, folder).items()):
        columns = sorted({column for row in table.values() for column in row})
        rows = {name: [[len(row[column].get(word, ())) for word in WORDS] if column in row else [] for column in columns]
                for name, row in sorted(table.items(), key=lambda row: order(row[0]))}
        tables.append({"check": check, "api": api, "columns": [" ".join(column) for column in columns], "rows": rows})
    return {"schema": "cudnn-ci/choices/1", "cudnn": facts.get("cudnn.version", "unknown"), "gpu": facts.get("gpu.0.name", "an unknown GPU"),
            "driver": facts.get("driver.version", "unknown"), "outcomes": list(WORDS), "tables": tables}


def written(data):
    """JSON with a line for each row of a table."""
    tables = []
    for table in data["tables"]:
        rows = ",\n".join(f"   {json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in table["rows"].items())
        head = json.dumps({key: value for key, value in table.items() if key != "rows"})
        tables.append(f'  {head[:-1]}, "rows": {{\n{rows}}}}}')
    head = json.dumps({key: value for key, value in data.items() if key != "tables"})
    return f'{head[:-1]}, "tables": [\n' + ",\n".join(tables) + "]}\n"


def main(words):
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(words[0])
    data = counted(json.loads((folder / "report.json").read_text()), folder)
    file = pathlib.Path(words[1]) if len(words) == 2 else HERE / f"choices/cudnn-{data['cudnn']}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(written(data))


if __name__ == "__main__":
    main(sys.argv[1:])
