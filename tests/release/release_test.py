#!/usr/bin/env python3
"""ci/release: what it makes of ready artifacts, and that it notices whatever is changed in a release. The artifacts are written by
ci/bundle's own code around a tree whose program is a shell script."""
import contextlib
import hashlib
import io
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from bundling import archive, oci, single, wheel  # noqa: E402: found by the line above
from bundling import command as bundle  # noqa: E402
from releasing import artifacts, check, command, notes, provenance  # noqa: E402

VERSION = bundle.version_of(ROOT)
DATE = 1700000000
COMMIT = "0123456789abcdef0123456789abcdef01234567"
PROGRAM = """#!/bin/sh
case "$*" in
  --version) echo "cudnn-ci {version}" ;;
  "manual man") echo ".TH cudnn-ci 1" ;;
  "plugins --check") test -d "$(dirname "$0")/../plugins" ;;
  *) exit 2 ;;
esac
exit $?
"""
ENGINE = """#!/bin/sh
# docker run ... -v TREE:/opt/cudnn-ci:ro IMAGE ARGUMENTS
while [ "$1" != -v ]; do shift; done
tree=${2%%:*}
echo "$3" >>"$0.images"
[ "$3" != broken ] || exit 126
shift 3
exec "$tree/bin/cudnn-ci" "$@"
"""


def tree_in(folder, arch, version=VERSION, program=PROGRAM, notices="Notices\n\nlib\n---\n"):
    tree = folder / f"cudnn-ci-{VERSION}-linux-{arch}"
    for name, text in (("bin/cudnn-ci", program.format(version=version)), ("bin/cudnn-ci-run", "#!/bin/sh\n"), ("plugins/x.cci.so", arch),
                       ("share/doc/cudnn-ci/README.md", "# cudnn-ci\n"), ("share/doc/cudnn-ci/LICENSE", "MIT\n"),
                       ("share/doc/cudnn-ci/THIRD_PARTY_NOTICES", notices)):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    for path in (tree / "bin").iterdir():
        path.chmod(0o755)
    return tree


