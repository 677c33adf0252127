#!/usr/bin/env python3
"""`cudnn-ci run IMAGE` against a stand-in for docker: every command it would run, and the verdict for every way to end.

usage: launcher_test.py --tree BUILD/stage --plugins DIR [TEST...]
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRIPT = ROOT / "ci/cudnn-ci-run"
SOURCES = ROOT / "harness/launch"
SCHEMA = ROOT / "tests/golden/junit-10.xsd"
IMAGE = "registry.example/team/image:1"
DIGEST = "registry.example/team/image@sha256:" + "b" * 64
ID, DIGEST_SHOWN = "sha256:TOKENTOKEN", "registry.example/team/image@sha256:TOKENTOKEN"  # as calls() shows them
MATRIX = '{"schema": "cudnn-ci/matrix/1", "name": "m", "checks": [{"check": "a"}]}'
OPTIONS = None

WORD = ["--run-token", "/cudnn-ci.TOKEN/reports/run-token"]
FILES = ["attachments", "journal.jsonl", "junit.xml", "launcher.json", "report.html", "report.json", "summary.md"]


def reports(code=0, complete=True, report_only=False, finished="secret", word="secret", status=None, leave_out=(), junit_verdict=None, image="",
            attachments=("attachments/1-core.txt",), more=""):
    """A script that leaves the journal and reports of such a run in the container's folder, then does `more`, and ends with `status`. `word`: the
    one that the reports bear, "secret", "token" (that names the run) or another; `finished`: that of the journal's end, or "no" for none."""
    spec = {"code": code, "complete": complete, "report_only": report_only, "finished": finished, "word": word, "leave_out": list(leave_out),
            "junit_verdict": junit_verdict, "image": image, "attachments": list(attachments)}
    return (f"{sys.executable} -B {HERE}/container.py {program()} \"$reports\" \"$secret\" \"$token\" {shlex.quote(json.dumps(spec))} \"$@\" || exit 99\n"
            f"{more}\nexit {code if status is None else status}\n")


def program():
    return f"{OPTIONS.tree}/bin/cudnn-ci"


