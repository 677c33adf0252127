"""The page of what every algorithm and engine of one cuDNN did with the shapes of the nightly matrix, from the data that
tests/gpu/choices_table.py made of a run."""
import json
import re

FOLDER = "tests/gpu/choices"
# What tells most of a cell's shapes stands first.
WORDS = {"wrong": "**{} wrong**", "failed": "**{} failed**", "passed": "{} ran", "unverifiable": "{} not verifiable",
         "too large": "{} too large", "unsupported": "{} unsupported"}


def order(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def cell(counts):
    return ", ".join(text.format(count) for text, count in zip(WORDS.values(), counts) if count)


def only_unsupported(row):
    return not any(any(counts[:-1]) for counts in row)


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


def page_of(text):
    """The Markdown of one file of FOLDER."""
    data = json.loads(text)
    lines = [f"# cuDNN {data['cudnn']} on {data['gpu']}, driver {data['driver']}", "",
             "How many shapes of the matrix an algorithm or engine was asked for, and what became of them; an empty cell was not asked. What "
             "is unsupported wherever it was asked for stands below its table. A choice that ended its process is not counted.", ""]
    for table in data["tables"]:
        lines += [f"## {table['check']}, {table['api']} API", "",
                  "| | " + " | ".join(table["columns"]) + " |", "|---" * (len(table["columns"]) + 1) + "|"]
        rows = sorted(table["rows"].items(), key=lambda row: order(row[0]))
        lines += [f"| {name} | " + " | ".join(map(cell, row)) + " |" for name, row in rows if not only_unsupported(row)]
        nowhere = [name for name, row in rows if only_unsupported(row)]
        lines += ["", f"Unsupported wherever asked for: {ranges(nowhere)}.", ""] if nowhere else [""]
    return "\n".join(lines)
