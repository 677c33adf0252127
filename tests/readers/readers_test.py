#!/usr/bin/env python3
"""junit.xml in the hands of other readers: each counts what report.json counts, in both profiles; and field by field the two
reports say the same, of real runs and of made-up ones with random bytes in every text.

usage: readers_test.py --tree BUILD/stage --plugins DIR --sample RUN_SAMPLE [--libraries]
--libraries: with lxml, junitparser, junit2html and xunitparser, the Python of `ci/deps readers`; without: expat alone.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.parsers.expat

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = ROOT / "tests/golden/junit-10.xsd"
SAMPLES = 60
OPTIONS = None

Element = collections.namedtuple("Element", "tag attributes text children")
Numbers = collections.namedtuple("Numbers", "tests failures errors skipped")
# Of the types of GitLab's parser: an element of such a type is cast, or the whole file is lost.
CAST = set("symbol date datetime integer float decimal double boolean string yaml base64Binary file array hash duration".split())
RESULTS = ("failure", "error", "skipped")


# ---- the trees that readers make of a file, as Elements ----

def by_expat(path):
    stack = [Element("", {}, [], [])]
    parser = xml.parsers.expat.ParserCreate()
    parser.buffer_text = True

    def begin(tag, attributes):
        element = Element(tag, attributes, [], [])
        stack[-1].children.append(element)
        stack.append(element)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = lambda text: stack[-1].text.append(text)
    parser.Parse(path.read_bytes(), True)
    return joined(stack[0].children[0])


def joined(element):
    return element._replace(text="".join(element.text), children=[joined(c) for c in element.children])


def by_lxml(path):
    def convert(node):
        children = [convert(c) for c in node if isinstance(c.tag, str)]
        text = (node.text or "") + "".join(c.tail or "" for c in node)
        return Element(node.tag, dict(node.attrib), text, children)
    from lxml import etree
    return convert(etree.parse(str(path)).getroot())


# ---- what readers count ----

def counted(tree):
    """Elements, whatever the attributes say; and the attributes must say the same, of each suite and of the root."""
    sums = []
    for suite in tree.children:
        cases = [c for c in suite.children if c.tag == "testcase"]
        numbers = Numbers(len(cases), *(sum(r.tag == tag for c in cases for r in c.children) for tag in RESULTS))
        said = Numbers(*(int(suite.attributes[n]) for n in Numbers._fields))
        assert numbers == said, (suite.attributes, numbers)
        sums.append(numbers)
    total = Numbers(*map(sum, zip(*sums)))
    root = [int(tree.attributes[n]) for n in Numbers._fields if n in tree.attributes]
    assert root == list(total)[:len(root)], (tree.attributes, total)
    return total


def by_junitparser(path):
    import junitparser
    kinds = collections.Counter()
    for suite in junitparser.JUnitXml.fromfile(str(path)):
        for case in suite:
            kinds["tests"] += 1
            for result in case.result:
                kinds[type(result).__name__] += 1
    return Numbers(kinds["tests"], kinds["Failure"], kinds["Error"], kinds["Skipped"])


def by_junit2html(path):
    """It knows no errors: they are failures."""
    from junit2htmlreport.parser import CaseResult, Junit
    report = Junit(str(path))
    assert len(report.html()) > 1000
    outcomes = collections.Counter(case.outcome() for suite in report.suites for case in suite.all())
    return Numbers(sum(outcomes.values()), outcomes[CaseResult.FAILED], 0, outcomes[CaseResult.SKIPPED])


def by_xunitparser(path):
    import xunitparser
    with open(path, encoding="utf-8") as file:
        suite, result = xunitparser.parse(file)
    assert result.testsRun == suite.countTestCases(), result
    return Numbers(result.testsRun, len(result.failures), len(result.errors), len(result.skipped))


# ---- what report.json says ----

def state_of(case):
    """The one child that the case must have; None: it passed."""
    if case["outcome"] == "passed" and "reason" not in case:
        return None  # a pass with an error of its own is none
    if "waived" in case or not case["required"]:
        return "skipped"
    return {"passed": "failure", "failed": "failure", "errored": "error"}.get(case["outcome"], "skipped")


def verdict_of(report):
    if report["exit_code"] == 0:
        return None
    return "failure" if (report["verdict"], report["blame"]) == ("failed", "image") else "error"


def numbers_of(report):
    states = [verdict_of(report), *map(state_of, report["cases"])]
    return Numbers(len(states), *map(states.count, RESULTS))


def begins(text, whole):
    """Whether `text` is `whole`, or its beginning where it had to be cut."""
    return text == whole or text.endswith("...") and whole.startswith(text[:-3])


def on_a_line(text):
    return re.sub(r"[\n\t]", " ", text).strip(" ")


def suite_of(case):
    plugin = case["plugin"] or case["check"]
    return plugin if case["device"] in (None, "gpu0") else f"{plugin}@{case['device']}"


class Readers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    # ---- runs ----

    def run_gate(self, checks, *words, matrix=()):
        """Real reports of these checks of the test plugin: the folders of the rich and of the strict profile."""
        path = self.folder / "matrix.json"
        path.write_text(json.dumps({"schema": "cudnn-ci/matrix/1", "name": "readers", "checks": checks, **dict(matrix)}))
        folders = [self.folder / name for name in ("rich", "strict")]
        tool = OPTIONS.tree / "bin/cudnn-ci"
        for folder, command in zip(folders, (["--matrix", path, "--plugin-dir", OPTIONS.plugins, *words],
                                             ["report", folders[0] / "journal.jsonl", "--junit-profile", "strict"])):
            done = subprocess.run([tool, *command, "--output-dir", folder], capture_output=True, timeout=200,
                                  env={**os.environ, "FIXTURE_STACK": "cudnn=fixture-image"})
            self.assertTrue((folder / "junit.xml").exists(), done.stderr)
        return folders

    def sample(self, seed):
        """The folder of a made-up run: junit.xml, strict.xml, report.json."""
        folder = self.folder / str(seed)
        folder.mkdir()
        subprocess.run([OPTIONS.sample, str(seed), folder], check=True)
        return folder

    # ---- comparisons ----

    def compare(self, files, report, strict):
        """The files of one run, by every reader and field by field, with its report."""
        for trees in ([by_expat], [by_lxml] if OPTIONS.libraries else []):
            for read in trees:
                roots = [read(f) for f in files]
                self.assertEqual(Numbers(*map(sum, zip(*map(counted, roots)))), numbers_of(report), read.__name__)
                self.compare_fields([s for root in roots for s in root.children], report, strict)
        if OPTIONS.libraries:
            self.compare_libraries(files, report)
            if strict:
                self.validate(files)

    def compare_libraries(self, files, report):
        expected = numbers_of(report)
        without_errors = expected._replace(failures=expected.failures + expected.errors, errors=0)
        for read, numbers in ((by_junitparser, expected), (by_xunitparser, expected), (by_junit2html, without_errors)):
            self.assertEqual(Numbers(*map(sum, zip(*map(read, files)))), numbers, read.__name__)

    def validate(self, files):
        from lxml import etree
        schema = etree.XMLSchema(etree.parse(str(SCHEMA)))
        for file in files:
            schema.assertValid(etree.parse(str(file)))

    def compare_fields(self, suites, report, strict):
        gate, *others = [c for s in suites for c in s.children if c.tag == "testcase"]
        self.assertEqual((gate.attributes["name"], gate.attributes["classname"]), ("verdict", "cudnn-ci.gate"))
        self.compare_result(gate, verdict_of(report))
        properties = self.properties_of(suites[0])
        for name, value in (("verdict", report["verdict"]), ("exit_code", str(report["exit_code"])), ("run_id", report["run"]["id"])):
            self.assertEqual(properties[name], value)
        # By suite, in the order of the plan.
        order = list(dict.fromkeys(map(suite_of, report["cases"])))
        cases = sorted(report["cases"], key=lambda c: order.index(suite_of(c)))
        self.assertEqual(len(others), len(cases))
        for element, case in zip(others, cases):
            with self.subTest(case=case["id"]):
                self.compare_case(element, case, strict)
        names = [(c.attributes["classname"], c.attributes["name"]) for c in (gate, *others)]
        self.assertEqual(len(set(names)), len(names), "a name twice")
        self.assertEqual(len({s.attributes["id"] for s in suites}), len(suites))

    def compare_case(self, element, case, strict):
        name, wanted = element.attributes["name"], case["id"]
        if re.fullmatch(r"[!-~]{1,200}", wanted):
            self.assertIn(name, (wanted, re.sub(r"~\d+$", "", name)))
        self.assertTrue(0 < len(name.encode()) <= 200 and name == name.strip(" "), name)
        self.assertEqual(element.attributes["classname"], "cudnn-ci." + re.sub("[:/]", ".", suite_of(case)))
        self.assertRegex(element.attributes["time"], r"^\d+\.\d{3}$")
        self.assertAlmostEqual(float(element.attributes["time"]), case["seconds"], delta=0.0005001)
        self.assertLessEqual(set(element.attributes), {"name", "classname", "time"} | (set() if strict else {"file", "line"}))
        self.compare_result(element, state_of(case), case)
        if strict:
            self.assertFalse([c for c in element.children if c.tag == "properties"])
            return
        properties = self.properties_of(element)
        self.assertEqual(properties["outcome"], case["outcome"])
        self.assertEqual(properties["required"], "true" if case["required"] else "false")
        self.assertEqual(properties.get("flags", ""), ",".join(case["flags"]))
        self.assertEqual(properties.get("device"), case["device"])
        self.assertEqual(properties.get("subject", ""), case["subject"])
        if len(case.get("attempts", [])) > 1:
            self.assertEqual(properties["attempts"], str(len(case["attempts"])))
        if "file" in element.attributes:
            file, line = element.attributes["file"], element.attributes.get("line")
            self.assertTrue(any(begins(file, on_a_line(e["file"])) and line in (None, str(e["line"]))
                                for a in case["attempts"] for e in a["expectations"]), (file, line))

    def compare_result(self, element, state, case=None):
        """At most one result, of the right kind, with a message that the body repeats and a type that no reader casts."""
        results = [c for c in element.children if c.tag in RESULTS]
        self.assertEqual([r.tag for r in results], [state] if state else [])
        for result in results:
            message = result.attributes["message"]
            self.assertTrue(message and len(message.encode()) <= 500 and "\n" not in message, message)
            self.assertTrue(result.text == message or result.text.startswith(message + "\n"), message)
            self.assertEqual("type" in result.attributes, result.tag != "skipped")
            self.assertNotIn(result.attributes.get("type"), CAST)
            if result.tag != "skipped":
                self.assertRegex(result.attributes["type"], r"^(image|runner|harness|matrix|undetermined)\.[a-z0-9-]+$")
            if case:
                self.compare_reason(result, case)
        outputs = [c for c in element.children if c.tag == "system-out"]
        self.assertLessEqual(len(outputs), 1)
        for output in outputs:
            self.assertEqual((output.attributes, output.children), ({}, []))
            markers = re.findall(r"\[\[ATTACHMENT\|(.*?)\]\]", output.text)
            self.assertLessEqual(len(markers), len(case.get("attachments", [])) if case else 0)

    def compare_reason(self, result, case):
        reason = case["reason"]
        if "waived" in case:
            reason = on_a_line(f"waived by {case['waived']}: {reason}")
        elif not case["required"] and case["outcome"] in ("passed", "failed", "errored"):
            reason = "optional: " + reason
        self.assertTrue(begins(result.attributes["message"], reason), (result.attributes["message"], reason))
        names = [f"{f['blame']}.{f['slug']}" for f in case["findings"] if f["severity"] == "error"]
        if result.tag != "skipped" and names and re.fullmatch("[a-z0-9. -]+", " ".join(names)):
            self.assertIn(result.attributes["type"], names)

    def properties_of(self, element):
        [properties] = [c for c in element.children if c.tag == "properties"]
        pairs = [(p.attributes["name"], p.attributes["value"]) for p in properties.children]
        self.assertEqual(len(dict(pairs)), len(pairs), "a property twice")
        return dict(pairs)

    # ---- tests ----

    def test_of_random_bytes_nothing_is_lost(self):
        states = collections.Counter()
        for seed in range(SAMPLES):
            folder = self.sample(seed)
            report = json.loads((folder / "report.json").read_text())
            states.update(map(state_of, report["cases"]))
            with self.subTest(seed=seed):
                self.compare([folder / "junit.xml"], report, strict=False)
                self.compare([folder / "strict.xml"], report, strict=True)
        for state in (None, *RESULTS):
            self.assertGreater(states[state], SAMPLES, "too few of a kind")

    def test_of_a_run_with_every_ending(self):
        checks = [{"check": "fixture.pass", "axes": {"i": [1, 2, 3]}}, {"check": "fixture.fail"}, {"check": "fixture.reports"},
                  {"check": "fixture.skip", "params": {"kind": "memory"}, "allow_skip": ["memory"]},
                  {"check": "fixture.skip", "params": {"kind": "absent"}}, {"check": "fixture.crash", "params": {"how": "exit3"}},
                  {"check": "fixture.throws"}, {"check": "fixture.warn"}, {"check": "fixture.nothing"}, {"check": "fixture.hostile"},
                  {"check": "fixture.finding", "params": {"slug": "image"}, "required": False}, {"check": "fixture.convolution"},
                  {"check": "fixture.flood", "params": {"mib": 100}}]
        waivers = [{"case": "fixture.fail[[]*", "slug": "expectation-failed", "reason": "known", "owner": "me", "expires": "2999-01-01"}]
        subjects = {"first": "path:/nonexistent/first", "second": "path:/nonexistent/second"}
        rich, strict = self.run_gate(checks, "--retries", "1", matrix={"waivers": waivers, "subjects": subjects})
        report = json.loads((rich / "report.json").read_text())
        self.assertEqual(set(map(state_of, report["cases"])), {None, *RESULTS})
        self.assertLess((rich / "junit.xml").stat().st_size, 1 << 20, "a case printed 100 MiB")
        self.compare([rich / "junit.xml"], report, strict=False)
        self.compare([strict / "junit.xml"], report, strict=True)

    def test_of_a_green_run_in_several_files(self):
        rich, strict = self.run_gate([{"check": "fixture.noop", "axes": {"i": list(range(5100))}}])
        report = json.loads((rich / "report.json").read_text())
        self.assertEqual(report["verdict"], "passed")
        for folder in (rich, strict):
            files = [folder / name for name in ("junit.xml", "junit-2.xml")]
            self.compare(files, report, strict=folder is strict)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--plugins", type=pathlib.Path, required=True)
    parser.add_argument("--sample", type=pathlib.Path, required=True)
    parser.add_argument("--libraries", action="store_true")
    OPTIONS = parser.parse_args()
    if OPTIONS.libraries:
        try:
            import junit2htmlreport, junitparser, lxml, xunitparser  # noqa: F401, E401
        except ImportError as missing:
            print(f"skipped: {missing}: run ci/deps readers")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
