#!/usr/bin/env python3
"""What a pipeline's page shows of a run: annotations, a group for each plugin, and the verdict as values for later steps.

usage: present.py [--system auto|github|gitlab|none] [--values FILE] [--status N] REPORT_FOLDER

Reads report.json and, where there is none, the launcher's launcher.json. Decides nothing: the exit status of the gate does. With
--status, that of the launcher, only what a launcher.json of this status stands behind is shown: what an earlier run left is not. The
system is detected by GITHUB_ACTIONS and GITLAB_CI. What a report quotes was printed by the image: it is cleaned, bounded and kept
from being read as commands. Values go to FILE (default: $GITHUB_OUTPUT) as NAME=VALUE lines: verdict, blame, root-cause,
exit-code, report; for GitLab as variables, CUDNN_CI_VERDICT and so on. A pass is `passed` only where it is one on the whole image:
else it is `partial` or `not-gating`. The blame is empty only for a pass: without a verdict it is the launcher's, `usage` for a call
or a matrix that is invalid, else `undetermined`.
"""
import argparse
import json
import os
import pathlib
import secrets
import stat
import sys
import time

MOST_ANNOTATIONS = 10  # a page of GitHub shows no more of a level and step
MOST_LINES = 100  # of one plugin
MOST_TEXT = 1000
LARGEST_REPORT = 256 << 20
BLAMES = ("image", "runner", "harness", "matrix", "undetermined")
USAGE = "2"  # the exit status of a call or a matrix that is invalid


def clean(value, most=MOST_TEXT):
    """One line of printable characters, at most `most` of them."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    text = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def read(path):
    """The object in a JSON file; empty when it is not there, too large or none."""
    try:
        # A check may have left a FIFO without a writer in its place: opening one must not wait.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8", errors="replace") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_REPORT:
                return {}
            found = json.loads(file.read())
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def objects(value):
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


class Run:
    """What report and launcher say, cleaned."""

    def __init__(self, folder, status=None):
        launcher, report = read(folder / "launcher.json"), read(folder / "report.json")
        # Another status, or none: of an earlier run.
        if status is not None and launcher.get("exit_code") != status:
            launcher, report = {"exit_code": status}, {}
        # A report behind which the launcher does not stand is no verdict.
        if launcher and launcher.get("confirmed") is not True:
            report = {}
        root = report.get("root_cause")
        root = root if isinstance(root, dict) else {}
        self.folder, self.verdict = folder, clean(report.get("verdict")) or "none"
        if self.verdict == "passed" and report.get("report_only"):
            self.verdict = "not-gating"
        elif self.verdict == "passed" and report.get("partial"):
            self.verdict = "partial"
        self.slug, self.case = clean(root.get("slug")), clean(root.get("case"))
        self.exit_code = clean(report.get("exit_code", launcher.get("exit_code")))
        self.reason = clean(launcher.get("reason")) if not report else ""
        self.blame = clean(report.get("blame")) if self.verdict != "none" else self.blame_without_verdict()
        self.cases = objects(report.get("cases"))
        about_run = objects(report.get("findings"))
        self.errors = [root] if root else []
        self.errors += [f for f in about_run if f.get("severity") == "error"]
        self.warnings = [f for f in about_run if f.get("severity") == "warning"]
        sentences = report.get("warnings")
        self.sentences = [s for s in sentences if isinstance(s, str)] if isinstance(sentences, list) else []

    def blame_without_verdict(self):
        """Whom the launcher's type names ("runner.no-gpu-runtime"); undetermined if it names no one."""
        named = self.reason.split(":")[0].split(".")[0]
        if named in BLAMES:
            return named
        return "usage" if self.exit_code == USAGE else "undetermined"

    def root_cause(self):
        return f"{self.blame}.{self.slug}" if self.slug else self.reason.split(":")[0]

    def values(self):
        return {"verdict": self.verdict, "blame": self.blame, "root-cause": self.root_cause(),
                "exit-code": self.exit_code, "report": clean(str(self.folder))}

    def annotations(self):
        """(level, title, text) of the root cause, then of each other finding once, errors first; what was not tested by its reason."""
        errors, warnings = list(self.errors), list(self.warnings)
        for case in self.cases:
            found = [{**f, "case": case.get("id")} for f in objects(case.get("findings"))]
            warnings += [f for f in found if f.get("severity") == "warning"]
            if case.get("outcome") in ("failed", "errored") and case.get("required") is not False and not case.get("waived"):
                errors += [f for f in found if f.get("severity") == "error"]
        told = [("error", "cudnn-ci", self.reason)] if self.reason else []
        seen = set()
        for level, findings in (("error", errors), ("warning", warnings)):
            for finding in findings:
                key = (clean(finding.get("blame")), clean(finding.get("slug")))
                if key in seen:
                    continue
                seen.add(key)
                text = [clean(finding.get(part)) for part in ("summary", "case", "detail", "remedy", "command")]
                told.append((level, ".".join(key), " | ".join(part for part in text if part)))
        told += [("warning", "cudnn-ci", clean(sentence)) for sentence in self.sentences]
        told_errors = [line for line in told if line[0] == "error"]
        if len(told_errors) >= MOST_ANNOTATIONS:
            told = told_errors  # no error gives way to a warning
        if len(told) > MOST_ANNOTATIONS:
            rest = told[MOST_ANNOTATIONS - 1:]
            told[MOST_ANNOTATIONS - 1:] = [(rest[0][0], "cudnn-ci", f"{len(rest)} more kinds of findings: see the reports")]
        return told

    def groups(self):
        """Plugin, counts in words, and a line for each case that is not passed; the first plugins by their order in the plan."""
        plugins = {}
        for case in self.cases:
            plugins.setdefault(clean(case.get("id"), 300).split(".")[0], []).append(case)
        for plugin, cases in plugins.items():
            counts = {}
            for case in cases:
                outcome = clean(case.get("outcome"), 20)
                counts[outcome] = counts.get(outcome, 0) + 1
            open_cases = [case for case in cases if case.get("outcome") != "passed"]
            lines = [f"{clean(c.get('outcome'), 20):8} {clean(c.get('id'), 300)}  {clean(c.get('reason'), 300)}".rstrip()
                     for c in open_cases[:MOST_LINES]]
            if len(open_cases) > MOST_LINES:
                lines.append(f"{len(open_cases) - MOST_LINES} more")
            yield plugin, ", ".join(f"{n} {outcome}" for outcome, n in counts.items()), lines


