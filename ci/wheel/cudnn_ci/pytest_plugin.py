"""pytest --cudnn-ci MATRIX: a test for each case of a matrix, and one for the verdict. The gate runs once, before the first
test; with pytest-xdist the controller runs it, and its workers read the report. What a test says is what junit.xml says."""
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree

import pytest

from cudnn_ci import environment, program


def pytest_addoption(parser):
    group = parser.getgroup("cudnn-ci", "cudnn-ci: does this image's CUDA stack fit its GPU?")
    group.addoption("--cudnn-ci", metavar="MATRIX", help="gate against this matrix, a file or a name (cu13): a test for each case")
    group.addoption("--cudnn-ci-args", metavar="ARGUMENTS", default="", help="more arguments of cudnn-ci, as a shell takes them")
    group.addoption("--cudnn-ci-output", metavar="DIR", help="where cudnn-ci leaves its reports (default: a folder that is removed)")


def pytest_configure(config):
    if config.getoption("--cudnn-ci"):
        config.pluginmanager.register(Plugin(config), "cudnn-ci-gate")


class Failure(Exception):
    """A case did not pass; the text says why."""


class Plugin:
    def __init__(self, config):
        self.config, self.folder = config, None

    def command(self, *subcommand):
        return [program(), *subcommand, "--matrix", self.config.getoption("--cudnn-ci"),
                *shlex.split(self.config.getoption("--cudnn-ci-args"))]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self):
        """Runs the gate: before xdist starts its workers, which take the folder from here."""
        if self.config.getoption("collectonly"):
            return
        if hasattr(self.config, "workerinput"):
            self.folder = self.config.workerinput["cudnn_ci_folder"]
            return
        asked = self.config.getoption("--cudnn-ci-output")
        self.folder = os.path.abspath(asked) if asked else tempfile.mkdtemp(prefix="cudnn-ci-pytest.")
        if not asked:
            self.config.add_cleanup(lambda: shutil.rmtree(self.folder, ignore_errors=True))
        run(self.command() + ["--output-dir", self.folder], stderr=subprocess.STDOUT, gates=True)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        node.workerinput["cudnn_ci_folder"] = self.folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session, items):
        if self.folder is None:
            cases = json.loads(run(self.command("list") + ["--json"]))["cases"]
            names = ["verdict"] + ["@".join(filter(None, (case["id"], case["device"]))) for case in cases]
            items += [Case.of(session, name, None) for name in names]
            return
        try:
            report = xml.etree.ElementTree.parse(os.path.join(self.folder, "junit.xml"))
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            raise pytest.UsageError("cudnn-ci left no junit.xml that can be read: %s" % error)
        items += [Case.of(session, case.get("name"), case) for case in report.iter("testcase")]


def run(command, stderr=subprocess.PIPE, gates=False):
    """The command's output. Where the command could judge nothing, its own words are pytest's usage error."""
    try:
        ended = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, check=False)
    except OSError as error:
        raise pytest.UsageError("cudnn-ci: %s" % error)
    if ended.returncode == 2 or ended.returncode != 0 and not gates:
        words = (ended.stderr or ended.stdout or b"").decode(errors="replace").strip()
        raise pytest.UsageError(words or "cudnn-ci ended with exit status %d" % ended.returncode)
    return ended.stdout.decode(errors="replace")


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
        text = failures[0].text or failures[0].get("message") if failures else ""
        output = self.case.findtext("system-out") or ""
        if output not in text:
            self.add_report_section("call", "cudnn-ci", output)
        if failures:
            raise Failure(text)
        skipped = self.case.find("skipped")
        if skipped is not None:
            pytest.skip(skipped.get("message"))

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value).rstrip() if isinstance(excinfo.value, Failure) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return getattr(self.config, "rootpath", None) or self.config.rootdir, None, self.name
