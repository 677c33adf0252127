#!/usr/bin/env python3
"""What ci/site gives to its renderer: rewritten links, the navigation, the keys of a matrix, the SDK's pages, options and checks. Needs no renderer."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from documentation import drawings, findings_pages, front, headers, hooks, matrix_keys, pages, program_pages, sdk_pages  # noqa: E402: found by the line above

HEADERS = ROOT / pages.HEADERS


class Tree(unittest.TestCase):
    """A small repository."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.put("README.md", "# tool\n")
        self.put("harness/docs/one.md", "# First\n")

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    places = {"README.md": "index.md", "harness/docs/README.md": "contents.md", "harness/docs/one.md": "one.md",
              "harness/docs/deep/two.md": "deep/two.md", "harness/docs/deep/a.webp": "deep/a.webp", "matrices/m.json": "keys.md"}

    def rewritten(self, page, text):
        self.put(page, text)
        return pages.rewritten(self.root, page, self.places)

    def test_links_lead_to_where_the_pages_are(self):
        self.assertEqual(self.rewritten("harness/docs/one.md", "[a](../../README.md#b), [c\nd](deep/two.md) ![p](deep/a.webp) [k](../../matrices/m.json)"),
                         "[a](index.md#b), [c\nd](deep/two.md) ![p](deep/a.webp) [k](keys.md)")
        self.assertEqual(self.rewritten("harness/docs/deep/two.md", "[a](../one.md) [e](https://example.com/x.md#y) [f](#here)"),
                         "[a](../one.md) [e](https://example.com/x.md#y) [f](#here)")

    def test_a_part_of_a_page_may_have_a_page_on_the_site(self):
        places = {**self.places, "README.md#part": "part.md"}
        self.put("harness/docs/one.md", "[a](../../README.md#part) [b](../../README.md#other)")
        self.assertEqual(pages.rewritten(self.root, "harness/docs/one.md", places), "[a](part.md) [b](index.md#other)")
        self.put("harness/docs/README.md", "# C\n\n## A\n\n- [Whole](../../README.md)\n- [One](one.md)\n\n## B\n\n- [Part](../../README.md#part)\n")
        wanted = {name: places[name] for name in ("README.md", "README.md#part", "harness/docs/README.md", "harness/docs/one.md")}
        self.assertEqual(pages.navigation(self.root, wanted), [{"A": [{"Whole": "index.md"}, {"One": "one.md"}]}, {"B": [{"Part": "part.md"}]},
                                                              {"Contents": "contents.md"}])

    def test_a_link_whose_text_is_a_file_has_the_pages_title(self):
        self.assertEqual(self.rewritten("harness/docs/README.md", "see [one.md](one.md#x)"), "see [First](one.md#x)")

    def test_a_link_to_no_page_is_an_error(self):
        for target in ("LICENSE", "harness/docs/nine.md", "../out.md"):
            with self.assertRaisesRegex(pages.Failure, "leads to no page"):
                self.rewritten("README.md", f"[x]({target})")

    def test_code_stays_as_it_is(self):
        text = "```\n[x](gone.md)\n  - y\n```\n\n    [x](gone.md)\n    <details>"
        self.assertEqual(self.rewritten("README.md", text), text)

    def test_what_a_forge_reads_otherwise(self):
        self.assertEqual(self.rewritten("README.md", "```cpp a.cc\nx y\n```"), '```cpp title="a.cc"\nx y\n```')
        self.assertEqual(self.rewritten("README.md", "- a\n  - b\n  c"), "- a\n    - b\n  c")
        self.assertEqual(self.rewritten("README.md", "<details><summary>"), '<details markdown="1"><summary>')

    def test_a_block_of_commands_has_its_language(self):
        for block, language in (("./cudnn-ci run IMAGE\nA=b cudnn-ci", "sh"), ("$ ci/gate\nsaid", "console"), ("docker run \\\n  x", "sh"), ("verdict: passed", "")):
            lines = "".join(f"    {line}\n" for line in block.split("\n"))
            wanted = f"a\n\n```{language}\n{block}\n```\n\nb\n" if language else f"a\n\n{lines}\nb\n"
            self.assertEqual(self.rewritten("README.md", f"a\n\n{lines}\nb\n"), wanted)
        for text in ("- a\n\n    ci/gate\n", "- a\n  b\n\n    ci/gate\n", "```\na\n\n    ci/gate\n```\n"):
            self.assertEqual(self.rewritten("README.md", text), text)

    def test_a_picture_of_two_themes_is_two_pictures(self):
        source = '<source media="{}" srcset="harness/docs/deep/{}.webp">'
        self.places = {**self.places, **{f"harness/docs/deep/{name}.webp": f"deep/{name}.webp" for name in ("b", "c", "d")}}
        text = ("<picture>\n" + source.format("(max-width: 9px) and (prefers-color-scheme: dark)", "d") + source.format("(max-width: 9px)", "c") +
                source.format("(prefers-color-scheme: dark)", "b") + '\n<img alt="x" src="harness/docs/deep/a.webp">\n</picture>')
        self.assertEqual(self.rewritten("README.md", text),
                         '<picture><source media="(max-width: 9px)" srcset="deep/c.webp"><img alt="x" src="deep/a.webp#only-light"></picture>'
                         '<picture><source media="(max-width: 9px)" srcset="deep/d.webp"><img alt="x" src="deep/b.webp#only-dark"></picture>')
        with self.assertRaisesRegex(pages.Failure, "leads to no page"):
            self.rewritten("README.md", '<img src="gone.webp">')

    def test_the_navigation_is_the_contents_page(self):
        self.put("harness/docs/README.md", "# All\n\n[x](one.md)\n\n## Learn\n\n- [A part](one.md#p), [a `tool`](../../README.md#s)\n\n"
                 "## Look\n\n- [Whole\n  page](one.md) and [away](https://example.com)\n")
        self.put("harness/docs/one.md", "# First\n\n[two](deep/two.md)\n")
        self.put("harness/docs/deep/two.md", "# Second\n")
        places = {name: place for name, place in self.places.items() if place.endswith(".md") and place != "keys.md"}
        self.assertEqual(pages.navigation(self.root, places), [
            {"Learn": [{"a tool": "index.md"}]}, {"Look": [{"Whole page": [{"Overview": "one.md"}, "deep/two.md"]}]}, {"Contents": "contents.md"}])
        self.put("harness/docs/README.md", "# All\n\n## Look\n\n- [Start](../../README.md)\n- Both\n  of them: [One](one.md), in [Two](deep/two.md)\n")
        self.assertEqual(pages.navigation(self.root, places)[0], {"Look": [{"Start": "index.md"}, {"Both of them": [{"One": "one.md"}, {"Two": "deep/two.md"}]}]})
        with self.assertRaisesRegex(pages.Failure, "no page leads to matrices/m.json"):
            pages.navigation(self.root, self.places)


