#!/usr/bin/env python3
"""The documentation site as ci/site makes it: no dead link or anchor, nothing from a network, every row of errors.md in the search, the
same bytes each time, and an error for what is wrong. Without `ci/deps site`: exit 77.

usage: site_test.py --program FILE    the bin/cudnn-ci of an installed tree
"""
import argparse
import hashlib
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from documentation import command, drawings, findings_pages, hooks, pages, program_pages  # noqa: E402: found by the line above

PROGRAM = None
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cudnn-ci"


class Page(html.parser.HTMLParser):
    """What a page refers to: links, files that it loads, anchors, its text."""

    def __init__(self, path):
        super().__init__()
        self.links, self.loads, self.anchors, self.words, self.hidden = [], [], set(), [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        at = dict(attributes)
        self.hidden += tag in ("script", "style")
        self.anchors |= {at[key] for key in ("id", "name") if at.get(key)}
        if tag in ("a", "form") and (at.get("href") or at.get("action")):
            self.links.append(at.get("href") or at["action"])
        elif tag == "link" and at.get("rel") in ("prev", "next", "canonical"):
            self.links.append(at["href"])
        else:
            self.loads += [at[key] for key in ("src", "href", "data", "poster", "srcset") if at.get(key)]
        if at.get("style"):
            self.loads += re.findall(r"url\(([^)]*)\)", at["style"])

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)


