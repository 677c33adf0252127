"""Environments of a table: how each is made, what the gate must say of it, and what it said."""
import contextlib
import dataclasses
import json
import os
import re
import shutil
import subprocess
import time
import typing

from machine import Unavailable

DIAGNOSIS = ["driver.load", "driver.version", "driver.devices", "driver.canary", "toolkit.runtime", "toolkit.nvrtc",
             "toolkit.launch", "toolkit.gemm", "cudnn.load", "cudnn.version", "cudnn.plans", "cudnn.init"]
# Skips that no release and no machine is blamed for.
ALLOWED = {"cudnn.plans": ["version", "absent"], "toolkit.gemm": ["absent"]}
SHAPES = {"small": {"x": [2, 16, 16, 16], "w": [16, 16, 3, 3], "pad": 1}}
CONVOLUTION = {"check": "conv.forward", "params": {"shape": "small", "algo": "implicit_gemm"}, "axes": {"dtype": ["float32", "float16"]}}
EXITS = {"image": 1, "runner": 3, "matrix": 4, "harness": 5, "undetermined": 6, "": 0}
# So long at most for one environment; the gate then ends by itself and says so.
SECONDS = 60


@dataclasses.dataclass
class Environment:
    """What differs from this machine as it is."""
    env: dict = dataclasses.field(default_factory=dict)
    promise: dict = dataclasses.field(default_factory=dict)  # "image.cudnn": range; None: nothing is promised
    subjects: dict = dataclasses.field(default_factory=dict)
    checks: list = dataclasses.field(default_factory=lambda: list(DIAGNOSIS))  # names or entries
    before: list = dataclasses.field(default_factory=list)  # words of a command that starts the gate
    arguments: list = dataclasses.field(default_factory=list)  # of the gate
    beside: typing.Any = None  # a context manager: holds while the gate runs
    words: list = dataclasses.field(default_factory=list)  # what the finding's detail must hold
    facts: dict = dataclasses.field(default_factory=dict)  # of the subject "system": what matches each as a whole


@dataclasses.dataclass
class Row:
    """One environment and its expectation, which stands before it is made: the first finding, any of `slugs`, whose
    fault it is and the exit status. With the blame "" the gate must be green, and each slug is a warning or note."""
    name: str
    about: str  # the failure mode or kind of environment, by its name in knowledge/findings
    slugs: tuple
    blame: str
    make: typing.Callable
    without_gpu: bool = False  # can be judged on a machine without one

    @property
    def exit(self):
        return EXITS[self.blame]

    def expected(self):
        if self.blame:
            return f"{self.blame}.{' or '.join(self.slugs)}, exit {self.exit}"
        return "green" + (" with " + " and ".join(self.slugs) if self.slugs else "") + ", exit 0"


@dataclasses.dataclass
class Result:
    row: Row
    detected: bool = False  # for a green row: the warning is there
    named: bool = False
    alarm: bool = False  # red, where green was expected
    text: str = ""
    unavailable: str = ""
    seconds: float = 0.0
    warnings: list = dataclasses.field(default_factory=list)


def first(folder, **more):
    """A folder that the loader looks into before all others."""
    rest = os.environ.get("LD_LIBRARY_PATH", "")
    return {"LD_LIBRARY_PATH": f"{folder}:{rest}" if rest else str(folder), **more}


def entry(check):
    return {"check": check, **({"allow_skip": ALLOWED[check]} if check in ALLOWED else {})}


def matrix_of(machine, environment):
    """The matrix of an environment: what this machine keeps as it is, and what the environment promises instead."""
    contract = {"runner.driver": ">=450", "runner.gpus": ">=1", "runner.compute_capability": ">=7.0",
                "image.toolkit": f">={machine.cuda}.0 <{machine.cuda + 1}" if machine.cuda else None, "image.cudnn": ">=9.0 <10",
                **environment.promise}
    matrix = {"schema": "cudnn-ci/matrix/1", "name": "environment", "shapes": SHAPES,
              "checks": [entry(check) if isinstance(check, str) else check for check in environment.checks]}
    for key, value in contract.items():
        side, name = key.split(".")
        if value is not None:
            matrix.setdefault(side, {})[name] = value
    if environment.subjects:
        matrix["subjects"] = environment.subjects
    return matrix


def findings_of(report, *severities):
    every = [f for case in report["cases"] for f in case["findings"]] + report["findings"]
    return [f for f in every if f["severity"] in severities]