class Keys(unittest.TestCase):
    def test_every_key_of_the_schema_is_on_the_page(self):
        text = (ROOT / pages.SCHEMA).read_text()
        page, found = matrix_keys.page_of(text), []

        def walk(node):
            if isinstance(node, dict):
                for key, value in node.get("properties", {}).items():
                    found.append(key)
                    self.assertIn(f"| `{key}` |", page)
                    if "description" in value:
                        self.assertIn(matrix_keys.cell(value["description"]), page)
                for value in node.values():
                    walk(value)
            elif isinstance(node, list):
                for value in node:
                    walk(value)
        walk(json.loads(text))
        self.assertGreater(len(found), 35)
        for part in ("| `check` | string or list of string, required |", '| `schema` | `"cudnn-ci/matrix/1"`, required |', "| `driver` | [range](#range) |",
                     "| `checks` | list of [entry](#entry) or [removal](#removal) |", "Default: `60`.", 'list of `"unsupported"`, `"absent"`'):
            self.assertIn(part, page)

    def test_every_link_of_the_page_has_its_heading(self):
        page = matrix_keys.page_of((ROOT / pages.SCHEMA).read_text())
        headings = {hooks.slug(heading, "-") for heading in re.findall(r"^## (.+)$", page, re.M)}
        self.assertEqual(set(re.findall(r"\]\(#([\w-]+)\)", page)) - headings, set())


