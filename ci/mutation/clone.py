"""A clone of the repository with a build of its own, in which mutations are tried one at a time. The clone and its
build are kept between runs; nothing outside its folder is written."""
import fcntl
import filecmp
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from . import entries, graph


class Unusable(Exception):
    """The clone cannot be built, or its tests fail without any mutation."""


class Stopped(Exception):
    """The run was interrupted."""


class Result:
    """What became of one mutation. status: killed, survived, changes-nothing (the optimised object is the same, byte for
    byte, so that no test can notice), did-not-compile or stale."""

    def __init__(self, status, by="", seconds=0.0):
        self.status = status
        self.by = by  # the test that noticed, or why there is no answer
        self.seconds = seconds


class Processes:
    """The commands that run now, so that an interrupted run can end them."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self._stopped = False

    def stop(self):
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill_group(process)

    def run(self, command, log, limit=None, cwd=None, environment=None):
        """Exit status (None: past the limit of seconds) of a command in a process group of its own; its output goes to
        the file `log`. Raises Stopped."""
        with open(log, "wb") as output:
            with self._lock:
                if self._stopped:
                    raise Stopped
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                           cwd=cwd, env=environment, start_new_session=True)
                self._running.add(process)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _kill_group(process)
                process.wait()
                with self._lock:
                    self._running.discard(process)
                    stopped = self._stopped
        if stopped:
            raise Stopped
        return status


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _text(log):
    with open(log, encoding="utf-8", errors="replace") as file:
        return file.read()


def _tail(log, lines=30):
    return "\n".join(_text(log).splitlines()[-lines:])


class Clone:
    # The tests of ci/mutate itself and of the launcher, a shell script: no other source has a part in them, and whoever changes
    # the launcher names them.
    _OF_MUTATE = "^Mutate$"
    _NOT_OF_THE_SOURCES = _OF_MUTATE + r"|^launcher\."
    # The first test of a ctest run that is not green.
    _RED = re.compile(r"^ *\d+/\d+ +Test +#\d+: (\S+) .*\*\*\*", re.MULTILINE)

    def __init__(self, root, folder, preset, jobs, limit, processes, nearest_only=False):
        self.root = root
        self.folder = folder
        self.tree = os.path.join(folder, "tree")
        self.build = os.path.join(self.tree, f"build-{preset}")
        self.preset = preset
        self.jobs = jobs
        self.limit = limit
        self.nearest_only = nearest_only
        self.processes = processes
        self.log = os.path.join(folder, "log")
        self.programs = set()  # the targets of the build
        os.makedirs(folder, exist_ok=True)
        self._lock = open(os.path.join(folder, "lock"), "w", encoding="ascii")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unusable(f"{folder} is in use by another run") from None

    def _must(self, *command, cwd=None):
        if self.processes.run(command, self.log, cwd=cwd) != 0:
            raise Unusable(f"{' '.join(command)} failed:\n{_tail(self.log)}")

    def prepare(self, revision, cores, green=False):
        """Brings the clone to a revision of the repository, builds all of it on `cores` cores and runs all tests once, unless they
        are known to be `green`, from another clone of the same revision. Raises Unusable."""
        if not os.path.isdir(os.path.join(self.tree, ".git")):
            shutil.rmtree(self.tree, ignore_errors=True)
            self._must("git", "clone", "-q", "--no-checkout", self.root, self.tree)
        # An interrupted run may have left a mutation behind.
        self._must("git", "fetch", "-q", self.root, "HEAD", cwd=self.tree)
        self._must("git", "checkout", "-q", "--force", "--detach", revision, cwd=self.tree)
        self._must("git", "clean", "-q", "-ffdx", "-e", f"/build-{self.preset}", cwd=self.tree)
        # What ci/deps unpacked is no part of the repository.
        if os.path.isdir(os.path.join(self.root, ".deps")):
            os.symlink(os.path.join(self.root, ".deps"), os.path.join(self.tree, ".deps"))
        launchers = []
        if shutil.which("ccache"):
            launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
        self._must("cmake", "--preset", self.preset, *launchers, cwd=self.tree)
        self._must("cmake", "--build", self.build, "--parallel", str(cores))
        self._must("ninja", "-C", self.build, "-t", "targets", "all")
        self.programs = set(re.findall(r"^([^:\s/]+): ", _text(self.log), re.MULTILINE))
        self._read_graph()
        marker = os.path.join(self.build, "green-without-mutation")
        if os.path.exists(marker) and _text(marker) == revision:
            return
        # A test that is red anyway would count every mutation as noticed.
        if not green and self._ctest(leave_out=(self._OF_MUTATE,)) is not None:
            raise Unusable(f"a test fails without any mutation:\n{_tail(self.log)}")
        with open(marker, "w", encoding="ascii") as file:
            file.write(revision)

    def _ctest(self, *selection, limit=None, leave_out=(_NOT_OF_THE_SOURCES,)):
        """The first red test, "time limit", or None if all were green; `leave_out`: expressions of tests that are not run. A test
        that is red only now and then says nothing about a mutation: what is red is run again, alone, and left out when it is
        green then."""
        deadline = None if limit is None else time.monotonic() + limit
        flaky = []
        while True:
            left = None if deadline is None else max(1, deadline - time.monotonic())
            without = [*([self._exactly(flaky)] if flaky else []), *leave_out]
            status = self._run_ctest("--stop-on-failure", *selection, *(["-E", "|".join(without)] if without else []), limit=left)
            if status is None:
                return "time limit"
            text = _text(self.log)
            if status == 0 or ((flaky or leave_out) and "No tests were found" in text):
                return None
            red = self._RED.search(text)
            if not red:
                raise Unusable(f"ctest failed and named no test:\n{_tail(self.log)}")
            if self._run_ctest("-R", self._exactly([red[1]]), limit=limit) != 0:
                return red[1]
            flaky.append(red[1])
            print(f"flaky: {red[1]}", flush=True)

    @staticmethod
    def _exactly(tests):
        return "^(" + "|".join(re.escape(test).replace(r"\/", "/") for test in tests) + ")$"

    def _run_ctest(self, *arguments, limit):
        # Many tests wait for time limits and leave a core to others.
        return self.processes.run(["ctest", "--test-dir", self.build, "--parallel", str(2 * self.jobs + 1), "--output-on-failure",
                                   "--no-tests=error", *arguments], self.log, limit)

    def _suites(self):
        """The suites of each test program."""
        suites = {}
        for path in glob.glob(os.path.join(glob.escape(self.build), "**", "*" + glob.escape("[1]_tests.cmake")), recursive=True):
            program = os.path.basename(path)[:-len("[1]_tests.cmake")]
            suites.setdefault(program, set()).update(re.findall(r"^add_test\(\[=*\[([^.\]]+)\.", _text(path), re.MULTILINE))
        return suites

    @staticmethod
    def _expression(suites):
        """A ctest expression for all tests of some suites; empty if there are none."""
        return "^(" + "|".join(sorted(re.escape(s).replace(r"\/", "/") for s in suites)) + r")\." if suites else ""

    def tests_of(self, targets):
        """A ctest -R expression for all tests of some test programs; empty if they have none."""
        suites = self._suites()
        return self._expression(set().union(*(suites.get(target, set()) for target in targets)))

    def _read_graph(self):
        """Reads which objects are compiled with which sources, and what each test program rests on: what is linked into it and
        what the build makes before it, such as the programs and plugins that it starts."""
        self._must("ninja", "-C", self.build, "-t", "deps")
        self._deps = _text(self.log)
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            self._database = json.load(file)
        self._inputs = {}
        for program in self._suites():
            self._must("ninja", "-C", self.build, "-t", "inputs", program)
            self._inputs[program] = set(_text(self.log).splitlines())

    def unreached(self, file):
        """A ctest -E expression for the tests of programs that rest on no object compiled with `file`; empty if there are none.
        Tests that are no test programs (scripts) are never among them."""
        changed = graph.objects_with(self._deps, self.build, os.path.join(self.tree, file))
        suites = self._suites()
        reached = {p for p in suites if p not in self._inputs or not changed or changed & self._inputs[p]}
        kept = set().union(*(suites[p] for p in reached))
        return self._expression(set().union(*(suites[p] for p in suites if p not in reached)) - kept)

    def _changes_nothing(self, path, text, mutated):
        """Whether the optimised object is the same with the file's text `mutated`, which stands in the tree, as with `text`."""
        objects = [os.path.join(self.folder, name) for name in ("mutated.o", "unchanged.o")]
        commands = [graph.optimised(self._database, self.build, path, o) for o in objects]
        if commands[0] is None:
            return False
        for o in objects:
            if os.path.exists(o):
                os.unlink(o)
        try:
            for command, content in zip(commands, (mutated, text)):
                self._write(path, content)
                if self.processes.run(command, self.log, self.limit, cwd=self.build) != 0:
                    return False
        finally:
            self._write(path, mutated)
        return filecmp.cmp(*objects, shallow=False)

    def _built(self, targets):
        """None, or the result that a failed build is."""
        targets = ["--target", *targets] if targets else []
        status = self.processes.run(["cmake", "--build", self.build, "--parallel", str(self.jobs), *targets], self.log,
                                    self.limit)
        if status == 0:
            return None
        # A program that cannot even list its tests has noticed.
        listing = re.search(r"Error running test executable|GoogleTestAddTests", _text(self.log))
        if status is None or listing:
            return Result("killed", "the listing of tests" if listing else "time limit")
        return Result("did-not-compile", next(iter(re.findall(r"error: .*", _text(self.log))), "the build failed"))

    def _judge(self, mutation, targets, unchanged, mutated):
        unknown = [t for t in mutation.targets if t not in self.programs]
        if unknown:
            return Result("stale", f"no target '{unknown[0]}'")
        targets = [t for t in targets if t in self.programs]
        tests = mutation.tests or self.tests_of(targets)
        deadline = time.monotonic() + self.limit
        if tests:
            result = self._built(targets)
            if result:
                return result
            if self._none(["-R", tests]):
                return Result("stale", f"no test matches '{tests}'")
            red = self._ctest("-R", tests, limit=max(1, deadline - time.monotonic()),
                              leave_out=() if mutation.tests else (self._NOT_OF_THE_SOURCES,))
            if red:
                return Result("killed", red)
        if self._changes_nothing(os.path.join(self.tree, mutation.file), unchanged, mutated):
            return Result("changes-nothing")
        result = self._built(targets if self.nearest_only else [])
        if result:
            return result
        if self.nearest_only:
            return Result("survived", "the nearest tests")
        beyond = self.unreached(mutation.file)
        for label in (["-L", "^unit$"], ["-LE", "^unit$"]):
            if self._none(label):
                continue
            red = self._ctest(*label, limit=max(1, deadline - time.monotonic()),
                              leave_out=[self._NOT_OF_THE_SOURCES, *([beyond] if beyond else [])])
            # So many tests may just be slow: one that hangs has a limit of its own.
            if red == "time limit":
                return Result("survived", "the time limit ended its tests")
            if red:
                return Result("killed", red)
        return Result("survived")

    def _none(self, selection):
        self._must("ctest", "--test-dir", self.build, "-N", *selection)
        return re.search(r"^Total Tests: 0$", _text(self.log), re.MULTILINE) is not None

    def attempt(self, mutation, targets):
        """Applies one mutation, builds `targets` (test programs) and runs the nearest tests; if none is red, and not these alone are
        asked for, builds everything and runs the unit tests, then the rest. The tree is as before afterwards. Raises Stopped."""
        begin = time.monotonic()
        try:
            text = entries.read(self.tree, mutation.file)
            mutated = mutation.apply(text)
        except entries.Stale as why:
            return Result("stale", str(why))
        path = os.path.join(self.tree, mutation.file)
        try:
            self._write(path, mutated)
            result = self._judge(mutation, targets, text, mutated)
        finally:
            self._write(path, text)
        result.seconds = time.monotonic() - begin
        return result

    @staticmethod
    def _write(path, text):
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