def other_facts(wanted, report):
    """The facts that are not as expected, in words."""
    said = report.get("facts", {}).get("system", {})
    return [f"{key}={said.get(key, '')!r}, not {pattern!r}" for key, pattern in wanted.items()
            if not re.fullmatch(pattern, said.get(key, ""))]


def judge(row, words, code, report, facts=None):
    """What a run of the gate says of an environment, against what was expected."""
    result = Result(row)
    if report is None:
        result.alarm = not row.blame
        result.text = f"exit {code}, no report"
        return result
    result.warnings = sorted({f["slug"] for f in findings_of(report, "warning", "note")})
    root = report["root_cause"]
    said = f"{root['blame']}.{root['slug']}" if root else "green"
    detail = root["detail"] if root else ""
    if row.blame:
        result.detected = code not in (0, 2)
        lacking = [word for word in words if word not in detail]
        result.named = bool(root) and (root["slug"] in row.slugs, root["blame"], code) == (True, row.blame, row.exit) and not lacking
        result.text = f"{said}, exit {code}" + ("" if result.named else f"; expected {row.expected()}"
                                                + (f" with {lacking} in the detail" if lacking else "") + f": {detail[:300]}")
        return result
    errors = findings_of(report, "error")
    result.alarm = code != 0 or bool(errors)
    lacking = [slug for slug in row.slugs if slug not in result.warnings] + other_facts(facts or {}, report)
    result.detected = result.named = not result.alarm and not lacking
    result.text = (f"{said}, exit {code}" + (f", {' '.join(result.warnings)}" if result.warnings else "")
                   + (f"; expected {' '.join(lacking)}" if lacking else "") + (f": {detail[:300]}" if result.alarm else ""))
    return result


def run_row(gate, machine, row, static=False):
    """Makes the environment in a folder of its own, and takes that away again."""
    folder = machine.scratch / "row"
    folder.mkdir(parents=True)
    start = time.monotonic()
    try:
        environment = row.make(machine, folder)
        path = gate.out / f"{row.name}.json"
        path.write_text(json.dumps(matrix_of(machine, environment), indent=1))
        with environment.beside or contextlib.nullcontext():
            code, seconds, _, report, _ = gate("--matrix", str(path), "--time-limit", str(SECONDS),
                                               *(["--stage", "static"] if static else []), *environment.arguments,
                                               env=environment.env, name=row.name, before=environment.before)
        result = judge(row, environment.words, code, report, environment.facts)
        result.seconds = seconds
    except Unavailable as e:
        result = Result(row, unavailable=str(e), text=f"not here: {e}")
    except (OSError, subprocess.CalledProcessError) as e:
        result = Result(row, text=f"the environment could not be made: {e}")
    finally:
        shutil.rmtree(folder)
    result.text += f", {time.monotonic() - start:.2f} s"
    return result


def record(out, results):
    """All rows as JSON."""
    (out / "environments.json").write_text(json.dumps([
        {"name": r.row.name, "about": r.row.about, "expected": r.row.expected(), "detected": r.detected, "named": r.named,
         "false_alarm": r.alarm, "unavailable": r.unavailable, "seconds": round(r.seconds, 3), "warnings": r.warnings,
         "said": r.text} for r in results], indent=1))


def summary(results):
    """How many environments were detected and named right, how many alarms were false, and what this machine cannot have."""
    here = [r for r in results if not r.unavailable]
    broken, sound = [r for r in here if r.row.blame], [r for r in here if not r.row.blame]
    lines = [f"broken environments        {len(broken):4}", f"  detected                 {sum(r.detected for r in broken):4}",
             f"  named right              {sum(r.named for r in broken):4}", f"sound environments         {len(sound):4}",
             f"  false alarms             {sum(r.alarm for r in sound):4}", f"  warnings as expected     {sum(r.named for r in sound):4}"]
    modes = {}
    for r in here:
        count = modes.setdefault(r.row.about, [0, 0])
        count[0] += 1
        count[1] += r.named
    lines += ["", f"{'as expected, by failure mode or kind of environment':54}{'rows':>6}{'right':>7}"]
    lines += [f"  {about:52}{rows:6}{right:7}" for about, (rows, right) in modes.items()] + [""]
    lines += [f"not here: {r.row.name}: {r.unavailable}" for r in results if r.unavailable]
    return "\n".join(lines)
