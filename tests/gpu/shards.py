"""One image judged by several jobs, a GPU each, as a pipeline's matrix or a Slurm array would: shards of one plan, and complete runs."""
import json
import os
import signal
import subprocess
import time

from gate import row, root


class Jobs:
    """Gates that run beside one another, each with the sight of one GPU."""

    def __init__(self, gate, uuids, matrix):
        self.gate, self.uuids, self.matrix, self.running = gate, uuids, matrix, []

    def start(self, name, gpu, *words):
        folder = self.gate.out / name
        with open(self.gate.out / f"{name}.txt", "w", encoding="utf-8") as screen:
            process = subprocess.Popen([self.gate.exe, "--matrix", self.matrix, *words, "--output-dir", str(folder)], stdout=screen,
                                       stderr=subprocess.STDOUT, env={**os.environ, "CUDA_VISIBLE_DEVICES": self.uuids[gpu]})
        self.running.append((process, folder))
        return process, folder

    def wait(self):
        """Exit statuses and journals of all that were started."""
        codes = [process.wait() for process, _ in self.running]
        journals = [str(folder / "journal.jsonl") for _, folder in self.running]
        self.running = []
        return codes, journals


def merged(gate, name, *words):
    start = time.monotonic()
    folder = gate.out / name
    p = subprocess.run([gate.exe, "report", "--output-dir", str(folder), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    seconds = time.monotonic() - start
    report = json.loads((folder / "report.json").read_text()) if (folder / "report.json").exists() else None
    return p.returncode, seconds, p.stdout, report


def outcomes(report):
    return {c["id"]: c["outcome"] for c in (report or {"cases": []})["cases"]}


def run(gate, uuids, matrix):
    """The rows: shards equal one run, a lost one is red, a required GPU type without a run is red."""
    count = len(uuids)
    jobs = Jobs(gate, uuids, matrix)
    for gpu in range(count):  # the first of a machine reads cuDNN from its disk
        jobs.start(f"warm{gpu}", gpu, "--workers-per-gpu", "1")
    jobs.wait()
    start = time.monotonic()
    jobs.start("one", 0)
    one_codes, one = jobs.wait()
    alone = time.monotonic() - start
    start = time.monotonic()
    for i in range(count):
        jobs.start(f"shard-{i + 1}", i, "--shard", f"{i + 1}/{count}")
    codes, shards = jobs.wait()
    beside = time.monotonic() - start
    code, seconds, text, report = merged(gate, "merged", *shards)
    whole = json.loads((gate.out / "one/report.json").read_text())
    same = outcomes(report) == outcomes(whole) and report["verdict"] == whole["verdict"] and report["totals"] == whole["totals"]
    row(f"{count} shards on {count} GPUs, merged, are one run", code == 0 and same and set(codes + one_codes) == {0},
        f"exits {codes}, merged {code}, {len(outcomes(report))} cases, {beside:.2f} s for all shards, {seconds:.2f} s to merge, "
        f"one run {alone:.2f} s")
    code, _, text, report = merged(gate, "missing", *shards[:-1])
    row("without one of them the merged verdict is red", code == 6 and f"shard {count}/{count} is missing" in text,
        f"exit {code}, {root(report)}")
    for i in range(count):
        jobs.start(f"kill-{i + 1}", i, "--shard", f"{i + 1}/{count}")
    victim = jobs.running[-1]
    journal = victim[1] / "journal.jsonl"
    # Its plan is on record, and some cases have begun.
    while victim[0].poll() is None and not (journal.exists() and journal.read_bytes().count(b'"AttemptStarted"') > 5):
        time.sleep(0.01)
    victim[0].send_signal(signal.SIGKILL)
    codes, journals = jobs.wait()
    code, _, text, report = merged(gate, "killed", *journals)
    row("a shard that is killed half-way makes it red", code == 6 and codes[-1] == -signal.SIGKILL and set(codes[:-1]) == {0},
        f"exits {codes}, merged {code}, {root(report)}")
    for i in range(count):
        jobs.start(f"whole-{i + 1}", i)
    codes, journals = jobs.wait()
    names = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True).stdout
    kind = names.splitlines()[0].split()[-1].lower()
    green, _, _, _ = merged(gate, "types", "--require", kind, journals[0])
    code, _, text, report = merged(gate, "types-missing", "--require", f"{kind},l4", journals[0])
    row("a whole run on a GPU type that is required, and one that has none", green == 0 and code == 6 and set(codes) == {0},
        f"--require {kind}: exit {green}; --require {kind},l4: exit {code}, {root(report)}")