def build(folder, *arguments, **environment):
    return subprocess.run([sys.executable, "-B", ROOT / "ci/site", "--out", folder, *arguments], env={**os.environ, **environment},
                          capture_output=True, text=True, check=False)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = pathlib.Path(temporary.name)
        cls.site = cls.folder / "site"
        cls.archive = cls.folder / "one.tar.gz"
        run = build(cls.site, "--archive", cls.archive, "--program", PROGRAM, SOURCE_DATE_EPOCH="1700000000")
        assert run.returncode == 0, run.stdout + run.stderr
        cls.pages = {path.relative_to(cls.site).as_posix(): Page(path) for path in sorted(cls.site.rglob("*.html"))}

    def where(self, page, address):
        """(file in the site, anchor) of a relative address."""
        target, _, anchor = address.partition("#")
        target = urllib.parse.unquote(target.partition("?")[0])
        return os.path.normpath(pathlib.PurePosixPath(page).parent / target) if target else page, urllib.parse.unquote(anchor)

    def test_every_document_is_a_page(self):
        for source, place in {**pages.sources(ROOT), **pages.generated(ROOT), **program_pages.PLACES}.items():
            self.assertTrue((self.site / re.sub(r"\.md$", ".html", place)).is_file(), source)
        self.assertGreater(len(self.pages), 35)

    def test_every_link_and_anchor_leads_somewhere(self):
        count = 0
        for page, read in self.pages.items():
            for address in read.links:
                if re.match(r"https?://|mailto:|javascript:", address):
                    continue
                count += 1
                target, anchor = self.where(page, address)
                with self.subTest(page=page, address=address):
                    self.assertTrue((self.site / target).is_file())
                    if anchor:
                        self.assertIn(anchor, self.pages[target].anchors | {"__skip"})
        self.assertGreater(count, 3000)

    def test_nothing_is_loaded_from_a_network(self):
        count = 0
        for page, read in self.pages.items():
            for address in read.loads:
                count += 1
                with self.subTest(page=page, address=address):
                    self.assertNotRegex(address, r"^([a-z]+:)?//")
                    if not address.startswith("data:"):
                        self.assertTrue((self.site / self.where(page, address)[0]).is_file())
            self.assertNotIn('class="mermaid"', (self.site / page).read_text(encoding="utf-8"))  # the theme fetches what draws these
        self.assertGreater(count, 200)
        for path in self.site.rglob("*.css"):
            for address in re.findall(r"url\(\s*['\"]?([^'\")]*)", path.read_text(encoding="utf-8")):
                self.assertRegex(address, r"^data:|^[^:/]+$|^#", path)
        self.assertEqual([path.name for path in self.site.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf", ".map", ".gz")], [])

    def test_the_licence_of_the_theme_is_within(self):
        self.assertIn("Martin Donath", (self.site / "licenses/mkdocs-material.txt").read_text(encoding="utf-8"))

    def test_tabs_are_the_headings_of_the_contents(self):
        text = (self.site / "index.html").read_text(encoding="utf-8")
        tabs = re.findall(r'class="md-tabs__link">\s*(.*?)\s*</a>', text, flags=re.S)
        headings = re.findall(r"^## +(.+)$", (ROOT / "harness/docs/README.md").read_text(), re.M)
        self.assertEqual([re.sub(r"<[^>]+>", "", tab).strip() for tab in tabs], [*headings, "Contents"])

    def test_no_markdown_is_left_in_the_text(self):
        for page, read in self.pages.items():
            text = "".join(read.words)
            self.assertNotRegex(text, r"```\w|\]\([\w./-]+(?:#[\w-]+)?\)|\.md#", page)

    def index(self):
        text = (self.site / "search/search_index.js").read_text(encoding="utf-8")
        return json.loads(text.partition("=")[2])["docs"]

    def test_every_row_of_errors_and_failure_modes_is_found_by_the_search(self):
        entries = self.index()
        for page, least in (("errors", 100), ("failure-modes", 60)):
            lines = findings_pages.PAGES[f"{page}.md"](findings_pages.read(ROOT)).splitlines()
            rows = [line for at, line in enumerate(lines) if line.startswith("| ") and not lines[at + 1:at + 2][0:1] == [line] and
                    not (at + 1 < len(lines) and lines[at + 1].startswith("|---"))]
            self.assertGreater(len(rows), least)
            found = [entry for entry in entries if entry["location"].startswith(f"{page}.html#row-")]
            self.assertEqual(len(found), len(rows))
            for line, entry in zip(rows, found):
                title = hooks.plain(entry["title"])
                self.assertIn(entry["location"].partition("#")[2], self.pages[f"{page}.html"].anchors)
                for quoted in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                    self.assertIn(" ".join(quoted.replace("\\|", "|").split()), title)
        self.assertEqual(len({entry["location"] for entry in entries}), len(entries))
        for finding in re.findall(r"^## (.+)$", findings_pages.page_of_findings(findings_pages.read(ROOT)), re.M):
            self.assertIn(f"findings.html#{finding}", {entry["location"] for entry in entries})

    def test_the_search_of_every_page_knows_the_row_of_each_message(self):
        text = (self.site / "assets/lookup-data.js").read_text(encoding="utf-8")
        known = json.loads(text.partition(" = ")[2].rstrip().rstrip(";"))
        rows = [message["row"] for message in known["messages"]]
        self.assertGreater(len(rows), 150)
        self.assertEqual(len(set(rows)), len(rows))
        for row in rows:
            page, _, anchor = row.partition("#")
            self.assertIn(anchor, self.pages[page].anchors)
        for page, read in self.pages.items():
            loaded = [os.path.basename(address) for address in read.loads if "lookup" in address]
            self.assertEqual(loaded, ["lookup-data.js", "lookup.js"], page)  # twice, and two hits take turns for ever

    def test_the_same_sources_give_the_same_bytes(self):
        other = self.folder / "elsewhere/site"
        run = build(other, "--archive", self.folder / "two.tar.gz", "--program", PROGRAM, SOURCE_DATE_EPOCH="1700000000", TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="7")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(hashlib.sha256((self.folder / "two.tar.gz").read_bytes()).hexdigest(), hashlib.sha256(self.archive.read_bytes()).hexdigest())

    def test_a_folder_of_others_is_not_replaced(self):
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "thesis.txt").write_text("years of work")
        run = build(mine)
        self.assertEqual(run.returncode, 2)
        self.assertIn("is no site that could be replaced", run.stderr)
        self.assertTrue((mine / "thesis.txt").is_file())

    def copy(self):
        """The sources of the site, to be spoilt."""
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        data = [path.relative_to(ROOT).as_posix() for path in (ROOT / findings_pages.FOLDER).iterdir()]
        made = {name.partition("#")[0] for name in pages.generated(ROOT)}
        for name in (*pages.sources(ROOT), *made, *data, *drawings.SOURCES, "CMakeLists.txt"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, root / name)
        return root

    def test_a_gallery_is_a_page_behind_the_sample_runs(self):
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        self.addCleanup(os.environ.pop, "SOURCE_DATE_EPOCH")
        gallery = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        with self.assertRaisesRegex(pages.Failure, "has no gallery"):
            command.make(ROOT, out, gallery)
        shutil.copyfile(ROOT / "harness/docs/pictures/image.webp", gallery / "image.webp")
        (gallery / "README.md").write_text("# Gallery\n\n![a page](image.webp)\n")
        command.make(ROOT, out, gallery)
        self.assertIn('src="image.webp"', (out / "gallery/index.html").read_text())
        self.assertTrue((out / "gallery/image.webp").is_file())
        self.assertIn('href="gallery/index.html"', (out / "sample-runs.html").read_text())

    def test_a_dead_link_or_anchor_is_an_error(self):
        os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
        self.addCleanup(os.environ.pop, "SOURCE_DATE_EPOCH")
        for line, said in (("[x](#nowhere)", "nowhere"), ("[x](harness/docs/limits.md#nowhere)", "nowhere"), ("[x](LICENSE)", "leads to no page")):
            root = self.copy()
            with open(root / "README.md", "a", encoding="utf-8") as page:
                page.write(f"\n{line}\n")
            with self.subTest(line=line), self.assertRaisesRegex(pages.Failure, said):
                command.make(root, self.folder / "spoilt")
            self.assertFalse((self.folder / "spoilt").exists())

    def test_what_is_missing_is_said(self):
        run = build(self.folder / "none", XDG_CACHE_HOME=str(self.folder / "empty"))
        self.assertEqual(run.returncode, 2)
        self.assertIn("run ci/deps site", run.stderr)


if __name__ == "__main__":
    if not (CACHE / "site/bin/mkdocs").is_file():
        print("skipped: no mkdocs: run ci/deps site")
        sys.exit(77)
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    PROGRAM = known.program
    unittest.main(argv=[sys.argv[0], *rest])
