"""The tables of harness/docs/failure-modes.md, and the rows of the C++ tables that show them."""
import dataclasses
import re
import subprocess

BROKEN, WORTH_KNOWING, SOUND = "Broken", "Worth knowing", "Sound"


@dataclasses.dataclass(frozen=True)
class Mode:
    """A line of the page: a failure mode, or a kind of environment that is sound."""
    name: str
    kind: str  # BROKEN, ...
    findings: tuple = ()  # slugs
    blames: tuple = ()  # of a broken one


@dataclasses.dataclass(frozen=True)
class Shown:
    """A row of a table of environments."""
    name: str
    mode: str
    finding: str  # "image.cudnn-missing", "green", "green with SLUG", "exit 2"


def read_page(path):
    """The modes in the page's order. Raises ValueError of a line that cannot be read."""
    modes, kind = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"## (Broken|Worth knowing|Sound)?", line)
        if heading:
            kind = heading[1] or ""
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not kind or len(cells) < 2 or set(cells[0]) <= {"-"} or cells[0] in ("failure mode", "what", "environment"):
            continue
        if len(cells) != {BROKEN: 4, WORTH_KNOWING: 3, SOUND: 2}[kind]:
            raise ValueError(f"{path}: {line}")
        slugs = re.findall(r"\[([\w-]+)\]\(findings\.md#\1\)", cells[2]) if kind != SOUND else []
        modes.append(Mode(cells[0], kind, tuple(slugs), tuple(cells[3].split(", ")) if kind == BROKEN else ()))
    return modes


def rows_of(program):
    """The rows of a program of GoogleTest, as its list tells them: "  IsNamed/NAME  # GetParam() = MODE: FINDING"."""
    text = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    return [Shown(*found) for found in re.findall(r"^  \w+/(\w+)  # GetParam\(\) = (.+): (.+)$", text, re.M)]


def mistakes(modes, rows):
    """What rows and page say differently, a sentence each."""
    known = {mode.name: mode for mode in modes}
    found = [f"two lines are called {mode.name!r}" for i, mode in enumerate(modes) if mode.name in {m.name for m in modes[:i]}]
    shown = set()
    for row in rows:
        mode = known.get(row.mode)
        if not mode:
            found.append(f"row {row.name}: no mode of the page is called {row.mode!r}")
            continue
        shown.add(mode.name)
        red = not row.finding.startswith("green")
        if red != (mode.kind == BROKEN):
            found.append(f"row {row.name}: {row.finding}, and {mode.name!r} stands under {mode.kind!r}")
            continue
        slugs = set(re.findall(r"[\w-]+", row.finding.partition("." if red else " with ")[2])) - {"or", "and"}
        if (red or mode.kind == WORTH_KNOWING) and not slugs <= set(mode.findings):
            found.append(f"row {row.name}: {sorted(slugs - set(mode.findings))} stands not beside {mode.name!r}")
        if mode.kind == WORTH_KNOWING and not slugs:
            found.append(f"row {row.name}: expects no warning, and {mode.name!r} is one")
    return found + [f"no row shows {name!r}" for name in known if name not in shown]