def bundled(folder, **how):
    """What ci/bundle --all leaves, and a site."""
    out = folder / "artifacts"
    out.mkdir(parents=True)
    trees = {arch: tree_in(folder / "trees", arch, **how) for arch in artifacts.ARCHITECTURES}
    for arch, tree in trees.items():
        archive.write(tree, out / artifacts.archive_name(VERSION, arch), DATE)
        program = single.write(tree, out / artifacts.single_name(VERSION, arch))
        wheel.write(tree, program, ROOT / "ci/wheel/cudnn_ci", out, VERSION, arch, DATE)
    oci.write(trees, out / artifacts.oci_name(VERSION), VERSION, DATE)
    site = folder / f"cudnn-ci-{VERSION}-site"
    for name in ("index.html", "errors.html", "search/search_index.js"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(name)
    archive.write(site, out / artifacts.site_name(VERSION), DATE)
    return out


def source(**more):
    return command.Source(**{"version": VERSION, "commit": COMMIT, "date": DATE, **more})


def quietly(function, *arguments, **how):
    """What it says, as a list of lines."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        function(*arguments, **how)
    return said.getvalue().splitlines()


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.given = bundled(cls.folder)
        cls.made = cls.folder / "made"
        cls.said = quietly(command.make, ROOT, cls.made, source(), given=cls.given)

    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "release"
        shutil.copytree(self.made, self.out)

    def sum_again(self, noted=False):
        """As somebody who changed a file would; `noted`: in the notes too."""
        if noted:
            path = self.out / artifacts.NOTES
            path.write_text(path.read_text().partition("\n## Digests")[0] + notes.pins(self.out, VERSION))
        path = self.out / artifacts.provenance_name(VERSION)
        value = json.loads(path.read_text())
        for subject in value["subject"]:
            subject["digest"]["sha256"] = artifacts.sha256(self.out / subject["name"])
        path.write_text(json.dumps(value))
        archive.write_sums(self.out, [file for file in self.out.iterdir() if file.name != artifacts.SUMS])

    def judged(self, said, *, wheel_too=True):
        """Not `wheel_too`: without the wheel's check, which takes seconds."""
        wheels = contextlib.nullcontext() if wheel_too else unittest.mock.patch.object(check, "check_wheel")
        with wheels, self.assertRaisesRegex(artifacts.Failure, said):
            quietly(check.check, self.out, print)

    def provenance(self):
        return json.loads((self.made / artifacts.provenance_name(VERSION)).read_text())

    def test_a_release_has_all_its_parts_and_holds_its_own_checks(self):
        self.assertEqual(sorted(path.name for path in self.made.iterdir()), sorted([
            "SHA256SUMS", "RELEASE_NOTES.md", "cudnn-ci.1", f"cudnn-ci-{VERSION}.spdx.json", f"cudnn-ci-{VERSION}.provenance.json",
            f"cudnn-ci-{VERSION}-oci.tar", f"cudnn-ci-{VERSION}-site.tar.gz",
            *(f"cudnn-ci-{VERSION}-linux-{arch}{end}" for arch in ("x86_64", "aarch64") for end in ("", ".tar.gz")),
            *(f"cudnn_ci-{VERSION}-py3-none-manylinux_2_17_{arch}.manylinux2014_{arch}.whl" for arch in ("x86_64", "aarch64"))]))
        self.assertEqual((self.made / "cudnn-ci.1").read_text(), ".TH cudnn-ci 1\n")
        self.assertEqual(json.loads((self.made / f"cudnn-ci-{VERSION}.spdx.json").read_text())["packages"][1]["name"], "lib")
        for step in ("sums", "provenance", "archive runs", "single file runs", "wheel installs", "OCI layout", "site"):
            self.assertTrue(any(step in line for line in self.said), step)

    def test_sums_are_what_sha256sum_checks(self):
        lines = (self.made / "SHA256SUMS").read_text().splitlines()
        self.assertEqual(len(lines), len(list(self.made.iterdir())) - 1)
        for line in lines:
            digest, name = line.split("  ")
            self.assertEqual(digest, hashlib.sha256((self.made / name).read_bytes()).hexdigest())

    def test_the_statement_is_provenance_of_every_artifact(self):
        said = self.provenance()
        self.assertEqual((said["_type"], said["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        digests = {path.name: {"sha256": artifacts.sha256(path)} for path in self.made.iterdir()}
        for name in ("SHA256SUMS", f"cudnn-ci-{VERSION}.provenance.json"):
            del digests[name]
        self.assertEqual({subject["name"]: subject["digest"] for subject in said["subject"]}, digests)
        definition = said["predicate"]["buildDefinition"]
        self.assertEqual(set(definition) ^ {"buildType", "externalParameters", "internalParameters", "resolvedDependencies"}, set())
        self.assertEqual(definition["externalParameters"]["artifacts"], "given")
        self.assertEqual(definition["resolvedDependencies"][0], {"name": "source", "uri": "git+file:cudnn-ci", "digest": {"gitCommit": COMMIT}})
        self.assertIn("mkdocs", {entry["name"] for entry in definition["resolvedDependencies"]})
        self.assertNotIn("ziglang", {entry["name"] for entry in definition["resolvedDependencies"]})
        self.assertTrue(said["predicate"]["runDetails"]["builder"]["id"].startswith("urn:"))

    def test_a_build_names_its_compiler_headers_and_changes(self):
        found = provenance.dependencies(ROOT, source(changed=True, uri="git+https://example.com/x"), True)
        self.assertEqual(found[0], {"name": "source", "uri": "git+https://example.com/x", "digest": {"gitCommit": COMMIT},
                                    "annotations": {"uncommittedChanges": True}})
        zig = [entry for entry in found if entry["name"] == "ziglang"]
        text = (ROOT / "ci/deps").read_text()
        self.assertEqual(len(zig), 2)
        for entry in zig:
            self.assertIn(f"ziglang=={entry['uri'].rpartition('@')[2]}", text)
            self.assertIn(f"--hash=sha256:{entry['digest']['sha256']}", text)
        headers = (ROOT / "ci/cuda-headers").read_text()
        for name in ("nvidia-cudnn-cu13", "nvidia-cuda-runtime", "nvidia-cudnn-frontend"):
            entry = next(entry for entry in found if entry["name"] == name)
            self.assertIn(f'"{name}=={entry["uri"].rpartition("@")[2]}": "{entry["annotations"]["sha256OfHeaders"]}"', headers)

    def test_the_same_artifacts_give_the_same_bytes(self):
        again = self.folder / "again"
        quietly(command.assemble, ROOT, self.empty(again), source(), given=self.given)
        self.assertEqual({path.name: artifacts.sha256(path) for path in again.iterdir()}, {path.name: artifacts.sha256(path) for path in self.made.iterdir()})

    @staticmethod
    def empty(folder):
        folder.mkdir()
        return folder

    def test_any_changed_file_is_noticed(self):
        for path in sorted(self.out.iterdir()):
            if path.name == artifacts.SUMS:
                continue
            content = path.read_bytes()
            path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
            with self.subTest(name=path.name):
                self.judged(f"{path.name} has another SHA-256")
            path.write_bytes(content)
        quietly(check.check_sums, self.out, VERSION)

    def test_any_missing_or_further_file_is_noticed(self):
        for name in (artifacts.NOTES, artifacts.site_name(VERSION), artifacts.provenance_name(VERSION)):
            (self.out / name).rename(self.folder / "aside")
            with self.subTest(name=name):
                self.judged(f"{name} is not in the folder")
                sums = (self.out / artifacts.SUMS).read_text()
                self.without(name)
                self.judged(f"{name} is not in SHA256SUMS")
                (self.out / artifacts.SUMS).write_text(sums)
            (self.folder / "aside").rename(self.out / name)
        (self.out / "install.sh").write_text("x")
        self.judged("install.sh is not in SHA256SUMS")
        archive.write_sums(self.out, [path for path in self.out.iterdir() if path.name != artifacts.SUMS])
        self.judged("install.sh is not in a release")
        (self.out / "install.sh").unlink()
        self.judged("install.sh is not in the folder")

    def without(self, name):
        path = self.out / artifacts.SUMS
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.endswith(f"  {name}\n")))

    def test_a_line_that_is_none_of_a_release_is_refused(self):
        path = self.out / artifacts.SUMS
        good = path.read_text()
        for line in (f"{'0' * 64}  ../x\n", f"{'0' * 64}  a/b\n", f"{'0' * 63}  x\n", good.splitlines(True)[0], f"{'0' * 64}  SHA256SUMS\n", "x\n"):
            path.write_text(good + line)
            with self.subTest(line=line):
                self.judged("not a line of a release")
        path.unlink()
        self.judged("SHA256SUMS is missing")

    def test_a_link_in_a_files_place_is_refused(self):
        path = self.out / artifacts.NOTES
        path.rename(self.folder / "notes")
        path.symlink_to(self.folder / "notes")
        self.judged("is no plain file")

    def test_a_statement_about_something_else_is_noticed(self):
        path = self.out / artifacts.provenance_name(VERSION)
        good = json.loads(path.read_text())

        def changed(change):
            value = json.loads(json.dumps(good))
            change(value)
            return value
        build = lambda value: value["predicate"]["buildDefinition"]
        for change, said in ((lambda v: v["subject"].pop(), "does not speak of"), (lambda v: v["subject"].append(v["subject"][0]), "belongs"),
                             (lambda v: v["subject"][0]["digest"].update(sha256="0" * 64), "as it is"), (lambda v: v.update(predicateType="x"), "belongs"),
                             (lambda v: v.update(_type="x"), "belongs"), (lambda v: build(v).update(buildType="x"), "belongs"),
                             (lambda v: build(v)["externalParameters"].update(commit="0" * 40), "belongs"),
                             (lambda v: build(v)["externalParameters"].update(version="9"), "belongs"),
                             (lambda v: build(v).update(resolvedDependencies=[]), "is no provenance"),
                             (lambda v: v["predicate"]["runDetails"]["builder"].update(id=""), "belongs"), (lambda v: v.pop("subject"), "is no provenance")):
            path.write_text(json.dumps(changed(change)))
            archive.write_sums(self.out, [file for file in self.out.iterdir() if file.name != artifacts.SUMS])
            with self.subTest(said=said):
                self.judged(said)

    def replaced(self, **how):
        """The release with other archives and wheels, everything summed again."""
        other = bundled(pathlib.Path(tempfile.mkdtemp(dir=self.folder)), **how)
        for name in artifacts.bundled(VERSION):
            shutil.copyfile(other / name, self.out / name)
        (self.out / artifacts.sbom_name(VERSION)).write_bytes(artifacts.common_sbom(self.out, VERSION))
        self.sum_again(noted=True)

    def test_an_archive_of_another_version_or_that_does_not_run_is_noticed(self):
        self.replaced(version="9.9.9")
        self.judged("says 'cudnn-ci 9.9.9'")
        self.replaced(program="#!/bin/sh\nexit 3\n")
        self.judged("exit status 3")

    def test_notes_have_the_digests_to_pin(self):
        text = (self.made / artifacts.NOTES).read_text()
        self.assertTrue(text.startswith(f"# cudnn-ci {VERSION}"))
        for name in artifacts.bundled(VERSION):
            self.assertIn(f"| `{name}` | `{artifacts.sha256(self.made / name)}` |", text)
        with tarfile.open(self.made / artifacts.oci_name(VERSION)) as tar:
            self.assertIn(f"`cudnn-ci@{json.load(tar.extractfile('index.json'))['manifests'][0]['digest']}`", text)
        path = self.out / artifacts.NOTES
        for changed in (text.replace("sha256:", "sha256:0"), text + "\nMore.\n", text.replace(f"cudnn-ci {VERSION}", "cudnn-ci 9")):
            path.write_text(changed)
            self.sum_again()
            self.judged("are not those of these files")

    def test_a_manual_of_another_program_is_noticed(self):
        (self.out / artifacts.MANUAL).write_text(".TH other 1\n")
        self.sum_again()
        self.judged("not the manual")

    def test_a_list_of_contents_that_is_not_the_wheels_is_noticed(self):
        (self.out / artifacts.sbom_name(VERSION)).write_text('{"spdxVersion":"SPDX-2.3"}')
        self.sum_again()
        self.judged("is not the one in the wheels")

    def test_wheels_of_two_builds_are_noticed(self):
        other = bundled(pathlib.Path(tempfile.mkdtemp(dir=self.folder)), notices="N\n\nelse\n----\n")
        name = artifacts.wheel_name(VERSION, "aarch64")
        shutil.copyfile(other / name, self.out / name)
        self.sum_again(noted=True)
        self.judged("not of one build")

    def test_a_wheel_whose_program_is_another_version_is_noticed(self):
        other = bundled(pathlib.Path(tempfile.mkdtemp(dir=self.folder)), version="9.9.9")
        for arch in artifacts.ARCHITECTURES:
            shutil.copyfile(other / artifacts.wheel_name(VERSION, arch), self.out / artifacts.wheel_name(VERSION, arch))
        self.sum_again(noted=True)
        self.judged("the wheel's cudnn-ci says 'cudnn-ci 9.9.9'")

    def test_a_single_file_of_another_program_is_noticed(self):
        other = bundled(pathlib.Path(tempfile.mkdtemp(dir=self.folder)), program="# changed\n" + PROGRAM)
        for arch in artifacts.ARCHITECTURES:
            shutil.copyfile(other / artifacts.single_name(VERSION, arch), self.out / artifacts.single_name(VERSION, arch))
        self.sum_again(noted=True)
        self.judged("does not begin with the archive's cudnn-ci", wheel_too=False)

    def test_images_of_another_tree_are_noticed(self):
        other = bundled(pathlib.Path(tempfile.mkdtemp(dir=self.folder)), program=PROGRAM + "# changed\n")
        shutil.copyfile(other / artifacts.oci_name(VERSION), self.out / artifacts.oci_name(VERSION))
        self.sum_again(noted=True)
        self.judged("is not the archive's tree", wheel_too=False)

    def test_a_layout_for_one_processor_alone_is_noticed(self):
        trees = {"x86_64": self.folder / f"trees/cudnn-ci-{VERSION}-linux-x86_64"}
        oci.write(trees, self.out / artifacts.oci_name(VERSION), VERSION, DATE)
        self.sum_again(noted=True)
        self.judged("is not for x86_64 and aarch64", wheel_too=False)

    def test_a_blob_that_is_not_its_digest_is_noticed(self):
        layout = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        check.extract(self.out / artifacts.oci_name(VERSION), layout)
        index = json.loads((layout / "index.json").read_text())["manifests"][0]
        blob = layout / "blobs/sha256" / index["digest"].partition(":")[2]
        blob.write_bytes(blob.read_bytes().replace(b"amd64", b"amd65"))
        os.unlink(self.out / artifacts.oci_name(VERSION))
        with tarfile.open(self.out / artifacts.oci_name(VERSION), "w") as tar:
            archive.add_tree(tar, layout, "", DATE)
        self.sum_again(noted=True)
        self.judged("is not what its name says", wheel_too=False)

    def test_an_archive_that_leaves_its_folder_is_refused(self):
        for name, kind in (("../x", tarfile.REGTYPE), ("/x", tarfile.REGTYPE), ("a", tarfile.SYMTYPE), ("a", tarfile.FIFOTYPE)):
            path = self.folder / "evil.tar"
            with tarfile.open(path, "w") as tar:
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = kind, "/etc/passwd"
                tar.addfile(entry)
            with self.assertRaisesRegex(artifacts.Failure, "no plain file below it"):
                check.extract(path, self.folder / "evil")

    def test_a_site_without_its_search_is_noticed(self):
        site = self.folder / f"cudnn-ci-{VERSION}-site"
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / site.name
            shutil.copytree(site, copy)
            (copy / "search/search_index.js").unlink()
            archive.write(copy, self.out / artifacts.site_name(VERSION), DATE)
        self.sum_again()
        self.judged("has no search/search_index.js", wheel_too=False)

    def test_it_starts_in_the_images_that_are_named(self):
        engine = self.folder / "engine"
        engine.write_text(ENGINE)
        engine.chmod(0o755)
        with unittest.mock.patch.object(check, "check_wheel"):
            self.assertIn("it starts in debian:12", quietly(check.check, self.out, print, ["debian:12"], engine))
            self.assertEqual((self.folder / "engine.images").read_text(), "debian:12\n" * 2)
            with self.assertRaisesRegex(artifacts.Failure, "broken: cudnn-ci --version: exit status 126"):
                quietly(check.check, self.out, print, ["broken"], engine)

    def test_what_fails_a_check_is_not_left_in_the_folder(self):
        given = bundled(pathlib.Path(tempfile.mkdtemp(dir=self.folder)), version="9.9.9")
        out = self.folder / "never"
        with self.assertRaisesRegex(artifacts.Failure, "9.9.9"):
            quietly(command.make, ROOT, out, source(), given=given)
        self.assertFalse(out.exists())
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".never")], [])

    def test_a_folder_of_others_is_not_replaced(self):
        (self.out / "thesis.txt").write_text("years of work")
        with self.assertRaisesRegex(artifacts.Failure, "holds more than a release"):
            quietly(command.make, ROOT, self.out, source(), given=self.given)
        self.assertTrue((self.out / "thesis.txt").is_file())

    def test_missing_artifacts_are_named(self):
        given = self.folder / "partly"
        shutil.copytree(self.given, given)
        (given / artifacts.oci_name(VERSION)).unlink()
        with self.assertRaisesRegex(artifacts.Failure, "oci.tar is missing: `ci/bundle --all"):
            quietly(command.make, ROOT, self.folder / "none", source(), given=given)

    def test_the_command_line(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(command.main(["--check", str(self.folder / "nothing")]), 1)
        self.assertIn("is no folder", said.getvalue())
        lines = []
        with unittest.mock.patch.object(check, "check_wheel"):  # setUpClass has seen it
            self.assertEqual(quietly(lambda: lines.append(command.main(["--check", str(self.out)])))[0][:11], "ci/release:")
        self.assertEqual(lines, [0])

    def test_uncommitted_changes_are_refused(self):
        answers = {("status", "--porcelain"): " M x", ("rev-parse", "HEAD"): COMMIT}
        with unittest.mock.patch.object(command, "git", lambda root, *words: answers[words]), unittest.mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="5"):
            with self.assertRaisesRegex(artifacts.Failure, "uncommitted changes"):
                command.source_of(ROOT, None, False)
            self.assertEqual(command.source_of(ROOT, None, True), source(date=5, changed=True))
            answers["status", "--porcelain"] = ""
            self.assertEqual(command.source_of(ROOT, "git+https://x", False), source(date=5, uri="git+https://x"))


if __name__ == "__main__":
    unittest.main()
