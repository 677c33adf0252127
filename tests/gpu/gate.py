"""Runs of the gate, and the table that they fill."""
import json
import os
import subprocess
import time

# No run takes so long, but for the nightly matrix. The gate has deadlines of its own; this is for one that does not keep them.
SECONDS = 300

ROWS = []


def row(what, ok, text):
    """A row of the table; `ok` is None where this machine cannot tell."""
    ROWS.append((what, ok, text))
    print(f"{'skip' if ok is None else 'ok  ' if ok else 'FAIL'}  {what:58} {text}", flush=True)


class Gate:
    def __init__(self, tree, out):
        self.exe, self.tree, self.out, self.n = str(tree / "bin/cudnn-ci"), tree, out, 0

    def __call__(self, *args, env=None, name=None, before=(), most=SECONDS):
        """One run, by a command before it where one is given: exit status, seconds, screen, report, folder."""
        self.n += 1
        folder = self.out / (name or f"run{self.n}")
        start = time.monotonic()
        try:
            p = subprocess.run([*before, self.exe, *args, "--output-dir", str(folder)], env={**os.environ, **(env or {})},
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=most)
        except subprocess.TimeoutExpired:
            p = subprocess.CompletedProcess([], 124, f"the gate did not end within {most} s\n")
        seconds = time.monotonic() - start
        (self.out / f"{folder.name}.txt").write_text(p.stdout)
        report = None
        if (folder / "report.json").exists():
            report = json.loads((folder / "report.json").read_text())
        return p.returncode, seconds, p.stdout, report, folder


def events(folder):
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]


def seconds_of_steps(lines, checks="conv."):
    """Where the time of some checks' cases went: seconds by step, summed over all, each until the case's next step or its end. `lines`
    are the events of a journal, whose times are whole milliseconds: what is cut off here is added there."""
    seconds, running = {}, {}
    for e in lines:
        case = (e.get("id"), e.get("device"))
        if e["ev"] not in ("AttemptStarted", "Step", "AttemptFinished") or not (e.get("id") or "").startswith(checks):
            continue
        if case in running:
            step, since = running.pop(case)
            seconds[step] = seconds.get(step, 0) + (e["t_ms"] - since) / 1000
        if e["ev"] != "AttemptFinished":
            running[case] = (e.get("name", "start"), e["t_ms"])
    return seconds


def values(params, name):
    """A parameter that may be a list, as one."""
    return params[name] if isinstance(params[name], list) else [params[name]]


def contexts(folder):
    """Workers that held a device: each made one context."""
    return sum(1 for e in events(folder) if e["ev"] == "WorkerStarted" and e.get("device"))


def root(report):
    cause = (report or {}).get("root_cause")
    return f"{cause['blame']}.{cause['slug']}" if cause else "none"


def is_sound(code, report):
    """Whether a run passed, or found nothing wrong but known faults of the machine's NCCL."""
    failed = [c for c in (report or {"cases": []})["cases"] if c["outcome"] not in ("passed", "skipped")]
    known = all(c["check"] == "nccl.collective" and any("known: wrong in NCCL" in f["detail"] for f in c["findings"]) for c in failed)
    return code == 0 or (code == 1 and bool(failed) and known)


def matrix(out, name, checks, **more):
    path = out / f"{name}.json"
    path.write_text(json.dumps({"schema": "cudnn-ci/matrix/1", "name": name, "checks": checks, **more}))
    return str(path)
