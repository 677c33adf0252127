#!/usr/bin/env python3
"""Runs tables of environments and prints, for each failure mode, how many rows were detected and named right.

usage: table.py --knowledge DIR [--out FILE] PROGRAM... [-- ARGUMENTS FOR EVERY PROGRAM...]

The programs are GoogleTest's; the last one has the rows of the machine's own cuDNN. Exits 1 if a row failed, 77 if none
of the last program's could be had here.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from modes import BROKEN, read


def results(told):
    """Of a report in GoogleTest's JSON: a dictionary a row, with its name, mode and what was recorded."""
    return [{**row, "name": row["name"].rpartition("/")[2], "here": row.get("result") != "SKIPPED"} for suite in told["testsuites"]
            for row in suite["testsuite"] if "mode" in row]


def render(modes, rows):
    """The table as text."""
    counts, absent = collections.defaultdict(collections.Counter), []
    for row in rows:
        if not row["here"]:
            absent.append(row["name"])
            continue
        count = counts[row["mode"]]
        count["rows"] += 1
        for key in ("detected", "named"):
            count[key] += int(row.get(key, 0))
        # Red or ended early: neither is right of a sound environment.
        count["alarms"] += 1 - int(row.get("sound", 0))

    def line(name, count, *keys):
        return f"{name:42}" + "".join(f"{count[key]:12}" for key in keys)

    def part(title, chosen, *keys):
        total = sum((counts[mode.name] for mode in chosen), collections.Counter())
        return [f"{title:42}" + "".join(f"{key:>12}" for key in keys)] + [
            line(mode.name, counts[mode.name], *keys) for mode in chosen] + [line("in all", total, *keys), ""]
    broken, sound = [m for m in modes if m.kind == BROKEN], [m for m in modes if m.kind != BROKEN]
    lines = part("broken", broken, "rows", "detected", "named") + part("sound", sound, "rows", "alarms")
    return "\n".join(lines + [f"not here: {name}" for name in absent]) + "\n"


def run(program, more, folder):
    """A program's exit status, and its rows."""
    report = pathlib.Path(folder) / "report.json"
    report.unlink(missing_ok=True)
    done = subprocess.run([program, f"--gtest_output=json:{report}", "--gtest_brief=1", *more], check=False)
    return done.returncode, results(json.loads(report.read_text(encoding="utf-8"))) if report.exists() else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--knowledge", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("programs", nargs="+")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    args, more = parser.parse_args(words[:split]), words[split + 1:]
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        for program in args.programs:
            code, last = run(program, more, folder)
            rows += last
            failed = failed or code != 0
    text = render(read(args.knowledge), rows)
    print(text)
    if args.out:
        args.out.write_text(text)
    return 1 if failed else 0 if any(row["here"] for row in last) else 77


if __name__ == "__main__":
    sys.exit(main())