class Launched:
    def __init__(self, process, out):
        self.out, self.code = out, process.returncode
        self.stdout, self.stderr = process.stdout, process.stderr
        junit = out / "junit.xml"
        self.junit = xml.parse(junit).getroot() if junit.is_file() else None

    def error(self):
        """type and text of the verdict's error in junit.xml."""
        error = self.junit.find(".//testcase[@classname='cudnn-ci.gate']/error")
        return ("", "") if error is None else (error.get("type"), error.text)


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cudnn-ci-launcher-"))
        self.addCleanup(shutil.rmtree, self.dir, True)
        self.bin, self.standin, self.out = self.dir / "bin", self.dir / "standin", self.dir / "out"
        for folder in (self.bin, self.standin, self.dir / "tool/bin", self.dir / "cwd"):
            folder.mkdir(parents=True)
        shutil.copy(HERE / "docker", self.bin / "docker")
        # Only what the stand-in needs, so that no engine of this machine is found.
        for name in "tr cat cp mv rm mkdir sed dd wc sh sleep env ln tee touch grep printf readlink dirname".split():
            (self.bin / name).symlink_to(shutil.which(name))
        self.tool("exit 0")
        self.put("image")
        self.put("options", "  --no-healthcheck   Disable any container-specified HEALTHCHECK\n")
        self.env = {"PATH": str(self.bin), "STANDIN": str(self.standin), "HOME": str(self.dir)}

    def put(self, name, text=""):
        (self.standin / name).write_text(text)

    def tool(self, script):
        path = self.dir / "tool/bin/cudnn-ci"
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def matrix(self, *names):
        """Matrices of the tool's own, as it is mounted."""
        (self.dir / "tool/matrices").mkdir(exist_ok=True)
        for name in names:
            (self.dir / f"tool/matrices/{name}.json").write_text(MATRIX)

    def command(self, *args, image=IMAGE):
        images = [image] if image else []
        return [program(), "run", "--tool", str(self.dir / "tool"), "--output-dir", str(self.out), *images, *args]

    def start(self, *args, run=None, env=None, image=IMAGE):
        if run is not None:
            self.put("run", run)
        return subprocess.Popen(self.command(*args, image=image), env={**self.env, **(env or {})}, cwd=self.dir / "cwd",
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="surrogateescape")

    def finish(self, process):
        stdout, stderr = process.communicate(timeout=60)
        process.stdout, process.stderr = stdout, stderr
        return Launched(process, self.out)

    def launch(self, *args, **more):
        return self.finish(self.start(*args, **more))

    def calls(self):
        """Every call of the engine; the token stands as TOKEN, the launcher's own folder as WORK, the line that repeats the run as LINE."""
        lines = (self.standin / "calls").read_text().split("\n")[:-1] if (self.standin / "calls").exists() else []
        text = [[w for w in line.split("\037")[:-1]] for line in lines]
        clean = lambda w: re.sub(r"[0-9a-f]{32}", "TOKEN", re.sub(r"/[^:]*/\.?cudnn-ci-run\.\w{6}", "WORK", w))
        line = lambda call, i: i > 0 and call[i - 1] == "--reproduce-with"
        return [["LINE" if line(call, i) else clean(w) for i, w in enumerate(call)] for call in text]

    def run_call(self):
        return next(c for c in self.calls() if c[0] == "run" and c[1] != "--help")

    def assertRed(self, launched, code, kind, words=""):
        self.assertEqual(launched.code, code, launched.stderr)
        self.assertEqual(launched.error()[0], kind, launched.stderr)
        self.assertIn(words, launched.error()[1])
        self.assertEqual(launched.junit.get("errors"), "1")
        self.assertIn('"exit_code": %d,' % code, (self.out / "launcher.json").read_text())
        subprocess.run(["xmllint", "--noout", "--schema", str(SCHEMA), str(self.out / "junit.xml")], check=True, stderr=subprocess.PIPE)
        self.assertNothingLeft()

    def assertNothingLeft(self):
        self.assertEqual(list(self.out.glob(".cudnn-ci-run*")), [])
        if any(c[0] == "run" for c in self.calls()):
            self.assertEqual(self.calls()[-1], ["rm", "-f", "cudnn-ci-TOKEN"])

    # --- What is run -----------------------------------------------------------------------------------------------

    MOUNTS = ["-v", "TOOL:/cudnn-ci.TOKEN/tool:ro", "-v", "WORK/reports:/cudnn-ci.TOKEN/reports"]

    @staticmethod
    def mounted(file):
        """The words that mount the folder of a matrix, where it has the path that it has here."""
        return ["-v", f"{file.parent}:/cudnn-ci.TOKEN/matrix{file.parent}:ro"]

    @staticmethod
    def named(file):
        return ["--matrix-root", "/cudnn-ci.TOKEN/matrix", "--matrix", str(file)]

    def expected_run(self, *before, extra=(), kept=False, image=ID, ask="", matrix=(), arguments=()):
        """`before`: what stands before the image's configuration; `extra`: arguments for the engine."""
        tool = "/cudnn-ci.TOKEN/tool/bin/cudnn-ci"
        identity = ["--subject-image", DIGEST_SHOWN, "--image-config", "/cudnn-ci.TOKEN/image.json", "--reports-at", str(self.out),
                    "--reproduce-with", "LINE"]
        words = ["run", "--name", "cudnn-ci-TOKEN", "--label", "cudnn-ci.run=TOKEN", "--stop-signal", "SIGTERM", "--no-healthcheck", *self.MOUNTS,
                 *before, "-v", "WORK/image-config.json:/cudnn-ci.TOKEN/image.json:ro", *extra,
                 *([image, tool] if kept else ["--entrypoint", tool, image]),
                 *([ask, *matrix] if ask else ["--output-dir", "/cudnn-ci.TOKEN/reports", *WORD, *matrix, *identity]), *arguments]
        return [w.replace("TOOL", str((self.dir / "tool").resolve())) for w in words]

    def before(self, call):
        """What a command has between our mounts and the image's configuration."""
        begin = call.index("WORK/reports:/cudnn-ci.TOKEN/reports") + 1
        return call[begin:call.index("WORK/image-config.json:/cudnn-ci.TOKEN/image.json:ro") - 1]

    def test_every_command_of_a_green_run(self):
        result = self.launch("--", "--matrix", "a b'c.json", run=reports())
        self.assertEqual(result.code, 0, result.stderr)
        inspect = ["image", "inspect"]
        self.assertEqual(self.calls(), [
            ["version"], [*inspect, IMAGE],
            [*inspect, "--format", "{{.Id}}", IMAGE],
            [*inspect, "--format", "{{range .RepoDigests}}{{println .}}{{end}}", ID],
            [*inspect, "--format", "{{.Architecture}}", ID],
            [*inspect, "--format", '{"RepoDigests":{{json .RepoDigests}},"Config":{{json .Config}}}', ID],
            [*inspect, "--format", "{{range .Config.Env}}{{println .}}{{end}}", ID],
            self.expected_run("--gpus", "all", arguments=["--matrix", "a b'c.json"]),
            ["rm", "-f", "cudnn-ci-TOKEN"]])
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), FILES)
        self.assertEqual((self.out / "attachments/1-core.txt").read_text(), "evidence\n")
        record = (self.out / "launcher.json").read_text()
        for part in ('"confirmed": true', '"entrypoint": "replaced"', '"engine_version": "28.2.2"', '"status": 0',
                     f'"digest": "{DIGEST}"'):
            self.assertIn(part, record)

    def test_every_option_of_the_run(self):
        matrix = self.dir / "m x/mine.json"
        matrix.parent.mkdir()
        matrix.write_text(MATRIX)
        self.launch("--engine=docker", "--keep-entrypoint", "--matrix", str(matrix), "--mount", str(self.standin), "--gpus", "0,GPU-1",
                    "--user", "12:34", "--env", "MINE", "--engine-arg", "--network", "--engine-arg", "none", "--", "run", "--fail-fast",
                    run=reports(), env={"CI": "true", "GITHUB_SHA": "x", "GITHUB_TOKEN": "secret", "MINE": "1", "CI_JOB_TOKEN": "secret"})
        self.assertEqual(self.run_call(), self.expected_run(
            "-v", f"{matrix.parent}:/cudnn-ci.TOKEN/matrix{matrix.parent}:ro", "-v", f"{self.standin}:{self.standin}:ro", "--gpus", '"device=0,GPU-1"',
            "-e", "CI", "-e", "GITHUB_SHA", "-e", "MINE", "--user", "12:34", extra=["--network", "none"], kept=True, matrix=self.named(matrix),
            arguments=["--fail-fast"]))
        self.assertIn('"entrypoint": "kept"', (self.out / "launcher.json").read_text())

    def test_a_matrix_of_the_tools_own(self):
        self.matrix("cu12", "cu13", "matrix.schema")
        (self.dir / "tool/matrices/compatibility.json").write_text('{"schema": "cudnn-ci/compatibility/1"}')
        for name in ("cu12", "builtin:cu12"):
            with self.subTest(name=name):
                result = self.launch("--matrix", name, run=reports())
                self.assertEqual(result.code, 0, result.stderr)
                self.assertEqual(self.run_call(), self.expected_run("--gpus", "all", matrix=["--matrix", "builtin:cu12"]))
        (self.standin / "calls").unlink()
        for name in ("cu21", "builtin:cu21", "matrix.schema", "../matrices/cu12", "builtin:"):
            with self.subTest(name=name):
                result = self.launch("--matrix", name, run=reports())
                self.assertEqual(result.code, 2)
                self.assertRegex(result.stderr, "cu12, cu13")
                self.assertEqual('did you mean "cu13"' in result.stderr, "cu21" in name, result.stderr)
                self.assertEqual(self.calls(), [])

    def gpu_words(self, *args, engine="docker"):
        if engine != "docker":
            os.replace(self.bin / "docker", self.bin / engine)
        result = self.launch(*args, run=reports())
        self.assertEqual(result.code, 0, result.stderr)
        return self.before(self.run_call())

    def test_gpus_by_engine(self):
        self.assertEqual(self.gpu_words("--no-gpu"), [])

    def test_podman_gets_gpus_by_cdi(self):
        self.assertEqual(self.gpu_words("--gpus", "0,1", engine="podman"), ["--device", "nvidia.com/gpu=0", "--device", "nvidia.com/gpu=1"])

    def test_nerdctl_gets_gpus_by_option(self):
        self.assertEqual(self.gpu_words(engine="nerdctl"), ["--gpus", "all"])

    def test_the_images_health_check_does_not_run_beside_the_gate(self):
        for engine in ("docker", "podman", "nerdctl"):
            with self.subTest(engine=engine):
                shutil.copy(HERE / "docker", self.bin / engine)
                self.launch("--no-gpu", "--engine", engine, run=reports())
                self.assertIn("--no-healthcheck", [c for c in self.calls() if c[0] == "run"][-1])
        self.put("options", "  --name string\n")
        self.launch("--no-gpu", "--engine", "nerdctl", run=reports())
        self.assertNotIn("--no-healthcheck", [c for c in self.calls() if c[0] == "run"][-1])

    def test_gpus_as_docker_spells_them(self):
        for typed, passed in (("all", "all"), ("0", '"device=0"'), ("device=0", '"device=0"'), ('"device=0,1"', '"device=0,1"'), ("0:1", '"device=0:1"'),
                              ("device=GPU-8f6a-1,MIG-GPU-8f6a/1/0", '"device=GPU-8f6a-1,MIG-GPU-8f6a/1/0"')):
            with self.subTest(typed=typed):
                self.launch("--gpus", typed, run="exit 1")
                self.assertEqual(self.before([c for c in self.calls() if c[0] == "run"][-1]), ["--gpus", passed])
        self.launch("--gpus", "device=0", "--gpu-way", "cdi", run="exit 1")
        self.assertEqual(self.before([c for c in self.calls() if c[0] == "run"][-1]), ["--device", "nvidia.com/gpu=0"])

    def test_docker_gets_gpus_by_cdi_on_request(self):
        self.assertEqual(self.gpu_words("--gpu-way", "cdi"), ["--device", "nvidia.com/gpu=all"])

    def test_caller_as_user(self):
        self.launch("--user", "caller", run=reports())
        call = self.run_call()
        self.assertEqual(call[call.index("--user") + 1], f"{os.getuid()}:{os.getgid()}")

    def test_the_images_identity_goes_to_the_tool(self):
        old = os.umask(0o077)
        self.addCleanup(os.umask, old)
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertIn("WORK/image-config.json:/cudnn-ci.TOKEN/image.json:ro", self.run_call())
        self.assertEqual((self.standin / "image-config.json").read_text(),
                         '{"RepoDigests":["%s"],"Config":{"Env":["PATH=/bin"],"Entrypoint":["/entry"]}}\n' % DIGEST)
        self.assertEqual((self.standin / "image-config.json").stat().st_mode & 0o777, 0o644, "the container's user may be any")

    def test_an_image_that_was_never_pushed_is_known_by_name_and_id(self):
        self.put("digests")
        result = self.launch(run=reports(status=1))
        call = self.run_call()
        self.assertNotIn("--subject-image", call)
        self.assertEqual(call[call.index("--subject-id") + 1], f"{IMAGE}@{ID}")
        name = f"{IMAGE} (image id sha256:{'0' * 63}7)"
        self.assertEqual(result.junit.find(".//property[@name='launcher.image']").get("value"), name)
        self.real("fixture.pass", "--no-gpu")
        self.assertEqual(json.loads((self.out / "report.json").read_text())["judged"]["image"], name)
        self.assertEqual(json.loads((self.out / "report.json").read_text())["judged"]["digest_from"], "id")
        for file in ("report.html", "summary.md", "junit.xml"):
            self.assertIn(name, (self.out / file).read_text(), file)
        self.assertIn(f"image       {name}\n", (self.dir / "summary.md").read_text())

    # --- The statement ---------------------------------------------------------------------------------------------

    def test_a_statement_is_asked_for_and_left(self):
        result = self.launch("--attestation", run=reports())
        self.assertEqual(result.code, 0, result.stderr)
        call = self.run_call()
        self.assertEqual(call[call.index("--attestation") + 1], "/cudnn-ci.TOKEN/reports/attestation.json")
        statement = json.loads((self.out / "attestation.json").read_text())
        self.assertEqual(statement["subject"], [{"name": DIGEST.split("@")[0], "digest": {"sha256": "b" * 64}}])
        # That of an earlier run goes, also where none is asked for.
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertNotIn("--attestation", [call for call in self.calls() if call[0] == "run"][-1])
        self.assertFalse((self.out / "attestation.json").exists())

    def test_a_statement_of_another_image_is_left_out(self):
        for image in ("registry.example/team/image@sha256:" + "a" * 64, "registry.example/team/other@sha256:" + "b" * 64):
            with self.subTest(image=image):
                result = self.launch("--attestation", run=reports(image=image))
                self.assertEqual(result.code, 0, result.stderr)
                self.assertIn(f"the statement is not about {DIGEST}", result.stderr)
                self.assertFalse((self.out / "attestation.json").exists())

    def test_what_the_container_wrote_is_no_statement(self):
        forged = "echo '{}' >\"$reports/attestation.json\""
        self.assertEqual(self.launch("--attestation", run=reports(more=forged)).code, 0)
        self.assertIn("urn:cudnn-ci:gate:", (self.out / "attestation.json").read_text())
        self.assertEqual(self.launch("--attestation", run=reports(image="unidentified", more=forged)).code, 0)
        self.assertFalse((self.out / "attestation.json").exists())

    def test_what_proves_nothing_leaves_no_statement(self):
        self.assertEqual(self.launch("--attestation", run=reports(status=1)).code, 5)
        self.assertFalse((self.out / "attestation.json").exists())

    def test_a_statement_needs_a_digest(self):
        self.put("digests")
        result = self.launch("--attestation", run=reports())
        self.assertRed(result, 2, "matrix.invalid-use", "has no digest")
        self.assertFalse(any(call[0] == "run" for call in self.calls()))

    def test_a_foreign_statement_is_not_replaced(self):
        self.out.mkdir()
        (self.out / "attestation.json").write_text("{}")
        self.assertEqual(self.launch("--attestation", run=reports()).code, 2)
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertEqual((self.out / "attestation.json").read_text(), "{}")

    def test_dry_run_prints_the_command_and_runs_nothing(self):
        result = self.launch("--dry-run", "--", "--case", "it's")
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(self.calls(), [])
        self.assertFalse(self.out.exists())
        self.assertTrue(result.stdout.startswith("docker run --name cudnn-ci-TOKEN "), result.stdout)
        self.assertTrue(result.stdout.endswith(" --case 'it'\\''s'\n"), result.stdout)

    def tree(self):
        """An installed tree with this program."""
        tree = self.dir / "installed"
        for name in ("bin", "libexec"):
            (tree / name).mkdir(parents=True)
        shutil.copy(program(), tree / "bin/cudnn-ci")
        shutil.copy(SCRIPT, tree / "bin/cudnn-ci-run")
        (tree / "libexec/cudnn-ci-worker").touch()
        return tree

    def tree_once(self):
        return self.dir / "installed" if (self.dir / "installed").exists() else self.tree()

    def test_its_own_tree_is_mounted(self):
        tree = self.tree()
        (self.bin / "link").symlink_to(tree / "bin/cudnn-ci-run")
        for call in ([tree / "bin/cudnn-ci", "run"], [tree / "bin/cudnn-ci-run"], [self.bin / "link"]):
            with self.subTest(call=call):
                result = subprocess.run([*call, "--dry-run", IMAGE], env=self.env, capture_output=True, text=True)
                self.assertIn(f" -v {tree}:/cudnn-ci.TOKEN/tool:ro ", result.stdout, result.stderr)
                self.assertIn(" --entrypoint /cudnn-ci.TOKEN/tool/bin/cudnn-ci ", result.stdout)

    def test_a_program_that_is_one_file_is_mounted_alone(self):
        alone = self.dir / "alone/cudnn-ci-x86_64"
        alone.parent.mkdir()
        shutil.copy(program(), alone)
        result = subprocess.run([program(), "run", "--tool", alone, "--dry-run", IMAGE], env=self.env, capture_output=True, text=True)
        self.assertIn(f" -v {alone}:/cudnn-ci.TOKEN/cudnn-ci:ro ", result.stdout, result.stderr)
        self.assertIn(" --entrypoint /cudnn-ci.TOKEN/cudnn-ci ", result.stdout)

    def test_run_never_judges_this_machine(self):
        """What a pipeline types when a name is lost, or stands behind an option: nothing is judged, or the image is."""
        folder = self.dir / "g"
        folder.mkdir()
        for words, said in (
            ([], "no image given; cudnn-ci without `run` tests the machine"), (["--matrix", "static"], "no image given: static is the value of --matrix;"),
            (["--matrix", "static", ""], "no image given"), (["--matrix", "static", "--summary"], "no image given"), (["--"], "no image given"),
            (["--matrix", "ghcr.example/team/train:1"], "no image given: ghcr.example/team/train:1 is the value of --matrix;"),
            (["--matrix=static", "--json", "ghcr.example/team/train:1"], "unknown option --json"), (["--filter", "x"], "unknown option --filter"),
            (["--summary", "s.md", "IMAGE"], "two images: s.md and IMAGE"), (["--summary=s.md", "IMAGE"], "--summary takes no value"),
            (["--run-token", "x"], "unknown option --run-token"), (["list"], "list is a command: type cudnn-ci list "),
            (["report", "x"], "report is a command that needs no `run`: type cudnn-ci report"),
        ):
            for call in ([program(), "run"], [self.tree_once() / "bin/cudnn-ci-run"]):
                with self.subTest(words=words, call=call):
                    result = subprocess.run([*call, *words], env=self.env, cwd=folder, capture_output=True, text=True)
                    self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                    self.assertTrue(result.stderr.startswith("cudnn-ci run: " + said), result.stderr)
                    self.assertEqual(list(folder.iterdir()), [])
        result = subprocess.run([program(), "--matrix", "static", "run", "IMAGE"], env=self.env, cwd=folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cudnn-ci run [OPTIONS] IMAGE", result.stderr)
        (self.bin / "docker").unlink()
        for words in (["IMAGE"], ["--summary", "IMAGE"], ["--attestation", "IMAGE"], ["IMAGE", "--attestation"], ["--no-gpu", "--summary", "IMAGE"]):
            with self.subTest(words=words):
                result = subprocess.run([program(), "run", *words], env=self.env, cwd=folder, capture_output=True, text=True)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertEqual(json.loads((folder / "cudnn-ci-report/launcher.json").read_text())["image"], "IMAGE")
                self.assertEqual([p.name for p in folder.iterdir()], ["cudnn-ci-report"])

    def test_docker_that_is_podman_gets_gpus_by_cdi(self):
        self.put("version", "printf 'Client:       Podman Engine\nVersion:      4.3.1\n'; exit 0\n")
        self.assertEqual(self.gpu_words(), ["--device", "nvidia.com/gpu=all"])

    def test_an_engine_in_a_path_with_a_space(self):
        folder = self.dir / "a b"
        folder.mkdir()
        shutil.copy(self.bin / "docker", folder / "docker")
        self.assertEqual(self.launch("--engine", str(folder / "docker"), run=reports()).code, 0)

    def test_the_first_engine_that_answers_is_taken(self):
        self.put("version", "case $0 in *docker) echo down >&2; exit 1 ;; esac\n")
        shutil.copy(self.bin / "docker", self.bin / "podman")
        self.assertEqual(self.launch("--no-gpu", run=reports()).code, 0)
        self.assertIn('"engine": "podman"', (self.out / "launcher.json").read_text())

    def test_which_engine_and_why(self):
        shutil.copy(self.bin / "docker", self.bin / "podman")
        down = "case $0 in *docker) echo 'Cannot connect to the Docker daemon at tcp://nowhere' >&2; exit 1 ;; esac\n"
        for env, args, version, words in (
            ({}, [], "", "engine: docker 28.2.2, it answers"),
            ({}, ["--engine", "podman"], "", "engine: podman 28.2.2, named by --engine"),
            ({"CONTAINER_HOST": "ssh://x"}, [], "", "engine: podman 28.2.2, named by CONTAINER_HOST"),
            ({"DOCKER_CONTEXT": "far", "CONTAINER_HOST": "ssh://x"}, [], "", "engine: docker 28.2.2, named by DOCKER_CONTEXT"),
            ({}, [], down, "engine: podman, because docker does not answer (Cannot connect to the Docker daemon at tcp://nowhere"),
        ):
            with self.subTest(env=env, args=args, version=version):
                self.put("version", version + "exit 0\n") if version else (self.standin / "version").unlink(missing_ok=True)
                result = self.launch("--no-gpu", *args, run=reports(), env=env)
                self.assertEqual(result.code, 0, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertIn('"engine_chosen": "', (self.out / "launcher.json").read_text())
        (self.bin / "docker").unlink()
        result = self.launch("--no-gpu", run=reports())
        self.assertIn("because docker is not installed", result.stderr)

    def test_an_engine_that_was_named_is_never_changed_for_another(self):
        shutil.copy(self.bin / "docker", self.bin / "podman")
        self.put("version", "case $0 in *docker) echo 'error during connect: tcp://nowhere' >&2; exit 1 ;; esac\nexit 0\n")
        for env, args in (({"DOCKER_HOST": "tcp://nowhere"}, []), ({"DOCKER_CONTEXT": "far"}, []), ({}, ["--engine", "docker"])):
            with self.subTest(env=env, args=args):
                result = self.launch(*args, run=reports(), env=env)
                self.assertRed(result, 3, "runner.engine-failed", "error during connect: tcp://nowhere")
                self.assertIn("error during connect: tcp://nowhere", result.stderr.split("\n"))
                self.assertIn(f"({'named by ' + (next(iter(env), '--engine'))})", result.stderr)
        (self.bin / "docker").unlink()
        result = self.launch(run=reports(), env={"DOCKER_HOST": "tcp://nowhere"})
        self.assertRed(result, 3, "runner.engine-missing", "docker: not found (named by DOCKER_HOST)")

    def test_a_socket_that_may_not_be_opened(self):
        self.put("version", "echo 'permission denied while trying to connect to the Docker daemon socket' >&2\nexit 1\n")
        result = self.launch(run="exit 0")
        self.assertRed(result, 3, "runner.engine-failed", "usermod -aG docker")
        self.assertIn("permission denied while trying to connect to the Docker daemon socket", result.stderr.split("\n"))
        self.assertIn("usermod -aG docker", result.stderr)

    def test_what_the_image_sets_of_ours_is_empty(self):
        self.put("env", "PATH=/bin\nCUDNN_CI_PLUGIN_PATH=/evil\nMY_CUDNN_CI_X=1\nCUDNN_CI_PLANT=a=b\nCUDNN_CI_MINE=1\n")
        result = self.launch("--no-gpu", "--env", "CUDNN_CI_MINE", run=reports(), env={"CUDNN_CI_MINE": "2"})
        self.assertEqual(self.run_call(), self.expected_run(
            "-e", "CUDNN_CI_PLUGIN_PATH=", "-e", "CUDNN_CI_PLANT=", "-e", "CUDNN_CI_MINE=", "-e", "CUDNN_CI_MINE", matrix=["--no-gpu"]))
        self.assertIn(": CUDNN_CI_PLUGIN_PATH CUDNN_CI_PLANT", result.stderr)

    def test_the_image_does_not_choose_the_part(self):
        self.put("env", "CI_NODE_INDEX=1\nCI_NODE_TOTAL=99\nJOB_COMPLETION_INDEX=7\nCI_NODE=x\n")
        result = self.launch("--no-gpu", run=reports(), env={"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "3", "CI_NODE_TOTAL": "5"})
        self.assertEqual([w for before, w in zip(self.run_call(), self.run_call()[1:]) if before == "-e"],
                         ["CI_NODE_INDEX=", "CI_NODE_TOTAL=", "JOB_COMPLETION_INDEX=", "CI_NODE_TOTAL", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_ID"])
        self.assertIn(": CI_NODE_INDEX CI_NODE_TOTAL JOB_COMPLETION_INDEX", result.stderr)

    def test_which_variables_choose_the_part(self):
        source = (ROOT / "harness/cli/shard.cc").read_text()
        read = set(re.findall(r'Variable\("([A-Z_]+)"', source))
        listed = re.search(r"kParts = \{(.*?)\};", (SOURCES / "container.cc").read_text(), re.S).group(1)
        self.assertEqual(set(re.findall(r'"([A-Z_]+)"', listed)), read)

    def test_the_name_that_was_typed_with_the_digest_of_what_runs(self):
        a, b, c = ("sha256:" + x * 64 for x in "abc")
        for typed, digests, judged in (
            ("team/app:1", [f"mirror/app@{a}", f"team/app@{b}"], f"team/app@{b}"),
            ("team/app:1", [f"mirror/app@{a}"], f"team/app@{a}"),
            ("team/app-2:1", [f"team/app@{a}", f"team/app-2@{b}"], f"team/app-2@{b}"),
            ("localhost:5000/app", [f"localhost:5000/app@{a}"], f"localhost:5000/app@{a}"),
            ("app", [f"x/app@{a}", f"docker.io/library/app@{b}"], f"app@{b}"),
            (f"team/app@{c}", [f"team/app@{a}", f"team/app@{c}"], f"team/app@{c}"),
            ("sha256:0000000000", [f"team/app@{a}"], f"team/app@{a}"),
            ("0000000000", [f"team/app@{a}"], f"team/app@{a}"),
            ("team/app:1", [], ""),
        ):
            with self.subTest(typed=typed, digests=digests):
                self.put("digests", "".join(d + "\n" for d in digests) + "\n")
                self.assertEqual(self.launch(image=typed, run=reports()).code, 0)
                record = json.loads((self.out / "launcher.json").read_text())
                self.assertEqual((record["image"], record["digest"]), (typed, judged))
                self.assertEqual(record["image_id"], "sha256:" + "0" * 63 + "7")

    # --- nerdctl ---------------------------------------------------------------------------------------------------

    def nerdctl(self, called="nerdctl"):
        os.replace(self.bin / "docker", self.standin / "docker")
        shutil.copy(HERE / "nerdctl", self.bin / called)

    def test_nerdctl_is_asked_by_the_digest_of_the_manifest(self):
        self.nerdctl()
        self.put("env", "PATH=/bin\nCUDNN_CI_PLUGIN_PATH=/evil\nCI_NODE_TOTAL=99\n")
        self.put("digests", f"{DIGEST}\nother.example/mirror@{DIGEST.split('@')[1]}\n\n")
        for typed in (IMAGE, DIGEST, "registry.example/team/image:1@" + DIGEST.split("@")[1], DIGEST.split("@")[1], "b" * 12):
            with self.subTest(typed=typed):
                self.put("calls")
                result = self.launch("--no-gpu", image=typed, run=reports())
                self.assertEqual(result.code, 0, result.stderr)
                self.assertNotIn("pull", [c[0] for c in self.calls()])
                call = self.run_call()
                self.assertEqual(call[call.index("--entrypoint") + 2], "sha256:TOKENTOKEN")  # that of the manifest: the stand-in refuses an id
                self.assertEqual([w for before, w in zip(call, call[1:]) if before == "-e"], ["CUDNN_CI_PLUGIN_PATH=", "CI_NODE_TOTAL="])
                self.assertEqual(call[call.index("--subject-image") + 1], DIGEST_SHOWN)
                record = json.loads((self.out / "launcher.json").read_text())
                self.assertEqual((record["digest"], record["image_id"]), (DIGEST, "sha256:" + "0" * 63 + "7"))
                config = json.loads((self.standin / "image-config.json").read_text())
                self.assertEqual((config["RepoDigests"], config["Config"]["Entrypoint"]), ([DIGEST], ["/entry"]))

    def test_an_older_nerdctl_answers_once_for_every_name(self):
        self.nerdctl()
        self.put("twice")
        self.put("processor", "s390x\n")
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertEqual(json.loads((self.standin / "image-config.json").read_text())["RepoDigests"], [DIGEST])
        self.assertEqual(json.loads((self.out / "launcher.json").read_text())["image_id"], "sha256:" + "0" * 63 + "7")
        shutil.copy(program(), self.dir / "tool/bin/cudnn-ci")
        self.put("calls")
        self.assertRed(self.launch(run="exit 137"), 2, "matrix.platform-unfit", "is for s390x")

    def test_nerdctl_by_another_name(self):
        self.nerdctl("docker")
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertIn('"digest": "%s"' % DIGEST, (self.out / "launcher.json").read_text())

    def test_an_image_of_another_processor_with_nerdctl(self):
        self.nerdctl()
        shutil.copy(program(), self.dir / "tool/bin/cudnn-ci")
        self.put("processor", "s390x")
        self.assertRed(self.launch(run="exit 137"), 2, "matrix.platform-unfit", "is for s390x")

    def test_nerdctls_own_failures_are_not_the_containers(self):
        self.nerdctl()
        kept = "--keep-entrypoint"
        init = "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
        for args, said, code, kind in (
            ([], "unknown flag: --nosuch-option", 3, "runner.engine-failed"),
            ([], 'exec: "nvidia-container-cli": executable file not found in $PATH', 3, "runner.no-gpu-runtime"),
            ([], "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all", 3, "runner.no-gpu-runtime"),
            ([], "no known GPU vendor found in CDI specs", 3, "runner.no-gpu-runtime"),
            ([], "mount callback failed on /tmp/containerd-mount170958243: no users found", 1, "image.user-unknown"),
            ([], "mount callback failed on /tmp/containerd-mount170958243: no groups found", 1, "image.user-unknown"),
            ([], "mount callback failed on /tmp/containerd-mount343: open /tmp/containerd-mount343/etc/passwd: no such file or directory", 1, "image.user-unknown"),
            (["--user", "nobody2"], "mount callback failed on /tmp/containerd-mount170958243: no users found", 2, "matrix.invalid-use"),
            ([], init + 'exec: "/x/cudnn-ci": stat /x/cudnn-ci: no such file or directory', 5, "harness.tool-not-started"),
            ([kept], init + 'exec: "/nosuch": stat /nosuch: no such file or directory', 1, "image.tool-not-started"),
            ([kept], init + 'exec: "/bin": permission denied', 1, "image.tool-not-started"),
            ([], init + "error during container init: mkdir /bin/sh: not a directory", 1, "image.workdir-no-folder"),
            ([kept], init + "error during container init: error setting rlimits for ready process: error setting rlimit type 7: operation not permitted", 3,
             "runner.engine-failed"),
            ([], init.split("runc create")[0] + 'unable to retrieve OCI runtime error (open /run/x/log.json: no such file or directory): exec: "nvidia": executable '
             'file not found in $PATH: unknown', 3, "runner.no-gpu-runtime"),
            ([], 'failed to start shim: failed to resolve runtime path: invalid runtime name nvidia, correct runtime name should be either format like '
             '`io.containerd.runc.v2` or a full path to the binary', 3, "runner.no-gpu-runtime"),
            ([], 'failed to start shim: failed to resolve runtime path: invalid runtime name nosuch, correct runtime name should be either format like '
             '`io.containerd.runc.v2` or a full path to the binary', 3, "runner.engine-failed"),
        ):
            with self.subTest(said=said, args=args):
                result = self.launch(*args, run=f"fatal {shlex.quote(said)}\n")
                self.assertRed(result, code, kind, said)
                self.assertEqual(json.loads((self.out / "launcher.json").read_text())["status"], 1)
                self.assertIn("level=fatal", result.stderr)  # as it was said
        result = self.launch("--", "list", run="fatal 'unknown flag: --nosuch-option'\n")
        self.assertEqual(result.code, 3, result.stderr)

    def test_a_container_that_speaks_like_nerdctl_has_run(self):
        self.nerdctl()
        fatal = "fatal 'unknown flag: --nosuch-option'\n"
        self.put("state", "exited 1")
        self.assertRed(self.launch("--keep-entrypoint", run=fatal), 1, "image.no-finished-report")
        self.put("state", "exited 0")  # the client lost it, and it went on
        self.assertRed(self.launch("--keep-entrypoint", run=fatal), 3, "runner.engine-failed")
        self.put("state", "")
        self.assertRed(self.launch("--keep-entrypoint", run="exit 1"), 1, "image.no-finished-report")
        self.assertRed(self.launch("--keep-entrypoint", run="(" + fatal + ")\nexit 4"), 1, "image.no-finished-report")

    def test_what_nerdctl_says_of_a_pull(self):
        self.nerdctl()
        (self.standin / "image").unlink()
        for said, code, kind in (
            ('failed to resolve reference "localhost:5055/app:9": localhost:5055/app:9: not found', 2, "matrix.image-unknown"),
            ("invalid reference format: repository name (Team/App) must be lowercase", 2, "matrix.image-unknown"),
            ('failed to resolve reference "r.invalid/x:1": failed to do request: Head "https://r.invalid/v2/x/manifests/1": dial tcp: lookup r.invalid: no such host',
             3, "runner.image-missing"),
        ):
            with self.subTest(said=said):
                self.put("pull", f"fatal {shlex.quote(said)}\n")
                self.assertRed(self.launch(run=reports()), code, kind, said)

    def test_a_containerd_that_does_not_answer(self):
        self.nerdctl()
        said = 'cannot access containerd socket "/nosuch.sock": no such file or directory'
        self.put("version", f"fatal {shlex.quote(said)}\n")
        self.assertRed(self.launch(run="exit 0"), 3, "runner.engine-failed", said)
        # As an ordinary user it ends with 0.
        self.put("version", "echo 'rootless containerd not found' >&2\nprintf 'Client:\\n Version:\\tv2.1.6\\n buildctl:\\n  Version:\\t\\n'\nexit 0\n")
        self.put("calls")
        self.assertRed(self.launch(run="exit 0"), 3, "runner.engine-failed", "rootless containerd not found")
        self.assertEqual([c[0] for c in self.calls()], ["version"])

    # --- Which matrix ----------------------------------------------------------------------------------------------

    def test_a_matrix_behind_the_dashes_is_the_same(self):
        self.matrix("cu12")
        mine = self.dir / "mine.json"
        mine.write_text(MATRIX)
        mount, file = self.mounted(mine), self.named(mine)
        tool = "/cudnn-ci.TOKEN/tool/"
        for words, mounted, named in (
            (["--matrix", str(mine)], mount, file), ([f"--matrix={mine}"], mount, file), (["run", "--matrix", "../mine.json"], mount, file),
            (["--matrix", "cu12"], [], ["--matrix", "builtin:cu12"]), (["--matrix", "builtin:cu12"], [], ["--matrix", "builtin:cu12"]),
            (["--matrix", "/of/the/image.json"], [], ["--matrix", "/of/the/image.json"]),
            (["--matrix", "/opt/cudnn-ci/matrices/cu12.json"], [], ["--matrix", tool + "matrices/cu12.json"]),
            # By these names the tool and the folder of the matrix are known to whoever types them.
            (["--compatibility=/opt/cudnn-ci/x"], [], [f"--compatibility={tool}x"]), (["--x", "/opt/cudnn-cix/y"], [], ["--x", "/opt/cudnn-cix/y"]),
            (["--matrix", str(mine), "--plugin-dir", "/cudnn-ci-matrix/p"], mount, [*file, "--plugin-dir", f"/cudnn-ci.TOKEN/matrix{self.dir}/p"]),
            (["--matrix", str(mine), "--plugin-dir=/cudnn-ci-matrix"], mount, [*file, f"--plugin-dir=/cudnn-ci.TOKEN/matrix{self.dir}"]),
            (["--plugin-dir", "/cudnn-ci-matrix/p"], [], ["--plugin-dir", "/cudnn-ci-matrix/p"]),
        ):
            of_this_machine = 4 if named[:4] == file else 2 if "builtin:cu12" in named else 0
            with self.subTest(words=words):
                self.assertEqual(self.launch("--no-gpu", "--", *words, "--fail-fast", run=reports()).code, 0)
                self.assertEqual(self.run_call(), self.expected_run(*mounted, matrix=[*named[:of_this_machine], "--no-gpu"],
                                                                    arguments=[*named[of_this_machine:], "--fail-fast"]))
                (self.standin / "calls").unlink()

    def test_parents_outside_of_the_folder_are_mounted_where_they_are_looked_for(self):
        files = {"repo/team/ci/team.json": "../../base.json", "repo/base.json": "shared/more.json", "repo/shared/more.json": str(self.dir / "abs.json"),
                 "abs.json": "builtin:cu12", "repo/team/ci/beside.json": "sub/x.json", "repo/team/ci/sub/x.json": "../y.json",
                 "repo/team/ci/y.json": "nowhere.json"}
        for name, parent in files.items():
            path = self.dir / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('{"schema": "cudnn-ci/matrix/1",\n "extends":\n  "%s", "name": "x"}' % parent)
        place = lambda path: ["-v", f"{self.dir}/{path}:/cudnn-ci.TOKEN/matrix{self.dir}/{path}:ro"]
        for name, mounts in (
            ("team", place("repo/base.json") + place("repo/shared/more.json") + place("abs.json")), ("beside", [])):
            with self.subTest(name=name):
                self.launch("--no-gpu", "--matrix", str(self.dir / f"repo/team/ci/{name}.json"), run=reports())
                call = [c for c in self.calls() if c[0] == "run"][-1]
                self.assertEqual(self.before(call), place("repo/team/ci") + mounts)

    def test_without_gpu_only_what_needs_none_is_tested(self):
        """With the matrix static, or the static stage of the one that is named, as by the gate itself."""
        self.matrix("static", "cu13")
        mine = self.dir / "mine.json"
        mine.write_text(MATRIX)
        for words, matrix, told in (
            (["--no-gpu"], "builtin:static", 0), ([], None, 0), (["--no-gpu", "--gpus", "0"], None, 0), (["--no-gpu", "--matrix", "cu13"], "builtin:cu13", 1),
            (["--matrix", "cu13"], "builtin:cu13", 0), (["--no-gpu", "--matrix", "static"], "builtin:static", 1), (["--no-gpu", "--matrix", str(mine)], str(mine), 1),
            (["--no-gpu", "--", "--matrix", "cu13"], "builtin:cu13", 1), (["--no-gpu", "--", "--auto"], None, 1),
            (["--no-gpu", "--", "--matrix", "/image/own.json"], "/image/own.json", 1), (["--no-gpu", "--matrix", "cu13", "--", "--no-gpu"], "builtin:cu13", 1),
            (["--no-gpu", "--", "--no-gpu"], None, 1), (["--no-gpu", "--", "--sbom", "/image/sbom.json"], None, 0),
            (["--no-gpu", "--matrix", "cu13", "--", "--sbom=/image/sbom.json"], "builtin:cu13", 0), (["--no-gpu", "--", "list"], None, 1),
            (["--no-gpu", "--matrix", "cu13", "--", "list"], "builtin:cu13", 1), (["--no-gpu", "--", "facts"], None, 0)):
            with self.subTest(words=words):
                result = self.launch(*words, run=reports())
                call = [c for c in self.calls() if c[0] == "run" and c[1] != "--help"][-1]
                self.assertEqual(call[call.index("--matrix") + 1] if "--matrix" in call else None, matrix)
                self.assertEqual(call[call.index("--entrypoint"):].count("--no-gpu"), told, call)
                self.assertEqual("the matrix static" in result.stderr, words == ["--no-gpu"], result.stderr)
        # A variable that is not set is no wish for another matrix.
        for words in (["--matrix="], ["--matrix", ""], ["--filter", "x", "--matrix="]):
            with self.subTest(words=words):
                result = self.launch("--no-gpu", "--", *words, run=reports())
                self.assertEqual((result.code, result.stderr), (2, "cudnn-ci run: --matrix needs a value (see --help)\n"))
        (self.dir / "tool/matrices/static.json").unlink()  # of an older tool
        self.launch("--no-gpu", run=reports())
        self.assertNotIn("--matrix", [c for c in self.calls() if c[0] == "run"][-1])

    def test_extends_above_the_topmost_folder_is_refused(self):
        matrix = self.dir / "m.json"
        matrix.write_text('{"extends": "%setc/passwd"}' % ("../" * 40))
        result = self.launch("--matrix", str(matrix), run=reports())
        self.assertEqual((result.code, self.calls()), (2, []), result.stderr)
        self.assertIn("leads above the topmost folder", result.stderr)

    def test_parents_behind_links_are_those_that_the_tool_takes(self):
        for folder in ("a", "b/c"):
            (self.dir / folder).mkdir(parents=True)
        (self.dir / "b/top.json").write_text("{}")
        (self.dir / "b/c/real.json").write_text('{"extends": "../top.json"}')
        (self.dir / "a/base.json").symlink_to("../b/c/real.json")
        (self.dir / "a/m.json").write_text('{"extends": "base.json"}')
        (self.dir / "team").mkdir()
        (self.dir / "team/m.json").write_text('{"extends": "../a/base.json"}')
        self.launch("--no-gpu", "--matrix", str(self.dir / "team/m.json"), run=reports())
        root = f"/cudnn-ci.TOKEN/matrix{self.dir}"
        self.assertEqual([w for w in self.run_call() if w.startswith(f"{self.dir}/b/")],
                         [f"{self.dir}/b/c/real.json:{root}/a/base.json:ro", f"{self.dir}/b/top.json:{root}/top.json:ro"])

    def test_nothing_of_ours_is_mounted_where_the_image_can_have_a_path(self):
        (self.dir / "m").mkdir()
        (self.dir / "base.json").write_text("{}")
        (self.dir / "abs.json").write_text('{"extends": "base.json"}')
        (self.dir / "m/m.json").write_text('{"extends": "%s"}' % (self.dir / "abs.json"))
        self.launch("--matrix", str(self.dir / "m/m.json"), run=reports())
        call = self.run_call()
        targets = [call[i + 1].split(":")[1] for i, word in enumerate(call) if word == "-v"]
        self.assertEqual(len(targets), 6)
        self.assertEqual([t for t in targets if not t.startswith("/cudnn-ci.TOKEN/")], [])

    def test_folders_whose_names_mean_something_to_cd(self):
        (self.dir / "cwd/m").mkdir()
        (self.dir / "elsewhere/m").mkdir(parents=True)
        (self.dir / "cwd/m/x.json").write_text(MATRIX)
        (self.dir / "cwd/-").mkdir()
        result = self.launch("--matrix", "m/x.json", "--mount", "-", run=reports(), env={"CDPATH": str(self.dir / "elsewhere"), "OLDPWD": "/"})
        self.assertEqual(result.code, 0, result.stderr)
        self.assertIn(f"{self.dir}/cwd/m:/cudnn-ci.TOKEN/matrix{self.dir}/cwd/m:ro", self.run_call())
        self.assertIn(f"{self.dir}/cwd/-:{self.dir}/cwd/-:ro", self.run_call())

    # --- Commands that ask -----------------------------------------------------------------------------------------

    def test_a_command_that_asks(self):
        matrix = self.dir / "mine.json"
        matrix.write_text(MATRIX)
        for status in (0, 2, 5):
            with self.subTest(status=status):
                result = self.launch("--no-gpu", "--matrix", str(matrix), "--", "facts", "--json", run=f"echo answer; echo words >&2; exit {status}")
                self.assertEqual((result.code, result.stdout), (status, "answer\n"), result.stderr)
                self.assertIn("\nwords\n", result.stderr)
                self.assertFalse(self.out.exists())
                self.assertEqual(self.run_call(), self.expected_run(*self.mounted(matrix), ask="facts", matrix=self.named(matrix), arguments=["--json"]))
                self.assertEqual(self.calls()[-1], ["rm", "-f", "cudnn-ci-TOKEN"])
        for status, words, code in ((125, "no space left", 3), (1, "exec /opt/cudnn-ci/bin/cudnn-ci: exec format error", 5), (139, "", 5)):
            with self.subTest(status=status):
                result = self.launch("--", "list", run=f"echo '{words}' >&2; exit {status}")
                self.assertEqual(result.code, code, result.stderr)
                self.assertFalse(self.out.exists())

    def test_what_init_finds_is_a_file_of_this_machine(self):
        for words, name in (([], "cudnn-ci.json"), (["--name", "x", "team matrix.json"], "team matrix.json")):
            with self.subTest(words=words):
                result = self.launch("--", "init", *words, run="echo '{}'")
                self.assertEqual((result.code, result.stdout), (0, ""), result.stderr)
                self.assertEqual((self.dir / "cwd" / name).read_text(), "{}\n")
                self.assertIn(f"wrote {name}", result.stderr)
                self.assertEqual(self.run_call()[-1], "-")
                self.assertEqual(self.launch("--", "init", *words, run="echo other").code, 2)
                self.assertEqual((self.dir / "cwd" / name).read_text(), "{}\n")
        self.assertEqual(self.launch("--", "init", "-", run="echo '{}'").stdout, "{}\n")
        self.assertEqual(self.launch("--", "init", "red.json", run="echo half; exit 2").code, 2)
        self.assertFalse((self.dir / "cwd/red.json").exists())

    # --- Verdicts --------------------------------------------------------------------------------------------------

    def test_a_confirmed_status_is_the_exit_status(self):
        for code in (0, 1, 3, 4, 5, 6, 143):
            with self.subTest(code=code):
                result = self.launch(run=reports(code=code))
                self.assertEqual(result.code, code, result.stderr)
                self.assertIn('"confirmed": true', (self.out / "launcher.json").read_text())
                self.assertNothingLeft()

    def test_report_only_is_confirmed_with_0(self):
        self.assertEqual(self.launch(run=reports(code=1, status=0, report_only=True)).code, 0)

    def test_reports_without_an_end_are_not_read(self):
        # Files with a hole: of no size on the disk.
        for name, mib, words in (("report.json", 1 << 20, "its report.json is larger than 256 MiB"), ("junit.xml", 300, "its junit.xml is larger"),
                                 ("journal.jsonl", 5000, "its journal.jsonl is larger than 4096 MiB"),
                                 ("journal.jsonl", 500, "its report is not finished")):
            with self.subTest(name=name, mib=mib):
                hole = f'dd if=/dev/zero of="$reports/{name}" bs=1048576 count=0 seek={mib} 2>"$STANDIN/words"\n'
                self.assertRed(self.launch(run=reports(more=hole)), 5, "harness.no-finished-report", words)

    def test_a_report_of_one_endless_line_is_not_read_for_ever(self):
        more = """{ printf '{'; dd if=/dev/zero bs=1000000 count=8 | tr '\\000' ','; } >"$reports/report.json" 2>"$STANDIN/words"\n"""
        self.assertRed(self.launch(run=reports(more=more)), 5, "harness.no-finished-report", "not of this run")

    def test_of_a_flood_of_words_the_last_are_kept(self):
        script = """dd if=/dev/zero bs=1000000 count=30 2>"$STANDIN/words" | tr '\\000' 'x' >&2
echo >&2
echo 'exec /x: exec format error' >&2
sleep 1
sed -n '/^VmHWM/s/[^0-9]//gp' /proc/$PPID/status >"$STANDIN/size"
exit 126"""
        result = self.launch(run=script)
        self.assertRed(result, 5, "harness.tool-not-started", "exec format error")
        self.assertLess(int((self.standin / "size").read_text()), 64 << 10, "KiB of memory")
        self.assertGreater(len(result.stderr), 30_000_000)

    def test_0_needs_a_finished_report_of_this_run(self):
        kind = "harness.no-finished-report"
        for words, script in {
            "it left no junit.xml": "exit 0",
            "left no junit.xml": reports(leave_out=["junit.xml"]),
            "it left no journal.jsonl": reports(leave_out=["journal.jsonl"]),
            "its report is not finished": reports(finished="no"),
            "is not finished": reports(complete=False),
            "not of this run": reports(word="0123456789abcdef0123456789abcdef"),
            # What every process of the container can read in its mounts.
            "its report is not of this run": reports(word="token"),
            "report is not finished": reports(finished="token"),
            "says exit 1, it ended with 0": reports(code=1, status=0),
            "says exit 0, it ended with 1": reports(code=0, status=1),
            "do not agree": reports(junit_verdict="failed"),
            "it left no report.json": reports(leave_out=["report.json"]),
            "left no report.json": reports(more='mv "$reports/report.json" "$reports/r"; ln -s r "$reports/report.json"'),
        }.items():
            with self.subTest(words=words):
                self.assertRed(self.launch(run=script), 5, kind, words)
                self.assertFalse((self.out / "report.json").exists())

    def test_the_word_that_proves_a_report_is_in_one_file_alone(self):
        script = f"""{{ for file in "{self.out}"/* "{self.out}"/.cudnn-ci-run.*/* "$reports"/* "$STANDIN/calls"; do
  [ ! -f "$file" ] || grep -lF "$secret" "$file"
done; env | grep -F "$secret"
tr '\\0' '\\n' </proc/$PPID/cmdline | grep -F "$secret"; }} >"$STANDIN/where"
echo ${{#secret}} >>"$STANDIN/where"
exit 1"""
        self.launch(run=script)
        where = (self.standin / "where").read_text().splitlines()
        self.assertEqual([pathlib.Path(where[0]).name, *where[1:]], ["run-token", "32"])

    def test_an_entrypoint_that_swallows_the_command(self):
        self.assertRed(self.launch("--keep-entrypoint", run="exit 0"), 1, "image.no-finished-report", "the image's entrypoint ended with exit 0")

    def test_reports_that_prove_nothing_get_other_names(self):
        self.assertRed(self.launch(run=reports(status=139)), 5, "harness.tool-crashed", "139, signal 11")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), [
            "attachments", "journal.jsonl", "junit-unconfirmed.xml", "junit.xml", "launcher.json", "report-unconfirmed.json"])

    def test_statuses_of_the_engine(self):
        kept = "--keep-entrypoint"
        for args, status, words, code, kind in (
            ([], 125, "no space left on device", 3, "runner.engine-failed"),
            ([], 125, 'could not select device driver "" with capabilities: [[gpu]].', 3, "runner.no-gpu-runtime"),
            ([], 126, "setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all", 3, "runner.no-gpu-runtime"),
            ([], 126, "runc create failed: unable to start container process: error during container init: error setting rlimits for ready process", 3,
             "runner.engine-failed"),
            ([], 126, "crun: setrlimit `RLIMIT_NOFILE`: Operation not permitted: OCI permission denied", 3, "runner.engine-failed"),
            # Programs of podman's own, which the runner lacks: iptables, which netavark runs, and what makes networks without root.
            ([], 127, "Error: netavark: No such file or directory (os error 2)", 3, "runner.engine-failed"),
            ([], 126, "Error: netavark: Permission denied (os error 13)", 3, "runner.engine-failed"),
            ([], 127, "Error: netavark: iptables: No such file or directory (os error 2)", 3, "runner.engine-failed"),
            ([], 127, 'Error: netavark: nftables error: unable to execute "nft": No such file or directory (os error 2)', 3, "runner.engine-failed"),
            ([], 127, "Error: netavark (exit code 1): No such file or directory (os error 2)", 3, "runner.engine-failed"),
            ([], 127, "Error: error configuring network namespace for container a3166: failed to locate iptables: exec: \"iptables\": executable file not found in $PATH",
             3, "runner.engine-failed"),
            ([], 127, "Error: error configuring network namespace for container a3166: error adding pod to CNI network \"podman\": permission denied", 3,
             "runner.engine-failed"),
            ([], 127, 'Error: could not find slirp4netns, the network namespace can\'t be configured: exec: "slirp4netns": executable file not found in $PATH', 3,
             "runner.engine-failed"),
            ([], 127, 'Error: could not find pasta, the network namespace can\'t be configured: exec: "pasta": executable file not found in $PATH', 3,
             "runner.engine-failed"),
            ([], 126, "Error: pasta failed with exit code 1: netns dir open: Permission denied, exiting", 3, "runner.engine-failed"),
            # A folder of the runner's whose name has "exec" in it.
            ([], 126, 'runc create failed: unable to start container process: error during container init: error mounting "/home/executor/w" to rootfs at "/exec /x": permission denied',
             3, "runner.engine-failed"),
            ([], 126, "crun: mount /home/executable/w to exec/w: Permission denied: OCI permission denied", 3, "runner.engine-failed"),
            ([], 126, 'runc create failed: unable to start container process: chdir to cwd ("/work") set in config.json failed: permission denied', 1,
             "image.workdir-denied"),
            ([], 126, "crun: chdir to `/work`: Permission denied: OCI permission denied", 1, "image.workdir-denied"),
            ([], 126, "Error: chdir: Permission denied: OCI permission denied", 1, "image.workdir-denied"),
            (["--user", "caller"], 126, 'unable to start container process: chdir to cwd ("/work") set in config.json failed: permission denied', 2,
             "matrix.invalid-use"),
            (["--engine-arg=--workdir=/root"], 126, 'unable to start container process: chdir to cwd ("/root") set in config.json failed: permission denied', 2,
             "matrix.invalid-use"),
            # Words that knowledge/findings has a row for; where the caller has chosen what they are about, it is the caller's.
            ([], 125, "docker: Error response from daemon: OCI runtime create failed: nvidia-container-cli: mount error: file creation failed: /x/merged/usr/lib/libnvidia-ml.so.1: file exists: unknown",
             1, "image.driver-library-of-image"),
            ([], 125, "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=13.0, please update your driver to a newer version", 3,
             "runner.image-requirement-unsatisfied"),
            ([], 125, "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown", 3, "runner.driver-module-mismatch"),
            ([], 125, "nvidia-container-cli: initialization error: nvml error: driver not loaded", 3, "runner.driver-init-failed"),
            ([], 125, "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory",
             3, "runner.driver-library-missing"),
            ([], 125, "nvidia-container-cli: device error: 7: unknown device: unknown", 3, "runner.no-visible-device"),
            ([], 125, "nvidia-container-cli: container error: cgroup subsystem devices not found: unknown", 3, "runner.no-gpu-runtime"),
            ([], 125, "docker: Error response from daemon: unable to find user nobody2: no matching entries in passwd file.", 1, "image.user-unknown"),
            ([], 126, "Error: unable to find user nobody2: no matching entries in passwd file", 1, "image.user-unknown"),
            (["--user", "nobody2"], 125, "unable to find user nobody2: no matching entries in passwd file", 2, "matrix.invalid-use"),
            (["--engine-arg=--user=nobody2"], 125, "unable to find user nobody2: no matching entries in passwd file", 2, "matrix.invalid-use"),
            ([], 126, "unable to start container process: error during container init: mkdir /app: not a directory", 1, "image.workdir-no-folder"),
            ([], 126, "crun: chdir to `/app`: Not a directory", 1, "image.workdir-no-folder"),
            ([], 126, 'Error: workdir "/app" exists on container 754451278e7e, but is not a directory', 1, "image.workdir-no-folder"),
            (["--engine-arg=-w=/app"], 127, "Cannot mkdir: /app is not a directory", 2, "matrix.invalid-use"),
            ([], 255, "exec /x/cudnn-ci: exec format error: the requested image platform (linux/arm64) does not match the detected host platform (linux/amd64)", 2,
             "matrix.platform-unfit"),
            ([], 126, "exec format error", 5, "harness.tool-not-started"),
            ([kept], 126, "permission denied", 1, "image.tool-not-started"),
            ([], 127, "no such file or directory", 5, "harness.tool-not-started"),
            ([], 127, "crun: executable file `/x` not found in $PATH: No such file or directory", 5, "harness.tool-not-started"),
            ([], 127, 'runc create failed: unable to start container process: exec: "/x": stat /x: no such file or directory', 5,
             "harness.tool-not-started"),
            ([kept], 127, "no such file or directory", 1, "image.tool-not-started"),
            ([], 1, "exec /opt/cudnn-ci/bin/cudnn-ci: exec format error", 5, "harness.tool-not-started"),
            ([], 255, "exec /opt/cudnn-ci/bin/cudnn-ci: no such file or directory", 5, "harness.tool-not-started"),
            ([kept], 1, "standard_init_linux.go:228: exec user process caused: exec format error", 1, "image.tool-not-started"),
            ([], 137, "", 3, "runner.container-killed"),
            ([], 139, "", 5, "harness.tool-crashed"),
            ([kept], 139, "", 1, "image.tool-crashed"),
            ([], 1, "", 5, "harness.no-finished-report"),
            ([], 2, "", 2, "matrix.invalid-use"),
            ([], 77, "", 5, "harness.no-finished-report"),
        ):
            with self.subTest(status=status, words=words, args=args):
                result = self.launch(*args, run=f"printf '%s\\n' {shlex.quote(words)} >&2\nexit {status}\n")
                self.assertRed(result, code, kind, words)
                self.assertIn(words, result.stderr)

    def test_a_program_that_ends_as_an_engine_does(self):
        kept = "--keep-entrypoint"
        words = {
            125: "could not select device driver",
            126: "Error: netavark: Permission denied (os error 13)",
            127: 'unable to start container process: error during container init: mkdir "/x": not a directory',
        }
        for state, args, status, code, kind in (
            *((state, [kept], status, 1, "image.no-finished-report") for state in ("exited", "stopped") for status in words),
            ("exited", [], 125, 5, "harness.no-finished-report"),
            ("exited", [], 127, 5, "harness.tool-not-started"),  # the loader's status
            ("created", [kept], 125, 3, "runner.no-gpu-runtime"),
            ("created", [kept], 126, 3, "runner.engine-failed"),
            ("created", [kept], 127, 1, "image.workdir-no-folder"),
        ):
            with self.subTest(state=state, args=args, status=status):
                self.put("state", f"{state} {status}\n")
                self.assertRed(self.launch(*args, run=f"echo {shlex.quote(words[status])} >&2\nexit {status}"), code, kind, str(status))
        self.put("state", "exited 0\n")  # the engine failed after it
        self.assertRed(self.launch(kept, run="exit 125"), 3, "runner.engine-failed")

    def test_an_image_of_another_processor(self):
        shutil.copy(program(), self.dir / "tool/bin/cudnn-ci")
        ours = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
        for told, fits in ((ours, True), ("s390x", False), ("unknown", True), ("", True)):
            with self.subTest(told=told):
                self.put("processor", told)
                self.put("calls")
                result = self.launch(run="exit 137")
                if fits:
                    self.assertEqual(result.code, 3, result.stderr)
                else:
                    self.assertRed(result, 2, "matrix.platform-unfit", f"is for s390x, and this cudnn-ci for {ours}")
        self.put("processor")
        (self.standin / "image").unlink()
        for said in ("no matching manifest for linux/amd64 in the manifest list entries", "no match for platform in manifest: not found",
                     'choosing an image from manifest list docker://x: no image found in manifest list for architecture "amd64"'):
            with self.subTest(said=said):
                self.put("pull", f"echo {shlex.quote(said)} >&2\nexit 1\n")
                self.put("calls")
                self.assertRed(self.launch(run="exit 0"), 2, "matrix.platform-unfit", said)

    def test_out_of_memory_is_told_from_a_kill(self):
        self.put("oom")
        self.assertRed(self.launch(run="exit 137"), 6, "undetermined.out-of-memory")

    def test_no_engine(self):
        (self.bin / "docker").unlink()
        self.assertRed(self.launch(run="exit 0"), 3, "runner.engine-missing", "docker podman nerdctl: not found")
        self.assertRed(self.launch("--engine", "podman", run="exit 0"), 3, "runner.engine-missing", "podman: not found")

    def test_an_engine_that_does_not_answer(self):
        self.put("version", "echo 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
        self.assertRed(self.launch(run="exit 0"), 3, "runner.engine-failed", "Cannot connect to the Docker daemon")

    def test_an_image_that_is_missing_is_pulled(self):
        (self.standin / "image").unlink()
        self.put("pull", "exit 0")
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertEqual(self.calls()[2], ["pull", IMAGE])

    def test_an_image_that_cannot_be_pulled(self):
        (self.standin / "image").unlink()
        self.put("pull", "echo 'dial tcp 192.0.2.1:443: i/o timeout' >&2\nexit 1\n")
        self.assertRed(self.launch(run=reports()), 3, "runner.image-missing", "i/o timeout")
        self.assertEqual([c[0] for c in self.calls()], ["version", "image", "pull"])
        # Of two registries one does not know it, and the other one did not answer.
        self.put("pull", "echo 'quay.example/x: manifest unknown; registry.example/x: toomanyrequests: rate limit' >&2\nexit 1\n")
        self.assertRed(self.launch(run=reports()), 3, "runner.image-missing", "toomanyrequests")

    def test_an_image_that_nobody_knows_is_the_callers_mistake(self):
        (self.standin / "image").unlink()
        for said in (
            "Error response from daemon: manifest for x:1 not found: manifest unknown: manifest unknown",
            "Error response from daemon: manifest for timeout-proxy:1 not found: manifest unknown",
            "Error response from daemon: pull access denied for x, repository does not exist or may require 'docker login': denied",
            "invalid reference format: repository name (library/X) must be lowercase", "Error: normalizing image: repository name must be lowercase",
            'failed to resolve reference "registry.example/x:1": registry.example/x:1: not found',
        ):
            with self.subTest(said):
                self.put("pull", f"echo {shlex.quote(said)} >&2\nexit 1\n")
                self.assertRed(self.launch(run=reports()), 2, "matrix.image-unknown", "spelling")

    def test_pull_never_and_always(self):
        self.put("pull", "exit 0")
        self.assertEqual(self.launch("--pull", "always", run=reports()).code, 0)
        self.assertIn(["pull", IMAGE], self.calls())
        (self.standin / "image").unlink()
        (self.standin / "calls").unlink()
        self.assertRed(self.launch("--pull=never", run=reports()), 3, "runner.image-missing", "not on this machine")

    # --- Cancelling ------------------------------------------------------------------------------------------------

    def wait_for(self, name):
        for _ in range(600):
            if (self.standin / name).exists():
                return
            time.sleep(0.05)
        self.fail(f"{name} never came")

    def cancelled(self, number, run, expect, last=(["stop", "-t", "7", "cudnn-ci-TOKEN"], ["rm", "-f", "cudnn-ci-TOKEN"])):
        for name in ("running", "stopped", "removed"):
            (self.standin / name).unlink(missing_ok=True)
        process = self.start("--grace", "7", run=run)
        self.wait_for("running")
        process.send_signal(number)
        result = self.finish(process)
        self.assertEqual(self.calls()[-2:], list(last))
        self.assertEqual(result.code, expect, result.stderr)
        return result

    HANG = 'trap "" INT TERM\n: >"$STANDIN/running"\nwhile [ ! -f "$STANDIN/stopped" ]; do sleep 0.05; done\n'

    def test_a_cancelled_run_is_stopped_and_removed(self):
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 143)):
            with self.subTest(signal=number):
                result = self.cancelled(number, self.HANG + "exit 137", code)
                self.assertRed(result, code, "undetermined.cancelled", signal.Signals(number).name)

    def test_a_cancelled_run_keeps_its_finished_reports(self):
        for status in (143, 1):  # docker's client may end with a status of its own when it is interrupted
            with self.subTest(status=status):
                self.cancelled(signal.SIGINT, self.HANG + reports(code=143, status=status), 143)
                self.assertIn('"confirmed": true', (self.out / "launcher.json").read_text())

    def test_a_cancelled_run_is_never_green(self):
        result = self.cancelled(signal.SIGTERM, self.HANG + reports(code=0), 143)
        self.assertRed(result, 143, "undetermined.cancelled")

    def test_a_cancelled_pull_starts_nothing(self):
        (self.standin / "image").unlink()
        self.put("pull", ': >"$STANDIN/running"\nexec sleep 60\n')
        process = self.start(run=reports())
        self.wait_for("running")
        process.send_signal(signal.SIGTERM)
        self.assertRed(self.finish(process), 143, "undetermined.cancelled")
        self.assertEqual([c[0] for c in self.calls()], ["version", "image", "pull"])

    def test_a_signal_before_anything_starts(self):
        self.put("version", ': >"$STANDIN/running"\nwhile [ ! -f "$STANDIN/go" ]; do sleep 0.05; done\nexit 0\n')
        process = self.start(run=reports())
        self.wait_for("running")
        self.assertEqual(xml.parse(self.out / "junit.xml").getroot().find(".//error").get("message"), "the run did not start")
        process.send_signal(signal.SIGTERM)
        self.put("go")
        self.assertRed(self.finish(process), 143, "undetermined.cancelled")
        self.assertEqual([c[0] for c in self.calls()], ["version"])

    def test_junit_is_red_while_it_runs_and_what_a_hard_kill_leaves_is_removed_later(self):
        process = self.start(run=self.HANG)
        self.wait_for("running")
        root = xml.parse(self.out / "junit.xml").getroot()
        self.assertEqual(root.find(".//error").get("message"), "the run did not finish")
        process.kill()
        process.wait()
        self.assertEqual(len(list(self.out.glob(".cudnn-ci-run*"))), 1)
        # The next run removes what that one could not: its folder and its container, not one whose launcher lives.
        alive = self.out / ".cudnn-ci-run.alive1"
        alive.mkdir()
        (alive / "owner").write_text(f"{os.uname().nodename} {os.getpid()} {'0' * 32}\n")
        (self.standin / "calls").rename(self.standin / "earlier")
        token = re.search(r"cudnn-ci-([0-9a-f]{32})", (self.standin / "earlier").read_text()).group(1)
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertIn(f"rm\037-f\037cudnn-ci-{token}\037\n", (self.standin / "calls").read_text())
        self.assertEqual([c[0] for c in self.calls()].count("rm"), 2)
        self.assertEqual(list(self.out.glob(".cudnn-ci-run*")), [alive])
        self.put("stopped")
        process.communicate(timeout=60)

    CREATES = 'trap "" INT TERM HUP\n: >"$STANDIN/missing"\n: >"$STANDIN/running"\n'

    def token(self):
        return re.search(r"cudnn-ci-([0-9a-f]{32})", (self.standin / "calls").read_text()).group(1)

    def assertRemovedByTheNextRun(self, token):
        """What an earlier run has left: while the engine creates its container, and once it has."""
        for missing in (True, False):
            left = list(self.out.glob(".cudnn-ci-run*"))
            self.assertEqual(len(left), 1)
            if not missing:
                (self.standin / "missing").unlink()
            (self.standin / "calls").unlink()
            self.assertEqual(self.launch(run=reports()).code, 0)
            self.assertIn(f"rm\037-f\037cudnn-ci-{token}\037\n", (self.standin / "calls").read_text())
            self.assertEqual(list(self.out.glob(".cudnn-ci-run*")), left if missing else [])
        self.assertIn(f"cudnn-ci-{token}\n", (self.standin / "removed").read_text())

    def test_a_container_that_is_still_created_is_waited_for_and_removed(self):
        created = self.CREATES + 'sleep 2\nrm "$STANDIN/missing"\nwhile [ ! -f "$STANDIN/removed" ]; do sleep 0.05; done\n' \
            'echo "No such container" >&2\nexit 125\n'
        remove = ["rm", "-f", "cudnn-ci-TOKEN"]
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)):
            with self.subTest(signal=number):
                (self.standin / "calls").unlink(missing_ok=True)
                begin = time.monotonic()
                result = self.cancelled(number, created, code, last=(remove, remove))
                self.assertLess(time.monotonic() - begin, 8)
                self.assertRed(result, code, "undetermined.cancelled", signal.Signals(number).name)
                self.assertGreater([c[0] for c in self.calls()].count("stop"), 2)
                self.assertEqual((self.standin / "removed").read_text(), f"cudnn-ci-{self.token()}\n" * 2)

    def test_a_container_that_starts_after_it_was_stopped_is_stopped_again(self):
        # Of one that is created and not started, engines say that it was stopped.
        begin = time.monotonic()
        result = self.cancelled(signal.SIGTERM, 'trap "" INT TERM\n: >"$STANDIN/running"\nsleep 1\nrm -f "$STANDIN/stopped"\n' + self.HANG + "exit 137", 143)
        self.assertRed(result, 143, "undetermined.cancelled")
        self.assertLess(time.monotonic() - begin, 9)

    def test_a_creation_that_does_not_end_is_left_to_the_next_run(self):
        for again, least, most in ((False, 12, 20), (True, 1, 8)):
            with self.subTest(again=again):
                for name in ("missing", "running", "calls"):
                    (self.standin / name).unlink(missing_ok=True)
                process = self.start(run=self.CREATES + "while :; do sleep 0.1; done\n")
                self.wait_for("running")
                begin = time.monotonic()
                process.send_signal(signal.SIGHUP)
                if again:
                    time.sleep(1)
                    process.send_signal(signal.SIGTERM)
                result = self.finish(process)
                self.assertEqual(result.code, 143, result.stderr)
                self.assertTrue(least < time.monotonic() - begin < most, time.monotonic() - begin)
                self.assertEqual(result.error()[0], "undetermined.cancelled")
                self.assertIn(f"may still be creating the container cudnn-ci-{self.token()}: the next run", result.stderr)
                self.assertRemovedByTheNextRun(self.token())

    def test_a_hard_kill_while_the_container_is_created(self):
        process = self.start(run=self.CREATES + 'while [ ! -f "$STANDIN/end" ]; do sleep 0.05; done\n')
        self.wait_for("running")
        process.kill()
        process.wait()
        self.assertRemovedByTheNextRun(self.token())
        self.put("end")
        process.communicate(timeout=60)

    # --- The console -----------------------------------------------------------------------------------------------

    def shown(self, *args, run, stdout, code, **more):
        """A launch with this standard output. Returns what it has said."""
        self.put("run", run)
        result = subprocess.run(self.command(*args), env=self.env, cwd=self.dir / "cwd", stdout=stdout, timeout=60, **{"stderr": subprocess.PIPE, **more})
        self.assertEqual(result.returncode, code, result.stderr)
        return result

    @staticmethod
    def without_a_reader():
        reading, writing = os.pipe()
        os.close(reading)
        return open(writing, "w")

    LINES = "for i in 1 2 3; do echo line $i || exit 1; sleep 0.2; done\n"

    def test_a_console_that_takes_no_more_changes_no_verdict(self):
        for name, stream in (("head", self.without_a_reader()), ("full", open("/dev/full", "w"))):
            for kept in (False, True):
                with self.subTest(stdout=name, stderr_too=kept), stream if kept else open(os.dup(stream.fileno()), "w") as out:
                    self.shown(run=self.LINES + reports(), stdout=out, code=0, **({"stderr": subprocess.STDOUT} if kept else {}))
                    self.assertIn('"confirmed": true', (self.out / "launcher.json").read_text())

    def test_a_pull_with_a_console_that_takes_no_more(self):
        (self.standin / "image").unlink()
        self.put("pull", self.LINES + ': >"$STANDIN/image"\n')
        with self.without_a_reader() as out:
            self.shown(run=reports(), stdout=out, code=0)

    def test_an_answer_that_cannot_be_printed(self):
        run = self.LINES + "exit 0\n"
        with open("/dev/full", "w") as full, self.without_a_reader() as head:
            self.assertIn(b"cannot take the answer", self.shown("--", "facts", run=run, stdout=full, code=5).stderr)
            self.shown("--", "facts", run=run, stdout=head, code=0)

    def test_what_the_container_prints_is_passed_on_as_it_is(self):
        result = self.launch(run="printf '\\033[31mred\\033[0m\\n\\377'; [ -t 1 ] || printf end\nexit 1", env={"LC_ALL": "C"})
        self.assertEqual(result.stdout, "\033[31mred\033[0m\n\udcffend")

    def test_a_terminal_is_the_engines_own(self):
        ours, theirs = os.openpty()
        with open(theirs, "w") as out:
            self.shown(run="[ -t 1 ] && echo terminal\nexit 1", stdout=out, code=5)
        self.assertIn(b"terminal", os.read(ours, 1000))
        os.close(ours)

    def test_a_slow_reader_gets_all(self):
        process = self.start(run="dd if=/dev/zero bs=1000 count=100 2>\"$STANDIN/words\" | tr '\\000' x\nexit 1")
        time.sleep(8)
        self.assertEqual(len(self.finish(process).stdout), 100_000)

    def test_the_record_holds_no_secret(self):
        values = {"HF_TOKEN": "first secret", "DB_PASSWD": "it's \\ a \"secret\"", "LONG_KEY": "first secret and more", "NO_KEY": "short",
                  "PLAIN": "plainly said"}
        words = [w for v in values.values() for w in ("--engine-arg", "X=" + v)]
        for run in (reports(), "printf '%s\\n' 'died of first secret' >&2; exit 125"):
            shutil.rmtree(self.out, ignore_errors=True)
            self.launch(*words, run=run, env=values)
            text = "".join(p.read_text() for p in (self.out / "launcher.json", self.out / "junit.xml"))
            record = json.loads((self.out / "launcher.json").read_text())["command"]
            for secret in ("first secret", "it'", "and more", "secret\\\""):
                self.assertNotIn(secret, text)
            for name in ("[masked HF_TOKEN]", "[masked DB_PASSWD]", "[masked LONG_KEY]", "X=short", "X=plainly said"):
                self.assertIn(name, record)

    def test_a_secret_of_several_lines_is_masked_whole_and_line_by_line(self):
        pem = "first line's secret\r\nshort\nsecond secret line\n\n"
        values = {"MY_KEY": pem, "HF_TOKEN": "line of a secret\n"}
        run = "printf '%s\\n' 'died of second secret line' >&2; exit 125"
        self.launch("--engine-arg", "X=" + pem, "--engine-arg", "Y=line of a secret\n", run=run, env=values)
        text = "".join(p.read_text() for p in (self.out / "launcher.json", self.out / "junit.xml"))
        for secret in ("first line", "second secret", "line of a secret"):
            self.assertNotIn(secret, text)
        self.assertIn("died of [masked MY_KEY]", text)
        self.assertIn("X=[masked MY_KEY]", text)
        self.assertIn("Y=[masked HF_TOKEN]", text)

    def test_a_secret_that_the_last_words_cut_is_masked_too(self):
        self.launch(run="printf 'a %s%03990d\\n' 'one long secret' 0 >&2; exit 125", env={"HF_TOKEN": "one long secret"})
        self.assertNotIn("secret0", (self.out / "junit.xml").read_text())

    # --- The output folder -----------------------------------------------------------------------------------------

    def test_reports_of_an_earlier_run_go_first_and_foreign_files_stay(self):
        self.assertEqual(self.launch(run=reports()).code, 0)
        shutil.copy(self.out / "junit.xml", self.out / "junit-2.xml")
        for name in ("notes.txt", "junit-3.xml", "attachments/2-mine.txt"):
            (self.out / name).write_text("foreign\n")
        self.assertRed(self.launch(run="exit 0"), 5, "harness.no-finished-report")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["attachments", "junit-3.xml", "junit.xml", "launcher.json", "notes.txt"])
        self.assertEqual([p.name for p in (self.out / "attachments").iterdir()], ["2-mine.txt"])

    def test_an_own_page_of_an_earlier_run_goes_and_a_foreign_one_stays(self):
        self.out.mkdir(parents=True)
        page = self.out / "report.html"
        for head, stays in (("<!DOCTYPE html>\n<!--cudnn-ci report.html-->\n", False), ("<!DOCTYPE html>\n<p>mine\n", True)):
            page.write_text(head)
            self.assertEqual(self.launch(run=reports()).code, 0)
            self.assertEqual(page.read_text() == head, stays, head)

    def test_a_foreign_file_under_a_reports_name_is_not_replaced(self):
        for name in ("junit.xml", "report.json", "journal.jsonl", "launcher.json"):
            with self.subTest(name=name):
                shutil.rmtree(self.out, ignore_errors=True)
                self.assertEqual(self.launch(run=reports()).code, 0)
                (self.out / name).write_text("<testsuites name='mine'/>\n")
                (self.out / "notes.txt").write_text("mine\n")
                calls = len(self.calls())
                result = subprocess.run(self.command(), env=self.env, capture_output=True, text=True)
                self.assertEqual(result.returncode, 2)
                self.assertIn(f"{name} is not a report of cudnn-ci", result.stderr)
                self.assertEqual({p.name: p.read_text() for p in self.out.iterdir() if p.is_file()},
                                 {name: "<testsuites name='mine'/>\n", "notes.txt": "mine\n"})
                self.assertEqual(len(self.calls()), calls)

    def test_a_foreign_attachment_is_not_replaced(self):
        (self.out / "attachments").mkdir(parents=True)
        (self.out / "attachments/1-core.txt").write_text("foreign\n")
        self.assertRed(self.launch(run=reports()), 5, "harness.report-not-written")
        self.assertEqual((self.out / "attachments/1-core.txt").read_text(), "foreign\n")

    def test_links_left_by_the_container_are_not_followed(self):
        secret = self.dir / "secret"
        secret.mkdir()
        (secret / "1-core.txt").write_text("what the caller alone may read")
        for more in (f'rm -r "$reports/attachments"; ln -s {secret} "$reports/attachments"',
                     f'rm "$reports/attachments/1-core.txt"; ln -s {secret}/1-core.txt "$reports/attachments/1-core.txt"'):
            with self.subTest(more=more):
                shutil.rmtree(self.out, ignore_errors=True)
                self.assertEqual(self.launch(run=reports(more=more)).code, 0)
                self.assertNotIn("the caller alone", "".join(p.read_text() for p in self.out.rglob("*") if p.is_file()))

    def test_a_folder_that_cannot_be_made(self):
        self.out.write_text("a file")
        result = subprocess.run(self.command(), env=self.env, capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("cannot be written", result.stderr)
        self.assertEqual(self.calls(), [])

    def test_reports_that_cannot_be_copied_are_no_green(self):
        script = reports(more=f'mkdir -p {self.out}/report.json')
        self.assertRed(self.launch(run=script), 5, "harness.report-not-written")

    def test_one_run_at_a_time_writes_a_folder(self):
        first = self.start(run=self.HANG + "exit 1")
        self.wait_for("running")
        before, calls = (self.out / "junit.xml").read_bytes(), self.calls()
        gate = [program(), "--matrix", "static", "--output-dir", str(self.out)]
        for command in (self.command(), gate):
            with self.subTest(command=command):
                second = subprocess.run(command, env=self.env, cwd=self.dir / "cwd", capture_output=True, text=True, timeout=60)
                self.assertEqual(second.returncode, 2, second.stderr)
                self.assertIn("another run of cudnn-ci is writing", second.stderr)
                self.assertEqual(((self.out / "junit.xml").read_bytes(), self.calls()), (before, calls))
        self.put("stopped")
        self.assertRed(self.finish(first), 5, "harness.no-finished-report")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["junit.xml", "launcher.json"])

    def test_another_run_in_the_same_folder_is_noticed(self):
        script = reports(more=f'sed "s/$token/other/" {self.out}/junit.xml >{self.out}/x; mv {self.out}/x {self.out}/junit.xml')
        self.assertRed(self.launch(run=script), 5, "harness.report-not-written")

    # --- Wrong use -------------------------------------------------------------------------------------------------

    def test_wrong_use_is_2_and_touches_nothing(self):
        for args, words in (
            (["--engine"], "--engine needs a value"), (["--nosuch"], "unknown option --nosuch (see"), (["--no-gup"], "unknown option --no-gup; did you mean '--no-gpu'? (see"),
            (["--mtrix=x"], "unknown option --mtrix; did you mean '--matrix'? (see"), (["--hlp"], "did you mean '--help'?"), (["other"], "two images"),
            (["--tool", "/nonexistent"], "name the installed tree"), (["--matrix", "/nonexistent.json"], "no such file"),
            (["--gpu-way", "magic"], "gpus or cdi"), (["--gpus", "device=device=0"], "--gpus device=device=0: all, or indices"),
            (["--gpus", "0,"], "with commas"), (["--gpus", '"device=0,capabilities=utility"'], "with commas"), (["--gpus", "none"], "--no-gpu"), (["--pull", "often"], "missing, always or never"), (["--grace", "x"], "whole number"),
            (["--env", "A=b"], "name of a variable"), (["--mount", str(self.dir / "none")], "not a folder"),
            (["--", "--output-dir", "x"], "--output-dir"), (["--", "--junit=x"], "--output-dir"),
            (["--", "--html", "x"], "--output-dir"), (["--", "--html=x"], "--output-dir"), (["--", "--summary=x"], "--output-dir"),
            (["--", "--summary", "x"], "--summary"), (["--", "--attestation"], "--attestation"),
            (["--", "--rerun-failed"], "--case"), (["--", "waive", "x"], "type cudnn-ci waive here"), (["--", "--dry-run"], "-- list"),
            (["--output-dir", "-"], "--output-dir -: "), (["--", "--matrix"], "--matrix needs a value"),
            (["--matrix", str(HERE / "docker"), "--", "--matrix=" + str(HERE / "docker")], "given twice"),
            (["--matrix", "cu12", "--matrix=cu13"], "given twice: cu12, cu13"), (["--no-gpu=1"], "--no-gpu takes no value"),
            (["--dry-run=no"], "--dry-run takes no value"),
            (["--", "init", "a", "b"], "init writes one file"), (["--", "init", str(HERE / "docker")], str(HERE / "docker")),
        ):
            with self.subTest(args=args):
                result = self.launch(*args, run=reports())
                self.assertEqual(result.code, 2, result.stderr)
                self.assertIn(words, result.stderr)
                self.assertEqual(self.calls(), [])
                self.assertFalse(self.out.exists())
        self.assertEqual(self.launch(image=None).code, 2)

    def green_before(self, *foreign):
        """A green run's reports in the output folder, and foreign files; returns these."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.assertEqual(self.launch("--attestation", run=reports()).code, 0)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), sorted([*FILES, "attestation.json"]))
        for name in foreign:
            (self.out / name).write_text("<mine/>\n")
        (self.standin / "calls").unlink()
        return sorted(foreign)

    def assertOnlyLeft(self, names):
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), names)
        for name in names:
            self.assertEqual((self.out / name).read_text(), "<mine/>\n")
        self.assertEqual(self.calls(), [])

    def test_exit_2_leaves_no_report_of_an_earlier_run(self):
        self.matrix("cu13")
        for args, image in ((["--matrix", "cu13"], None), (["--matrix", "cu14"], IMAGE), (["--matrix", "nofile.json"], IMAGE), (["--mtrix", "cu13"], IMAGE),
                            (["--mount", "/nonexist"], IMAGE), (["other"], IMAGE), (["--engine", ""], IMAGE), (["--engine"], IMAGE),
                            (["--tool", "/nonexist"], IMAGE), (["--", "--junit=x"], IMAGE), ([""], None)):
            with self.subTest(args=args):
                left = self.green_before("notes.txt", "junit-3.xml", "report.html" if image else "mine.html")
                self.assertEqual(self.launch(*args, image=image).code, 2)
                self.assertOnlyLeft(left)
        for name in ("junit.xml", "launcher.json"):  # which keeps this run from writing there
            with self.subTest(foreign=name):
                left = self.green_before(name)
                self.assertEqual(self.launch().code, 2)
                self.assertOnlyLeft(left)

    def test_exit_2_looks_for_reports_where_they_would_have_been(self):
        left = self.green_before("notes.txt")
        default = self.dir / "cwd/cudnn-ci-report"
        for args in (["--mtrix", "x", f"--output-dir={self.out}", IMAGE], ["--output-dir", str(self.out)], ["--engine", "--output-dir", "x", "y"],
                     ["--no-gpu", "--", "--output-dir", str(self.out)]):
            with self.subTest(args=args):
                shutil.copytree(self.out, default)
                result = subprocess.run([program(), "run", *args], env=self.env, cwd=self.dir / "cwd", capture_output=True, text=True)
                self.assertEqual(result.returncode, 2)
                is_named = any(str(self.out) in arg for arg in args) and "--" not in args
                self.assertEqual(sorted(p.name for p in default.iterdir()), sorted([*FILES, "attestation.json", *left]) if is_named else left)
                shutil.rmtree(default)
                self.assertEqual(sorted(p.name for p in self.out.iterdir()) == left, is_named)
                if is_named:
                    self.green_before("notes.txt")

    def test_what_is_no_run_leaves_the_earlier_reports(self):
        self.green_before()
        before = sorted(p.name for p in self.out.iterdir())
        for args in (["--dry-run", "--mtrix"], ["report", str(self.out / "journal.jsonl")], ["facts"], [IMAGE, "--", "facts", "--matrix"]):
            with self.subTest(args=args):
                result = subprocess.run([*self.command(image=None), *args], env=self.env, capture_output=True, text=True)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(sorted(p.name for p in self.out.iterdir()), before)

    def test_the_gates_exit_2_leaves_nothing_of_the_launcher(self):
        for args in (["--mtrix"], ["--matrix", "cu99"], ["--no-gpu", "run", IMAGE]):
            with self.subTest(args=args):
                left = self.green_before("notes.txt")
                result = subprocess.run([program(), "--output-dir", str(self.out), *args], env=self.env, cwd=self.dir / "cwd", capture_output=True, text=True)
                self.assertEqual(result.returncode, 2)
                self.assertOnlyLeft(left)

    def test_a_run_that_writes_keeps_its_files_beside_anothers_exit_2(self):
        first = self.start(run=self.HANG + reports(more=': >"$STANDIN/left"; while [ ! -f "$STANDIN/end" ]; do sleep 0.05; done'))
        self.wait_for("running")
        before = (self.out / "junit.xml").read_bytes()
        (self.out / "report.html").write_text("<!DOCTYPE html>\n<!--cudnn-ci report.html-->\n")
        second = subprocess.run(self.command("--mtrix"), env=self.env, cwd=self.dir / "cwd", capture_output=True, text=True)
        self.assertEqual((second.returncode, (self.out / "junit.xml").read_bytes()), (2, before))
        self.assertTrue((self.out / "report.html").exists())
        self.put("stopped")
        self.put("end")
        self.assertEqual(self.finish(first).code, 0)

    def test_help(self):
        result = self.launch("--help", image=None)
        self.assertEqual((result.code, result.stderr), (0, ""))
        known = set(re.findall(r'\{"(--[a-z-]+)", (?:\[|Into|Add)', (SOURCES / "options.cc").read_text()))
        self.assertGreater(len(known), 15)
        for option in known:
            self.assertIn(f"{option} ", result.stdout)

    # --- GitHub's commands -----------------------------------------------------------------------------------------

    def obeyed(self, text):
        """The lines that GitHub would obey, and the marks between which it obeys none."""
        lines, mark, marks = [], None, []
        for line in text.split("\n"):
            stop = re.fullmatch(r"::stop-commands::(\w{32,})", line)
            if mark:
                mark = None if line == f"::{mark}::" else mark
            elif stop:
                mark = stop[1]
                marks.append(mark)
            elif line.lstrip().startswith("::") or "##[" in line:
                lines.append(line)
        self.assertIsNone(mark, text)
        return lines, marks

    FORGED = "echo '::error::forged'; echo '##[error]forged'; echo '::add-mask::a' >&2; printf 'no line feed' >&2\n"

    def test_what_others_say_is_no_command_of_github(self):
        marks = []
        for more in ({"run": self.FORGED + reports()}, {"run": self.FORGED + "exit 1"}):
            done = self.launch(env={"GITHUB_ACTIONS": "true"}, **more)
            # In one stream: of two nobody knows the order.
            self.assertEqual(done.stderr, "")
            self.assertIn("::add-mask::a\n", done.stdout)
            lines, seen = self.obeyed(done.stdout)
            self.assertEqual(lines, [])
            marks += seen
        self.assertEqual(len(set(marks)), 2)

    def test_an_engine_that_fails_gives_no_command_of_github(self):
        (self.bin / "docker").unlink()
        (self.bin / "docker").write_text("#!/bin/sh\necho '::error::forged' >&2\nexit 1\n")
        (self.bin / "docker").chmod(0o755)
        done = self.launch(env={"GITHUB_ACTIONS": "true"})
        self.assertEqual(done.code, 3)
        self.assertIn("\n::error::forged", done.stdout)
        self.assertEqual(self.obeyed(done.stdout)[0], [])

    def test_the_answer_of_a_question_has_no_marks_of_github(self):
        done = self.launch("--", "facts", run="echo answer; echo '::error::forged' >&2; exit 0", env={"GITHUB_ACTIONS": "true"})
        self.assertEqual(done.stdout, "answer\n")
        self.assertIn("\n::error::forged", done.stderr)
        self.assertEqual(self.obeyed(done.stderr)[0], [])

    def test_elsewhere_there_are_no_marks(self):
        for env in ({}, {"GITHUB_ACTIONS": ""}, {"GITHUB_ACTIONS": "false"}):
            done = self.launch(run="echo said >&2\n" + reports(), env=env)
            self.assertNotIn("stop-commands", done.stdout + done.stderr)
            self.assertIn("said", done.stderr)

    # --- The summary -----------------------------------------------------------------------------------------------

    def summary(self, **more):
        path = self.dir / "summary.md"
        path.unlink(missing_ok=True)
        self.launch(env={"GITHUB_STEP_SUMMARY": str(path)}, **more)
        return path.read_text()

    def test_summary_names_verdict_and_root_cause(self):
        self.assertEqual(self.summary(run=reports(code=1)), """### cudnn-ci: failed (exit 1)