def escape(text, of_property=False):
    """A text inside a command of GitHub's."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if of_property else text


def github(run, out):
    for level, title, text in run.annotations():
        out.write(f"::{level} title={escape(title, True)}::{escape(text)}\n")
    for plugin, counts, lines in run.groups():
        mark = secrets.token_hex(16)
        out.write(f"::group::{escape(f'{plugin}: {counts}')}\n::stop-commands::{mark}\n")
        out.write("".join(line + "\n" for line in lines))
        out.write(f"::{mark}::\n::endgroup::\n")


def gitlab(run, out):
    for level, title, text in run.annotations():
        out.write(f"\033[{31 if level == 'error' else 33};1m{title}\033[0m {text}\n")
    for number, (plugin, counts, lines) in enumerate(run.groups()):
        name, now = f"cudnn_ci_{number}", int(time.time())
        out.write(f"\033[0Ksection_start:{now}:{name}[collapsed=true]\r\033[0K{plugin}: {counts}\n")
        # A line cannot be a section's: control characters are gone, and without them it is text.
        out.write("".join(line + "\n" for line in lines))
        out.write(f"\033[0Ksection_end:{now}:{name}\r\033[0K\n")


def detect(environment):
    if environment.get("GITHUB_ACTIONS") == "true":
        return "github"
    return "gitlab" if environment.get("GITLAB_CI") == "true" else "none"


def write_values(run, system, path):
    rename = (lambda n: "CUDNN_CI_" + n.upper().replace("-", "_")) if system == "gitlab" else (lambda n: n)
    with open(path, "a", encoding="utf-8") as file:
        file.write("".join(f"{rename(name)}={value}\n" for name, value in run.values().items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", choices=("auto", "github", "gitlab", "none"), default="auto")
    parser.add_argument("--values", default="")
    parser.add_argument("--status", type=int)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    system = detect(os.environ) if options.system == "auto" else options.system
    # Whatever the locale of the job is.
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    run = Run(options.folder, options.status)
    if system != "none":
        (github if system == "github" else gitlab)(run, sys.stdout)
    names = "gitlab" if "gitlab" in (system, detect(os.environ)) else "github"
    path = options.values or (os.environ.get("GITHUB_OUTPUT", "") if system == "github" else "")
    if path:
        write_values(run, names, path)


if __name__ == "__main__":
    main()
