"""The command line of ci/same."""
import argparse
import difflib
import fnmatch
import itertools
import os
import pathlib
import sys
import tempfile

from . import machine, questions

DESCRIPTION = """Asks the programs of two install trees (folders with bin/cudnn-ci) the same questions and compares their answers: exit
status, output, and the files that they write. Both run at the same path, one after the other, on a machine made of the tests' fake
libraries, so that equal answers are equal byte for byte. Run ids, times, process ids and measured values are replaced by words in
`facts` and in the reports of a run, as ci/comparing/normalised.py lists; reports that are rebuilt from a journal are compared as they
are.

What is asked, as groups of keys:
  list, list-json     the cases of every matrix of the tree, with the plan's hash
  plugins, facts, init, version, help, manual
  explain-all, explain   every finding at once, and one at a time
  wrong-line          command lines that are wrong
  broken-matrix       matrices that are wrong
  run                 runs on the fakes: green, an image at fault, a runner at fault, every outcome, two GPUs, an SBOM, ...
  rebuilt             every report format, rebuilt from the golden journals and from the journals of OLD's runs; merges, comparisons, waivers
"""
EPILOG = """A file for --allow has a line for each difference that is intended: PATTERN, blanks, and the reason. PATTERN is a key as
this command prints it, with blanks written as `_` and * for any text. A line that nothing needs any more is a difference too.

Exit status: 0 all answers are equal or their difference is allowed, 1 some differ, 2 usage or something is missing"""
FIRST_LINES, LONGEST = 8, 300


def shortened(line, other):
    """A long line from a little before the place where it differs from the other."""
    if len(line) <= LONGEST:
        return line
    common = os.path.commonprefix([line[1:], other[1:]])
    start = max(0, len(common) - 60)
    return f"{line[0]}{'... ' if start else ''}{line[start + 1:start + LONGEST]} ..."


def first_differences(old, new, most):
    """The lines of a diff without its head; all of them if `most` is 0."""
    if old is None or new is None:
        return [f"only {'NEW' if old is None else 'OLD'} has an answer"]
    lines = [line for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "OLD", "NEW", n=0, lineterm="")
             if not line.startswith(("--- ", "+++ ", "@@"))]
    lines = lines or ["the same lines, ended differently"]
    if most == 0:
        return lines
    # Both sides of the first differences are shown, also if one has many lines.
    removed, added = ([line for line in lines if line.startswith(sign)] for sign in "-+")
    pairs = list(itertools.zip_longest(removed, added, fillvalue=""))[: most // 2]
    shown = [shortened(line, other) for pair in pairs for line, other in (pair, pair[::-1]) if line]
    return (shown or lines) + ([f"... {len(lines) - len(shown)} more lines differ"] if len(lines) > len(shown) > 0 else [])


def read_allowed(path):
    """[(pattern, reason)] of a file for --allow."""
    allowed = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, _, reason = line.strip().partition(" ")
        if not reason.strip():
            raise machine.Missing(f"{path}:{number}: a reason is expected after {pattern}")
        allowed.append((pattern, reason.strip()))
    return allowed


def spelled(key):
    return key.replace(" ", "_")


def compare(old, new, allowed, most, out):
    """Prints the table and what differs; returns whether all that differs is allowed."""
    needed, groups, told = set(), {}, []
    for key in sorted(old.keys() | new.keys(), key=questions.order):
        row = groups.setdefault(questions.group(key), [0, 0, 0])
        row[0] += 1
        if old.get(key) == new.get(key):
            continue
        reasons = [number for number, (pattern, _) in enumerate(allowed) if fnmatch.fnmatchcase(spelled(key), pattern)]
        needed.update(reasons)
        row[2 if reasons else 1] += 1
        because = f"   (allowed: {allowed[reasons[0]][1]})" if reasons else ""
        told.append([f"{spelled(key)}{because}"] + ["    " + line for line in first_differences(old.get(key), new.get(key), most)])
    for lines in told:
        print(*lines, sep="\n", file=out)
    print(f"{'what':<16}{'answers':>8}{'differ':>8}{'allowed':>9}", file=out)
    for name, (asked, differ, excused) in groups.items():
        print(f"{name:<16}{asked:>8}{differ or '-':>8}{excused or '-':>9}  {'differs' if differ else 'equal'}", file=out)
    unneeded = [pattern for number, (pattern, _) in enumerate(allowed) if number not in needed]
    for pattern in unneeded:
        print(f"allowed, but nothing differs: {pattern}", file=out)
    return not unneeded and all(differ == 0 for _, differ, _ in groups.values())


def main(words):
    parser = argparse.ArgumentParser(prog="ci/same", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", type=pathlib.Path, help="the tree to compare with")
    parser.add_argument("new", metavar="NEW", type=pathlib.Path, help="the tree that is compared")
    parser.add_argument("build", metavar="BUILD", nargs="?", type=pathlib.Path,
                        help="the build folder whose fakes and fixtures both run on (default: the folder that OLD lies in)")
    parser.add_argument("--only", metavar="GROUP", action="append", choices=questions.GROUPS, help="ask these questions alone; repeatable")
    parser.add_argument("--allow", metavar="FILE", type=pathlib.Path, help="differences that are intended")
    parser.add_argument("--diff", action="store_true", help="print every line that differs, not the first ones")
    parser.add_argument("--jobs", metavar="N", type=int, default=0, help="programs at a time (default: one for each processor)")
    arguments = parser.parse_args(words)
    try:
        allowed = read_allowed(arguments.allow) if arguments.allow else []
        with tempfile.TemporaryDirectory(prefix="cudnn-ci-same-") as folder:
            place = machine.Machine(pathlib.Path(folder), (arguments.build or arguments.old.resolve().parent).resolve(), arguments.jobs)
            old = questions.ask_all(place, arguments.old, arguments.only or questions.GROUPS)
            # Of runs that fail for want of something here, equal answers say little.
            if not old.get("run green: console", "exit 0\n").startswith("exit 0\n"):
                raise machine.Missing(f"OLD cannot pass on this machine's fakes:\n{old['run green: console']}")
            new = questions.ask_all(place, arguments.new, arguments.only or questions.GROUPS)
            same = compare(old, new, allowed, 0 if arguments.diff else FIRST_LINES, sys.stdout)
    except (machine.Missing, OSError) as error:
        print(f"ci/same: {error}", file=sys.stderr)
        return 2
    return 0 if same else 1