~~~text
image       %s
entrypoint  replaced
root cause  image.crashed: it crashed
in          a[b=c]
evidence    say "this" <b> `x` C:\\d
what to do  fix it
cases       2 planned, 1 passed
retry       useless
~~~

""" % DIGEST)
        one_line = 'tr -d "\\n" <"$reports/report.json" >"$reports/r"; mv "$reports/r" "$reports/report.json"'
        self.assertIn("image.crashed: it crashed", self.summary(run=reports(code=1, more=one_line)))

    def test_summary_of_a_run_that_never_was(self):
        text = self.summary(run="echo 'no <space> left' >&2\nexit 125")
        self.assertTrue(text.startswith("### cudnn-ci: not passed (exit 3)\n"), text)
        self.assertIn("runner.engine-failed", text)
        self.assertIn("no <space> left", text)

    def test_not_gating_is_said(self):
        self.assertIn("failed, NOT GATING (exit 0)", self.summary(run=reports(code=1, status=0, report_only=True)))

    def test_a_foreign_page_is_not_replaced(self):
        self.out.mkdir()
        (self.out / "summary.md").write_text("mine")
        self.assertEqual(self.launch("--summary", run=reports()).code, 2)
        self.assertEqual(self.launch(run=reports()).code, 0)
        self.assertEqual((self.out / "summary.md").read_text(), "mine")

    # --- The host's own program ------------------------------------------------------------------------------------

    def real(self, check, *more, tool="", after="", name="real.json", env=None, inside=None):
        """A run whose container is the tree of the build; `after` is what a process of it does behind its back. Without a `check` nothing names its
        matrix."""
        if not (self.standin / "digest").exists() and not (self.standin / "digests").exists():
            self.put("digest", "c" * 64)
        matrix = self.dir / name
        matrix.write_text('{"schema": "cudnn-ci/matrix/1", "name": "real", "checks": [{"check": "%s"}]}' % check)
        ours = f"--matrix {shlex.quote(str(inside or matrix))}" if check else ""
        return self.launch(*(["--matrix", str(matrix)] if check else []), *more, run=f"""ln -s "$reports" "$STANDIN/cudnn-ci-reports.$token"
