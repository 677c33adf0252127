#!/usr/bin/env python3
"""Every relative link of the source's documents leads to a file that git has, and every anchor to a heading. The documents are short.

usage: links_test.py --source DIR [ARGUMENTS FOR unittest...]
"""
import argparse
import functools
import os
import pathlib
import re
import subprocess
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


@functools.cache
def of_git():
    """The files that git has or would take, and their folders; none: this is no work tree of git's, which cannot be asked."""
    command = ["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    files = [pathlib.PurePosixPath(name) for name in run.stdout.split("\0") if name]
    return {str(path) for file in files for path in (file, *file.parents)}


def is_there(file):
    """Whether the source has a file or folder, for who browses it without a build."""
    name = os.path.relpath(file, SOURCE)
    return file.exists() and (not of_git() or name in of_git())


def dead_links(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text_of(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        file = page.parent / target if target else page
        if not is_there(file):
            yield f"{target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{target}#{anchor}: no such heading"


def pages():
    yield from SOURCE.glob("*.md")
    for folder in ("harness", "knowledge", "matrices", "plugins", "ci"):
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

    def test_the_books_are_short(self):
        words = {page: len(page.read_text().split()) for page in pages()}
        self.assertLessEqual(words[SOURCE / "harness/DESIGN.md"], 6000)
        self.assertLessEqual(sum(words.values()), 48000, sorted(words.items(), key=lambda entry: -entry[1])[:3])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    SOURCE = arguments.source.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
