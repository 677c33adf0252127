#!/usr/bin/env python3
"""Every relative link of the source's documents leads to a file, and every anchor to a heading.

usage: links_test.py --source DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path()


def text_of(page):
    """A page without its blocks of code, in which `#` begins no heading and brackets are no link."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"^    .*$", "", text, flags=re.M)


def anchors(page):
    """The anchors that GitHub and GitLab give to the headings of a page."""
    headings = re.findall(r"^#+ +(.*?) *$", text_of(page), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text_of(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        file = page.parent / target if target else page
        if not file.exists():
            yield f"{target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}#{anchor}: no such heading"


def pages():
    yield from SOURCE.glob("*.md")
    for folder in ("harness", "matrices", "plugins", "ci"):
        # installed.md is the installed tree's.
        yield from (page for page in (SOURCE / folder).rglob("*.md") if page.name != "installed.md")


class Links(unittest.TestCase):
    def test_every_link_and_anchor_leads_somewhere(self):
        found = sorted(pages())
        self.assertGreater(len(found), 20)
        for page in found:
            with self.subTest(page=str(page.relative_to(SOURCE))):
                self.assertEqual(list(dead_links(page)), [])

    def test_every_page_of_harness_docs_is_in_the_contents(self):
        docs = SOURCE / "harness/docs"
        listed = set(re.findall(r"\]\(([^)#\s]+)", (docs / "README.md").read_text()))
        expected = {page.name for page in docs.glob("*.md")} - {"README.md", "installed.md"}
        self.assertEqual(expected - listed, set())

    def test_the_design_is_short(self):
        self.assertLessEqual(len((SOURCE / "harness/DESIGN.md").read_text().split()), 6000)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    SOURCE = arguments.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
