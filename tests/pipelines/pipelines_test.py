#!/usr/bin/env python3
"""What a pipeline's page shows of a run (ci/present.py), and the shell of the GitHub action and the GitLab component as their
systems would run it, with a stand-in for the launcher."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PRESENT = ROOT / "ci/present.py"


def finding(slug, blame="image", severity="error", detail="seen"):
    return {"slug": slug, "blame": blame, "severity": severity, "detail": detail, "summary": f"what {slug} is", "remedy": "fix it"}


def case(name, outcome="passed", findings=(), **more):
    return {"id": name, "outcome": outcome, "required": True, "findings": list(findings), **more}


def report(**more):
    return {"schema": "cudnn-ci/report/1", "verdict": "failed", "blame": "image", "exit_code": 1, "findings": [],
            "root_cause": {**finding("wrong-value"), "case": "conv.a"},
            "cases": [case("driver.load"), case("conv.a", "failed", [finding("wrong-value")], reason="image.wrong-value: seen"), case("conv.b")], **more}


def shell_of(path):
    """The script of the file's one step: what stands indented behind `run: |` or `- |`."""
    lines = path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if re.fullmatch(r" *(run:|-) \|", line))
    indent = len(lines[at + 1]) - len(lines[at + 1].lstrip())
    body = []
    for line in lines[at + 1:]:
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            break
        body.append(line)
    return textwrap.dedent("\n".join(body))


class PipelineTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-pipelines-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.reports = self.dir / "reports"
        self.reports.mkdir()

    def put(self, data, launcher=None):
        (self.reports / "report.json").write_text(json.dumps(data))
        if launcher is not None:
            (self.reports / "launcher.json").write_text(json.dumps(launcher))

    def present(self, *args, env=None):
        bare = {k: v for k, v in os.environ.items() if k not in ("GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_OUTPUT")}
        process = subprocess.run([sys.executable, "-I", PRESENT, *args, self.reports], env={**bare, **(env or {})},
                                 capture_output=True)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stdout.decode().split("\n")  # a carriage return is not to be lost

    def commands(self, lines):
        """The lines that GitHub would obey."""
        obeyed, mark = [], None
        for line in lines:
            if mark:
                if line == f"::{mark}::":
                    mark = None
                continue
            stop = re.fullmatch(r"::stop-commands::(\w+)", line)
            if stop:
                mark = stop.group(1)
                self.assertGreaterEqual(len(mark), 32)
            elif line.startswith("::") or "##[" in line:
                obeyed.append(line)
        self.assertIsNone(mark)
        return obeyed

    def values(self, path):
        return dict(line.split("=", 1) for line in path.read_text().splitlines())

    def test_a_report_that_is_no_file_is_not_waited_for(self):
        os.mkfifo(self.reports / "report.json")
        (self.reports / "launcher.json").write_text(json.dumps({"exit_code": 5, "confirmed": False}))
        self.assertTrue(self.present("--system", "github", "--status", "5"))

    def test_the_root_cause_is_the_first_annotation_and_plugins_are_groups(self):
        self.put(report(findings=[finding("order-dependent", "undetermined")]))
        self.assertEqual(self.commands(self.present("--system", "github")), [
            "::error title=image.wrong-value::what wrong-value is | conv.a | seen | fix it",
            "::error title=undetermined.order-dependent::what order-dependent is | seen | fix it",
            "::group::driver: 1 passed", "::endgroup::",
            "::group::conv: 1 failed, 1 passed", "::endgroup::"])
        self.assertIn("failed   conv.a  image.wrong-value: seen", self.present("--system", "github"))

    def test_what_the_image_printed_is_no_command(self):
        evil = "x\n::error::forged\r\n::stop-commands::y %0A::set-output name=verdict::passed \x1b]0;t\x07"
        data = report(root_cause={**finding("wrong-value", detail=evil), "case": "conv.a"})
        data["cases"][1] = case("conv.a", "failed", [finding("wrong-value", detail=evil)], reason="::error::forged")
        data["cases"].append(case("::warning::x.y", "failed\n::error::z", reason=evil))
        self.put(data)
        out = self.present("--system", "github")
        commands = self.commands(out)
        self.assertEqual([c.split("::")[1].split(" ")[0] for c in commands if not c.startswith(("::group", "::endgroup"))], ["error"])
        self.assertIn("%250A", commands[0])
        self.assertFalse(any(c in line for line in out for c in "\r\x1b\x07"))
        # Sections of GitLab's begin with an escape sequence: none comes from a report.
        section = [line for line in self.present("--system", "gitlab") if "\x1b" in line]
        self.assertTrue(all(re.match(r"\x1b\[(0Ksection_|3[13];1m)", line) for line in section), section)

    def test_at_most_ten_annotations(self):
        for many, last in ((10, "what s9 is"), (11, "2 more kinds of findings"), (40, "31 more kinds of findings")):
            cases = [case(f"conv.c{i}", "failed", [finding(f"s{i}")]) for i in range(many)]
            self.put(report(root_cause={**finding("s0"), "case": "conv.c0"}, cases=cases))
            errors = [c for c in self.commands(self.present("--system", "github")) if c.startswith("::error")]
            self.assertEqual(len(errors), 10)
            self.assertIn(last, errors[-1])

    def test_what_does_not_count_is_no_annotation(self):
        self.put(report(root_cause=None, verdict="passed", blame=None, exit_code=0, cases=[
            case("a.a", "failed", [finding("optional")], required=False), case("a.b", "failed", [finding("waived")], waived="t until 2027"),
            case("a.c", "passed", [finding("noted", severity="note")])]))
        self.assertEqual([c for c in self.commands(self.present("--system", "github")) if "group" not in c], [])

    def test_warnings_are_annotations_of_their_own_level_also_of_a_pass(self):
        warned = finding("known-regression", severity="warning", detail="9.1.0")
        data = report(root_cause=None, verdict="passed", blame=None, exit_code=0, findings=[finding("of-the-run", "runner", "warning")],
                      cases=[case("a.a", findings=[warned]), case("a.b", findings=[warned])], warnings=["a file is\nwritable", 7])
        self.put(data)
        expected = ["::warning title=runner.of-the-run::what of-the-run is | seen | fix it",
                    "::warning title=image.known-regression::what known-regression is | a.a | 9.1.0 | fix it",
                    "::warning title=cudnn-ci::a file is writable"]
        self.assertEqual([c for c in self.commands(self.present("--system", "github")) if "group" not in c], expected)
        self.assertIn("\x1b[33;1mimage.known-regression\x1b[0m what known-regression is | a.a | 9.1.0 | fix it", self.present("--system", "gitlab"))
        # Errors stand before them, and are the last to be cut.
        for many, levels in ((3, ["error"] * 3 + ["warning"] * 3), (9, ["error"] * 9 + ["warning"]), (10, ["error"] * 10), (30, ["error"] * 10)):
            errors = [case(f"conv.c{i}", "failed", [finding(f"s{i}")]) for i in range(many)]
            self.put({**data, "verdict": "failed", "blame": "image", "exit_code": 1, "cases": data["cases"] + errors,
                      "root_cause": {**finding("s0"), "case": "conv.c0"}})
            shown = [c for c in self.commands(self.present("--system", "github")) if "group" not in c]
            self.assertEqual([c.split("::")[1].split(" ")[0] for c in shown], levels)
            self.assertIn({3: "writable", 9: "3 more", 10: "what s9 is", 30: "21 more"}[many], shown[-1])

    def test_lines_of_a_plugin_and_texts_are_bounded(self):
        self.put(report(cases=[case(f"conv.c{i}", "blocked", reason="r" * 5000) for i in range(500)]))
        out = self.present("--system", "github")
        self.assertIn("400 more", out)
        self.assertLess(max(map(len, out)), 1000)
        self.assertLess(len(out), 120)

    def test_the_system_is_detected_and_can_be_switched_off(self):
        self.put(report())
        self.assertEqual(self.present(), [""])
        self.assertEqual(self.commands(self.present(env={"GITHUB_ACTIONS": "true"}))[0][:7], "::error")
        self.assertIn("section_start:", "".join(self.present(env={"GITLAB_CI": "true"})))
        self.assertEqual(self.present("--system", "none", env={"GITHUB_ACTIONS": "true"}), [""])

    def test_sections_of_gitlab_are_collapsed_and_end(self):
        self.put(report())
        text = "\n".join(self.present("--system", "gitlab"))
        starts = re.findall(r"\x1b\[0Ksection_start:\d+:(\w+)\[collapsed=true\]\r\x1b\[0K(.*)", text)
        self.assertEqual([title for _, title in starts], ["driver: 1 passed", "conv: 1 failed, 1 passed"])
        self.assertEqual([n for n, _ in starts], re.findall(r"\x1b\[0Ksection_end:\d+:(\w+)\r\x1b\[0K", text))

    def test_values_are_those_of_the_verdict(self):
        values = self.dir / "values"
        self.put(report())
        self.present("--system", "none", "--values", str(values))
        self.assertEqual(self.values(values), {"verdict": "failed", "blame": "image", "root-cause": "image.wrong-value",
                                               "exit-code": "1", "report": str(self.reports)})
        values.unlink()
        self.present("--values", str(values), env={"GITLAB_CI": "true"})
        self.assertEqual(self.values(values)["CUDNN_CI_ROOT_CAUSE"], "image.wrong-value")
        values.unlink()
        self.put(report(verdict="passed\nblame=none", blame=None, root_cause=None, exit_code=0))
        self.present("--values", str(values))
        self.assertEqual(self.values(values)["verdict"], "passed blame=none")
        self.assertEqual(self.values(values)["blame"], "")

    def test_a_report_the_launcher_does_not_stand_for_is_no_verdict(self):
        values = self.dir / "values"
        launcher = {"confirmed": False, "exit_code": 3, "reason": "runner.no-gpu-runtime: the engine cannot pass a GPU"}
        self.put(report(verdict="passed", exit_code=0), launcher)
        commands = self.commands(self.present("--system", "github", "--values", str(values)))
        self.assertEqual(commands, ["::error title=cudnn-ci::runner.no-gpu-runtime: the engine cannot pass a GPU"])
        self.assertEqual(self.values(values)["verdict"], "none")
        self.assertEqual(self.values(values)["exit-code"], "3")
        self.assertEqual(self.values(values)["root-cause"], "runner.no-gpu-runtime")
        self.assertEqual(self.values(values)["blame"], "runner")

    def test_without_a_verdict_somebody_is_to_blame(self):
        values = self.dir / "values"
        for reason, status, blame in (("image.entrypoint-died: it ended", 1, "image"), ("undetermined.cancelled: by SIGINT", 130, "undetermined"),
                                      ("strange.words: of another version", 3, "undetermined"), ("no word", 3, "undetermined")):
            self.put(report(), {"confirmed": False, "exit_code": status, "reason": reason})
            values.unlink(missing_ok=True)
            self.present("--values", str(values), "--status", str(status))
            self.assertEqual(self.values(values)["blame"], blame, reason)
        for launcher in ("launcher.json", "report.json"):
            (self.reports / launcher).unlink()
        for status, blame in ((2, "usage"), (1, "undetermined"), (137, "undetermined")):
            values.unlink(missing_ok=True)
            self.present("--values", str(values), "--status", str(status))
            self.assertEqual((self.values(values)["verdict"], self.values(values)["blame"]), ("none", blame), status)

    def test_no_report_and_a_strange_one_are_no_verdict(self):
        values = self.dir / "values"
        for text in (None, "", "[]", "{", '{"cases": 1, "findings": [1], "root_cause": []}', "[" * 100000):
            if text is not None:
                (self.reports / "report.json").write_text(text)
            values.unlink(missing_ok=True)
            self.present("--system", "github", "--values", str(values))
            self.assertEqual(self.values(values)["verdict"], "none", text)

    # --- The steps -------------------------------------------------------------------------------------------------

    def leaves(self, code, **more):
        """A launcher's script: the reports of this run, and its status."""
        (self.dir / "report.new").write_text(json.dumps(report(exit_code=code, **more)))
        (self.dir / "launcher.new").write_text(json.dumps({"schema": "cudnn-ci/launcher/1", "exit_code": code, "confirmed": True}, indent=1))
        return f"cp {self.dir}/report.new {self.reports}/report.json; cp {self.dir}/launcher.new {self.reports}/launcher.json; exit {code}"

    def step(self, path, script, **env):
        """The file's script with a launcher that does `script`."""
        tool = self.dir / "tool"
        for name in ("bin", "libexec"):
            (tool / name).mkdir(parents=True, exist_ok=True)
        launcher = tool / "bin/cudnn-ci-run"
        launcher.write_text(f'#!/bin/sh\nfor w in "$@"; do printf "%s\\n" "$w"; done >{self.dir}/words\n{script}\n')
        launcher.chmod(0o755)
        shutil.copy(PRESENT, tool / "libexec/cudnn-ci-present")
        self.output = self.dir / "output"
        self.output.write_text("")
        process = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", shell_of(ROOT / path).replace("/opt/cudnn-ci", f"{self.dir}/opt")],
                                 cwd=self.dir,
                                 env={"PATH": os.environ["PATH"], "GITHUB_OUTPUT": str(self.output), **env},
                                 capture_output=True, text=True)
        self.words = (self.dir / "words").read_text().splitlines() if (self.dir / "words").exists() else None
        return process

    def action(self, script, **env):
        return self.step("ci/github/action.yml", script, **{
            "IMAGE": "team/x y", "MATRIX": "cu12", "REPORT": "reports", "TOOL": str(self.dir / "tool"), "ARGUMENTS": "",
            "NO_GPU": "false", "STAGE": "", "FILTER": "", "ATTESTATION": "false", "PRESENTATION": "github", **env})

    def test_the_action_ends_as_the_gate_did(self):
        for code in (0, 1, 3, 6, 143):
            process = self.action(self.leaves(code))
            self.assertEqual(process.returncode, code, process.stderr)
            self.assertEqual(self.values(self.output)["root-cause"], "image.wrong-value")
            self.assertEqual(self.commands(process.stdout.split("\n"))[:3],
                             ["::group::cudnn-ci", "::endgroup::", "::error title=image.wrong-value::what wrong-value is | conv.a | seen | fix it"])
        self.assertEqual(self.words, ["--output-dir", "reports", "--summary", "--matrix", "cu12", "team/x y", "--"])

    def test_the_action_passes_what_it_is_given(self):
        self.put(report())
        self.action("exit 0", ARGUMENTS="--device\nall\n\n--case\na b$(c)\n", ATTESTATION="true")
        self.assertEqual(self.words, ["--output-dir", "reports", "--summary", "--matrix", "cu12", "--attestation", "team/x y", "--", "--device", "all",
                                      "--case", "a b$(c)"])

    WITHOUT = ["--output-dir", "reports", "--summary", "--no-gpu", "IMAGE", "--", "--stage", "static", "--filter", "a b.*", "--jobs", "2"]

    def test_the_action_needs_an_image_alone_and_passes_every_choice(self):
        self.put(report())
        self.action("exit 0", MATRIX="", IMAGE="IMAGE")
        self.assertEqual(self.words, ["--output-dir", "reports", "--summary", "IMAGE", "--"])
        self.action("exit 0", MATRIX="", IMAGE="IMAGE", NO_GPU="true", STAGE="static", FILTER="a b.*", ARGUMENTS="--jobs\n2\n")
        self.assertEqual(self.words, self.WITHOUT)

    def test_the_component_needs_an_image_alone_and_passes_every_choice(self):
        self.put(report())
        self.component("exit 0", CUDNN_CI_MATRIX="", CUDNN_CI_IMAGE="IMAGE")
        self.assertEqual(self.words, ["--output-dir", "reports", "--summary", "IMAGE", "--"])
        self.component("exit 0", CUDNN_CI_MATRIX="", CUDNN_CI_IMAGE="IMAGE", CUDNN_CI_NO_GPU="true", CUDNN_CI_STAGE="static",
                       CUDNN_CI_FILTER="a b.*", CUDNN_CI_ARGUMENTS="--jobs\n2")
        self.assertEqual(self.words, self.WITHOUT)

    def test_both_jobs_of_the_workflow_need_an_image_alone_and_pass_every_choice(self):
        scripts = re.findall(r"^        run: \|\n((?:          .*\n)+)", (ROOT / "ci/github/gate.yml").read_text(), re.M)
        ours = [textwrap.dedent(script) for script in scripts if "cudnn-ci-run" in script]
        self.assertEqual(len(ours), 2)
        for script in ours:
            for choices, words in (({}, ["--summary", "--output-dir", "reports", "IMAGE", "--"]),
                                   ({"MATRIX": "cu12"}, ["--summary", "--output-dir", "reports", "--matrix", "cu12", "IMAGE", "--"]),
                                   ({"NO_GPU": "true", "STAGE": "static", "FILTER": "a b.*", "ARGUMENTS": "--jobs\n2\n"},
                                    ["--summary", "--output-dir", "reports", "--no-gpu", "IMAGE", "--", "--stage", "static", "--filter", "a b.*",
                                     "--jobs", "2"])):
                env = {"IMAGE": "IMAGE", "MATRIX": "", "NO_GPU": "false", "STAGE": "", "FILTER": "", "ARGUMENTS": "", "REPORT": "reports",
                       "GITHUB_OUTPUT": str(self.dir / "output"), "PATH": os.environ["PATH"], **choices}
                launcher = self.dir / "launcher"
                launcher.write_text(f'#!/bin/sh\nfor w in "$@"; do printf "%s\\n" "$w"; done >{self.dir}/words\nexit 3\n')
                launcher.chmod(0o755)
                text = script.replace("/opt/cudnn-ci/bin/cudnn-ci-run", str(launcher))
                process = subprocess.run(["sh", "-e", "-c", text], env=env, capture_output=True, text=True)
                self.assertEqual(process.returncode, 3 if "exec" in text else 0, process.stderr)
                self.assertEqual((self.dir / "words").read_text().splitlines(), words)

    def test_the_container_gives_no_commands(self):
        process = self.action("printf '::error::forged\\n::add-mask::a\\n::endgroup::\\nno line feed'; exit 0")
        self.assertEqual(self.commands(process.stdout.split("\n")), ["::group::cudnn-ci", "::endgroup::"])
        self.assertIn("::error::forged", process.stdout)

    def test_reports_that_cannot_be_shown_change_no_verdict(self):
        self.put(report())
        process = self.action("rm -f " + str(self.dir / "tool/libexec/cudnn-ci-present") + "; exit 3")
        self.assertEqual(process.returncode, 3)
        self.assertIn("::warning::the reports could not be shown", process.stdout)

    def component(self, script, **env):
        return self.step("ci/gitlab/templates/gate.yml", script, **{
            "CUDNN_CI_TOOL": str(self.dir / "tool"), "CUDNN_CI_IMAGE": "x y", "CUDNN_CI_MATRIX": "cu12", "CUDNN_CI_REPORT": "reports",
            "CUDNN_CI_NO_GPU": "false", "CUDNN_CI_STAGE": "", "CUDNN_CI_FILTER": "", "CUDNN_CI_ARGUMENTS": "", "CUDNN_CI_ATTESTATION": "false",
            "CUDNN_CI_PRESENTATION": "gitlab", **env})

    # --- The tool by its archive -----------------------------------------------------------------------------------

    def pinned(self, step, archive, sha256, **env):
        """(the step's end, what it says of the verdict) for a tool by its archive; /opt/cudnn-ci's stand-in would leave `other`."""
        (self.dir / "words").unlink(missing_ok=True)
        (self.dir / "other").unlink(missing_ok=True)
        prefix, places = "" if step == self.action else "CUDNN_CI_", {"RUNNER_TEMP": str(self.dir), "CI_PROJECT_DIR": str(self.dir)}
        process = step(f"touch {self.dir}/other; exit 0", **{f"{prefix}ARCHIVE": str(archive), f"{prefix}SHA256": sha256, **places, **env})
        self.assertFalse((self.dir / "other").exists(), "the tool in place of which an archive was named")
        path = self.output if step == self.action else self.dir / "gate.env"
        values = {name.upper().replace("CUDNN_CI_", "").replace("_", "-"): value for name, value in self.values(path).items()}
        self.assertEqual([p for p in self.dir.rglob("cudnn-ci.*") if p.is_dir()], [], "what was unpacked stays")
        return process, values

    def archive(self, script):
        """An archive of a release whose launcher does `script`; its SHA-256."""
        top = self.dir / "cudnn-ci-1-linux-x86_64"
        for name, text in (("bin/cudnn-ci-run", f"#!/bin/sh\n{script}\n"), ("libexec/cudnn-ci-present", PRESENT.read_text())):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
            (top / name).chmod(0o755)
        path = self.dir / "tool one.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            tar.add(top, top.name)
        shutil.rmtree(top)
        return path, hashlib.sha256(path.read_bytes()).hexdigest()

    def test_an_archive_with_its_sum_is_the_tool(self):
        for step in (self.action, self.component):
            path, digest = self.archive(self.leaves(1))
            process, values = self.pinned(step, path, digest)
            self.assertEqual((process.returncode, values["VERDICT"], values["ROOT-CAUSE"]), (1, "failed", "image.wrong-value"), process.stderr)

    def test_an_archive_with_another_sum_or_none_is_not_run(self):
        path, digest = self.archive(f"touch {self.dir}/ran; exit 0")
        other = digest[:-1] + ("0" if digest[-1] != "0" else "1")
        cases = [(path, other), (path, ""), (path, digest[:-1]), (path, digest.upper() + "0"), (path, digest + "\n" + digest), (path, "*"),
                 (self.dir / "none.tar.gz", digest), ("", digest), (f"http://127.0.0.1:9/{path.name}", digest)]
        for step in (self.action, self.component):
            for archive, sha256 in cases:
                self.put(report(verdict="passed", exit_code=0), {"schema": "cudnn-ci/launcher/1", "confirmed": True, "exit_code": 0})
                process, values = self.pinned(step, archive, sha256)
                with self.subTest(step=step.__name__, archive=str(archive), sha256=sha256):
                    self.assertEqual(process.returncode, 2)
                    self.assertEqual(values, {"VERDICT": "none", "BLAME": "usage", "ROOT-CAUSE": "", "EXIT-CODE": "2", "REPORT": "reports"})
                    self.assertFalse((self.dir / "ran").exists())
                    self.assertEqual(list(self.reports.iterdir()), [], "what an earlier run left is not shown")
                    self.assertRegex(process.stdout + process.stderr, "the archive (cannot be had|is not the one whose SHA-256 is given)|the archive's address must begin with https://")
                    if step == self.action:
                        self.assertEqual([c.split("::")[1] for c in self.commands(process.stdout.split("\n"))], ["group", "endgroup", "error title=cudnn-ci"])

    def single(self, script):
        """A single file, of which copy-to leaves a tree whose launcher does `script`: a shell that runs what lies beside it."""
        top = self.dir / "held"
        for name, text in (("bin/cudnn-ci-run", f"#!/bin/sh\n{script}\n"), ("libexec/cudnn-ci-present", PRESENT.read_text())):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)
            (top / name).chmod(0o755)
        (self.dir / "copy-to").write_text(f'cp -r {top}/. "$1"\n')
        path = self.dir / "tool one"
        shutil.copyfile(os.path.realpath("/bin/sh"), path)
        return path, hashlib.sha256(path.read_bytes()).hexdigest()

    def test_a_single_file_with_its_sum_is_the_tool(self):
        for step in (self.action, self.component):
            path, digest = self.single(self.leaves(1))
            self.assertFalse(os.access(path, os.X_OK), "as it is downloaded")
            process, values = self.pinned(step, path, digest)
            self.assertEqual((process.returncode, values["VERDICT"], values["ROOT-CAUSE"]), (1, "failed", "image.wrong-value"), process.stderr)
            process, values = self.pinned(step, path, digest[:-1] + ("0" if digest[-1] != "0" else "1"))
            self.assertEqual((process.returncode, values["BLAME"]), (2, "usage"))
            (self.dir / "copy-to").write_text("exit 1\n")
            process, values = self.pinned(step, path, digest)
            self.assertEqual((process.returncode, values["BLAME"]), (2, "usage"))
            self.assertIn("the tool cannot be unpacked", process.stdout + process.stderr)

    def test_without_a_name_the_tool_is_that_of_the_machine(self):
        path, _ = self.single(self.leaves(1))
        (self.dir / "path").mkdir()
        shutil.copy(path, self.dir / "path/cudnn-ci")
        (self.dir / "path/cudnn-ci").chmod(0o755)
        for step, prefix, values in ((self.action, "", self.dir / "output"), (self.component, "CUDNN_CI_", self.dir / "gate.env")):
            found = step("exit 9", **{f"{prefix}TOOL": "", "PATH": f"{self.dir}/path:{os.environ['PATH']}"})
            self.assertEqual(found.returncode, 1, found.stderr)
            named = step("exit 9", **{f"{prefix}TOOL": str(self.dir / "path/cudnn-ci")})
            self.assertEqual(named.returncode, 1, named.stderr)
            none = step("exit 9", **{f"{prefix}TOOL": ""})
            self.assertEqual(none.returncode, 2, none.stderr)
            self.assertIn(f"there is no cudnn-ci, neither in {self.dir}/opt nor in PATH", none.stdout + none.stderr)
            self.assertEqual([value for name, value in self.values(values).items() if name.lower().endswith("blame")], ["usage"])
            self.assertEqual([p for p in self.dir.rglob("cudnn-ci.*") if p.is_dir()], [], "what was unpacked stays")

    def test_what_is_no_archive_is_not_run(self):
        path = self.dir / "text"
        path.write_text("no archive")
        for step in (self.action, self.component):
            process, values = self.pinned(step, path, hashlib.sha256(path.read_bytes()).hexdigest())
            self.assertEqual((process.returncode, values["VERDICT"]), (2, "none"))
            self.assertIn("the archive cannot be unpacked", process.stdout + process.stderr)

    def test_an_address_is_fetched_by_https_alone(self):
        path, digest = self.archive(self.leaves(0))
        curl = self.dir / "path/curl"
        curl.parent.mkdir()
        curl.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{self.dir}/asked\nwhile [ "$1" != --output ]; do shift; done\ncp "{path}" "$2"\n')
        curl.chmod(0o755)
        for step in (self.action, self.component):
            process, _ = self.pinned(step, "https://example.com/a.tar.gz", digest, PATH=f"{curl.parent}:{os.environ['PATH']}")
            self.assertEqual(process.returncode, 0, process.stderr)
            asked = (self.dir / "asked").read_text().splitlines()
            self.assertEqual(([word for word in asked if word in ("=https", "--fail")], asked[-1]), (["--fail", "=https"], "https://example.com/a.tar.gz"))
            (self.dir / "asked").unlink()
            process, values = self.pinned(step, "http://example.com/a.tar.gz", digest, PATH=f"{curl.parent}:{os.environ['PATH']}")
            self.assertEqual((process.returncode, values["VERDICT"]), (2, "none"))
            self.assertIn("the archive's address must begin with https://", process.stdout + process.stderr)
            self.assertFalse((self.dir / "asked").exists())

    def test_what_an_earlier_run_left_is_not_shown(self):
        for step in (self.action, self.component):
            self.put(report(verdict="passed", exit_code=0), {"schema": "cudnn-ci/launcher/1", "confirmed": True, "exit_code": 0})
            (self.reports / "junit.xml").write_text('<testsuites name="cudnn-ci"/>')
            (self.reports / "junit-unconfirmed.xml").write_text('<testsuites name="cudnn-ci"/>')
            (self.reports / "report-unconfirmed.json").write_text('{"schema": "cudnn-ci/report/1"}')
            (self.reports / "attestation.json").write_text('{"predicate": {"urn:cudnn-ci:gate:1": {}}}')
            (self.reports / "report.html").write_text("<!--cudnn-ci report.html-->\n")
            (self.reports / "summary.md").write_text("<!--cudnn-ci summary-->\n## PASSED\n")
            (self.reports / "journal.jsonl").write_text('{"v":"journal/1","ev":"Attachment","path":"attachments/1-core.txt"}\n')
            (self.reports / "attachments").mkdir(exist_ok=True)
            for name in ("1-core.txt", "2-mine.txt"):
                (self.reports / "attachments" / name).write_text("")
            (self.reports / "junit-2.xml").write_text('<testsuites name="mine"/>')
            process = step("exit 2")
            self.assertEqual(process.returncode, 2)
            path = self.output if step == self.action else self.dir / "gate.env"
            values = {k.upper().replace("CUDNN_CI_", "").replace("_", "-"): v for k, v in self.values(path).items()}
            self.assertEqual((values["VERDICT"], values["EXIT-CODE"]), ("none", "2"))
            self.assertEqual(sorted(str(p.relative_to(self.reports)) for p in self.reports.rglob("*")),
                             ["attachments", "attachments/2-mine.txt", "junit-2.xml"])

    def test_only_what_this_status_stands_behind_is_shown(self):
        values = self.dir / "values"
        self.put(report(verdict="passed", exit_code=0), {"confirmed": True, "exit_code": 0})
        for status, verdict in ((0, "passed"), (2, "none"), (137, "none")):
            values.unlink(missing_ok=True)
            self.present("--system", "github", "--values", str(values), "--status", str(status))
            self.assertEqual(self.values(values)["verdict"], verdict, status)
        (self.reports / "launcher.json").unlink()
        values.unlink()
        self.present("--system", "github", "--values", str(values), "--status", "0")
        self.assertEqual(self.values(values)["verdict"], "none")

    def test_a_pass_of_a_part_is_not_passed(self):
        values = self.dir / "values"
        for more, verdict in (({"partial": "filtered"}, "partial"), ({"report_only": True}, "not-gating"),
                              ({"partial": None, "report_only": False}, "passed"), ({"partial": "filtered", "verdict": "failed"}, "failed")):
            self.put(report(**{"verdict": "passed", "exit_code": 0, **more}))
            values.unlink(missing_ok=True)
            self.present("--values", str(values))
            self.assertEqual(self.values(values)["verdict"], verdict, more)

    def test_the_component_ends_as_the_gate_did(self):
        for code in (0, 1, 6):
            process = self.component(self.leaves(code))
            self.assertEqual(process.returncode, code, process.stderr)
            self.assertIn("section_start:", process.stdout)
            self.assertEqual(self.words, ["--output-dir", "reports", "--summary", "--matrix", "cu12", "x y", "--"])
            self.assertEqual(self.values(self.dir / "gate.env")["CUDNN_CI_VERDICT"], "failed")


if __name__ == "__main__":
    unittest.main()
