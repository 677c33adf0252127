"""Runs on the fakes, and the reports that are rebuilt from their journals and from the golden ones."""
import hashlib
import json
import re
import shutil

from . import machine, mistakes, normalised

RUN = ["--output-dir", "report", "--summary", "summary.md", "--grace", "0.2", "--jobs", "1", "--workers-per-gpu", "1"]
IMAGE = ["--subject-image", "team/image@sha256:" + "a" * 64]
FILES = ("junit.xml", "report.json", "report.html", "journal.jsonl")
SMALL = {"small": {"x": [2, 8, 7, 7], "w": [8, 8, 3, 3], "pad": 1}}
SHIPPED = [{"check": "driver.load"}, {"check": "driver.version"}, {"check": "driver.devices"}, {"check": "driver.canary"}, {"check": "toolkit.runtime"},
           {"check": "toolkit.nvrtc"}, {"check": "toolkit.launch"}, {"check": "cudnn.load"}, {"check": "cudnn.version"}, {"check": "cudnn.init"},
           {"check": "conv.forward", "params": {"shape": "small", "dtype": "float32"}, "axes": {"api": ["legacy", "graph"], "layout": ["nchw", "nhwc"]}}]
PROMISES = {"runner": {"driver": ">=525", "compute_capability": ">=8.0"}, "image": {"toolkit": "13", "cudnn": "9"}}
GATE = mistakes.matrix(SHIPPED, shapes=SMALL, **PROMISES)
OUTCOMES = mistakes.matrix(
    [{"check": "fixture.pass", "axes": {"i": [1, 2, 3]}}, {"check": "fixture.fail"},
     {"check": "fixture.skip", "params": {"kind": "memory"}, "allow_skip": ["memory"]}, {"check": "fixture.skip", "params": {"kind": "absent"}},
     {"check": "fixture.crash", "params": {"how": "exit3"}}, {"check": "fixture.throws"}, {"check": "fixture.reports"}, {"check": "fixture.warn"},
     {"check": "fixture.nothing"}, {"check": "fixture.finding", "params": {"slug": "image"}, "required": False},
     {"check": "fixture.fail_shared", "axes": {"i": [1, 2]}}, {"check": "fixture.convolution", "axes": {"i": [1, 2, 3, 4]}}],
    defaults={"timeout_s": 60},
    waivers=[{"case": "fixture.fail[*", "slug": "expectation-failed", "reason": "known", "owner": "me", "expires": "2999-01-01"},
             {"case": "fixture.nowhere", "slug": "crashed", "reason": "old", "owner": "me", "expires": "2020-01-01"}])
SBOM = json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [
    {"type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name}@{version}"}
    for name, version in (("torch", "2.11.0"), ("nvidia-cudnn-cu13", "9.10.0.56"), ("triton", "3.6.0"))]})
TWO_GPUS = {"FAKE_DEVICE_COUNT": "2", "FAKE_NAME": "NVIDIA Fake"}


def table(place):
    """Name: what machine.Machine.start needs."""
    fixture = {"CUDNN_CI_PLUGIN_PATH": str(place.fixtures / "fixture")}
    gate = ["--matrix", "matrix.json", *RUN]

    def on(matrix, *more, **variables):
        return {"words": [*gate, *more], "files": {"matrix.json": matrix}, "variables": variables}

    return {
        "green": on(GATE, *IMAGE, "--attestation", "statement.json"),
        "image": on(GATE, *IMAGE, FAKE_CUDNN_FAULT="element:last:2"),
        "runner": on(GATE, FAKE_CC="7.5"),
        "old-cudnn": on(GATE, FAKE_CUDNN_VERSION="80900"),
        "no-driver": {**on(GATE), "fakes": ("cudart13", "nvrtc", "cudnn")},
        "nothing": {**on(GATE), "fakes": ()},
        "outcomes": on(OUTCOMES, "--retries", "1", **fixture, FIXTURE_STACK="cudnn=fixture-image"),
        "strict": on(OUTCOMES, "--junit-profile", "strict", "--report-only", "--color", "always", "--verbose", **fixture),
        "first": on(OUTCOMES, "--fail-fast", "--quiet", **fixture),
        "shard-1": on(OUTCOMES, "--shard", "1/2", *IMAGE, **fixture),
        "shard-2": on(OUTCOMES, "--shard", "2/2", *IMAGE, **fixture),
        "two-gpus": on(GATE, "--device", "all", *IMAGE, **TWO_GPUS),
        "filtered": on(GATE, "--filter", "cudnn.*", "--stage", "static"),
        "sbom": {"words": ["--sbom", "sbom.json", *RUN], "files": {"sbom.json": SBOM}},
        "dry": on(GATE, "--dry-run"),
    }