while [ "$1" != --output-dir ]; do shift; done
shift 8
for word in "$@"; do
  shift
  case $word in
    /cudnn-ci.*/image.json) word=$STANDIN/image-config.json ;;
    /cudnn-ci.*/reports/*) word=$STANDIN/cudnn-ci-reports.$token/${{word##*/reports/}} ;;
  esac
  set -- "$@" "$word"
done
{OPTIONS.tree}/bin/cudnn-ci --output-dir "$STANDIN/cudnn-ci-reports.$token" --run-token "$reports/run-token" {ours} --plugin-dir {OPTIONS.plugins} {tool} "$@"
status=$?
{after}
exit $status
""", env={"GITHUB_STEP_SUMMARY": str(self.dir / "summary.md"), **(env or {})})

    ALL = ["journal.jsonl", "junit.xml", "launcher.json", "report.html", "report.json", "summary.md"]

    def test_reports_are_made_here_from_the_journal(self):
        for check, more, code, verdict in (("fixture.pass", "", 0, "passed"), ("fixture.fail", "", 1, "failed"),
                                           ("fixture.fail", "--report-only", 0, "failed")):
            with self.subTest(check=check, more=more):
                (self.dir / "summary.md").unlink(missing_ok=True)
                result = self.real(check, "--summary", tool=more)
                self.assertEqual(result.code, code, result.stderr + result.stdout)
                self.assertEqual(sorted(p.name for p in self.out.iterdir()), self.ALL)
                self.assertIn('"confirmed": true', (self.out / "launcher.json").read_text())
                self.assertIn(f"`verdict: {verdict} (exit ", (self.out / "summary.md").read_text())
                page = (self.dir / "summary.md").read_text()
                self.assertTrue(page.startswith(f"### cudnn-ci: {verdict}"), page)
                self.assertIn((self.out / "summary.md").read_text(), page)
        # Its reports are known as its own in the next run.
        self.assertRed(self.launch(run="exit 0"), 5, "harness.no-finished-report")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["junit.xml", "launcher.json"])

    def test_a_foreign_page_of_this_name_stays_and_is_no_fault(self):
        self.out.mkdir()
        for name in ("report.html", "summary.md"):
            (self.out / name).write_text("mine")
        self.assertEqual(self.real("fixture.pass").code, 0)
        self.assertEqual([(self.out / name).read_text() for name in ("report.html", "summary.md")], ["mine"] * 2)

    def test_what_a_process_of_the_container_wrote_is_not_published(self):
        forged = """cd "$reports"
