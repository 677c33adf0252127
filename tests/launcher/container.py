"""What a container of the stand-in leaves in its report folder: the journal of a run, and the reports that cudnn-ci makes of it.

usage: container.py PROGRAM FOLDER SECRET TOKEN SPEC WORD...    SPEC as launcher_test.reports() writes it, WORDs of the container's command
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys

BLAMES = {1: "image", 3: "runner", 4: "matrix", 5: "harness", 6: "undetermined"}


def sealed(events):
    """The events as lines of a journal, each with the hash that ties it to the one before."""
    chain, lines = "", []
    for number, event in enumerate(events, 1):
        text = json.dumps({"v": "journal/2", "seq": number, "t_ms": number, **event}, separators=(",", ":"))[:-1]
        chain = hashlib.sha256((chain + text).encode()).hexdigest()[:16]
        lines.append(f'{text},"h":"{chain}"}}\n')
    return lines


def value(words, option):
    return words[words.index(option) + 1] if option in words else ""


def matrix_of(words, tool):
    """Path and SHA-256 of the matrix that the command names, where it is one file of this machine."""
    name = value(words, "--matrix")
    path = pathlib.Path(f"{tool}/matrices/{name.removeprefix('builtin:')}.json" if name.startswith("builtin:") else name)
    return name, hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()


def events(spec, word, words, tool):
    name, sha256 = matrix_of(words, tool)
    started = {"ev": "RunStarted", "run_id": "1", "token_sha256": hashlib.sha256(word.encode()).hexdigest(), "timestamp": "2026-01-31T10:00:00Z",
               "version": "1", "hostname": "container", "matrix_name": "m", "matrix_path": name, "matrix_sha256": sha256,
               "image": spec.get("image") or value(words, "--subject-image") or "unidentified", "command_line": " ".join(words)}
    if spec["report_only"]:
        started["report_only"] = True
    yield started
    for case in ("a[b=c]", "d"):
        yield {"ev": "CasePlanned", "id": case, "check": case.split("[")[0], "plugin": "p", "layer": "other", "required": True, "prerequisite": False,
               "timeout_s": 60.0, "entry": 0, "place": 0, "allow_flaky": False}
    yield {"ev": "PlanEnd", "count": 2, "plan_sha256": "0" * 64, "whole": 2}
    for path in spec["attachments"]:
        yield {"ev": "Attachment", "id": "a[b=c]", "attempt": 1, "name": path.split("/")[-1], "path": path, "bytes": 9, "type": "text/plain"}
    blame = BLAMES.get(spec["code"])
    for case in ("a[b=c]", "d"):
        bad = blame and case != "d"
        if bad:
            yield {"ev": "Finding", "id": case, "finding": {"slug": "crashed", "severity": "error", "blame": blame, "summary": "it crashed",
                                                            "detail": 'say "this" <b> `x` C:\\d', "remedy": "fix it"}}
        if spec["complete"] or case != "d":
            yield {"ev": "CaseFinished", "id": case, "outcome": {"is": "failed" if bad else "passed"}, "seconds": 0.1}
    if spec["code"] > 128:
        yield {"ev": "RunCancelled", "reason": "signal", "signal": spec["code"] - 128}
    yield {"ev": "RunFinished", "seconds": 0.1, "token": word}


def main():
    program, folder, secret, token, spec, *words = sys.argv[1:]
    spec, folder = json.loads(spec), pathlib.Path(folder)
    word = {"secret": secret, "token": token}.get(spec["word"], spec["word"])
    tool = next((re.sub(r":/cudnn-ci\.[^:]*/tool:ro$", "", w) for w in words if re.search(r":/cudnn-ci\.[^:]*/tool:ro$", w)), "")
    told = list(events(spec, word, words, tool))
    journal = folder / "journal.jsonl"
    journal.write_text("".join(sealed(told)))
    made = subprocess.run([program, "report", str(journal), "--partial"], capture_output=True, text=True, check=False)
    (folder / "report.html").unlink(missing_ok=True)
    if not (folder / "report.json").exists():
        sys.exit(f"no report: {made.stderr}")
    lines = sealed(told)
    if spec["finished"] == "no":
        lines = lines[:-1]
    elif spec["finished"] != "secret":
        lines = sealed([*told[:-1], {**told[-1], "token": token}])
    journal.write_text("".join(lines))
    junit = folder / "junit.xml"
    if spec["junit_verdict"]:
        junit.write_text(re.sub(r'(name="verdict" value=")\w+', rf"\g<1>{spec['junit_verdict']}", junit.read_text()))
    for path in spec["attachments"]:
        (folder / path).write_text("evidence\n")
    for name in spec["leave_out"]:
        (folder / name).unlink()


if __name__ == "__main__":
    main()
