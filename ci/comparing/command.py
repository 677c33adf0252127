"""The command line of ci/same."""
import argparse
import itertools
import os
import pathlib
import sys
import tempfile

from . import differences, machine, questions

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
EPILOG = """A file for --allow has a line for each difference that is intended: KEY [/LINE/] REASON. KEY is a key as this command prints
it, with blanks written as `_` and * for any text. LINE is a regular expression that is sought in each line that differs, as --diff
prints it with its sign; without one, all of the answer may differ. An answer differs if one of its lines fits no rule. A rule that
nothing needs any more is a difference too. Values of JSON documents are lines of their own, behind their keys.

Exit status: 0 all answers are equal or their difference is allowed, 1 some differ, 2 usage or something is missing"""
FIRST_LINES, LONGEST = 8, 300


def shortened(line, other):
    """A long line from a little before the place where it differs from the other."""
    if len(line) <= LONGEST:
        return line
    common = os.path.commonprefix([line[1:], other[1:]])
    start = max(0, len(common) - 60)
    return f"{line[0]}{'... ' if start else ''}{line[start + 1:start + LONGEST]} ..."


def first_lines(lines, most):
    """The first of the lines of a diff; all of them if `most` is 0."""
    if most == 0:
        return lines
    # Both sides of the first differences are shown, also if one has many lines.
    removed, added = ([line for line in lines if line.startswith(sign)] for sign in "-+")
    pairs = list(itertools.zip_longest(removed, added, fillvalue=""))[: most // 2]
    shown = [shortened(line, other) for pair in pairs for line, other in (pair, pair[::-1]) if line]
    return (shown or lines) + ([f"... {len(lines) - len(shown)} more lines differ"] if len(lines) > len(shown) > 0 else [])


def spelled(key):
    return key.replace(" ", "_")


def compare(old, new, allowed, most, out):
    """Prints what differs and the tables; returns whether all that differs is allowed."""
    groups = {}
    for key in sorted(old.keys() | new.keys(), key=questions.order):
        row = groups.setdefault(questions.group(key), [0, 0, 0])
        row[0] += 1
        if old.get(key) == new.get(key):
            continue
        lines = differences.between(old.get(key), new.get(key))
        reasons, left = allowed.excuse(spelled(key), lines)
        row[1 if left else 2] += 1
        because = f"   (allowed: {'; '.join(reasons)})" if reasons else ""
        print(f"{spelled(key)}{because}", *("    " + line for line in first_lines(left or lines, most)), sep="\n", file=out)
    print(f"{'what':<16}{'answers':>8}{'differ':>8}{'allowed':>9}", file=out)
    for name, (asked, differ, excused) in groups.items():
        print(f"{name:<16}{asked:>8}{differ or '-':>8}{excused or '-':>9}  {'differs' if differ else 'equal'}", file=out)
    for reason, answers, lines in allowed.counts():
        print(f"allowed: {lines} lines of {answers} answers: {reason}", file=out)
    for rule in allowed.unneeded():
        print(f"allowed, but nothing differs: {rule}", file=out)
    return not allowed.unneeded() and all(differ == 0 for _, differ, _ in groups.values())


def main(words):
    parser = argparse.ArgumentParser(prog="ci/same", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", type=pathlib.Path, help="the tree to compare with")
    parser.add_argument("new", metavar="NEW", type=pathlib.Path, help="the tree that is compared")
    parser.add_argument("build", metavar="BUILD", nargs="?", type=pathlib.Path,
                        help="the build folder whose fakes and fixtures both run on (default: the folder that OLD lies in)")
    parser.add_argument("--only", metavar="GROUP", action="append", choices=questions.GROUPS, help="ask only these questions; repeatable")
    parser.add_argument("--allow", metavar="FILE", type=pathlib.Path, help="differences that are intended")
    parser.add_argument("--diff", action="store_true", help="print every line that differs, not the first ones")
    parser.add_argument("--jobs", metavar="N", type=int, default=0, help="programs at a time (default: one for each processor)")
    arguments = parser.parse_args(words)
    try:
        allowed = differences.Allowed(arguments.allow)
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