printf '<testsuites name="cudnn-ci" tests="500"/>' >junit-7.xml
printf '<!DOCTYPE html>\n<!--cudnn-ci report.html-->forged' >report.html
printf '<!--cudnn-ci summary-->forged' >summary.md
sed -i 's/fixture.pass/forged.case/g' junit.xml report.json
mkdir -p attachments
for i in 1 2 3 4 5 6 7 8 9; do echo forged >attachments/$i-forged.txt; done"""
        result = self.real("fixture.pass", after=forged)
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), self.ALL)
        self.assertNotIn("forged", "".join(p.read_text() for p in self.out.iterdir()))

    def test_a_report_that_its_journal_does_not_bear_out_proves_nothing(self):
        # Its reports are made green; its journal, of which each line seals the ones before, still says what happened.
        more = r"""sed -i 's/"exit_code": 1/"exit_code": 0/; s/"verdict": "failed"/"verdict": "passed"/' "$reports/report.json"
sed -i 's/name="verdict" value="failed"/name="verdict" value="passed"/' "$reports/junit.xml"
status=0"""
        result = self.real("fixture.fail", after=more)
        self.assertRed(result, 5, "harness.no-finished-report", "its journal says exit 1, it ended with 0")
        self.assertNotIn("report.html", [p.name for p in self.out.iterdir()])

    def test_a_run_by_another_matrix_proves_nothing(self):
        # What runs in the container takes another matrix, and says so in a record that is whole.
        other = self.dir / "other.json"
        other.write_text('{"schema": "cudnn-ci/matrix/1", "name": "real", "checks": [{"check": "fixture.pass", "name": "weak"}]}')
        result = self.real("fixture.pass", inside=other)
        self.assertRed(result, 5, "harness.no-finished-report", "another matrix than")

    def test_reports_name_the_matrix_of_this_machine(self):
        result = self.real("fixture.pass")
        self.assertEqual(result.code, 0, result.stderr)
        self.assertEqual(json.loads((self.out / "report.json").read_text())["judged"]["matrix"]["path"], str(self.dir / "real.json"))

    def test_a_journal_that_is_none_proves_nothing(self):
        result = self.real("fixture.pass", after="""sed -i 's/"fixture.pass"/"fixture.gone"/' "$reports/journal.jsonl"; status=0""")
        self.assertRed(result, 5, "harness.no-finished-report", "its journal says exit 2")

    def test_attachments_that_the_journal_names_are_bounded(self):
        names = [f"attachments/{i}-x" for i in range(1, 1101)]
        script = reports(attachments=names, more="""dd if=/dev/zero of="$reports/attachments/2-x" bs=1 count=1 seek=16777216 2>/dev/null
