#!/usr/bin/env python3
"""What ran, by algorithm or engine, type and layout: a Markdown page from the reports of a run.

usage: choices_table.py FOLDER...        folders of --output-dir; best one of each cuDNN, of matrices/nightly.json
"""
import collections
import json
import pathlib
import re
import sys

WRONG = {"wrong-value", "wrong-value-unexplained", "output-not-written"}
OUTCOMES = ("passed", "wrong", "failed", "unsupported", "too large", "unverifiable")
LINE = re.compile(rf"(?P<names>.*?): (?P<outcome>{'|'.join(OUTCOMES)})(, .*)?$")
# What tells most of a cell's shapes stands first.
WORDS = {"wrong": "**{} wrong**", "failed": "**{} failed**", "passed": "{} ran", "unverifiable": "{} not verifiable",
         "too large": "{} too large", "unsupported": "{} unsupported"}


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


def cell(outcomes):
    return ", ".join(text.format(len(outcomes[o])) for o, text in WORDS.items() if outcomes.get(o)) if outcomes else ""


def order(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def only_unsupported(row):
    return all(set(outcomes) == {"unsupported"} for outcomes in row.values())


def ranges(names):
    """"engines 3, 8 to 10" of the engines among sorted names, behind them what else there is."""
    numbers = [int(name.split()[1]) for name in names if name.startswith("engine ")]
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    engines = ", ".join(str(first) if first == last else f"{first} to {last}" for first, last in runs)
    others = [name for name in names if not name.startswith("engine ")]
    return ", ".join(([("engine " if len(numbers) == 1 else "engines ") + engines] if runs else []) + others)


def page(report, folder):
    facts = {key: value for of in report["facts"].values() for key, value in of.items()}
    lines = [f"## cuDNN {facts.get('cudnn.version', 'unknown')} on {facts.get('gpu.0.name', 'an unknown GPU')}, driver "
             f"{facts.get('driver.version', 'unknown')}", "",
             "How many shapes of the matrix an algorithm or engine was asked for, and what became of them; an empty cell was not asked. What "
             "is unsupported wherever it was asked for stands below its table. A choice that ended its process is not counted.", ""]
    for (check, api), table in sorted(collect(report, folder).items()):
        columns = sorted({column for row in table.values() for column in row})
        lines += [f"### {check}, {api} API", "",
                  "| | " + " | ".join(f"{dtype} {layout}" for dtype, layout in columns) + " |", "|---" * (len(columns) + 1) + "|"]
        nowhere = [name for name in sorted(table, key=order) if only_unsupported(table[name])]
        for name in sorted(set(table) - set(nowhere), key=order):
            lines.append(f"| {name} | " + " | ".join(cell(table[name].get(column)) for column in columns) + " |")
        lines += ["", f"Unsupported wherever asked for: {ranges(nowhere)}.", ""] if nowhere else [""]
    return "\n".join(lines)


def main(folders):
    if not folders or folders[0].startswith("-"):
        sys.exit(__doc__)
    for folder in map(pathlib.Path, folders):
        print(page(json.loads((folder / "report.json").read_text()), folder).rstrip())


if __name__ == "__main__":
    main(sys.argv[1:])