class Sdk(unittest.TestCase):
    def test_every_public_name_of_the_headers_is_on_its_page(self):
        count = 0
        for path in sorted(HEADERS.iterdir()):
            text = re.sub(r"^namespace detail \{.*?^\}  // namespace detail", "", path.read_text(), flags=re.M | re.S)
            text = re.sub(r"^ private:.*?^\};", "", text, flags=re.M | re.S)
            bodies = re.sub(r"^#define[^\n]*\\\n(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)
            names = set(re.findall(r"^#define (\w*[A-Za-z0-9])(?=[( ])", text, re.M)) | set(re.findall(r"^\s*(CCI_[A-Z0-9_]*[A-Z0-9])\b(?: =|,$|$)", text, re.M))
            names |= set(re.findall(r"^(?:typedef )?(?:enum|struct|class) (\w+) (?:: [\w: ]+ )?\{", text, re.M))
            names |= set(re.findall(r"^  \w[\w\s:*<>&]*\(\*(\w+)\)\(", text, re.M)) | set(re.findall(r"^  [\w:<>&*\[\] ]*?\b([A-Z]\w+)\([^;]*\{", bodies, re.M))
            page = sdk_pages.page_of(f"{pages.HEADERS}/{path.name}", path.read_text())
            for name in (name for name in names if not name.endswith("_")):
                count += 1
                with self.subTest(header=path.name, name=name):
                    self.assertRegex(page, rf"(?:<code>[^<]*|## )\b{name}\b")
        self.assertGreater(count, 200)

    def test_nothing_internal_is_on_a_page(self):
        for path in HEADERS.iterdir():
            page = sdk_pages.page_of(path.name, path.read_text())
            terms = "\n".join(re.findall(r"<dt>.*?</dt>|^##.*$", page, re.M))
            self.assertNotRegex(terms, r"\w_\b|\bdetail::(?!ParamStorage)|= delete|StopCheck|OrEmpty|__cplusplus|_HPP?_")

    def test_comments_before_and_behind_are_the_words_of_a_member(self):
        page = sdk_pages.page_of("x/t.h", "/* About\n * it. */\n#ifndef CUDNN_CI_T_H_\n#define CUDNN_CI_T_H_\n\n/* A pair, see cci_x. */\ntypedef struct cci_t {\n"
                                 "  int a; /* the \"first\" < */\n\n  /* Both\n   * ways. */\n  void (*f)(int);\n  void (*g)(void);\n\n  int h;\n} cci_t;\n\nenum cci_e { CCI_A = 0, CCI_B = 1 };\n"
                                 "#endif /* CUDNN_CI_T_H_ */\n")
        self.assertIn("<p>About it.</p>", page)
        self.assertIn("## cci_t\n\n<p><code>struct cci_t</code></p>\n\n<p>A pair, see <code>cci_x</code>.</p>", page)
        self.assertIn('<dt><code>int a;</code></dt>\n<dd><p>the "first" &lt;</p></dd>\n<dt><code>void (*f)(int);</code></dt>\n'
                      "<dt><code>void (*g)(void);</code></dt>\n<dd><p>Both ways.</p></dd>\n<dt><code>int h;</code></dt>\n</dl>", page)
        self.assertIn("CCI_A = 0, CCI_B = 1", page)

    def test_a_function_is_shown_without_its_body(self):
        for code, shown in (("int F(std::vector<int> a = {}) const { return 1; }", "int F(std::vector<int> a = {}) const"),
                            ("explicit X(int n) : n_(n) {}", "explicit X(int n)"), ("#define CCI_X(a) \\\n  do(a)", "CCI_X(a)"),
                            ('#define CCI_Y \\\n  "y"', '#define CCI_Y "y"'), ("int a = 1;  // one", "int a = 1;")):
            self.assertEqual(headers.signature(code), shown)


class Hooks(unittest.TestCase):
    def test_anchors_are_those_of_a_forge(self):
        for heading, anchor in (("1. From the archive to a verdict", "1-from-the-archive-to-a-verdict"), ("Image kind x way to run", "image-kind-x-way-to-run"),
                                ("Entries of <code>checks</code>", "entries-of-checks"), ("a &amp; b", "a--b"), ("CCI_HAS", "cci_has")):
            self.assertEqual(hooks.slug(heading, "-"), anchor)

    def test_only_tables_with_long_cells_become_lists(self):
        short = "<table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>y</td></tr></table>"
        self.assertEqual(hooks.labelled(short), short)
        self.assertIn('<table class="stacked">', hooks.labelled(short.replace("y", "y" * 60)))
        self.assertIn('<td data-label="b">yyy', hooks.labelled(short.replace("y", "y" * 60)))
        # Short columns stand side by side, but for the first, which names the row.
        three = "<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td>x</td><td>" + "y" * 60 + "</td><td>z</td></tr></table>"
        self.assertEqual(re.findall(r"<td[^>]*>", hooks.labelled(three)), ['<td data-label="a">', '<td data-label="b">', '<td data-label="c" class="short">'])


class OfTheProgram(unittest.TestCase):
    def test_a_manual_page_is_a_table_for_each_command(self):
        roff = (".TH X\n.SH OPTIONS\n.TP\n\\fB\\-\\-device\\fR \\fIall|N\\fR\nwhich\nGPUs\n.SH COMMANDS\n.SS copy\\-to\ncopies *all*\n.PP\n"
                "As above: \\fB\\-\\-help\\fR.\n.SH EXIT STATUS\n0\n")
        text = program_pages.options_page(roff)
        self.assertIn("\n## cudnn-ci\n\n| option | meaning |\n|---|---|\n| `--device all|N` | which GPUs |\n", text)
        self.assertIn("\n## cudnn-ci copy-to\n\ncopies \\*all\\*\n\nAs above: --help.\n", text)

    def test_checks_are_told_of_with_their_parameters_once(self):
        flags = {"devices": "one", "per_subject": True, "requires": ["a.b"], "judges": ["image.cudnn"], "params": [
            {"name": "n", "type": "integer", "summary": "how many", "default": 3}, {"name": "s", "type": "string", "allowed": ["x", "y_z"]}]}
        plain = {**flags, "per_subject": False, "requires": [], "judges": [], "devices": "none"}
        text = program_pages.checks_page(json.dumps({"plugins": [{"name": "p", "summary": "all of it", "checks": [
            {"name": "p.one", "summary": "first_one", **flags}, {"name": "p.two", "summary": "second", **plain}]}]}))
        self.assertIn("\n## p\n\nAll of it.\n\n### p.one\n\nFirst\\_one. It runs on each GPU, for each subject. It requires `a.b`. "
                      "It proves the promise `image.cudnn`.\n", text)
        self.assertIn("\n| `n` | integer; default `3` | how many |\n| `s` | `x`, `y_z`; required |  |", text)
        self.assertIn("\n### p.two\n\nSecond. It uses no GPU. Its parameters are those of [p.one](#pone).", text)


class Drawings(unittest.TestCase):
    def test_the_house_has_every_layer_and_the_arrows_that_do_not_follow_from_others(self):
        arrows = set(drawings.reduced(drawings.layers(ROOT)))
        self.assertLessEqual({("main", "cli"), ("cli", "exec"), ("exec", "wire"), ("worker", "sdk"), ("report", "model"), ("plugins", "image")}, arrows)
        self.assertFalse({("main", "launch"), ("cli", "base"), ("exec", "model")} & arrows, "they follow from others")
        self.assertEqual(drawings.rooms(ROOT)["exec"], ["system", "workers", "schedule", "plugins"])
        drawn = drawings.house(ROOT)
        for layer in drawings.layers(ROOT):
            self.assertIn(f">{layer}</text>", drawn)
        self.assertEqual(drawn.count("marker-end"), len(arrows))

    def test_each_drawing_is_below_its_heading_and_fits(self):
        text = drawings.with_drawings(ROOT, (ROOT / "harness/DESIGN.md").read_text())
        found = re.findall(r"^## (\d)\..*\n\n<div class=\"cci-drawing\" ", text, re.M)
        self.assertEqual(found, ["2", "3", "4"])
        for x, wide in re.findall(r'<rect x="([\d.-]+)" y="[\d.]+" width="([\d.]+)"', text):
            self.assertTrue(0 <= float(x) and float(x) + float(wide) <= drawings.WIDE, (x, wide))

    def test_what_cannot_be_drawn_is_an_error(self):
        with self.assertRaises(drawings.Failure):
            drawings.with_drawings(ROOT, "# Design\n\n## 1. A\n")


LOOKUP = """const {lookup} = require(process.argv[1]);
const [known, texts] = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map((text) => lookup(known, text))));"""


class Field(unittest.TestCase):
    def test_the_name_of_the_page_stands_above_the_field(self):
        text = "<h1>a</h1>\n<p>b</p><div><pre>c</pre></div>\n<p>d</p>"
        self.assertEqual(front.with_field("limits.md", text), text)
        for page, above in (("index.md", "<h1>a</h1>\n<p>b</p><div><pre>c</pre></div>"), ("errors.md", "<h1>a</h1>")):
            made = front.with_field(page, text)
            self.assertTrue(made.startswith(f'{above}<section class="cci-front"'), made[:90])
            self.assertTrue(made.endswith(text[len(above):]))


class OfFindings(unittest.TestCase):
    def test_a_finding_says_how_bad_it_is_what_to_do_and_what_shows_it(self):
        finding = {"id": "a-b", "severity": "error", "blame": "image", "of": "nccl", "summary": "a <b>", "remedy": "do it", "where": "host", "command": "x --y",
                   "messages": [{"text": "`boom` or", "fix": "z"}]}
        made = findings_pages.section_of(finding)
        for part in ("\n## a-b\n", '<span class="cci-error">error</span> blame: image · component: nccl<', "\nA \\<b\\>.\n", "**What to do.** do it\n",
                     "On the host:\n\n```sh\nx --y\n```\n", "- `boom` or\n"):
            self.assertIn(part, made)
        self.assertEqual([findings_pages.capital(words) for words in ("cuDNN x", "the x", "LD_A x")], ["cuDNN x", "The x", "LD_A x"])


@unittest.skipUnless(shutil.which("node"), "no node")
class Front(unittest.TestCase):
    def lookup(self, *texts):
        known = front.known(findings_pages.read(ROOT))
        script = ROOT / "ci/documentation/assets/lookup.js"
        return json.loads(subprocess.run(["node", "-e", LOOKUP, script], input=json.dumps([known, texts]), capture_output=True, text=True, check=True).stdout)

    def test_the_text_of_an_error_leads_to_its_cure(self):
        rows = json.loads((ROOT / "tests/fixtures/error_texts.json").read_text())
        texts = [row["text"] for row in rows]
        for row, hit in zip(rows, self.lookup(*texts)):
            with self.subTest(text=row["text"]):
                self.assertEqual(hit["messages"][0]["findings"][0], row["finding"])
                self.assertIn(row["says"], hit["messages"][0]["fix"])
        for text, hit in zip(front.EXAMPLES, self.lookup(*front.EXAMPLES)):
            with self.subTest(text=text):
                self.assertTrue(hit["messages"])

    def test_of_a_long_text_the_end_is_read_and_words_match_whole(self):
        long, inside = self.lookup("Killed\n" * 30000 + "RuntimeError: CUDA error: no kernel image is available for execution on the device\n", "taskKilled")
        self.assertEqual(long["messages"][0]["findings"][0], "device-code-missing")
        self.assertEqual(inside, {"messages": []})

    def test_an_id_leads_to_its_finding(self):
        ids = {"no-engine": "no-engine", "no engine": "no-engine", "image.no-engine": "no-engine", "NO-ENGINE": "no-engine",
               "Driver Library Missing": "driver-library-missing", "warning: package-for-cpu: the job uses no GPU": "package-for-cpu",
               "image.driver-stub-library: the libcuda.so.1 that is loaded is a stub": "driver-stub-library",
               "root cause  image.crashed: Segmentation fault (core dumped)": "crashed"}
        for (text, wanted), hit in zip(ids.items(), self.lookup(*ids)):
            self.assertEqual((hit["finding"]["id"], hit["messages"]), (wanted, []), text)
        for hit in self.lookup("The sky is blue", "no", "", " ", "\0" * 200000):
            self.assertEqual(hit, {"messages": []})


if __name__ == "__main__":
    unittest.main()