echo x >"$reports/attachments/5000-unnamed" """)
        result = self.launch(run=script)
        self.assertEqual(result.code, 0, result.stderr)
        published = {p.name for p in (self.out / "attachments").iterdir()}
        self.assertEqual(len(published), 999)
        self.assertFalse(published & {"2-x", "1001-x", "5000-unnamed"})
        self.assertIn("attachments/2-x is left out: it is larger than 16 MiB", result.stderr)

    def test_a_journal_of_one_endless_line_costs_nothing(self):
        for mib in (16, 512):
            with self.subTest(mib=mib):
                flood = (f'{{ printf \'{{"v":"journal/2","ev":"Attachment"\'; dd if=/dev/zero bs=1048576 count={mib} 2>/dev/null | tr "\\000" ","; }} '
                         '>"$reports/journal.jsonl"')
                self.put("run", reports(more=flood))
                process = subprocess.Popen(self.command(), env=self.env, cwd=self.dir / "cwd", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertRed(Launched(process, self.out), 5, "harness.no-finished-report", "not finished")
                # What the stand-in takes to write it is in it.
                self.assertLess(usage.ru_utime + usage.ru_stime, 30)
                self.assertLess(usage.ru_maxrss, 96 << 10)
                self.assertEqual((self.out / "journal.jsonl").exists(), mib < 64)

    def test_a_folder_that_was_poisoned_costs_the_next_run_no_time(self):
        # An earlier run's journal, unconfirmed and as large as one may be, names as many attachments as there are.
        names = "".join('{"v":"journal/2","ev":"Attachment","path":"attachments/%d-x"}\n' % i for i in range(1, 1001))
        self.out.mkdir()
        (self.out / "attachments").mkdir()
        for i in range(1, 1001):
            (self.out / f"attachments/{i}-x").write_text("x")
        line = '{"v":"journal/2","ev":"Attachment",' + "," * 60000 + "\n"
        (self.out / "journal.jsonl").write_text(names + line * ((62 << 20) // len(line)))
        (self.out / "junit.xml").write_text('<?xml version="1.0" encoding="UTF-8"?>\n<!--cudnn-ci report of the launcher-->\n')
        begin = time.monotonic()
        result = self.launch(run="exit 1")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertRed(result, 5, "harness.no-finished-report")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["junit.xml", "launcher.json"])

    def test_the_screen_speaks_of_this_machine(self):
        result = self.real("fixture.fail", "--no-gpu", "--engine-arg", "--network=none", name="it's a matrix.json")
        self.assertEqual(result.code, 1, result.stderr + result.stdout)
        page = (self.out / "summary.md").read_text()
        report = json.loads((self.out / "report.json").read_text())
        line = report["root_cause"]["reproduce"]
        for text in (result.stdout, page):
            self.assertIn(str(self.out / "report.html"), text)
            self.assertNotRegex(text, r"/cudnn-ci\.[0-9a-f]")
            self.assertNotIn("--gpus all", text)
        self.assertIn(line, page)
        self.assertIsNone(report["root_cause"]["reproduce_in_container"])
        # It can be pasted, and asks for the same container again, and this case.
        before = self.run_call()
        (self.standin / "calls").unlink()
        self.put("run", "exit 0")
        subprocess.run([shutil.which("sh"), "-c", line], env=self.env, cwd=self.dir / "cwd", capture_output=True, text=True)
        again = self.run_call()
        cut = before.index("--reports-at")
        self.assertEqual(again[:cut], before[:cut])
        self.assertEqual(again[-2:], ["--case", report["root_cause"]["case"]])

    def test_a_matrix_that_the_tool_chooses_has_its_name_in_the_reports(self):
        result = self.real("", tool="--case 'image.known_faults[subject=system]'")
        self.assertNotIn("--matrix", self.run_call())
        if result.code == 2:
            self.skipTest("nothing to choose a matrix by on this machine")
        for text in (result.stdout, *((self.out / name).read_text() for name in ("junit.xml", "report.html", "report.json", "summary.md"))):
            self.assertRegex(text, r"builtin:cu\d+")
            self.assertNotIn("/matrices/", text)

    def test_a_secret_of_an_option_is_in_no_reproduction(self):
        result = self.real("fixture.fail", "--engine-arg", "--label=hunter2hunter2", env={"DB_PASSWORD": "hunter2hunter2"})
        self.assertEqual(result.code, 1, result.stderr + result.stdout)
        for file in self.out.iterdir():
            self.assertNotIn("hunter2", file.read_text(), file.name)
        self.assertNotIn("hunter2", result.stdout + result.stderr)

    def test_reports_are_made_where_the_tool_itself_cannot_run(self):
        self.tool("exit 126")  # a tree for another processor than this machine's
        result = self.real("fixture.fail")
        self.assertEqual(result.code, 1, result.stderr + result.stdout)
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), sorted(self.ALL))
        self.assertRegex((self.dir / "summary.md").read_text(), r"root cause  image\.\S+: .")

    def test_a_statement_of_the_host_names_what_was_typed(self):
        self.put("digests", "other.example/mirror@sha256:" + "d" * 64 + "\n")
        self.real("fixture.pass", "--attestation")
        statement = json.loads((self.out / "attestation.json").read_text())
        self.assertEqual(statement["subject"], [{"name": "registry.example/team/image", "digest": {"sha256": "d" * 64}}])
        report = json.loads((self.out / "report.json").read_text())
        self.assertEqual(report["judged"]["image"], "registry.example/team/image@sha256:" + "d" * 64)

    def test_the_tool_takes_the_launchers_folder_and_the_launcher_the_tools(self):
        self.assertRed(self.launch("--no-gpu", run="exit 0"), 5, "harness.no-finished-report")
        matrix = self.dir / "m.json"
        matrix.write_text('{"schema": "cudnn-ci/matrix/1", "name": "m", "checks": [{"check": "fixture.pass"}]}')
        run = subprocess.run([f"{OPTIONS.tree}/bin/cudnn-ci", "--matrix", str(matrix), "--plugin-dir", OPTIONS.plugins, "--output-dir",
                              str(self.out)], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        # Nor does the launcher's word on the run before stay beside these reports.
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["journal.jsonl", "junit.xml", "report.html", "report.json"])
        self.assertRed(self.launch("--no-gpu", run="exit 0"), 5, "harness.no-finished-report")
        self.assertEqual(sorted(p.name for p in self.out.iterdir()), ["junit.xml", "launcher.json"])

    def test_its_types_are_findings(self):
        text = "".join(path.read_text() for path in sorted(SOURCES.glob("*.cc")))
        said = set(re.findall(r'"(runner|harness|matrix|undetermined)\.([a-z-]+)"', text))
        said |= {("harness", slug) for slug in re.findall(r'blame \+ "([a-z-]+)"', text)}
        listed = subprocess.run([f"{OPTIONS.tree}/bin/cudnn-ci", "explain", "--all", "--json"], check=True, capture_output=True, text=True)
        declared = {f["slug"]: f for f in json.loads(listed.stdout)["findings"]}
        self.assertGreater(len(said), 12)
        rows = [(finding["blame"], finding["id"]) for path in (ROOT / "knowledge/findings").glob("*.json")
                for finding in json.loads(path.read_text())["findings"] if any(m.get("settles_launch") for m in finding.get("messages", []))]
        said |= set(rows)
        self.assertEqual({slug for _, slug in said} - set(declared), set())
        own = {slug: f["blame"] for slug, f in declared.items() if f["declared_by"] == "cudnn-ci-run"}
        self.assertEqual(own, {slug: blame for blame, slug in said if slug in own})


def main():
    global OPTIONS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", help="has bin/cudnn-ci, which is tested")
    parser.add_argument("--plugins", help="has the fixture plugin")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and run none")
    OPTIONS, rest = parser.parse_known_args()
    if OPTIONS.list:
        for suite in unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]):
            for test in suite:
                print(test.id().removeprefix("__main__."))
        return 0
    return not unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful()


if __name__ == "__main__":
    sys.exit(main())
