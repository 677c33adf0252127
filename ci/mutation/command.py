"""The command line of ci/mutate: which mutations, in how many clones, and what is printed."""
import argparse
import hashlib
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time

from . import clone, entries, operators

_ABOUT = """\
Applies mutations (changes that break something) one at a time in a clone of HEAD with a build of its own, runs the nearest
tests first, then all others, and stops at the first red. Without --random the mutations are those of
tests/mutations/*.txt (ci/mutation/entries.py describes the form). The clone is kept in CACHE between runs. Tests of programs
that rest on nothing compiled with the changed file are left out. A change that leaves the optimised machine code as it is, is
told as one that changes nothing; of random ones another is drawn instead."""
_EXITS = """\
Exit status: 0 all were killed, 1 some survived, 2 usage, a list that cannot be read, or a clone that cannot be
built or is red without a mutation, 3 an entry of the list no longer applies, does not
compile, changes no machine code or names no test, 130 or 143 interrupted."""


def _arguments(argv):
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "cudnn-ci", "mutate")
    parser = argparse.ArgumentParser(prog="ci/mutate", description=_ABOUT, epilog=_EXITS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--list", action="store_true", help="the mutations of tests/mutations (the default)")
    which.add_argument("--random", type=int, metavar="N", help="N fresh ones that compile and change machine code, drawn from the code of harness and plugins")
    which.add_argument("--check", action="store_true", help="only see whether the list applies to the working tree; builds nothing")
    parser.add_argument("--only", default="", metavar="REGEX", help="of the list those whose LIST/ID matches")
    parser.add_argument("--seed", type=int, metavar="S", help="of --random; printed when it is not given")
    parser.add_argument("--skip", type=int, default=0, metavar="K", help="of --random: go on behind the first K drawn, "
                        "as an earlier run of the seed at the same commit numbered them")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="clones at a time (default 1)")
    parser.add_argument("--nearest", action="store_true", help="the nearest tests alone, for a quick look: what they do not notice "
                        "counts as survived, though another test may notice it")
    parser.add_argument("--preset", default="mutate", help="how to build (default mutate: -O0)")
    parser.add_argument("--limit", type=float, default=600, metavar="S",
                        help="seconds for the tests of one mutation (default 600); past it the nearest tests hang, which is a kill, "
                        "and what all others did not notice by then survived")
    parser.add_argument("--cache", default=cache, help=f"where clones are kept (default {cache})")
    options = parser.parse_args(argv)
    if options.jobs < 1 or options.limit <= 0 or (options.random is not None and options.random < 1):
        parser.error("N and S must be above 0")
    if options.skip < 0 or (options.skip and (options.random is None or options.seed is None)):
        parser.error("--skip goes with --random and --seed, and is not negative")
    try:
        re.compile(options.only)
    except re.error as error:
        parser.error(f"--only: {error}")
    return options


def nearest(tree):
    """The test programs nearest to a source file, by the longest prefix of its path (tests/mutations/nearest)."""
    rules = []
    path = os.path.join(tree, "tests", "mutations", "nearest")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            rules = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return lambda source: max((r for r in rules if source.startswith(r[0])), key=lambda r: len(r[0]), default=[""])[1:]


class _Queue:
    """Hands out mutations until `wanted` of them compiled (None: until there are no more), and keeps the results."""

    def __init__(self, mutations, wanted):
        self._mutations = iter(mutations)
        self._wanted = wanted
        self._taken = 0  # handed out and not found to be beside the point
        self._changed = threading.Condition()
        self._open = 0
        self.results = []  # (mutation, result)

    def take(self):
        with self._changed:
            while self._wanted is not None and self._taken >= self._wanted and self._open > 0:
                self._changed.wait()  # one of those that run may not compile and be replaced
            if self._wanted is not None and self._taken >= self._wanted:
                return None
            mutation = next(self._mutations, None)
            if mutation is not None:
                self._taken += 1
                self._open += 1
            return mutation

    def put(self, mutation, result, show):
        with self._changed:
            self._open -= 1
            if result.status in ("did-not-compile", "changes-nothing") and self._wanted is not None:
                self._taken -= 1
            self.results.append((mutation, result))
            show(mutation, result)
            self._changed.notify_all()

    def give_up(self):
        with self._changed:
            self._open -= 1
            self._wanted = 0
            self._changed.notify_all()