def run_all(place):
    """Runs everything once; the journals of the first tree are kept for both. Returns the answers by key."""
    waiting = {name: place.start(f"run {name}", how.pop("words"), **how) for name, how in table(place).items()}
    found = {}
    for name, future in waiting.items():
        answer, folder = future.result(), place.here / f"run {name}"
        found[f"run {name}: console"] = machine.Answer(answer.code, normalised.text(answer.out), normalised.text(answer.err)).text()
        for file in FILES:
            found[f"run {name}: {file}"] = normalised.of_file(file, machine.read(folder / "report" / file))
        found[f"run {name}: summary.md"] = normalised.text(machine.read(folder / "summary.md"))
    found["run green: statement.json"] = normalised.document(machine.read(place.here / "run green/statement.json"))
    if not (place.kept / "runs").exists():
        for name in waiting:
            journal = place.here / f"run {name}/report/journal.jsonl"
            if journal.is_file():
                (place.kept / "runs" / name).mkdir(parents=True)
                shutil.copyfile(journal, place.kept / "runs" / name / "journal.jsonl")
                shutil.copyfile(journal.with_name("report.json"), place.kept / "runs" / name / "report.json")
    return found


def chained(text):
    """A golden journal, in which the hash of each line is a word, as it was written."""
    lines, before = [], ""
    for line in text.splitlines():
        start = re.sub(r',"h":"[^"]*"}$', "", line)
        before = hashlib.sha256((before + start).encode()).hexdigest()[:16]
        lines.append(f'{start},"h":"{before}"}}\n')
    return "".join(lines)


def journals(place):
    """Name: a file that outlives both trees."""
    golden = place.kept / "golden"
    if not golden.exists():
        for path in sorted((machine.ROOT / "tests/golden").rglob("*.journal.jsonl")):
            name = path.name.removesuffix(".journal.jsonl")
            (golden / name).mkdir(parents=True)
            (golden / name / "journal.jsonl").write_text(chained(path.read_text(encoding="utf-8")), encoding="utf-8")
    found = {f"golden-{path.parent.name}": path for path in sorted(golden.glob("*/journal.jsonl"))}
    found.update({path.parent.name: path for path in sorted((place.kept / "runs").glob("*/journal.jsonl"))})
    return found


def rebuild_all(place):
    """Rebuilds every format from every journal, and asks the other commands that read a journal or report.json."""
    waiting, made = {}, {}

    def ask(name, words, files=()):
        waiting[name], made[name] = place.start(f"rebuilt {name}", [str(word) for word in words]), files

    everything = journals(place)
    for name, journal in everything.items():
        ask(name, ["report", journal, "--output-dir", "report", "--summary", "summary.md", "--attestation", "statement.json"],
            ("report/junit.xml", "report/report.json", "report/report.html", "summary.md", "statement.json"))
        ask(f"{name} strict", ["report", journal, "--output-dir", "report", "--junit-profile", "strict", "--color", "always"], ("report/junit.xml",))
        ask(f"{name} waive", ["waive", journal.with_name("report.json") if journal.with_name("report.json").is_file() else journal, "--owner", "ana",
                              "--days", "7"])
    runs = place.kept / "runs"
    shards = [runs / "shard-1/journal.jsonl", runs / "shard-2/journal.jsonl"]
    ask("merged", ["report", *shards, "--output-dir", "report", "--summary", "summary.md"],
        ("report/junit.xml", "report/report.json", "report/report.html", "report/journal.jsonl", "summary.md"))
    ask("one-part", ["report", "--partial", shards[0], "--output-dir", "report"], ("report/junit.xml", "report/report.json"))
    ask("merged-of-different-runs", ["report", runs / "green/journal.jsonl", shards[0], "--output-dir", "report"])
    ask("page", ["report", "--page", runs / "green", runs / "image", runs / "runner", "--output-dir", "page"], ("page/images.html",))
    for form in ("", "--json", "--markdown"):
        words = [form] if form else []
        for old, new in (("green", "image"), ("image", "green"), ("green", "two-gpus"), ("green", "outcomes")):
            ask(f"compare {old} {new} {form or 'text'}", ["compare", runs / old / "journal.jsonl", runs / new / "report.json", *words])
    found = {}
    for name, future in waiting.items():
        found[f"rebuilt {name}: console"] = future.result().text()
        for file in made[name]:
            content = machine.read(place.here / f"rebuilt {name}" / file)
            # A merged run has its own id and time.
            found[f"rebuilt {name}: {file}"] = normalised.of_file(file, content) if name in ("merged", "one-part", "page") else content
    return found
