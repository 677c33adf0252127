"""pytest --cudnn-ci MATRIX: a test for each case of a matrix, and one for the verdict. The gate runs once, before the first
test; with pytest-xdist the controller runs it, and its workers read the report. What a test says is what junit.xml says, and
where the gate fails the session fails, whichever tests were selected."""
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import pytest

from cudnn_ci import environment, program

OPTIONS_OF_THE_GATE = ["--cudnn-ci-args", "--cudnn-ci-output"]


def pytest_addoption(parser):
    group = parser.getgroup("cudnn-ci", "cudnn-ci: does this image's CUDA stack fit its GPU?")
    group.addoption("--cudnn-ci", metavar="MATRIX", help="gate against this matrix, a file or a name (cu13): a test for each case")
    group.addoption("--cudnn-ci-args", metavar="ARGUMENTS", help="more arguments of cudnn-ci, as a shell takes them")
    group.addoption("--cudnn-ci-output", metavar="DIR", help="where cudnn-ci leaves its reports (default: a folder that is removed)")


def pytest_configure(config):
    """An empty matrix is a variable that is not set, and no wish to run without the gate."""
    matrix = config.getoption("--cudnn-ci")
    if matrix:
        if config.pluginmanager.register(Plugin(config), "cudnn-ci-gate") is None:
            raise pytest.UsageError("--cudnn-ci %s: -p no:cudnn-ci-gate keeps it from running" % matrix)
        return
    given = [option for option in OPTIONS_OF_THE_GATE if config.getoption(option)]
    if matrix is not None or given:
        raise pytest.UsageError("%s: --cudnn-ci needs a matrix, a file or a name" % " ".join(given or ["--cudnn-ci ''"]))


class Failure(Exception):
    """A case did not pass; the text says why."""


class Plugin:
    def __init__(self, config):
        self.config, self.folder, self.status = config, None, 0
        try:
            self.arguments = shlex.split(config.getoption("--cudnn-ci-args") or "")
        except ValueError as error:
            raise pytest.UsageError("--cudnn-ci-args: %s" % error)

    def command(self, *subcommand):
        return [program(), *subcommand, "--matrix", self.config.getoption("--cudnn-ci"), *self.arguments]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self):
        """Runs the gate: before xdist starts its workers, which take the folder from here."""
        if any(self.config.getoption(name, False) for name in ["collectonly", "showfixtures", "show_fixtures_per_test"]):
            return
        if hasattr(self.config, "workerinput"):
            self.folder = self.config.workerinput["cudnn_ci_folder"]
            return
        asked = self.config.getoption("--cudnn-ci-output")
        try:
            self.folder = os.path.abspath(asked) if asked else tempfile.mkdtemp(prefix="cudnn-ci-pytest.")
        except OSError as error:
            raise pytest.UsageError("cudnn-ci: no folder for its reports: %s" % error)
        if not asked:
            self.config.add_cleanup(lambda: shutil.rmtree(self.folder, ignore_errors=True))
        earlier = stamp(self.junit())
        self.status, words = run(self.command() + ["--output-dir", self.folder], stderr=subprocess.STDOUT)
        if self.status == 2:
            raise pytest.UsageError(words or "cudnn-ci ended with exit status 2")
        if stamp(self.junit()) in (None, earlier):
            raise pytest.UsageError("cudnn-ci ended with exit status %d, and wrote no %s" % (self.status, self.junit()))

    def junit(self):
        return os.path.join(self.folder, "junit.xml")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["cudnn_ci_folder"] = self.folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session, items):
        if self.folder is None:
            status, words = run(self.command("list") + ["--json"])
            if status != 0:
                raise pytest.UsageError(words)
            names = ["verdict"] + ["@".join(filter(None, (case["id"], case["device"]))) for case in json.loads(words)["cases"]]
            items += [Case.of(session, name, None) for name in names]
            return
        try:
            report = xml.etree.ElementTree.parse(self.junit())
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            raise pytest.UsageError("cudnn-ci left no junit.xml that can be read: %s" % error)
        items += [Case.of(session, case.get("name"), case) for case in report.iter("testcase")]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Selection, a plugin or --setup-only may have left out the tests that failed."""
        if self.status != 0 and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.status != 0:
            terminalreporter.write_line("cudnn-ci: the gate failed (exit %d)" % self.status, red=True)
            if not self.config.getoption("--cudnn-ci-output"):
                terminalreporter.write_line("cudnn-ci: %s is removed; --cudnn-ci-output=DIR keeps the reports" % self.folder)


def stamp(path):
    """What differs between two files that were written one after the other at one path; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def run(command, stderr=subprocess.PIPE):
    """The command's exit status and output; its errors where it has failed and they are apart."""
    try:
        ended = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, check=False)
    except OSError as error:
        raise pytest.UsageError("cudnn-ci: %s" % error)
    words = ended.stdout if ended.returncode == 0 else ended.stderr or ended.stdout
    return ended.returncode, words.decode(errors="replace").strip()


def without_pipeline_commands(text):
    """As the gate's own screen: no line that a pipeline's runner would obey (report/text/pipeline_commands)."""
    return re.sub(r"##(?=[A-Za-z]*\[)", r"#\\x23", re.sub(r"(?:^|(?<=[\r\n]))([^!-~\r\n]*)::", r"\1\\x3A:", text))


class Case(pytest.Item):
    """A test case of junit.xml; `case` is None where nothing was run."""

    def __init__(self, *, case, **rest):
        super().__init__(**rest)
        self.case = case
        for entry in case.iter("property") if case is not None else ():
            self.user_properties.append((entry.get("name"), entry.get("value")))

    @classmethod
    def of(cls, session, name, case):
        return cls.from_parent(session, name=name, nodeid="cudnn-ci::" + name, case=case)

    def runtest(self):
        failures = [found for kind in ("failure", "error") for found in self.case.iter(kind)]
        text = failures[0].text or failures[0].get("message") or "" if failures else ""
        output = self.case.findtext("system-out") or ""
        if output not in text:
            self.add_report_section("call", "cudnn-ci", without_pipeline_commands(output))
        if failures:
            raise Failure(without_pipeline_commands(text))
        skipped = self.case.find("skipped")
        if skipped is not None:
            pytest.skip(without_pipeline_commands(skipped.get("message", "")))

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value).rstrip() if isinstance(excinfo.value, Failure) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return getattr(self.config, "rootpath", None) or self.config.rootdir, None, self.name