def _show(mutation, result):
    note = f"  ({result.by})" if result.by else ""
    print(f"{result.status:16}{result.seconds:7.1f} s  {mutation.name}: {mutation.what}{note}", flush=True)


def _work(place, queue, near, errors):
    try:
        while (mutation := queue.take()) is not None:
            targets = list(mutation.targets) or near(mutation.file)
            queue.put(mutation, place.attempt(mutation, targets), _show)
    except clone.Stopped:
        queue.give_up()
    except Exception as error:  # pylint: disable=broad-except: a thread's error is the run's
        errors.append(error)
        queue.give_up()


def _summary(queue, place, seconds, is_list):
    """Prints counts, then every survivor and every entry that is no test of anything; the exit status."""
    by_status = {status: [(m, r) for m, r in queue.results if r.status == status]
                 for status in ("killed", "survived", "changes-nothing", "did-not-compile", "stale")}
    judged = len(by_status["killed"]) + len(by_status["survived"])
    share = f" ({100 * len(by_status['killed']) / judged:.1f}%)" if judged else ""
    print(f"\n{judged} mutations in {seconds / 60:.1f} min: {len(by_status['killed'])} killed{share}, "
          f"{len(by_status['survived'])} survived, {len(by_status['changes-nothing'])} change no machine code, "
          f"{len(by_status['did-not-compile'])} did not compile, "
          f"{len(by_status['stale'])} no longer apply")
    for status in ("survived", "stale") + (("did-not-compile", "changes-nothing") if is_list else ()):
        for mutation, result in by_status[status]:
            where = mutation.file
            if status != "stale":
                where += f":{mutation.line(entries.read(place.tree, mutation.file))}"
            print(f"{status}: {where}: {mutation.name}: {mutation.what}" + (f": {result.by}" if result.by else ""))
    if by_status["stale"] or (is_list and (by_status["did-not-compile"] or by_status["changes-nothing"])):
        return 3
    return 1 if by_status["survived"] else 0


def _check(root, mutations):
    stale = 0
    for mutation in mutations:
        try:
            mutation.apply(entries.read(root, mutation.file))
        except entries.Stale as why:
            stale += 1
            print(f"stale: {mutation.name}: {why}")
    print(f"{len(mutations)} mutations, {stale} no longer apply")
    return 3 if stale else 0


def _listed(tree, only):
    mutations = [m for m in entries.load(os.path.join(tree, "tests", "mutations")) if re.search(only, m.name)]
    if not mutations:
        raise entries.ListError("no mutation of the list matches")
    return mutations


def _run(options, root, processes):
    if options.check:
        return _check(root, _listed(root, options.only))
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    if subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True).stdout:
        print("ci/mutate: what is not committed is not looked at", file=sys.stderr)
    cores = len(os.sched_getaffinity(0))
    home = os.path.join(options.cache, hashlib.sha256(root.encode()).hexdigest()[:12])
    places = [clone.Clone(root, os.path.join(home, str(i)), options.preset, max(1, cores // options.jobs), options.limit,
                          processes, options.nearest) for i in range(options.jobs)]
    print(f"{head[:12]}: building and testing without mutation in {home}", flush=True)
    # One after the other: the second build finds in ccache what the first compiled.
    for number, place in enumerate(places):
        place.prepare(head, cores, green=number > 0)
    tree = places[0].tree
    if options.random is None:
        mutations, seed = _listed(tree, options.only), None
        print(f"{len(mutations)} mutations of the list", flush=True)
    else:
        seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
        mutations = itertools.islice(operators.draw(tree, seed), options.skip, None)
        print(f"{options.random} random mutations, seed {seed}", flush=True)
    queue, near, errors, begin = _Queue(mutations, options.random), nearest(tree), [], time.monotonic()
    workers = [threading.Thread(target=_work, args=(p, queue, near, errors)) for p in places]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return _summary(queue, places[0], time.monotonic() - begin, options.random is None)


def main(argv, root):
    options = _arguments(argv)
    processes, caught = clone.Processes(), []

    def interrupt(number, _):
        caught.append(number)
        # In a thread: the lock it needs may be held by the code that was interrupted.
        threading.Thread(target=processes.stop).start()

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        status = _run(options, root, processes)
    except clone.Stopped:
        status = 0
    except (entries.ListError, clone.Unusable, subprocess.CalledProcessError) as error:
        print(f"ci/mutate: {error}", file=sys.stderr)
        status = 2
    return 128 + caught[0] if caught else status
