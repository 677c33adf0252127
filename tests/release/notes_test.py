#!/usr/bin/env python3
"""The notes of a release, from CHANGELOG.md."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))

from bundling import command as bundle  # noqa: E402: found by the line above
from releasing import artifacts, notes  # noqa: E402

VERSION = bundle.version_of(ROOT)


class Notes(unittest.TestCase):
    LOG = "# Changelog\n\nForm.\n\n## [Unreleased]\n\n### Added\n- New, see [docs](harness/x.md).\n\n## [1.2.0] - 2026-01-02\n\n### Fixed\n- A [bug](https://example.com/1).\n\n[1.2.0]: https://x\n"

    def test_the_versions_own_section_is_its_notes(self):
        log = self.LOG.replace("### Added\n- New, see [docs](harness/x.md).\n\n", "")
        self.assertEqual(notes.notes_of(log, "1.2.0"), ("# cudnn-ci 1.2.0, 2026-01-02\n\n### Fixed\n- A [bug](https://example.com/1).\n", True))

    def test_what_is_unreleased_stands_in(self):
        for version in ("1.3.0", "1.2.0"):  # of the last, more came since
            self.assertEqual(notes.notes_of(self.LOG, version), (f"# cudnn-ci {version}\n\n### Added\n- New, see docs.\n", False))

    def test_a_head_of_another_version_is_an_error(self):
        with self.assertRaisesRegex(artifacts.Failure, "begins with 1.2.0: it needs a section for 1.3.0"):
            notes.notes_of("# C\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n\n- x\n", "1.3.0")

    def test_no_text_is_an_error(self):
        with self.assertRaisesRegex(artifacts.Failure, "no section with text"):
            notes.notes_of("# C\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n", "1.2.0")

    def test_the_repositorys_own_changelog_has_notes(self):
        text, _ = notes.notes_of((ROOT / "CHANGELOG.md").read_text(), VERSION)
        self.assertIn("### Added", text)


if __name__ == "__main__":
    unittest.main()
