"""The failure modes of knowledge/findings, and the rows of the C++ tables that show them."""
import dataclasses
import json
import re
import subprocess

BROKEN, WORTH_KNOWING, SOUND = "Broken", "Worth knowing", "Sound"


@dataclasses.dataclass(frozen=True)
class Mode:
    """A failure mode, or a kind of environment that is sound."""
    name: str
    kind: str  # BROKEN, ...
    findings: tuple = ()  # slugs


@dataclasses.dataclass(frozen=True)
class Shown:
    """A row of a table of environments."""
    name: str
    mode: str
    finding: str  # "image.cudnn-missing", "green", "green with SLUG", "exit 2"


def read(folder):
    """The modes of all files of the folder. What the launcher finds has no environment: nothing ran."""
    modes = []
    for path in sorted(folder.glob("*.json")):
        file = json.loads(path.read_text(encoding="utf-8"))
        if path.stem == "launcher":
            continue
        for finding in file["findings"]:
            kind = BROKEN if finding["severity"] == "error" else WORTH_KNOWING
            modes += [Mode(mode["name"], kind, (finding["id"], *mode.get("also", []))) for mode in finding.get("failure_modes", [])]
        modes += [Mode(mode["name"], BROKEN) for mode in file.get("refused", [])]
        modes += [Mode(environment["name"], SOUND) for environment in file.get("sound", [])]
    return modes


def rows_of(program):
    """The rows of a program of GoogleTest, as its list tells them: "  IsNamed/NAME  # GetParam() = MODE: FINDING"."""
    text = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    return [Shown(*found) for found in re.findall(r"^  \w+/(\w+)  # GetParam\(\) = (.+): (.+)$", text, re.M)]


def mistakes(modes, rows):
    """What rows and modes say differently, a sentence each."""
    known = {mode.name: mode for mode in modes}
    found = [f"two modes are called {mode.name!r}" for i, mode in enumerate(modes) if mode.name in {m.name for m in modes[:i]}]
    shown = set()
    for row in rows:
        mode = known.get(row.mode)
        if not mode:
            found.append(f"row {row.name}: no mode is called {row.mode!r}")
            continue
        shown.add(mode.name)
        red = not row.finding.startswith("green")
        if red != (mode.kind == BROKEN):
            found.append(f"row {row.name}: {row.finding}, and {mode.name!r} is {mode.kind!r}")
            continue
        slugs = set(re.findall(r"[\w-]+", row.finding.partition("." if red else " with ")[2])) - {"or", "and"}
        if (red or mode.kind == WORTH_KNOWING) and not slugs <= set(mode.findings):
            found.append(f"row {row.name}: {sorted(slugs - set(mode.findings))} stands not beside {mode.name!r}")
        if mode.kind == WORTH_KNOWING and not slugs:
            found.append(f"row {row.name}: expects no warning, and {mode.name!r} is one")
    return found + [f"no row shows {name!r}" for name in known if name not in shown]
